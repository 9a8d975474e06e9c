"""How a run whose schedule is known will go on, from other runs of its family at the same share of their schedules.

Runs of one family differ less and less in ln(error) towards their end. So at each later share u of the schedule

    ln error(u) = mean of ln error_j(u) + slope(u) x (ln error(s) - mean of ln error_j(s))

where s is the share seen, j runs over the family's logs, and slope(u) is their regression of the later on the earlier error,
shrunk to 1 (the ratio of error rates) by as much as one log whose error is 5 % off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from costcalc.convergence.curves import isotonic
from costcalc.units import Floats

FEWEST_LOGS = 3  # of a family that says how much its runs differ
WINDOW = 0.1
"""Of the schedule, up to the share seen: its evaluations together say how a run stands, for single ones are noisy."""
PRIOR = 0.05**2  # of a slope of 1
STEPS = 200  # of a forecast, up to the end of the schedule
LEVEL = 0.8  # of its range
ENOUGH_FOR_SHARES = 8  # left-out logs, whose residuals themselves are then the distribution
NORMAL = NormalDist()
BY_RULE = 1.5  # times the largest error, where logs are too few for a quantile
LEAST_REACH = 0.2  # in ln(error): how far beyond its family's logs a run may stand at least


class NoForecast(ValueError):
    """A run that cannot be predicted; the message says why, and what would be needed."""


class Course(Struct, frozen=True):
    """How the error of a run fell: its logarithm [N], made monotone, at shares [N] of the schedule of so many `epochs`."""

    shares: Floats
    log_errors: Floats
    epochs: float

    @classmethod
    def of(cls, epochs: Sequence[float], errors: Sequence[float], planned_epochs: float) -> Course:
        """The course of a log. An error is what the metric lacks of its best value: 1 - accuracy, or a loss. Raises NoForecast
        where one is not above 0, and for a log longer than its plan."""
        if not errors or min(errors) <= 0:
            raise NoForecast("a forecast needs errors above 0, such as 1 - accuracy or a loss")
        if max(epochs) > planned_epochs * (1 + 1e-6):
            raise NoForecast(f"the log has {max(epochs):g} epochs, but {planned_epochs:g} were planned")
        falling = -isotonic([-math.log(error) for error in errors])
        return cls(np.array(epochs) / planned_epochs, falling, planned_epochs)

    def at(self, shares: Floats | float) -> Floats:
        """ln(error) at these shares, interpolated between evaluations."""
        return np.asarray(np.interp(shares, self.shares, self.log_errors))

    def until(self, share: float) -> Course:
        """The course as known when this much of the schedule was done. Raises NoForecast before the first evaluation."""
        seen = self.shares <= share + 1e-9
        if not seen.any():
            raise NoForecast(f"nothing was evaluated in the first {share:.0%} of the schedule")
        return Course(self.shares[seen], self.log_errors[seen], self.epochs)


class Forecast(Struct, frozen=True):
    """The errors [STEPS] that a run is predicted at `shares` [STEPS], from the share seen to the end of the schedule.

    `half_width` is that of its range at LEVEL in ln(error), `by_rule` where too few logs are known for a quantile; `missed` is by
    how much of ln(error) each of the family's logs ended above what the others said of it.
    """

    shares: Floats
    log_errors: Floats
    half_width: float
    by_rule: bool
    missed: tuple[float, ...]

    def end(self) -> tuple[float, float, float]:
        """The error at the end of the schedule: low, middle and high."""
        last = float(self.log_errors[-1])
        low, middle, high = (math.exp(last + side * self.half_width) for side in (-1, 0, 1))
        return low, middle, high

    def chance(self, error: float) -> float:
        """The chance that the run ends at this error or below: the share of the family's logs, each left out, that would have
        ended there from where this one is said to. With few logs their misses are taken as normal."""
        room = math.log(error) - float(self.log_errors[-1])
        if len(self.missed) < ENOUGH_FOR_SHARES:
            return NORMAL.cdf(room / max(self.half_width, 1e-9) * NORMAL.inv_cdf((1 + LEVEL) / 2))
        return (sum(each <= room for each in self.missed) + 0.5) / (len(self.missed) + 1)

    def shares_to(self, error: float) -> tuple[float, float, float]:
        """The share of the schedule at which a run reaches this error: soonest, expected and latest; infinite if not within
        it."""
        wanted = math.log(error)
        soonest, middle, latest = (self._share(wanted - side * self.half_width) for side in (-1, 0, 1))
        return soonest, middle, latest

    def _share(self, log_error: float) -> float:
        reached = self.log_errors <= log_error + 1e-12
        return float(self.shares[reached.argmax()]) if reached.any() else math.inf


def forecast(seen: Course, family: Sequence[Course]) -> Forecast:
    """How a run seen so far goes on. `family` are complete runs. Raises NoForecast if these are too few or unlike it."""
    if len(family) < FEWEST_LOGS:
        raise NoForecast(
            f"{len(family) or 'no'} logs of such runs are known: {FEWEST_LOGS} are needed to say how runs differ"
        )
    share = float(seen.shares[-1])
    _check_alike(seen, family)
    shares = np.linspace(share, 1.0, STEPS)
    missed = _missed_left_out(family, share)
    errors = sorted(map(abs, missed))
    rank = math.ceil((len(errors) + 1) * LEVEL)
    by_rule = rank > len(errors)
    half_width = BY_RULE * errors[-1] if by_rule else errors[rank - 1]
    return Forecast(shares, predicted(seen, family, shares), half_width, by_rule, tuple(missed))


def slope_of_lengths(family: Sequence[Course]) -> float | None:
    """How ln(error) at the end falls with ln(epochs) of the schedule; None if too few lengths are known."""
    lengths = np.log([course.epochs for course in family])
    if len(set(lengths.tolist())) < FEWEST_LOGS:
        return None
    apart = lengths - lengths.mean()
    return min(float(apart @ [float(course.at(1.0)) for course in family] / (apart @ apart)), 0.0)


def sure_length(expected: Forecast, seen: Course, family: Sequence[Course], error: float) -> tuple[float, float] | None:
    """The shortest of the family's schedules longer than the run's, in epochs, with which a new run would end at this error or
    below in LEVEL of all cases, and the chance of that. None if there is none, or the family does not tell."""
    slope = slope_of_lengths(family)
    if slope is None:
        return None
    for epochs in sorted({course.epochs for course in family if course.epochs > seen.epochs}):
        chance = replace(expected, log_errors=expected.log_errors + slope * math.log(epochs / seen.epochs)).chance(
            error
        )
        if chance >= LEVEL:
            return epochs, chance
    return None


def predicted(seen: Course, family: Sequence[Course], shares: Floats) -> Floats:
    """ln(error) at later shares [N] of the schedule, never rising."""
    window = seen.shares >= seen.shares[-1] - WINDOW
    stood, others = (
        _stood(seen, seen.shares[window]),
        np.array([_stood(course, seen.shares[window]) for course in family]),
    )
    later = np.array([course.at(shares) for course in family])
    apart = others - others.mean()
    slopes = (apart @ (later - later.mean(axis=0)) + PRIOR) / (apart @ apart + PRIOR)
    expected = later.mean(axis=0) + np.clip(slopes, 0.0, 1.0) * (stood - others.mean())
    return np.asarray(np.minimum.accumulate(expected))


def _stood(run: Course, shares: Floats) -> float:
    return float(run.at(shares).mean())


def _missed_left_out(family: Sequence[Course], share: float) -> list[float]:
    """How far above the prediction of the others each log ends, in ln(error), after this share of it was seen."""
    misses = []
    for place, course in enumerate(family):
        others = [*family[:place], *family[place + 1 :]]
        seen = course.until(max(share, float(course.shares[0])))
        misses.append(float(course.at(1.0) - predicted(seen, others, np.array([1.0]))[0]))
    return misses


def _check_alike(seen: Course, family: Sequence[Course]) -> None:
    """Raises NoForecast if the run stands further from the family's logs than they do from each other."""
    share = float(seen.shares[-1])
    stood, others = float(seen.log_errors[-1]), np.array([float(course.at(share)) for course in family])
    reach = max(float(np.ptp(others)), LEAST_REACH)
    if not others.min() - reach <= stood <= others.max() + reach:
        raise NoForecast(
            f"after {share:.0%} of the schedule its error is {math.exp(stood):.4g}, those of the family's logs were "
            f"{math.exp(others.min()):.4g} to {math.exp(others.max()):.4g}: it follows another course"
        )
