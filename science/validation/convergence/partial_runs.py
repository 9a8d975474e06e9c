"""The end of a run of which only a part is known, as `costcalc.convergence.partial` predicts it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from costcalc.convergence.partial import FEWEST_LOGS, Course, NoForecast, forecast, predicted, slope_of_lengths
from costcalc.training import Evaluation
from science.validation.convergence.chances import Brier, Chance, Scored, brier
from science.validation.published import Published
from science.validation.scores import Case

SHARES = (0.3, 0.5, 0.7)  # of the schedule that are seen
END = np.array([1.0])
MARGINS = (-0.10, -0.05, -0.02, 0.0, 0.02, 0.05, 0.10)  # of ln(error): targets beside the mean end of a family
FFCV = "ffcv-rn50"  # a family, whose lengths are held out one at a time
MLPERF = "mlperf-"  # what the names of families begin with that are held out by organisation
OPEN = "-open-"


class WholeLog(Struct, frozen=True):
    """A log up to the end of its schedule, the group that it is held out with, and whether it lends its course to others."""

    name: str
    family: str
    group: str
    course: Course
    lends: bool = True

    @property
    def end(self) -> float:
        """ln(error) at its end."""
        return float(self.course.log_errors[-1])

    def seen(self, share: float) -> Course | None:
        """What was known at this share of its schedule; None before two evaluations."""
        known = self.course.shares <= share + 1e-9
        return self.course.until(share) if known.sum() > 1 else None


def ffcv_logs(published: Published) -> list[WholeLog]:
    """The logs of one network's schedules of six lengths, two of which lend nothing."""
    known = {
        recipe.name: recipe.evaluations
        for recipe in published.evidence.recipes
        if recipe.family == FFCV and recipe.is_log
    }
    lent = [WholeLog(name, FFCV, name, _course(curve)) for name, curve in known.items()]
    unseen = published.unseen_curves.get(FFCV, {})
    return lent + [WholeLog(name, FFCV, name, _course(curve), lends=False) for name, curve in unseen.items()]


def mlperf_logs(published: Published) -> list[WholeLog]:
    """The logs of the closed division. Their runs stop at their target, within an evaluation of the end of their schedule."""
    return [
        WholeLog(recipe.name, recipe.family, published.organisation(recipe.organisation), _course(recipe.evaluations))
        for recipe in published.evidence.recipes
        if recipe.is_log and recipe.family.startswith(MLPERF) and OPEN not in recipe.family
    ]


def ends(logs: list[WholeLog], share: float) -> list[Case]:
    """The error (1 - accuracy) at the end of each log, when this share was seen and its group held out. The baseline is the mean
    of the family's ends, whatever was seen."""
    return [
        Case(log.name, log.group, float(predicted(seen, family, END)[0]) - log.end, _mean_end(family) - log.end)
        for log, seen, family in _held_out(logs, share)
    ]


def longer(logs: list[WholeLog], share: float) -> list[Case]:
    """The error at the end of each log as it is told from each shorter one, of which this share was seen and to whose schedule's
    length the family's own lengths are applied, neither being in the family. The baseline is the end of the shorter one."""
    cases = []
    for log in logs:
        others = [one for one in logs if one.group != log.group]
        for shorter, seen, family in _held_out(others, share):
            slope = slope_of_lengths(family)
            if shorter.course.epochs < log.course.epochs and slope is not None:
                same = float(predicted(seen, family, END)[0])
                more = slope * math.log(log.course.epochs / shorter.course.epochs)
                cases.append(Case(f"{log.name} from {shorter.name}", log.group, same + more - log.end, same - log.end))
    return cases


def watched_chances(logs: list[WholeLog], share: float) -> Iterator[Scored]:
    """The chance that a run of which this share was seen ends at a target, as `costcalc watch` says it, for targets beside the
    mean end of its family. The baseline is the share of the family that ended there."""
    for log, seen, family in _held_out(logs, share):
        known = np.array([float(one.at(END)[0]) for one in family])
        try:
            found = forecast(seen, family)
        except NoForecast:
            continue
        for margin in MARGINS:
            target = known.mean() + margin
            said = found.chance(math.exp(target))
            chance = Chance(
                f"watched run, {100 * share:.0f} % seen", log.group, log.name, margin, said, log.end <= target
            )
            yield chance, float((known <= target).mean())


def watched_scores(published: Published) -> tuple[Brier, ...]:
    """Of the runs of one network at schedules of several lengths, by the share that was seen."""
    by_share = {share: list(watched_chances(ffcv_logs(published), share)) for share in SHARES}
    return tuple(
        brier(f"watched run, {100 * share:.0f} % seen (FFCV)", scored) for share, scored in by_share.items() if scored
    )


def _held_out(logs: list[WholeLog], share: float) -> Iterator[tuple[WholeLog, Course, list[Course]]]:
    """Each log that had enough evaluations by then and a family without its group, with what was seen of it and that family."""
    for log in logs:
        family = [
            other.course for other in logs if other.lends and other.family == log.family and other.group != log.group
        ]
        seen = log.seen(share)
        if seen is not None and len(family) >= FEWEST_LOGS:
            yield log, seen, family


def _mean_end(family: list[Course]) -> float:
    return float(np.mean([course.at(END) for course in family]))


def _course(curve: tuple[Evaluation, ...]) -> Course:
    known = [(point.epochs, 1 - point.top1) for point in curve if point.top1 is not None]
    epochs, errors = zip(*known, strict=True)
    return Course.of(epochs, errors, epochs[-1])
