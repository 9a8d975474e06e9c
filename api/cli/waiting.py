"""A word for who waits: on standard error, on a terminal only, and gone with the answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

PATIENCE_SECONDS = 1.0
WORD = "Estimating ..."
ERASE = "\r\033[K"


@contextmanager
def waiting(word: str = WORD) -> Iterator[None]:
    """Shows the word once the block has taken a second, until it ends."""
    if not sys.stderr.isatty():
        yield
        return
    timer = Timer(PATIENCE_SECONDS, _show, [word])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        _show(ERASE)


def _show(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
