"""What a process and all that it started hold together."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psutil

SAMPLED_SECONDS = 0.05


@dataclass
class Peak:
    """The most that was seen."""

    mib: float = 0.0


@contextmanager
def sampled(process: int) -> Iterator[Peak]:
    """Meanwhile the proportional share of memory (PSS) of a process and all below it, twenty times a second."""
    peak, ended = Peak(), threading.Event()

    def look() -> None:
        while not ended.wait(SAMPLED_SECONDS):
            peak.mib = max(peak.mib, held_mib(process))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()


def held_mib(process: int) -> float:
    """What a process and all that it started hold, of what they share their part; 0 of those that ended."""
    held = 0
    with suppress(psutil.Error):
        for each in (parent := psutil.Process(process), *parent.children(recursive=True)):
            with suppress(psutil.Error):
                held += each.memory_full_info().pss
    return held / 2**20
