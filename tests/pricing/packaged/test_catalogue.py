"""The compact copy of the packaged prices holds what the tables hold, and is used only while it does."""

from pathlib import Path

import numpy as np
import pytest
from support.stores import packaged_edition

from costcalc.catalogue.catalogue import Catalogue
from pricing.packaged import catalogue as packaged
from pricing.packaged.offers import packaged_digest
from pricing.packaged.tables import packaged_folder


@pytest.fixture(scope="module")
def from_tables() -> Catalogue:
    return Catalogue.from_offers(packaged_edition().offers, "")


def assert_same_prices(one: Catalogue, other: Catalogue) -> None:
    assert one.vocabulary == other.vocabulary
    for name in one.columns.__struct_fields__:
        np.testing.assert_array_equal(getattr(one.columns, name), getattr(other.columns, name))


def test_the_compact_copy_is_up_to_date(from_tables: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(packaged, "read_packaged")  # a stale copy would fall back to the tables: run `make compact`
    found = packaged.packaged_catalogue()
    assert found.snapshot == f"packaged-{packaged_digest()[:12]}"
    assert_same_prices(found, from_tables)


@pytest.mark.parametrize("content", [None, b"", b"\0" * 16 + b"another edition"])
def test_a_missing_or_stale_copy_is_passed_over(
    content: bytes | None, from_tables: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for table in packaged_folder().iterdir():
        (tmp_path / table.name).write_bytes(table.read_bytes())
    (tmp_path / packaged.COMPACT).unlink()
    if content is not None:
        (tmp_path / packaged.COMPACT).write_bytes(content)
    monkeypatch.setattr(packaged, "packaged_folder", lambda: tmp_path)
    found = packaged.packaged_catalogue()
    assert found.snapshot == f"packaged-{packaged_digest()[:12]}"
    assert_same_prices(found, from_tables)


def test_the_copy_that_is_written_is_the_one_that_ships(tmp_path: Path) -> None:
    packaged.write_compact(tmp_path)
    assert (tmp_path / packaged.COMPACT).read_bytes()[:16].hex() == packaged_digest()
