"""Scores of predictions: errors in ln(time), intervals from other groups' errors, and how often they hold the truth."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from costcalc.throughput.fitted_parameters import HalfWidth
from costcalc.units import Floats

SCORED_LEVELS = (0.8, 0.9)  # of the intervals
WIDER = NormalDist().inv_cdf(0.95) / NormalDist().inv_cdf(0.9)  # a normal interval of 90 % than one of 80 %
TINY = 1e-9  # sums of shares are this exact
RULE = 1.5  # times the largest error is taken for a quantile that the errors are too few for


class Case(Struct, frozen=True):
    """One held-out prediction: its name, the group that it was held out with, and ln(predicted / true) of the estimator
    and of the baseline.

    `scatter` is how many times wider than usual its intervals are. `half_widths` are those at SCORED_LEVELS, in ln(time),
    for cases whose intervals come from elsewhere than the errors of the same experiment.
    """

    name: str
    group: str
    error: float
    baseline_error: float
    half_widths: tuple[float, ...] = ()
    scatter: float = 1.0


class Coverage(Struct, frozen=True):
    """The share of cases inside their interval of this level, and the exact 95 % binomial interval of that share.

    `half_width` is the median over the cases, in ln(time); `by_rule` where some of them had too few others for a quantile.
    """

    level: float
    observed: float
    low: float
    high: float
    half_width: float
    by_rule: bool = False

    @property
    def good(self) -> bool:
        """Whether the level lies in the binomial interval of the share."""
        return self.low <= self.level <= self.high


class Goal(Struct, frozen=True):
    """The error asked for: a MAPE, or a share of the baseline's, whichever is easier to reach."""

    mape: float
    share: float


@dataclass(frozen=True, slots=True)
class Score:
    """One row of the report. Errors are fractions of the true time; `bias` is the mean of ln(predicted / true).

    `mape` is the mean absolute percentage error, `p90` the 90th percentile of the absolute errors.
    """

    experiment: str
    cases: int
    baseline_mape: float
    mape: float
    median: float
    p90: float
    bias: float
    coverage: tuple[Coverage, ...]
    goal: Goal | None

    @property
    def reached(self) -> bool:
        """Whether the goal is met; true where there is none."""
        return self.goal is None or self.mape <= max(self.goal.mape, self.goal.share * self.baseline_mape)


def score(experiment: str, cases: Sequence[Case], goal: Goal | None = None, by_group: bool = False) -> Score:
    """The row of these cases. A baseline that has nothing to go by, NaN, is left out of its mean. With `by_group` the intervals
    count each group once."""
    errors = np.array([case.error for case in cases])
    sizes = np.abs(np.expm1(errors))
    return Score(
        experiment=experiment,
        cases=len(cases),
        baseline_mape=float(np.nanmean(np.abs(np.expm1([case.baseline_error for case in cases])))),
        mape=float(sizes.mean()),
        median=float(np.median(sizes)),
        p90=float(np.quantile(sizes, 0.9)),
        bias=float(errors.mean()),
        coverage=tuple(coverage(cases, level, by_group) for level in SCORED_LEVELS),
        goal=goal,
    )


def coverage(cases: Sequence[Case], level: float, by_group: bool = False) -> Coverage:
    """How many cases lie within half-widths from the errors of all other groups, or within their own if they bring some.

    With `by_group` each group counts once, in its half-width and in the share.
    """
    from scipy.stats import binomtest

    groups = {case.group for case in cases}
    others = {group: half_width([case for case in cases if case.group != group], level, by_group) for group in groups}
    by_rule = any(others[case.group].by_rule for case in cases if not case.half_widths)
    widths = [
        case.half_widths[SCORED_LEVELS.index(level)] if case.half_widths else case.scatter * others[case.group].ln
        for case in cases
    ]
    inside = np.array([abs(case.error) <= width for case, width in zip(cases, widths, strict=True)])
    number = len(groups) if by_group else len(cases)
    observed = float(np.average(inside, weights=_weights(cases, by_group)))
    share = binomtest(round(observed * number), number).proportion_ci(0.95, method="exact")
    return Coverage(level, observed, float(share.low), float(share.high), float(np.median(widths)), by_rule)


def with_half_widths(cases: Sequence[Case], by_group: bool = False) -> list[Case]:
    """The same, each with the half-widths at SCORED_LEVELS that the errors of all other groups make."""
    widths = {
        group: tuple(
            half_width([case for case in cases if case.group != group], level, by_group).ln for level in SCORED_LEVELS
        )
        for group in {case.group for case in cases}
    }
    return [replace(case, half_widths=widths[case.group]) for case in cases]


def half_width(cases: Sequence[Case], level: float, by_group: bool = False) -> HalfWidth:
    """The split-conformal half-width at a scatter of 1: the ceil((n + 1) level)-th smallest of n errors.

    With `by_group` each of n groups counts once, its errors sharing its weight (Lee, Barber and Willett, Distribution-free
    inference with hierarchical data, 2023). Where n is too small, by rule: RULE times the largest error, infinite without cases.
    """
    number = len({case.group for case in cases}) if by_group else len(cases)
    sizes = np.array([abs(case.error) / case.scatter for case in cases])
    order = np.argsort(sizes)
    reached = np.cumsum(_weights(cases, by_group)[order]) >= (number + 1) * level - TINY
    if reached.any():
        return HalfWidth(float(sizes[order][reached.argmax()]), False, number, by_organisation=by_group)
    return HalfWidth(RULE * float(sizes.max()) if number else math.inf, True, number, by_organisation=by_group)


def _weights(cases: Sequence[Case], by_group: bool) -> Floats:
    """What each case counts: one, or its part of the one that its group counts."""
    members = Counter(case.group for case in cases)
    return np.array([1 / members[case.group] if by_group else 1.0 for case in cases])
