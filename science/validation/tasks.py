"""How far answers about tasks lie off what organisations published whose results were left out.

Each organisation is left out in turn, but for makers of chips, whose entries hold most of what is known of their chips: without
them the others would be judged by what nobody has to do without. A result is asked about on its own system, on the day of its
round, with its own batch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from scipy.stats import binom

from costcalc.evidence import Evidence
from costcalc.hardware import Cluster
from costcalc.tasks.evidence import expected_passes, task_evidence
from costcalc.tasks.kernel import Fitted
from costcalc.tasks.layouts import Work
from costcalc.tasks.speeds import HALF_OF_80, TaskSpeeds
from costcalc.tasks.tables import Result, Task, is_contest, results, tasks
from costcalc.throughput.fitted_parameters import LEVEL
from costcalc.throughput.prediction import ACCELERATOR, TRANSFERRED

MAKERS = frozenset({"NVIDIA", "Google", "Intel-HabanaLabs", "Intel", "Graphcore", "AMD"})
SAME, COUNT, CHIP = "same accelerator and count", "another count", "another accelerator"
GOALS = {SAME: 0.025, COUNT: 0.05, CHIP: 0.15}
BATCH = "samples at a batch"
GOAL_OF_WORK = 0.012
ALIKE = 10  # results of all tasks that tell as much of how wide a task's ranges must be as so many of its own


@dataclass(frozen=True, slots=True)
class Predicted:
    """A result and what was predicted of it: ln of the minutes with its batch, the half-width of their 80 % interval, and how
    near it was to what others measured; ln of its passes, None where they were not logged; ln of the minutes where no batch is
    asked for, None where nobody had trained to its target by then."""

    result: Result
    kind: str
    off: float
    half_width: float
    work_off: float | None
    nearest_off: float | None
    open_off: float | None

    @property
    def inside(self) -> bool:
        """Whether the minutes lie within the interval."""
        return abs(self.off) <= self.half_width


def left_out(beside: Evidence, learned: Fitted, makers_too: bool = False) -> Iterator[Predicted]:
    """Every result of an organisation, predicted from those of others; those of a contest have work of their own."""
    for task in (each for each in tasks().values() if not is_contest(each)):
        known = [one for one in results()[task.name] if not (one.repeats or one.outlier)]
        for organisation in sorted({one.organisation for one in known} - (frozenset() if makers_too else MAKERS)):
            own = [one for one in known if one.organisation == organisation]
            if len(own) < len(known) - 1:
                yield from _predicted(
                    task, own, task_evidence(task, beside, learned, frozenset({organisation})), learned
                )


def table(cases: Iterable[Predicted], learned: Fitted, replayed: str) -> str:
    """What `costcalc validate --tasks` prints: errors by how near a result is to what others measured, and by task."""
    every = list(cases)
    rows: list[tuple[str, list[Predicted], float | None]] = [
        (name, [case for case in every if case.kind == name], GOALS[name]) for name in GOALS
    ]
    rows += [("all", every, None)]
    rows += [(task, [case for case in every if case.result.task == task], None) for task in tasks()]
    work = [abs(case.work_off) for case in every if case.work_off is not None]
    lines = [
        f"{'results left out by organisation':32}{'n':>6}{'median':>9}{'goal':>8}{'nearest':>9}{'no batch':>10}{'80 % range':>13}"
    ]
    lines += [_line(*row) for row in rows if row[1]]
    samples = f"{BATCH:32}{len(work):>6}{np.median(work):>9.1%}{GOAL_OF_WORK:>8.1%}"
    return "\n".join(
        [
            *lines,
            samples,
            replayed,
            f"Ranges are as wide as 80 % of {learned.cases} results left out needed them (`make fit`).",
        ]
    )


def _line(name: str, cases: Sequence[Predicted], goal: float | None) -> str:
    """Beside the median error that of the nearest round's results of the same chip and count, that of questions without a batch,
    and the share inside the range with
    the interval in which a true 80 % would lie in 95 of 100 such samples."""
    median = float(np.median([abs(case.off) for case in cases]))
    nearest = [abs(case.nearest_off) for case in cases if case.nearest_off is not None]
    inside = float(np.mean([case.inside for case in cases]))
    low, high = (int(end) / len(cases) for end in binom.interval(0.95, len(cases), LEVEL))
    beside = f"{np.median(nearest):9.1%}" if nearest else " " * 9
    asked = f"{goal:8.1%}" if goal else " " * 8
    left_open = [abs(case.open_off) for case in cases if case.open_off is not None]
    without = f"{np.median(left_open):10.1%}" if left_open else " " * 10
    return f"{name:32}{len(cases):>6}{median:>9.1%}{asked}{beside}{without}{inside:>6.0%} ({low:.0%}-{high:.0%})"


def widened(learned: Fitted, cases: Iterable[Predicted]) -> Fitted:
    """The same with ranges so wide that 8 in 10 of these cases lie within: each task's own, and ALIKE of all tasks."""
    shares: dict[str, list[float]] = {}
    for case in cases:
        shares.setdefault(case.result.task, []).append(abs(case.off) / case.half_width)
    every = [share for some in shares.values() for share in some]
    of_all = float(np.quantile(every, LEVEL))
    factors = {}
    for task in tasks():
        some = shares.get(task, [])
        own = float(np.quantile(some, LEVEL)) if some else of_all
        factors[task] = round(math.exp((len(some) * math.log(own) + ALIKE * math.log(of_all)) / (len(some) + ALIKE)), 4)
    return msgspec.structs.replace(learned, widenings=factors, cases=len(every))


