"""What the columns of a log mean, whatever wrote it: how far training was, when that was, and the values of metrics."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate, pairwise

from msgspec import Struct

from costcalc.units import SECONDS_PER_DAY, SECONDS_PER_HOUR
from own_runs.logs.log import FROM_0, LogRefused, Point, checked, counted_from_1

EPOCHS = ("epoch", "epochs")
STEPS = ("step", "steps", "global_step", "_step", "trainer/global_step")
ITERATIONS = ("iteration", "iterations", "iter")
"""Steps too, but beside an epoch some tools count them anew in each, as mmcv does."""
SECONDS = {"seconds": 1.0, "elapsed_seconds": 1.0, "time_seconds": 1.0, "_runtime": 1.0, "accumulated_submission_time": 1.0,
           "minutes": 60.0, "elapsed_minutes": 60.0, "hours": 3600.0, "elapsed_hours": 3600.0}  # fmt: skip
"""Columns of time since the start, with the seconds of their unit."""
SPANS = ("time", "elapsed", "duration")
"""Columns of time as 1:02:03, since the start or of one epoch, as fastai writes it."""
DATES = ("timestamp", "_timestamp", "datetime", "date", "wall_time", "wall time")
HOURS_MINUTES_SECONDS = re.compile(r"(?:(\d{1,4}):)?(\d{1,3}):(\d{2}(?:\.\d{1,9})?)", re.ASCII)
Row = Mapping[str, object]
UNIX_SECONDS = (1e9, 1e10)  # from 2001 to 2286
MILLISECONDS = 1000.0  # in which MLflow counts
TRAINED = 0.25  # of an epoch's time: so much before a row of epoch 0 is no evaluation of the untrained network
FROM_FIRST_ROW = "The log has the time of each row, not of the start: time counts from its first row."
OF_EACH = "Its times are read as those of single rows, and added up."
UNTRAINED = "Its row of epoch 0 is read as the network before training."


@dataclass
class _Clock:
    """The time of rows, by the first of their columns that tells it."""

    kind: str = ""
    _first: float | None = None
    _last: float = 0.0

    def seconds(self, name: str, cell: object) -> float | None:
        """Seconds since the first row, or of the row itself if `kind` is span; None if the cell holds no time."""
        plain = name.casefold()
        span = HOURS_MINUTES_SECONDS.fullmatch(str(cell)) if plain in SPANS or plain == "timestamp" else None
        moment = float(span[1] or 0) * SECONDS_PER_HOUR + float(span[2]) * 60 + float(span[3]) if span else None
        if plain in SPANS and moment is not None:
            self.kind = "span"
            return moment
        if moment is None and plain in (*DATES, *SPANS):
            moment = _moment(cell)
        if moment is None:
            return None
        while moment < self._last - SECONDS_PER_DAY / 2 and moment < SECONDS_PER_DAY:  # a time of day, past midnight
            moment += SECONDS_PER_DAY * math.ceil((self._last - moment) / SECONDS_PER_DAY)
        self.kind, self._last = "date", moment
        self._first = moment if self._first is None else self._first
        return moment - self._first


def _moment(cell: object) -> float | None:
    """Seconds since 1970 of a date with its time."""
    number = value_of(cell)
    if number is not None:
        units = (number, number / MILLISECONDS)
        return next((each for each in units if UNIX_SECONDS[0] <= each < UNIX_SECONDS[1]), None)
    try:
        moment = datetime.fromisoformat(str(cell).replace(",", "."))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


class Meaning(Struct, frozen=True):
    """What is known of a tool: whether its epochs count `from_0`, and which column has the `seconds` since the start."""

    written_by: str
    from_0: bool = False
    seconds: str | None = None


def points_of(rows: Iterable[tuple[str, Row]], meaning: Meaning) -> tuple[tuple[Point, ...], tuple[str, ...]]:
    """The points of rows, each with its place in the file, and how they were understood. Raises LogRefused."""
    clock = _Clock()
    points, notes = checked(_point(where, row, meaning, clock) for where, row in rows), []
    if clock.kind == "span" and _are_of_single_rows(points):
        sums = accumulate(point.seconds or 0.0 for point in points)
        points = tuple(point._replace(seconds=seconds) for point, seconds in zip(points, sums, strict=True))
        notes = [OF_EACH]
    elif clock.kind == "date":
        notes = [FROM_FIRST_ROW]
    if points[0].epochs != 0:
        return points, tuple(notes)
    if meaning.from_0 or _counts_from_0(points, is_timed=clock.kind != "date"):
        return counted_from_1(points), (*notes, FROM_0.format(meaning.written_by))
    return points, (*notes, UNTRAINED)


def _point(where: str, row: Row, meaning: Meaning, clock: _Clock) -> Point:
    places: dict[str, float] = {}
    values = {}
    for name, cell in row.items():
        place, unit = _place(name, meaning)
        if place:
            places[place] = _number(where, name, cell) * unit
        elif (seconds := clock.seconds(name, cell)) is not None:
            places.setdefault("clock", seconds)
        elif (value := value_of(cell)) is not None:
            values[name] = value
    epochs = places.get("epochs")
    steps = places.get("steps", None if epochs is not None else places.get("iterations"))
    return Point(where, epochs, steps, places.get("seconds", places.get("clock")), values)


def _place(name: str, meaning: Meaning) -> tuple[str, float]:
    """The part of a point that a column holds, with its unit; empty for a metric."""
    plain = name.casefold()
    if name == meaning.seconds or plain in SECONDS:
        return "seconds", SECONDS.get(plain, 1.0)
    places = {"epochs": EPOCHS, "steps": STEPS, "iterations": ITERATIONS}
    return next((place for place, names in places.items() if plain in names), ""), 1.0


def _number(where: str, column: str, cell: object) -> float:
    value = value_of(cell)
    if value is None or math.isnan(value):
        raise LogRefused(f"{where}, column {column}: must be a number; got {str(cell)[:40]}")
    return value


def value_of(cell: object) -> float | None:
    """The number in a cell; None for words."""
    try:
        return float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def _are_of_single_rows(points: Sequence[Point]) -> bool:
    """Whether times are those of each row. Times since the start grow with the rows: the last is as many times the first."""
    times = [point.seconds or 0.0 for point in points]
    falls = any(after < before for before, after in pairwise(times))
    return falls or times[-1] < math.sqrt(len(times)) * times[0]


def _counts_from_0(points: Sequence[Point], is_timed: bool) -> bool:
    """Whether epoch 0 was trained: its last row came after a good part of an epoch's time, or after steps, if the log has these.
    Times count only from the start."""
    if any(point.epochs and point.epochs % 1 for point in points):
        return False
    first, last = next(point for point in reversed(points) if point.epochs == 0), points[-1]
    if not last.epochs:
        return bool(first.seconds or first.steps)
    if is_timed and first.seconds is not None and last.seconds is not None:
        return first.seconds >= TRAINED * (last.seconds - first.seconds) / last.epochs
    return first.steps != 0


def header_has_place(header: Iterable[str]) -> bool:
    """Whether a column says how far training was."""
    return any(name.casefold() in (*EPOCHS, *STEPS, *ITERATIONS) for name in header)


def has_time(header: Iterable[str]) -> bool:
    """Whether a column says when a row was written."""
    return any(name.casefold() in (*SECONDS, *SPANS, *DATES) for name in header)


def rows_of_table(lines: Iterator[list[str]], header: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """The filled cells of each line below a header by their columns, with the line's place."""
    for number, cells in enumerate(lines, 2):
        if len(cells) > len(header) and any(cell.strip() for cell in cells[len(header) :]):
            raise LogRefused(f"row {number}: {len(cells)} cells, but {len(header)} columns")
        row = {name: cell.strip() for name, cell in zip(header, cells, strict=False) if name and cell.strip()}
        if row:
            yield f"row {number}", row
