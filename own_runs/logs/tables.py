"""Logs that are tables: Keras, Lightning, timm, DAWNBench, exports of Weights & Biases, and plain CSV."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from own_runs.logs.log import FROM_0, LogRefused, Point, TrainingLog, checked, counted_from_1

EPOCHS = ("epoch", "epochs")
STEPS = ("step", "steps", "global_step", "_step", "trainer/global_step", "iteration", "iterations", "iter")
SECONDS = {"seconds": 1.0, "elapsed_seconds": 1.0, "time_seconds": 1.0, "_runtime": 1.0, "accumulated_submission_time": 1.0,
           "minutes": 60.0, "elapsed_minutes": 60.0, "hours": 3600.0, "elapsed_hours": 3600.0}  # fmt: skip
"""Columns of time since the start, with the seconds of their unit."""
UNITS = "seconds, minutes or hours"
UNCLEAR = ("time", "elapsed", "wall_time", "duration")
BESIDE = re.compile(r"__(MIN|MAX)$")  # Weights & Biases exports the ends of a smoothed line beside it
TRAINED = 0.25  # of an epoch's time: so much before a row of epoch 0 is no evaluation of the untrained network
RUN_NAME = re.compile(r"^.* - ")  # which it writes before each metric


@dataclass(frozen=True, slots=True)
class Writer:
    """A tool whose tables have these columns. Its first epoch is 0 if `from_0`, `percent` says which of its metrics are in
    percent, and `seconds` which column has the time since the start where its name does not say so."""

    name: str
    columns: frozenset[str]
    from_0: bool = False
    percent: Callable[[str], bool] = lambda _: False
    seconds: str | None = None


WRITERS = (
    Writer("DAWNBench", frozenset({"epoch", "hours", "top1Accuracy"}), percent=lambda name: name.startswith("top")),
    Writer("Ultralytics", frozenset({"epoch", "time", "metrics/mAP50-95(B)"}), seconds="time"),
    Writer("timm", frozenset({"epoch", "train_loss", "eval_loss", "eval_top1"}), True, lambda name: "top" in name),
    Writer("Lightning", frozenset({"epoch", "step"}), True),
    Writer("Keras", frozenset({"epoch", "loss"}), True),
)  # fmt: skip
"""https://github.com/stanford-futuredata/dawn-bench-entries, https://docs.ultralytics.com/modes/train,
https://huggingface.co/docs/timm/training_script,
https://lightning.ai/docs/pytorch/stable/extensions/generated/lightning.pytorch.loggers.CSVLogger.html,
https://keras.io/api/callbacks/csv_logger/; the first whose columns a table has. Read in November 2026."""
PLAIN = Writer("a table", frozenset())


def read_table(text: str) -> TrainingLog:
    """A table with a header as a log. Raises LogRefused naming row and column."""
    lines = csv.reader(io.StringIO(text), delimiter=_delimiter(text))
    try:
        header = [RUN_NAME.sub("", cell.strip()) for cell in next(lines, [])]
        writer = next((each for each in WRITERS if each.columns <= set(header)), PLAIN)
        _check_header(header, writer)
        points = checked(_points(lines, header, writer))
    except csv.Error as error:
        raise LogRefused(f"line {lines.line_num}: {error}") from None
    if (writer.from_0 and points[0].epochs == 0) or _trained_before_0(points):
        return TrainingLog(writer.name, counted_from_1(points), notes=(FROM_0.format(writer.name),))
    return TrainingLog(writer.name, points)


def _trained_before_0(points: Sequence[Point]) -> bool:
    """Whether the row of epoch 0 took about as long as the later ones: no evaluation of an untrained network does."""
    first, last = points[0], points[-1]
    if first.epochs != 0 or not last.epochs or first.seconds is None or last.seconds is None:
        return False
    return first.seconds >= TRAINED * (last.seconds - first.seconds) / last.epochs


def _delimiter(text: str) -> str:
    first = text.partition("\n")[0]
    return max("\t,;", key=first.count)


def _check_header(header: Sequence[str], writer: Writer) -> None:
    twice = [name for name in header if name and header.count(name) > 1]
    if twice:
        raise LogRefused(f"line 1: the column {twice[0]} stands there twice: keep one")
    unclear = [name for name in header if name.casefold() in UNCLEAR and name != writer.seconds]
    if unclear:
        raise LogRefused(f"line 1: {unclear[0]} has no unit: rename the column to {UNITS}")
    if not any(name.casefold() in (*EPOCHS, *STEPS) for name in header):
        raise LogRefused(
            f"line 1: no column says how far training was: name one epoch or step; there are {', '.join(header)}"
        )


def _points(lines: Iterator[list[str]], header: Sequence[str], writer: Writer) -> Iterator[Point]:
    for number, cells in enumerate(lines, 2):
        if len(cells) > len(header):
            raise LogRefused(f"row {number}: {len(cells)} cells, but {len(header)} columns")
        row = {name: cell.strip() for name, cell in zip(header, cells, strict=False) if cell.strip()}
        if row:
            yield _point(f"row {number}", row, writer)


def _point(where: str, row: Mapping[str, str], writer: Writer) -> Point:
    epochs = steps = seconds = None
    values = {}
    for name, cell in row.items():
        plain = name.casefold()
        if plain in EPOCHS:
            epochs = _number(where, name, cell)
        elif plain in STEPS:
            steps = _number(where, name, cell)
        elif plain in SECONDS or name == writer.seconds:
            seconds = _number(where, name, cell) * SECONDS.get(plain, 1.0)
        elif not BESIDE.search(name) and (value := _value(cell)) is not None:
            values[name] = value / 100 if writer.percent(name) else value
    return Point(where, epochs, steps, seconds, values)


def _number(where: str, column: str, cell: str) -> float:
    value = _value(cell)
    if value is None or math.isnan(value):
        raise LogRefused(f"{where}, column {column}: must be a number; got {cell[:40]}")
    return value


def _value(cell: str) -> float | None:
    """The number, or None where a cell has words."""
    try:
        return float(cell)
    except ValueError:
        return None