def _predicted(task: Task, own: Sequence[Result], evidence: Evidence, learned: Fitted) -> Iterator[Predicted]:
    others = [one for one in results()[task.name] if one.organisation != own[0].organisation]
    speeds = evidence.speed_model
    assert isinstance(speeds, TaskSpeeds)
    clusters = [Cluster(one.accelerator, one.accelerators // one.nodes or 1, one.nodes) for one in own]
    works = [Work(one.global_batch_size, one.published.toordinal()) for one in own]
    asked = speeds.systems(clusters, works)._replace(log_count=np.log([one.accelerators / 8 for one in own]))
    mean, deviation = speeds.predicted(asked)
    passes = [
        expected_passes(task, others, [(one.target, one.global_batch_size)], learned, one.published)[0] for one in own
    ]
    kinds = speeds.layouts.kinds(clusters)
    found = zip(own, clusters, mean.tolist(), deviation.tolist(), passes, kinds.tolist(), strict=True)
    for one, cluster, rate, sd, work, kind in found:
        minutes = np.log(work * task.samples_per_pass / one.accelerators / 60) - rate
        name = SAME if kind == TRANSFERRED else CHIP if kind == ACCELERATOR else COUNT
        work_off = float(np.log(work / one.passes)) if one.passes and one.global_batch_size else None
        yield Predicted(
            one,
            name,
            float(minutes - np.log(one.minutes)),
            HALF_OF_80 * sd,
            work_off,
            _nearest(one, others),
            _open(task, one, cluster, [each for each in others if each.published <= one.published], speeds, learned),
        )


def _open(
    task: Task,
    one: Result,
    cluster: Cluster,
    by_then: Sequence[Result],
    speeds: TaskSpeeds,
    learned: Fitted,
) -> float | None:
    """How far off the least minutes of any batch lie that its accelerators may train, as in an answer."""
    batches = dict.fromkeys(each.global_batch_size for each in by_then if each.target == one.target)
    works = [Work(batch, one.published.toordinal(), one.target) for batch in batches]
    if not works:
        return None
    works = [work for work, may in zip(works, speeds.layouts.allowed(works, [cluster]), strict=True) if may[0]]
    rates, _ = speeds.predicted(speeds.systems([cluster] * len(works), works))
    passes = expected_passes(task, by_then, [(one.target, work.batch) for work in works], learned, one.published)
    minutes = np.log(np.array(passes) * task.samples_per_pass / max(one.accelerators, 1) / 60) - rates
    return float(minutes.min() - np.log(one.minutes))


def _nearest(one: Result, others: Sequence[Result]) -> float | None:
    """How far the median of the nearest round's results of the same chip and count lies off: what no model at all does."""
    alike = [
        each
        for each in others
        if (each.accelerator, each.accelerators, each.target) == (one.accelerator, one.accelerators, one.target)
        and not (each.repeats or each.outlier)
    ]
    if not alike:
        return None
    days = min(abs((each.published - one.published).days) for each in alike)
    near = [each.minutes for each in alike if abs((each.published - one.published).days) == days]
    return float(np.log(np.median(near) / one.minutes))
