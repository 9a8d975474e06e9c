"""Learns what tasks tell one another of chips, from the results of all tasks together.

That is the posterior of an effect that all tasks share, and of one that those of a kind share, given the results of the others.
Rows far off the rest count for less, as in answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec
import numpy as np
from msgspec import Struct

from costcalc.evidence import Evidence
from costcalc.tasks.evidence import task_evidence
from costcalc.tasks.kernel import SCATTER, Fitted, OfTask, Systems, covariance, weighted_noise
from costcalc.tasks.speeds import TaskSpeeds
from costcalc.tasks.tables import Task, results, tasks
from costcalc.units import Floats, Indices

FEWEST_RUNS = 3
OF_ALL, OF_KIND, OF_TASK = 0.2, 0.12, 0.18
"""Standard deviations of what a chip adds in all tasks, in those of a kind, and in one."""


class Measured(Struct, frozen=True, eq=False):
    """The rates of one task: what is told of each system, and ln(rate of one accelerator) less the prior's mean."""

    task: Task
    systems: Systems
    rates: Floats

    @classmethod
    def of(cls, task: Task, evidence: Evidence) -> Measured:
        """Those of a task's evidence."""
        speeds = TaskSpeeds(evidence.throughputs, evidence.accelerators, OfTask({}))
        return cls(task, speeds.measured, speeds.rates - speeds.measured.mean)


def fitted_tasks(beside: Evidence, without: frozenset[str] = frozenset()) -> Fitted:
    """What the results of all organisations but these teach; `science.validation.tasks` says how wide its ranges must be. Those
    of a task on one system alone say nothing about others."""
    start = Fitted({}, _spreads(without))
    measured = []
    for task in tasks().values():
        evidence = task_evidence(task, beside, start, without)
        if len({row.system for row in evidence.throughputs}) > 1:
            measured.append(Measured.of(task, evidence))
    return msgspec.structs.replace(start, chips=_chips(measured))


def _spreads(without: frozenset[str]) -> dict[str, float]:
    """Of each task the median of its results' standard deviations of ln(minutes) from run to run."""
    found = {}
    for task, some in results().items():
        known = [one for one in some if one.minutes_sd and one.runs >= FEWEST_RUNS and one.organisation not in without]
        if known:
            found[task] = round(median((one.minutes_sd or 0.0) / one.minutes for one in known), 4)
    return found


def _chips(measured: Sequence[Measured]) -> dict[str, dict[str, tuple[float, float]]]:
    """By task what the other tasks tell of every chip that they were measured on."""
    chips = sorted({chip for one in measured for chip in one.systems.chip.tolist()})
    known, rates, owner = _all_together(measured)
    kinds = np.array([measured[number].task.kind for number in owner.tolist()], str)
    of = np.concatenate([one.systems.chip for one in measured])
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for number, one in enumerate(measured):
        others = owner != number
        same_chip = np.array(chips)[:, None] == of[others][None, :]
        across = same_chip * (OF_ALL**2 + OF_KIND**2 * (kinds[others] == one.task.kind)[None, :])
        solved = np.linalg.solve(known[np.ix_(others, others)], np.column_stack([rates[others], across.T]))
        means = across @ solved[:, 0]
        variances = OF_ALL**2 + OF_KIND**2 - (across * solved[:, 1:].T).sum(axis=1) + OF_TASK**2
        told = zip(chips, means.tolist(), np.sqrt(variances).tolist(), same_chip.any(axis=1).tolist(), strict=True)
        found[one.task.name] = {chip: (round(mean, 4), round(sd, 4)) for chip, mean, sd, seen in told if seen}
    return found


def _all_together(measured: Sequence[Measured]) -> tuple[Floats, Floats, Indices]:
    """The covariance of all rates, these, and the number of the task of each: tasks share chips alone."""
    owner = np.repeat(np.arange(len(measured)), [len(one.rates) for one in measured])
    of, kinds = (
        np.concatenate(each)
        for each in zip(*[(one.systems.chip, np.full(len(one.rates), one.task.kind)) for one in measured], strict=True)
    )
    known = np.equal.outer(of, of) * (OF_ALL**2 + OF_KIND**2 * np.equal.outer(kinds, kinds))
    for number, one in enumerate(measured):
        at = np.flatnonzero(owner == number)
        systems = one.systems._replace(chip_deviation=np.full(len(at), OF_TASK))
        within = covariance(systems, systems)
        noise = weighted_noise(within, one.rates, np.full(len(at), SCATTER**2))
        known[np.ix_(at, at)] += within + np.diag(noise)
    return known, np.concatenate([one.rates for one in measured]), owner
