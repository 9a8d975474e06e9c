"""Whether the recipe picked is the right one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from costcalc.training import System
from science.fitting.schedules import Lengths
from science.validation.convergence.epochs import ends_by_length
from science.validation.published import Published
from science.validation.scores import Case

TARGET_STEP = 0.0025  # in top-1 accuracy


@dataclass(frozen=True, slots=True)
class Regret:
    """Cost of the picks over the best in hindsight, less one: mean and worst over so many choices."""

    choices: int
    mean: float
    worst: float


def regret(excesses: Iterable[float]) -> Regret:
    """Of picks that cost so much more than the best, as fractions of it; at least one."""
    values = list(excesses)
    return Regret(len(values), float(np.mean(values)), max(values))


def regret_of_systems(published: Published, cases: Sequence[Case]) -> Regret:
    """Of the recipe predicted fastest over the fastest, on each system for which several published recipes were predicted."""
    results = {result.recipe: result for result in published.results}
    times: dict[System, list[tuple[float, float]]] = defaultdict(list)
    for case in cases:
        truth = math.log(results[case.name].minutes)
        times[results[case.name].system].append((truth + case.error, truth))
    return regret(
        math.exp(min(choices)[1] - min(truth for _, truth in choices)) - 1
        for choices in times.values()
        if len(choices) > 1
    )


def regret_of_lengths(published: Published, families: Sequence[str]) -> Regret:
    """Of the shortest schedule predicted to reach a target, its own result hidden, over the shortest that does.

    Targets are TARGET_STEP apart, from a family's lowest end accuracy to its highest. A pick that misses costs its own
    epochs and those of the next longer schedule that reaches.
    """
    return regret(excess for family in families for excess in _excesses(published, family))


def _excesses(published: Published, family: str) -> Iterator[float]:
    ends = [(epochs, accuracy) for epochs, accuracy, _ in ends_by_length(published, family)]
    predicted = [_predicted_end(ends, place) for place in range(len(ends))]
    for target in np.arange(ends[0][1], ends[-1][1], TARGET_STEP):
        reaching = [epochs for epochs, end in ends if end >= target]
        epochs, end = ends[next(place for place, guess in enumerate(predicted) if guess >= target)]
        again = min((longer for longer in reaching if longer > epochs), default=epochs)
        yield (epochs if end >= target else epochs + again) / min(reaching) - 1


def _predicted_end(ends: Sequence[tuple[float, float]], place: int) -> float:
    """End accuracy of a schedule from the others; its own where none is shorter or longer."""
    if place in (0, len(ends) - 1):
        return ends[place][1]
    others = [end for other, end in enumerate(ends) if other != place]
    return Lengths(np.array([e for e, _ in others]), np.array([a for _, a in others])).at(ends[place][0])
