"""How good predictions were: errors in ln(time), intervals from other groups' errors, and whether their coverage is right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SCORED = (0.8, 0.9)  # levels of the intervals that are scored


@dataclass(frozen=True, slots=True)
class Case:
    """One prediction: what it was for, the group it was held out with, ln(predicted / true) of ours and of the plain method.

    Widths are told for a `scatter` of 1, and are so many times wider for this case. `widths` are its half-widths at 80 and
    90 % where they come from elsewhere than the errors of the same tier.
    """

    name: str
    group: str
    error: float
    plain: float
    widths: tuple[float, ...] = ()
    scatter: float = 1.0


@dataclass(frozen=True, slots=True)
class Coverage:
    """Share of cases inside an interval, and the exact 95 % binomial interval of that share."""

    level: float
    observed: float
    low: float
    high: float
    half_width: float

    @property
    def good(self) -> bool:
        """Whether the nominal level lies in the binomial interval of what was observed."""
        return self.low <= self.level <= self.high


@dataclass(frozen=True, slots=True)
class Goal:
    """What is asked for: a MAPE, or, on other cases than those it was asked about, the same share of the plain method's."""

    mape: float
    share: float


@dataclass(frozen=True, slots=True)
class Score:
    """One row of the report. Percentages as fractions; `plain_mape` is the plain method's on the same cases."""

    tier: str
    cases: int
    plain_mape: float
    mape: float
    median: float
    p90: float
    bias: float
    coverage: tuple[Coverage, ...]
    goal: Goal | None

    @property
    def reached(self) -> bool:
        """Whether the goal is met, one way or the other; true where there is none."""
        return self.goal is None or self.mape <= max(self.goal.mape, self.goal.share * self.plain_mape)


def score(tier: str, cases: Sequence[Case], goal: Goal | None = None) -> Score:
    """The row of these cases."""
    errors = np.array([case.error for case in cases])
    sizes = np.abs(np.expm1(errors))
    return Score(
        tier=tier,
        cases=len(cases),
        plain_mape=float(np.nanmean(np.abs(np.expm1([case.plain for case in cases])))),
        mape=float(sizes.mean()),
        median=float(np.median(sizes)),
        p90=float(np.quantile(sizes, 0.9)),
        bias=float(errors.mean()),
        coverage=tuple(coverage(cases, level) for level in SCORED),
        goal=goal,
    )


def coverage(cases: Sequence[Case], level: float) -> Coverage:
    """The share of cases within their half-width, which the errors of all other groups give unless they bring their own."""
    others = {group: half_width([c for c in cases if c.group != group], level) for group in {c.group for c in cases}}
    widths = [case.widths[SCORED.index(level)] if case.widths else case.scatter * others[case.group] for case in cases]
    inside = sum(abs(case.error) <= width for case, width in zip(cases, widths, strict=True))
    low, high = binomial_interval(inside, len(cases))
    return Coverage(level, inside / len(cases), low, high, float(np.median(widths)))


def half_width(cases: Sequence[Case], level: float) -> float:
    """The split-conformal half-width in ln(time) at a scatter of 1: the ceil((n + 1) level)-th smallest error; infinite where
    too few."""
    sizes = sorted(abs(case.error) / case.scatter for case in cases)
    rank = math.ceil((len(sizes) + 1) * level)
    return sizes[rank - 1] if rank <= len(sizes) else (sizes[-1] * 1.5 if sizes else math.inf)


def binomial_interval(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """The exact (Clopper-Pearson) interval of a share, by bisection on the binomial tails."""
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else _solve(lambda p: 1 - _at_most(successes - 1, trials, p) - tail)
    high = 1.0 if successes == trials else _solve(lambda p: tail - _at_most(successes, trials, p))
    return low, high


def _at_most(successes: int, trials: int, share: float) -> float:
    return sum(math.comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(successes + 1))


def _solve(rising: object) -> float:
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)  # type: ignore[operator]
    return (low + high) / 2
