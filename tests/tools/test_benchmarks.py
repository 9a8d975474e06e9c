"""The benchmarks start, and the gate between a release and this code can fail."""

import os
import sys
from importlib import import_module

import pytest

from benchmarks import load, processor
from benchmarks.__main__ import NAMES
from benchmarks.against import judged
from benchmarks.client import Answered
from benchmarks.refresh_memory import Refreshed, Refreshes

WORK = """
import time
from benchmarks.processor import peak_mib
started = time.process_time()
sum(range({steps}))
held = bytearray(b"x" * ({mib} << 20))
print(f"work, ms: {{1000 * (time.process_time() - started) + {more}}}")
print(f"work, calls: {calls}")
print(f"the peak of memory, MiB: {{peak_mib()}}")
"""
USUAL = {"steps": 1_000_000, "mib": 1, "more": 1000, "calls": 1000}


@pytest.mark.parametrize("name", NAMES)
def test_each_has_what_it_imports(name):
    assert callable(import_module(f"benchmarks.{name}").main)


@pytest.mark.parametrize(
    ("fault", "is_kept"),
    [({}, True), ({"more": 1300}, False), ({"mib": 101}, False), ({"calls": 1060}, False), ({"calls": 700}, True)],
    ids=["alike", "30 % slower", "100 MiB more", "6 % more calls", "fewer calls"],
)
def test_a_slower_or_larger_release_is_refused(fault, is_kept, capsys):
    sides = [((sys.executable, "-c", WORK.format(**USUAL | more)), dict(os.environ)) for more in ({}, fault)]
    assert judged(*sides, rounds=1) is is_kept
    assert ("MISS" in capsys.readouterr().out) is not is_kept


def test_calls_of_python_are_counted():
    few, many = (processor.calls(lambda n=n: sorted(range(n), key=lambda number: -number)) for n in (1, 10))
    assert many - few == 9


def test_capacity_is_measured_when_memories_are_full(monkeypatch):
    rates = iter([10, 60, 100, 103, 500])
    told = [Answered("/cost", False, 200, 0.0, 0.1)] * load.MEASURED_SECONDS
    monkeypatch.setattr(load.Phases, "_ask", lambda *_: told * next(rates))
    assert load.Phases(None, 1).capacity() == 103


SLOW = {"bad": "is harmful", "honest": "took longer than 12 s", "last": "its turn did not come in time"}


@pytest.mark.parametrize(
    ("mib", "errors", "fine", "asked"),
    [
        ([300, 400], [SLOW, {"bad": "is harmful", "honest": None, "last": None}], True, [60, 120]),
        ([300], [{"bad": "is harmful", "honest": "lists no offers", "last": None}], False, [60]),
        ([300], [{"bad": None, "honest": None, "last": None}], False, [60]),
        ([300] * 3, [SLOW] * 3, False, [60, 120, 240]),
        ([800, 300], [SLOW, {"bad": "is harmful", "honest": None, "last": None}], False, [60, 120]),
    ],
    ids=["late at first", "failed", "harm published", "always late", "too large while late"],
)
def test_a_refresh_that_only_a_busy_machine_made_late_is_repeated(monkeypatch, tmp_path, mib, errors, fine, asked):
    seconds, results = [], iter(map(Refreshed, mib, [1.0] * len(mib), errors))
    monkeypatch.setattr(Refreshes, "_refreshed", lambda _, settings, limit: seconds.append(limit) or next(results))
    assert Refreshes(tmp_path, 60).fine("one bad", {name: {} for name in SLOW}, ["bad"]) is fine
    assert seconds == asked
