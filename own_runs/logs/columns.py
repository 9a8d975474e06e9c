"""What the columns of a log mean, whatever wrote it: how far training was, when that was, and the values of metrics."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from own_runs.logs.bounds import MOST_POINTS
from own_runs.logs.clock import Clock, Span, Timed, clock_of, moment_of, span_of, value_of
from own_runs.logs.log import FROM_0, LogRefused, Point, TrainingLog, checked, counted_from_1
from own_runs.logs.names import Of, TimeName, is_date, place_of, time_named

Row = Mapping[str, object]
TRAINED = 0.25  # of an epoch's time: so much before a row of epoch 0 is no evaluation of the untrained network
MUST_BE = "{}, column {}: must be a number; got {}"
ANY_TIME = TimeName(Of.START, 1.0)
HAS_DIGIT = re.compile(r"\d").search
UNTRAINED = "Its row of epoch 0 is read as the network before training."


class Meaning(Struct, frozen=True):
    """What is known of a tool: whether its epochs count `from_0`, which column has the `seconds` since the start where its name
    does not say so, which of its metrics are in `percent`, and whether times without a unit are `bare` seconds."""

    written_by: str
    from_0: bool = False
    seconds: str | None = None
    percent: Callable[[str], bool] | None = None
    bare: bool = False


def log_of(rows: Iterable[tuple[str, Row]], meaning: Meaning, stated: Mapping[str, str] | None = None) -> TrainingLog:
    """The log in rows, each with its place in the file, and how it was understood. Raises LogRefused."""
    points, timed = [], []
    for where, row in _readable(rows):
        point, times = _point(where, row, meaning)
        points.append(point)
        timed.append(times)
        if len(points) > MOST_POINTS:
            raise LogRefused(f"{where}: more than {MOST_POINTS:,} points; keep one for each evaluation")
    clock = clock_of(timed, bare_is_seconds=meaning.bare)
    seconds = clock.seconds or (None,) * len(points)
    kept = checked(point._replace(seconds=each) for point, each in zip(points, seconds, strict=True))
    if in_percent := meaning.percent:
        fractions = (
            {name: value / (100 if in_percent(name) else 1) for name, value in each.values.items()} for each in kept
        )
        kept = tuple(point._replace(values=values) for point, values in zip(kept, fractions, strict=True))
    doubts = {"hours": clock.doubt} if clock.doubt else {}
    kept, notes = _from_1(kept, meaning, clock)
    return TrainingLog(meaning.written_by, kept, stated or {}, (*clock.notes, *notes), doubts)


def _from_1(points: tuple[Point, ...], meaning: Meaning, clock: Clock) -> tuple[tuple[Point, ...], tuple[str, ...]]:
    """The points with the epochs that were completed, if the log counts them from 0."""
    if meaning.from_0 and points[0].epochs is not None:
        trained = any(point.steps != 0 for point in points)
        return (counted_from_1(points), (FROM_0.format(meaning.written_by),)) if trained else (points, (UNTRAINED,))
    if points[0].epochs != 0:
        return points, ()
    if _counts_from_0(points, is_timed=clock.total > 0 and not clock.is_date):
        return counted_from_1(points), (FROM_0.format(meaning.written_by),)
    return points, (UNTRAINED,)


def _readable(rows: Iterable[tuple[str, Row]]) -> Iterator[tuple[str, Row]]:
    """The rows. Raises LogRefused for a cell with a digit that can't be read, in a column that began with a number or a time."""
    of_numbers: dict[str, bool] = {}
    for where, row in rows:
        for name, cell in row.items():
            is_read = value_of(cell) is not None or span_of(ANY_TIME, cell) is not None or moment_of(cell) is not None
            if of_numbers.setdefault(name, is_read) and not is_read and isinstance(cell, str) and HAS_DIGIT(cell):
                raise LogRefused(MUST_BE.format(where, name, cell[:40]))
        yield where, row


def _point(where: str, row: Row, meaning: Meaning) -> tuple[Point, Timed]:
    places: dict[str, float] = {}
    values: dict[str, float] = {}
    spans: dict[str, Span] = {}
    moment: float | None = None
    for name, cell in row.items():
        if place := place_of(name):
            if (count := value_of(cell)) is None or math.isnan(count):
                raise LogRefused(MUST_BE.format(where, name, str(cell)[:40]))
            places.setdefault(place, count)
        elif moment is None and is_date(name) and (told := moment_of(cell)) is not None:
            moment = told
        elif span := _span(name, cell, meaning):
            spans[name] = span
        elif (value := value_of(cell)) is not None:
            values[name] = value
        elif moment is None and time_named(name) and (told := moment_of(cell)) is not None:
            moment = told
    epochs = places.get("epochs")
    counted = places.get("batches" if epochs is not None else "iterations")
    steps = places.get("global", places.get("steps", counted))
    return Point(where, epochs, steps, None, values), Timed(epochs, steps, moment, spans)


def _span(name: str, cell: object, meaning: Meaning) -> Span | None:
    """The time in a cell; None if its name is that of none."""
    if name == meaning.seconds:
        return span_of(ANY_TIME, cell)
    named = time_named(name)
    if named is None or (named.unit is None and (moment_of(cell) or 0.0) >= 1e9):
        return None
    return span_of(named, cell)


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
    return any(place_of(name) not in ("", "batches") for name in header)


def has_time(header: Iterable[str]) -> bool:
    """Whether a column says when a row was written."""
    return any(time_named(name) or is_date(name) for name in header)


def rows_of_table(lines: Iterator[list[str]], header: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """The filled cells of each line below a header by their columns, with the line's place."""
    for number, cells in enumerate(lines, 2):
        if not any(any(map(str.isalnum, cell)) for cell in cells) or [
            cell.strip() for cell in cells if cell.strip()
        ] == [*filter(None, header)]:
            continue  # a rule below the header, or the header of another run
        if len(cells) > len(header) and any(cell.strip() for cell in cells[len(header) :]):
            raise LogRefused(f"row {number}: {len(cells)} cells, but {len(header)} columns")
        row = {name: cell.strip() for name, cell in zip(header, cells, strict=False) if name and cell.strip()}
        if row:
            yield f"row {number}", row
