"""What a process and all that it started hold together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psutil

SAMPLED_SECONDS = 0.05


@dataclass
class Peak:
    """The most that was seen."""

    mib: float = 0.0


@contextmanager
def meanwhile(look: Callable[[], object], seconds: float) -> Iterator[None]:
    """Looks again and again, after so many seconds each time."""
    ended = threading.Event()

    def go_on() -> None:
        while not ended.wait(seconds):
            look()

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def sampled(process: int) -> Iterator[Peak]:
    """Meanwhile the proportional share of memory (PSS) of a process and all below it, twenty times a second."""
    peak = Peak()

    def look() -> None:
        peak.mib = max(peak.mib, held_mib(process))

    with meanwhile(look, SAMPLED_SECONDS):
        yield peak


def held_mib(process: int) -> float:
    """What a process and all that it started hold, of what they share their part; 0 of those that ended."""
    held = 0
    with suppress(psutil.Error):
        for each in (parent := psutil.Process(process), *parent.children(recursive=True)):
            with suppress(psutil.Error):
                held += each.memory_full_info().pss
    return held / 2**20
