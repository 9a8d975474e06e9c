"""What runs of a task pass on their way: `partway.csv`, and how far systems of organisations that are left out lie off it.

`science/data/partway_logs.csv` holds what the middle run of a system had reached at its evaluations, and after which share of its
passes to the task's quality; of stretches without a better value the ends are kept.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from io import StringIO
from pathlib import Path

import numpy as np
from msgspec import Struct

from costcalc.evidence.tables import cells
from costcalc.tasks.tables import Partway, Task, rounds, tasks
from costcalc.throughput.fitted_parameters import LEVEL
from costcalc.units import Floats

LOGS = Path(__file__).parents[1] / "data" / "partway_logs.csv"
SHARES = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
LATER = 1.02  # than the first evaluation of half of the systems
EQUAL = 1e-6


class Log(Struct, frozen=True, eq=False):
    """The best values of a run until its evaluations, higher ones better, after so large `shares` of its passes."""

    organisation: str
    repository: str
    shares: Floats
    values: Floats

    def share_at(self, value: float) -> float:
        """The share after which the run passes a value."""
        after = int(np.argmax(self.values >= value))
        around = slice(max(after - 1, 0), after + 1)
        return float(np.interp(value, self.values[around], self.shares[around]))


class Passed(Struct, frozen=True):
    """How far in ln the share of a system's passes to a value lies `off` the median of other organisations' systems; `log_left`
    is ln of 1 over the median of all."""

    task: str
    off: float
    log_left: float


@cache
def logs() -> Mapping[str, tuple[Log, ...]]:
    """The logs by task. Raises TableError."""
    found: dict[str, list[Log]] = defaultdict(list)
    for line in cells(LOGS.name, LOGS.read_text("utf-8")):
        shares, values = (np.array(str(line[name]).split(";"), float) for name in ("shares", "values"))
        repository = rounds()[str(line["round"])].repository
        log = Log(str(line["organisation"]), repository, shares, sign(tasks()[str(line["task"])]) * values)
        found[str(line["task"])].append(log)
    return {task: tuple(some) for task, some in found.items()}


def sign(task: Task) -> int:
    """What makes higher values of its metric better."""
    return -1 if task.better == "lower" else 1


def on_the_way(task: Task) -> Iterator[tuple[float, float]]:
    """Shares after which half of the systems had been evaluated, and the median value there, as far as it grows."""
    some, last = logs()[task.name], -math.inf
    first = LATER * float(np.median([log.shares[0] for log in some]))
    for share in (each for each in SHARES if each >= first):
        known = [float(np.interp(share, log.shares, log.values)) for log in some if log.shares[0] <= share]
        if last + EQUAL < (middle := float(np.median(known))) < sign(task) * task.quality - EQUAL:
            last = middle
            yield share, middle


def passed(task: Task) -> Iterator[Passed]:
    """Every system of an organisation beside those of others, at every value on the way."""
    owner = np.array([log.organisation for log in logs()[task.name]])
    for share, value in on_the_way(task):
        at = np.array([log.share_at(value) for log in logs()[task.name]])
        for organisation in sorted(set(owner.tolist())):
            off = np.log(at[owner == organisation] / np.median(at[owner != organisation]))
            yield from (Passed(task.name, each, -math.log(share)) for each in off.tolist())


def width(some: Sequence[Passed]) -> float:
    """The exponent of 1/share within which 8 in 10 lie."""
    return round(float(np.quantile([abs(one.off) / one.log_left for one in some], LEVEL)), 3)


def table() -> str:
    """`partway.csv`."""
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(Partway.__struct_fields__)
    for task in (task for name, task in tasks().items() if name in logs()):
        some, wide = logs()[task.name], width(list(passed(task)))
        source = "; ".join(sorted({log.repository for log in some}))
        points = [(share, f"{sign(task) * value:.5g}") for share, value in on_the_way(task)]
        rows.writerows((task.name, *point, wide, len(some), source) for point in points)
    return text.getvalue()
