"""How many single runs of tasks lie inside the range of a run that one asks for, by how long they take and what is bought.

MLPerf publishes a mean of several runs; `task_runs.csv` has the minutes of each, as logged.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources

import numpy as np

from costcalc.evidence.tables import cells
from costcalc.tasks.kernel import HALF_OF_80, NEWER, OLDER
from science.validation.tasks import GOALS, Predicted

LENGTHS = {"below 15 min": 15.0, "15 min to 1 h": 60.0, "1 to 3 h": 180.0, "above 3 h": math.inf}
"""By name the minutes that a run stays below."""
COUNTS = {"up to 8 accelerators": 8.0, "9 to 64": 64.0, "65 to 512": 512.0, "more": math.inf}
"""By name the most accelerators."""
TABLE = "task_runs.csv"


def lines(cases: Iterable[Predicted], spreads: Mapping[str, float]) -> Iterator[str]:
    """By length, count and what is bought, how many runs there are and how many lie inside; of the fastest batch where none is
    asked for. `cases` have ranges of means, `spreads` are standard deviations of ln(minutes) from run to run by task."""
    inside: dict[str, list[bool]] = defaultdict(list)
    for case in cases:
        for minutes, is_inside in _inside(case, spreads.get(case.result.task, 0.0)):
            for name in (_length(minutes), _count(case), case.kind, "all"):
                inside[name].append(is_inside)
    yield f"{'single runs':32}{'n':>6}{'80 % range':>12}"
    for name in (each for each in (*LENGTHS, *COUNTS, *GOALS, "all") if inside[each]):
        yield f"{name:32}{len(inside[name]):>6}{np.mean(inside[name]):>12.0%}"


def _inside(case: Predicted, spread: float) -> Iterator[tuple[float, bool]]:
    """The minutes of each run of a result, and whether they lie inside."""
    off = case.off if case.open_off is None else case.open_off
    of_run = math.hypot(case.half_width, HALF_OF_80 * spread)
    for minutes in logged().get((case.result.task, case.result.name), ()):
        longer = math.log(minutes / case.result.minutes) - off
        yield minutes, -math.hypot(of_run, NEWER) <= longer <= math.hypot(of_run, OLDER)


def _length(minutes: float) -> str:
    return next(name for name, most in LENGTHS.items() if minutes < most)


def _count(case: Predicted) -> str:
    return next(name for name, most in COUNTS.items() if case.result.accelerators <= most)


@cache
def logged() -> Mapping[tuple[str, str], tuple[float, ...]]:
    """The minutes of each run, by task and result. Raises TableError."""
    text = (resources.files("science") / "data" / TABLE).read_text("utf-8")
    return {
        (str(line["task"]), str(line["result"])): tuple(map(float, str(line["minutes"]).split()))
        for line in cells(TABLE, text)
    }
