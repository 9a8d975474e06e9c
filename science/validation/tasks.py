"""How far answers about tasks lie off what organisations published whose results were left out.

Each organisation is left out in turn, but for makers of chips, whose entries hold most of what is known of their chips: without
them the others would be judged by what nobody has to do without. A result is asked about on its own system, on the day of its
round, with its own batch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from costcalc.evidence import Evidence
from costcalc.hardware import Cluster
from costcalc.tasks.evidence import expected_passes, task_evidence
from costcalc.tasks.kernel import Fitted
from costcalc.tasks.layouts import Work
from costcalc.tasks.speeds import TaskSpeeds
from costcalc.tasks.tables import Result, Task, is_contest, partway, results, tasks
from costcalc.throughput.fitted_parameters import ACCELERATOR, LEVEL, TRANSFERRED
from science.fitting.partway import Passed, logs, passed

MAKERS = frozenset({"NVIDIA", "Google", "Intel-HabanaLabs", "Intel", "Graphcore", "AMD"})
SAME, COUNT, CHIP = "same accelerator and count", "another count", "another accelerator"
GOALS = {SAME: 0.025, COUNT: 0.05, CHIP: 0.15}
BATCH, COUNTED = "samples at a batch", "samples counted in its minutes"
TWINS, MANY_TWINS = "minutes that have twins", "minutes that have them of three"
WORK_OF_TWINS = "samples at a batch with twins"
ON_THE_WAY = "samples to easier targets"
GOAL_OF_WORK = 0.012
EXPONENT = 0.9  # of the rate in the count, where nothing is modelled
NOTE = """No model: the nearest round's results of the same chip and count, else of the nearest count; of the same batch.
Beside: the median error of the same results. Seeds: what would be left if but the scatter of a result's own runs were unknown.
Minutes count more samples than lucky runs took (MLPerf's rules of convergence). Twins: results of another organisation with the
same chip, count, machines, batch and round, their median being what no model makes of it; nobody has one of another count or
chip. Where three organisations have them, copying them is still so far off: that is what hosts, their settings and seeds leave.
The ranges of an organisation's results are as wide as 80 % of all others' needed them."""
ALIKE = 10  # results of all tasks that tell as much of how wide a task's ranges must be as so many of its own


class Errors(NamedTuple):
    """In ln: of what is predicted, and of what no model at all makes of it, None where nobody else had the batch."""

    off: float
    nearest_off: float | None


class Predicted(Struct, frozen=True):
    """A result and what was predicted of it: ln of the minutes with its batch, the half-width of their 80 % interval, and how
    near it was to what others measured; ln of its passes, and of those that its minutes count, None where they were not logged;
    ln of the minutes where no batch is asked for, None where nobody had trained to its target by then. `nearest_off` is what no
    model at all makes of the minutes, None where nobody else had the chip; `twins` had the same schedule on the same system in
    its round."""

    result: Result
    kind: str
    off: float
    half_width: float
    work: Errors | None
    counted: Errors | None
    nearest_off: float | None
    twins: tuple[Result, ...]
    open_off: float | None

    @property
    def inside(self) -> bool:
        """Whether the minutes lie within the interval."""
        return abs(self.off) <= self.half_width


def left_out(beside: Evidence, learned: Fitted, makers_too: bool = False) -> Iterator[Predicted]:
    """Every result of an organisation, predicted from those of others, with ranges as the law has them; those of a contest have
    work of their own."""
    learned = Fitted(learned.chips, learned.spreads)
    for task in (each for each in tasks().values() if not is_contest(each)):
        known = [one for one in results()[task.name] if not (one.repeats or one.outlier)]
        for organisation in sorted({one.organisation for one in known} - (frozenset() if makers_too else MAKERS)):
            own = [one for one in known if one.organisation == organisation]
            if len(own) < len(known) - 1:
                yield from _predicted(
                    task, own, task_evidence(task, beside, learned, frozenset({organisation})), learned
                )


def table(cases: Iterable[Predicted], replayed: str) -> str:
    """What `costcalc validate --tasks` prints: errors by how near a result is to what others measured, and by task."""
    every = list(judged(list(cases)))
    rows: list[tuple[str, list[Predicted], float | None]] = [
        (name, [case for case in every if case.kind == name], GOALS[name]) for name in GOALS
    ]
    rows += [("all", every, None)]
    rows += [(task, [case for case in every if case.result.task == task], None) for task in tasks()]
    lines = [
        f"{'results left out by organisation':32}{'n':>6}{'median':>9}{'goal':>8}{'beside':>9}{'no model':>10}{'no batch':>10}"
        f"{'seeds':>7}{'80 % range':>15}"
    ]
    lines += [_line(*row) for row in rows if row[1]]
    return "\n".join(
        [
            *lines,
            _line_of_work(TWINS, list(_beside_twins(every)), None),
            _line_of_work(MANY_TWINS, list(_beside_twins(every, 3)), None),
            _line_of_work(BATCH, [case.work for case in every if case.work], GOAL_OF_WORK),
            _line_of_work(WORK_OF_TWINS, [case.work for case in every if case.work and case.twins], None),
            _line_of_work(COUNTED, [case.counted for case in every if case.counted], None),
            _line_on_the_way([each for name in logs() for each in passed(tasks()[name])]),
            replayed,
            NOTE,
        ]
    )


def _line_of_work(name: str, known: Sequence[Errors], goal: float | None) -> str:
    middle = float(np.median([abs(each.off) for each in known]))
    pairs = [(abs(each.off), abs(each.nearest_off)) for each in known if each.nearest_off is not None]
    return f"{name:32}{len(known):>6}{middle:>9.1%}{_goal(goal)}{_beside(pairs)}"


def _beside_twins(every: Sequence[Predicted], least: int = 1) -> Iterator[Errors]:
    """Beside the errors of minutes that have twins of so many organisations what copying their median gives."""
    for case in every:
        if len({twin.organisation for twin in case.twins}) >= least:
            yield Errors(case.off, without_model(case.result, case.twins))


def _line_on_the_way(every: Sequence[Passed]) -> str:
    """The median error of the share of its work after which a system passes easier targets, and the share inside the ranges."""
    inside = np.mean([abs(one.off) <= partway()[one.task][0].width * one.log_left for one in every])
    return f"{ON_THE_WAY:32}{len(every):>6}{np.median([abs(one.off) for one in every]):>9.1%}{inside:>43.0%}"


def _line(name: str, cases: Sequence[Predicted], goal: float | None) -> str:
    """Beside the median error that of no model at all on the same results, that of questions without a batch, and the share
    inside the range with the interval in which a true 80 % would lie in 95 of 100 such samples."""
    from scipy.stats import binom

    middle = float(np.median([abs(case.off) for case in cases]))
    pairs = [(abs(case.off), abs(case.nearest_off)) for case in cases if case.nearest_off is not None]
    inside = float(np.mean([case.inside for case in cases]))
    low, high = (int(end) / len(cases) for end in binom.interval(0.95, len(cases), LEVEL))
    left_open = [abs(case.open_off) for case in cases if case.open_off is not None]
    without = f"{np.median(left_open):10.1%}" if left_open else " " * 10
    counted = f"{name:32}{len(cases):>6}{middle:>9.1%}{_goal(goal)}{_beside(pairs)}"
    return f"{counted}{without}{_floor(cases):7.1%}{inside:>8.0%} ({low:.0%}-{high:.0%})"


def _floor(cases: Sequence[Predicted]) -> float:
    """The median error of whoever knew everything but how the runs of a result scatter: of a mean of so many."""
    from scipy.stats import halfnorm

    every = [(case.result.minutes_sd or 0.0) / case.result.minutes / math.sqrt(case.result.runs) for case in cases]
    return float(np.median(np.outer(every, halfnorm.ppf(np.arange(0.005, 1, 0.01)))))


def _goal(goal: float | None) -> str:
    return f"{goal:8.1%}" if goal else " " * 8


def _beside(pairs: Sequence[tuple[float, float]]) -> str:
    """The median errors of the model and of none on the same results."""
    if not pairs:
        return " " * 19
    ours, none = np.median(pairs, axis=0)
    return f"{ours:9.1%}{none:10.1%}"


def widened(learned: Fitted, cases: Iterable[Predicted]) -> Fitted:
    """The same with ranges so wide that 8 in 10 of these cases lie within: those of each kind, then each task's own, and ALIKE of
    all tasks."""
    every = [(case, abs(case.off) / case.half_width) for case in cases]
    of_kind = {kind: _quantile([share for case, share in every if case.kind == kind]) for kind in GOALS}
    alike = [(case, share / of_kind[case.kind] * of_kind[SAME]) for case, share in every]
    of_all = _quantile([share for _, share in alike])
    factors = {}
    for task in tasks():
        some = [share for case, share in alike if case.result.task == task]
        own = _quantile(some) if some else of_all
        factors[task] = round(math.exp((len(some) * math.log(own) + ALIKE * math.log(of_all)) / (len(some) + ALIKE)), 4)
    other_count, other_chip = (round(of_kind[kind] / of_kind[SAME], 4) for kind in (COUNT, CHIP))
    return msgspec.structs.replace(
        learned, widenings=factors, other_count=other_count, other_chip=other_chip, cases=len(every)
    )


def judged(cases: Sequence[Predicted]) -> Iterator[Predicted]:
    """These with ranges as wide as the results of all other organisations needed them."""
    for organisation in sorted({case.result.organisation for case in cases}):
        learned = widened(Fitted({}, {}), [case for case in cases if case.result.organisation != organisation])
        by_kind = {SAME: 1.0, COUNT: learned.other_count, CHIP: learned.other_chip}
        for case in (each for each in cases if each.result.organisation == organisation):
            factor = by_kind[case.kind] * learned.widenings[case.result.task]
            yield replace(case, half_width=case.half_width * factor)


def _quantile(shares: Sequence[float]) -> float:
    return float(np.quantile(shares, LEVEL))


def _predicted(task: Task, own: Sequence[Result], evidence: Evidence, learned: Fitted) -> Iterator[Predicted]:
    others = [one for one in results()[task.name] if one.organisation != own[0].organisation]
    speeds = evidence.speed_model
    assert isinstance(speeds, TaskSpeeds)
    clusters = [Cluster(one.accelerator, one.accelerators // one.nodes or 1, one.nodes) for one in own]
    works = [Work(one.global_batch_size, one.published.toordinal()) for one in own]
    asked = speeds.systems(clusters, works)._replace(log_count=np.log([one.accelerators / 8 for one in own]))
    mean, deviation = speeds.predicted(asked)
    passes = [expected_passes(task, others, [one.schedule], learned, one.published)[0] for one in own]
    kinds = speeds.layouts.kinds(clusters)
    widths = speeds.half_widths(deviation, kinds)
    found = zip(own, clusters, mean.tolist(), widths.tolist(), passes, kinds.tolist(), strict=True)
    for one, cluster, rate, width, work, kind in found:
        minutes = np.log(work * task.samples_per_pass / one.accelerators / 60) - rate
        name = SAME if kind == TRANSFERRED else CHIP if kind == ACCELERATOR else COUNT
        alike = _of_nearest_round(one, _of_the_batch(one, others))
        yield Predicted(
            one,
            name,
            float(minutes - np.log(one.minutes)),
            width,
            _errors(work, one.passes, [each.passes for each in alike]) if one.global_batch_size else None,
            _errors(work, one.counted_passes, [each.counted_passes for each in alike])
            if one.global_batch_size
            else None,
            without_model(one, others),
            tuple(each for each in others if _twins(each, one)),
            _open(task, one, cluster, [each for each in others if each.published <= one.published], speeds, learned),
        )


def _open(
    task: Task, one: Result, cluster: Cluster, by_then: Sequence[Result], speeds: TaskSpeeds, learned: Fitted
) -> float | None:
    """How far off the least minutes of any batch lie that its accelerators may train, as in an answer."""
    schedules = dict.fromkeys(each.schedule for each in by_then if each.target == one.target)
    works = [Work(each.batch, one.published.toordinal(), each.target, each.accelerators) for each in schedules]
    if not works:
        return None
    tried = [
        pair
        for pair, may in zip(zip(schedules, works, strict=True), speeds.layouts.allowed(works, [cluster]), strict=True)
        if may[0]
    ]
    rates, _ = speeds.predicted(speeds.systems([cluster] * len(tried), [work for _, work in tried]))
    passes = expected_passes(task, by_then, [schedule for schedule, _ in tried], learned, one.published)
    minutes = np.log(np.array(passes) * task.samples_per_pass / max(one.accelerators, 1) / 60) - rates
    return float(minutes.min() - np.log(one.minutes))


def without_model(one: Result, others: Sequence[Result]) -> float | None:
    """How far the median of the nearest round's results of the same chip lies off, of the same count, else of the nearest with
    the rate of a power of the count: what no model at all does."""
    alike = [
        each
        for each in others
        if (each.accelerator, each.target) == (one.accelerator, one.target) and not (each.repeats or each.outlier)
    ]
    apart = [round(abs(math.log(each.accelerators / one.accelerators)), 9) for each in alike if one.accelerators]
    alike = [each for each, far in zip(alike, apart, strict=False) if far == min(apart)]
    near = [each.minutes * (each.accelerators / one.accelerators) ** EXPONENT for each in _of_nearest_round(one, alike)]
    return float(np.log(np.median(near) / one.minutes)) if near else None


def _twins(one: Result, other: Result) -> bool:
    """Whether they were trained alike on alike systems in one round, and both count."""
    alike = one.schedule, one.accelerator, one.nodes, one.round
    return alike == (other.schedule, other.accelerator, other.nodes, other.round) and not (one.repeats or one.outlier)


def _errors(work: float, passes: float | None, of_others: Sequence[float | None]) -> Errors | None:
    """Of the passes of a result, where they were logged: no model at all takes the median of others'."""
    near = [each for each in of_others if each]
    if not passes:
        return None
    return Errors(math.log(work / passes), math.log(median(near) / passes) if near else None)


def _of_the_batch(one: Result, others: Sequence[Result]) -> list[Result]:
    """Those with the same batch whose passes were logged."""
    work = (one.global_batch_size, one.target)
    return [
        each for each in others if (each.global_batch_size, each.target) == work and each.passes and not each.repeats
    ]


def _of_nearest_round(one: Result, others: Sequence[Result]) -> list[Result]:
    days = [abs((each.published - one.published).days) for each in others]
    return [each for each, apart in zip(others, days, strict=True) if apart == min(days)]
