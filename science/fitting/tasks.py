"""Learns how speeds of the tasks follow chips, counts, batches and years, from the results of all tasks together.

Hyperparameters maximise the marginal likelihood of all tasks' rates, with priors that are wide in ln (MAP); rows far off the rest
count for less, as in answers. What other tasks tell of a chip is the posterior of an effect that all tasks share, and of one that
those of a kind share, given the results of the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import msgspec
import numpy as np
from scipy.optimize import minimize, minimize_scalar

from costcalc.evidence import Evidence
from costcalc.tasks.evidence import task_evidence
from costcalc.tasks.kernel import Fitted, Kernel, OfTask, Systems, covariance
from costcalc.tasks.process import weighted_noise
from costcalc.tasks.speeds import TaskSpeeds
from costcalc.tasks.tables import Task, results, tasks
from costcalc.units import Floats, Indices

START = Kernel(
    silicon=0.1, silicon_count=0.1, silicon_year=0.1, chip=0.3, part=0.08, count=0.08, count_bend=0.12, count_length=1.7,
    chip_count=0.18, chip_count_length=1.3, batch=0.2, batch_bend=0.2, batch_length=1.1, year=0.2, chip_year=0.17,
    chip_year_length=1.0, machines=0.12, part_machines=0.1, cell=0.05, cell_length=1.0,
)  # fmt: skip
NAMES = Kernel.__struct_fields__
PRIOR = 1.0  # standard deviation of ln of each hyperparameter
ROUNDS, STEPS = 3, 15
FEWEST_RUNS = 3
SCATTER, LEAST_SCATTER, MOST_SCATTER = 0.04, 0.008, 0.2
FREEDOM = 4.0  # of the noise: with tails as long as those of answers the likeliest scatter is too small
FLATTER = 0.5
"""Of the likeliest deviations of exponents of the count and the batch: organisations that are left out are predicted best so."""
OF_ALL, OF_KIND, OF_TASK = 0.2, 0.12, 0.18
"""Standard deviations of what a chip adds in all tasks, in those of a kind, and in one."""


@dataclass(frozen=True, eq=False)
class Measured:
    """The rates of one task: what is told of each system, and ln(rate of one accelerator) less the prior's mean."""

    task: Task
    systems: Systems
    rates: Floats

    @classmethod
    def of(cls, task: Task, evidence: Evidence, fitted: Fitted) -> Measured:
        """Those of a task's evidence."""
        speeds = TaskSpeeds(evidence.throughputs, evidence.accelerators, fitted.kernel, OfTask({}, SCATTER))
        return cls(task, speeds.known, speeds.rates - speeds.known.mean)


def fitted_tasks(beside: Evidence, without: frozenset[str] = frozenset()) -> Fitted:
    """What the results of all organisations but these teach; `science.validation.tasks` says how wide its ranges must be. Those
    of a task on one system alone say nothing about others."""
    start = Fitted(START, {}, {}, _spreads(without), {}, 0)
    measured = []
    for task in tasks().values():
        evidence = task_evidence(task, beside, start, without)
        if len({row.system for row in evidence.throughputs}) > 1:
            measured.append(Measured.of(task, evidence, start))
    kernel, scatters = _kernel(measured)
    flat = {name: round(FLATTER * getattr(kernel, name), 4) for name in ("count", "batch")}
    kernel = msgspec.structs.replace(kernel, **flat)
    return msgspec.structs.replace(start, kernel=kernel, scatters=scatters, chips=_chips(measured, kernel, scatters))


def _spreads(without: frozenset[str]) -> dict[str, float]:
    """Of each task the median of its results' standard deviations of ln(minutes) from run to run."""
    found = {}
    for task, some in results().items():
        known = [one for one in some if one.minutes_sd and one.runs >= FEWEST_RUNS and one.organisation not in without]
        if known:
            found[task] = round(median((one.minutes_sd or 0.0) / one.minutes for one in known), 4)
    return found


