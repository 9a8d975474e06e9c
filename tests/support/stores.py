"""The packaged prices, read once, and stores of them: one is filled, and the others are copies of it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import mkdtemp
from unittest.mock import patch

from support.prices import NOW

from pricing import export
from pricing.packaged.offers import PackagedPrices, read_packaged
from pricing.store import store

packaged_edition = cache(read_packaged)


@contextmanager
def packaged_prices_are_read_once() -> Iterator[None]:
    """Stores are filled and editions exported from the packaged prices as they were read once."""

    def known(folder: Traversable | None = None) -> PackagedPrices:
        return read_packaged(folder) if folder else packaged_edition()

    with patch.object(store, "read_packaged", known), patch.object(export, "read_packaged", known):
        yield


@cache
def fill_a_store() -> Path:
    """The folder of a store that was filled in this process."""
    folder = Path(mkdtemp(prefix="filled-"))
    store.Store(f"sqlite:///{folder / 'prices.sqlite3'}").fill(NOW)
    return folder


def filled_store(folder: Path) -> str:
    """The URL of a copy in this folder, which is made."""
    shutil.copytree(fill_a_store(), folder, dirs_exist_ok=True)
    return f"sqlite:///{folder / 'prices.sqlite3'}"
