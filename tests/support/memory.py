"""Gives back what tests leave behind: garbage in cycles, and free memory that the C library keeps for itself."""

import ctypes
import gc
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

GROWTH_MIB = 200
STATM = Path("/proc/self/statm")


class GivesMemoryBack:
    """Looks after each file of tests whether the process has grown by so much."""

    def __init__(self) -> None:
        self._least = resident_mib()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
        result = yield
        if nextitem and nextitem.path != item.path and resident_mib() > self._least + GROWTH_MIB:
            give_back()
            self._least = resident_mib()
        return result


def resident_mib() -> int:
    """Of this process; 0 where the system does not say."""
    return int(STATM.read_text().split()[1]) * resource.getpagesize() // 2**20 if STATM.exists() else 0


def give_back() -> None:
    """Collects garbage, and returns free pages to the system where the C library can."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:
        trim(0)