def _kernel(measured: Sequence[Measured]) -> tuple[Kernel, dict[str, float]]:
    """The hyperparameters, and the scatter of each task, in turns with what each row counts for."""
    kernel, scatters = START, {one.task.name: SCATTER for one in measured}
    for _ in range(ROUNDS):
        noise = [
            weighted_noise(covariance(one.systems, one.systems, kernel), one.rates, _noise(one, scatters), FREEDOM)
            for one in measured
        ]
        found = minimize(
            _misfit,
            np.zeros(len(NAMES)),
            (measured, noise),
            "L-BFGS-B",
            options={"maxiter": STEPS, "maxfun": 20 * STEPS},
        )
        kernel = _stretched(found.x)
        scatters = {
            one.task.name: _scatter(one, kernel, each / _noise(one, scatters))
            for one, each in zip(measured, noise, strict=True)
        }
    return Kernel(**{name: round(getattr(kernel, name), 4) for name in NAMES}), scatters


def _stretched(logs: Floats) -> Kernel:
    return Kernel(
        **{name: getattr(START, name) * math.exp(log) for name, log in zip(NAMES, logs.tolist(), strict=True)}
    )


def _noise(one: Measured, scatters: Mapping[str, float]) -> Floats:
    return np.full(len(one.rates), scatters[one.task.name] ** 2)


def _misfit(logs: Floats, measured: Sequence[Measured], noise: Sequence[Floats]) -> float:
    """Minus the logarithm of the posterior."""
    kernel = _stretched(logs)
    misfits = (
        _minus_log_likelihood(covariance(one.systems, one.systems, kernel), one.rates, each)
        for one, each in zip(measured, noise, strict=True)
    )
    return sum(misfits) + float((logs**2).sum()) / (2 * PRIOR**2)


def _scatter(one: Measured, kernel: Kernel, relative: Floats) -> float:
    """That of a task under which its rates are likeliest, rows counting for what they did."""
    known = covariance(one.systems, one.systems, kernel)

    def misfit(log: float) -> float:
        prior = (log - math.log(SCATTER)) ** 2 / 2
        return _minus_log_likelihood(known, one.rates, math.exp(2 * log) * relative) + prior

    bounds = (math.log(LEAST_SCATTER), math.log(MOST_SCATTER))
    return round(math.exp(minimize_scalar(misfit, bounds=bounds, method="bounded").x), 4)


def _minus_log_likelihood(known: Floats, rates: Floats, noise: Floats) -> float:
    try:
        factor = np.linalg.cholesky(known + np.diag(noise + 1e-9))
    except np.linalg.LinAlgError:
        return 1e9
    solved = np.linalg.solve(factor, rates)
    return float(solved @ solved / 2 + np.log(np.diag(factor)).sum())


def _chips(
    measured: Sequence[Measured], kernel: Kernel, scatters: Mapping[str, float]
) -> dict[str, dict[str, tuple[float, float]]]:
    """By task what the other tasks tell of every chip that they were measured on."""
    chips = sorted({chip for one in measured for chip in one.systems.chip.tolist()})
    known, rates, owner = _all_together(measured, kernel, scatters)
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


def _all_together(
    measured: Sequence[Measured], kernel: Kernel, scatters: Mapping[str, float]
) -> tuple[Floats, Floats, Indices]:
    """The covariance of all rates, these, and the number of the task of each: tasks share chips alone."""
    owner = np.repeat(np.arange(len(measured)), [len(one.rates) for one in measured])
    of, kinds = (
        np.concatenate(each)
        for each in zip(*[(one.systems.chip, np.full(len(one.rates), one.task.kind)) for one in measured], strict=True)
    )
    known = np.equal.outer(of, of) * (OF_ALL**2 + OF_KIND**2 * np.equal.outer(kinds, kinds))
    own = msgspec.structs.replace(kernel, chip=OF_TASK)
    for number, one in enumerate(measured):
        at = np.flatnonzero(owner == number)
        systems = one.systems._replace(chip_deviation=np.full(len(at), OF_TASK))
        within = covariance(systems, systems, own)
        noise = weighted_noise(within, one.rates, _noise(one, scatters), FREEDOM)
        known[np.ix_(at, at)] += within + np.diag(noise)
    return known, np.concatenate([one.rates for one in measured]), owner
