"""The benchmarks that nobody runs every day still start: what they import exists."""

from importlib import import_module

import pytest

from benchmarks import against, load
from benchmarks.__main__ import ALL, LONG
from benchmarks.client import Answered
from benchmarks.processor import line
from benchmarks.refresh_memory import Refreshed, Refreshes


@pytest.mark.parametrize("name", [*ALL, *LONG])
def test_each_has_what_it_imports(name):
    benchmark = import_module(f"benchmarks.{name}")
    assert callable(getattr(benchmark, "main" if name in LONG else "run"))


def test_figures_of_the_processor_are_read_as_they_are_printed():
    printed = "\n".join(line(what, 814.2) for what in ("warm question at 100,000 offers, ms", "cold command, ms"))
    assert against.FIGURE.findall(printed) == [
        ("warm question at 100,000 offers, ms", "814.2000"),
        ("cold command, ms", "814.2000"),
    ]


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
