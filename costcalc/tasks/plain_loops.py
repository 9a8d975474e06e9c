"""What plain loops make of the tasks' networks: as somebody writes them who follows the libraries' own examples."""

from __future__ import annotations

from datetime import date
from functools import cache
from statistics import median

from msgspec import Struct

from costcalc.evidence.tables import packaged
from costcalc.tasks.tables import PLAIN_LOOPS, results, tasks

FILE = f"tasks/{PLAIN_LOOPS}.csv"


class PlainLoop(Struct, frozen=True):
    """Samples of a task that such a loop trained on one accelerator in a second. Where that holds no whole network, so many
    layers were timed and all `layers` reckoned, without what accelerators have to exchange."""

    task: str
    code: str
    compilation: str
    accelerator: str
    batch: int
    samples_per_second: float
    layers_timed: int | None
    layers: int | None
    measured: date
    source: str
    note: str


@cache
def plain_loops() -> tuple[PlainLoop, ...]:
    """The loops of all tasks. Raises TableError."""
    return tuple(packaged(FILE, PlainLoop))


@cache
def times_as_long(task: str) -> tuple[PlainLoop, float] | None:
    """How many times as long the eager loop takes as the published results: the median of the newest round's on one machine of
    the same accelerator. None if either is missing."""
    loop = next((each for each in plain_loops() if (each.task, each.compilation) == (task, "eager")), None)
    timed = [
        result
        for result in results()[task]
        if loop and result.accelerator == loop.accelerator and result.nodes == 1 and result.passes_per_minute
    ]
    if not (loop and timed):
        return None
    newest = max(each.published for each in timed)
    per_minute = [(each.passes_per_minute or 0) / each.accelerators for each in timed if each.published == newest]
    return loop, median(per_minute) * tasks()[task].samples_per_pass / 60 / loop.samples_per_second
