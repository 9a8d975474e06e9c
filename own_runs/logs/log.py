"""A training log as it was read, whatever wrote it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct, field

from costcalc.text import line
from own_runs.logs.bounds import LONGEST_NAME, MOST_EPOCHS, MOST_METRICS, MOST_POINTS, MOST_SECONDS, MOST_STEPS

FROM_0 = "{} counts epochs from 0: the row of epoch 0 is read as one epoch completed."


class LogRefused(Exception):
    """A file cannot be read as a training log; the message, a line, says where and what to write instead."""

    def __init__(self, message: str) -> None:
        super().__init__(line(message))


class NothingYet(LogRefused):
    """A log has no value so far; that of a training that runs may have one later."""


@contextmanager
def only_refusals() -> Iterator[None]:
    """Whatever a reader makes of a file that is none of its kind becomes LogRefused: cut dates, odd shapes."""
    try:
        yield
    except (LogRefused, OSError, MemoryError):
        raise
    except Exception as error:
        raise LogRefused(f"something in it is no training log's: {str(error)[:200] or type(error).__name__}") from error


class Point(NamedTuple):
    """What was logged at one moment: `epochs` completed, optimizer `steps` taken and `seconds` since the start, each None where
    it was not logged, and the values of metrics by their names in the log. `where` names the place in the file."""

    where: str
    epochs: float | None
    steps: float | None
    seconds: float | None
    values: Mapping[str, float]

    def later(self, seconds: float) -> Point:
        """The point with its clock put forward by so many seconds, if it has one."""
        return self if self.seconds is None else self._replace(seconds=self.seconds + seconds)

    def done(self, epochs_per_step: float) -> float:
        """The epochs completed, by the steps where these alone were logged."""
        return (self.steps or 0.0) * epochs_per_step if self.epochs is None else self.epochs


def times(points: Iterable[Point]) -> list[float]:
    """The seconds of the points that have them."""
    return [point.seconds for point in points if point.seconds is not None]


def known(**facts: str | None) -> dict[str, str]:
    """Those of the facts that a log states."""
    return {name: text for name, text in facts.items() if text}


class TrainingLog(Struct, frozen=True):
    """The points of a log in their order. `stated` has what the file says of the run itself: its `model`, `dataset`,
    `batch_size`, `samples_per_epoch`, `hours`, and which values are `better`. `notes` say in sentences how the file was
    understood; `doubts` say by the same names what to ask where it contradicts itself."""

    written_by: str
    points: tuple[Point, ...]
    stated: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    doubts: Mapping[str, str] = field(default_factory=dict)

    def metrics(self) -> tuple[str, ...]:
        """The names of all metrics, in the order of their first value."""
        return tuple(dict.fromkeys(name for point in self.points for name in point.values))


def checked(points: Iterable[Point]) -> tuple[Point, ...]:
    """The points with a value, which NaN is not. Names of metrics become lines of bounded length.

    Raises NothingYet if there is none, and LogRefused for too many points and for figures that no training has.
    """
    kept, names = [], set[str]()
    for point in points:
        _check(point)
        values = {metric_name(name): value for name, value in point.values.items() if not math.isnan(value)}
        values.pop("", None)
        if values:
            kept.append(point._replace(values=values))
            names.update(values)
        if len(kept) > MOST_POINTS:
            raise LogRefused(f"{point.where}: more than {MOST_POINTS:,} points; keep one for each evaluation")
        if len(names) > MOST_METRICS:
            raise LogRefused(f"{point.where}: more than {MOST_METRICS:,} metrics are no training's")
    if not kept:
        raise NothingYet("the file has no value of any metric: it needs a column such as accuracy or val_loss")
    return tuple(kept)


@lru_cache(maxsize=4096)
def metric_name(text: str) -> str:
    """The log's name of a metric, as a line of bounded length."""
    return line(text)[:LONGEST_NAME].strip()


def counted_from_1(points: Iterable[Point]) -> tuple[Point, ...]:
    """The points of a log whose first epoch is 0, with the epochs that were completed."""
    return tuple(point if point.epochs is None else point._replace(epochs=point.epochs + 1) for point in points)


def _check(point: Point) -> None:
    for name, most in (("epochs", MOST_EPOCHS), ("seconds", MOST_SECONDS), ("steps", MOST_STEPS)):
        value: float | None = getattr(point, name)
        if value is not None and not 0 <= value <= most:
            raise LogRefused(f"{point.where}: {name} must be from 0 to {most:,.0f}; got {value:g}")
    for name, value in point.values.items():
        if math.isinf(value):
            raise LogRefused(f"{point.where}: {name} is infinite")
