"""Logs that are tables: Keras, Lightning, timm, fastai, DAWNBench, exports of Weights & Biases, plain CSV, and MLflow's files of
one metric: time, value and step in each line, in MLflow 3 also a model's run, and the data set."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from own_runs.logs.clock import value_of
from own_runs.logs.columns import Meaning, has_time, header_has_place, log_of, rows_of_table
from own_runs.logs.log import LogRefused, Point, TrainingLog, checked

BESIDE = re.compile(r"__(MIN|MAX)$")  # Weights & Biases exports the ends of a smoothed line beside it
LINES_LOOKED_AT = 4
RUN_NAME = re.compile(r"^.* - ")  # which it writes before each metric


class Writer(Meaning, frozen=True):
    """A tool whose tables have these columns. Some tools' tables never have a column of time: `timed` is False."""

    columns: frozenset[str] = frozenset()
    timed: bool = True

    def wrote(self, header: Sequence[str]) -> bool:
        """Whether it may have written a table with this header."""
        return self.columns <= set(header) and (self.timed or not has_time(header))


WRITERS = (
    Writer("DAWNBench", columns=frozenset({"epoch", "hours", "top1Accuracy"}), percent=lambda name: name.startswith("top")),
    Writer("Ultralytics", columns=frozenset({"epoch", "time", "metrics/mAP50-95(B)"}), seconds="time"),
    Writer("timm", True, None, lambda name: "top" in name, columns=frozenset({"epoch", "train_loss", "eval_loss", "eval_top1"})),
    Writer("Lightning", True, columns=frozenset({"epoch", "step"})),
    Writer("Keras", True, columns=frozenset({"epoch", "loss"}), timed=False),
)  # fmt: skip
"""https://github.com/stanford-futuredata/dawn-bench-entries, https://docs.ultralytics.com/modes/train,
https://huggingface.co/docs/timm/training_script,
https://lightning.ai/docs/pytorch/stable/extensions/generated/lightning.pytorch.loggers.CSVLogger.html,
https://keras.io/api/callbacks/csv_logger/; the first whose columns a table has. Read in November 2026."""
PLAIN = Writer("a table")


def header_of(text: str) -> list[str]:
    """The cells of the first line as the names of columns."""
    return [
        RUN_NAME.sub("", cell.strip()) for cell in next(csv.reader([_head(text, 1)[0]], delimiter=_delimiter(text)), [])
    ]


def is_tabular(text: str) -> bool:
    """Whether the first lines have equally many cells, several, and those below the first one mostly numbers."""
    head, *below = _head(text, LINES_LOOKED_AT)
    if not head.strip():
        return False
    sign = _delimiter(text)
    cells = [line.split(sign) if sign in head else line.split() for line in below]
    columns = len(head.split(sign) if sign in head else head.split())
    if sign not in head and not header_has_place(head.split()):
        return False
    numbers = [sum(value_of(cell.strip(' "') or "0") is not None for cell in line) for line in cells]
    return columns > 1 and (
        not below or any(count * 2 >= columns for count in numbers) or header_has_place(header_of(text))
    )


def _head(text: str, lines: int) -> list[str]:
    return text.split("\n", lines)[:lines]


def _delimiter(text: str) -> str:
    return max("\t,;", key=_head(text, 1)[0].count)


def read_table(text: str) -> TrainingLog:
    """A table with a header as a log. Raises LogRefused naming row and column."""
    delimiter = _delimiter(text)
    if delimiter not in _head(text, 1)[0]:  # in columns, as fastai prints them
        text = "\n".join("\t".join(line.split()) for line in text.splitlines())
        delimiter = "\t"
    lines = csv.reader(io.StringIO(text), delimiter=delimiter)
    try:
        header = [RUN_NAME.sub("", cell.strip()) for cell in next(lines, [])]
        writer = next((each for each in WRITERS if each.wrote(header)), PLAIN)
        if twice := [name for name, count in Counter(header).items() if name and count > 1]:
            raise LogRefused(f"line 1: the column {twice[0]} stands there twice: keep one")
        if not header_has_place(header):
            advice = f"name one epoch or step; there are {', '.join(header)[:400]}"
            raise LogRefused(f"line 1: no column says how far training was: {advice}")
        shown = [name if not BESIDE.search(name) else "" for name in header]
        return log_of(rows_of_table(lines, shown), writer)
    except csv.Error as error:
        raise LogRefused(f"line {lines.line_num}: {error}") from None


NUMBER = r"-?\d{1,30}(\.\d{0,30})?(e[-+]?\d{1,3})?|nan|-?inf"  # as Python prints floats
OF = r"( (?P<run>[0-9a-f]{32}))?( (?P<data>.{1,500} \w{1,36}))?"  # the data set by its name and a digest
LINE = re.compile(rf"(?P<time>\d{{10,16}}) (?P<value>{NUMBER})( (?P<step>-?\d{{1,15}}){OF})?", re.ASCII)
MILLISECONDS = 1000.0


def read_mlflow(text: str, metric: str) -> TrainingLog:
    """`mlruns/EXPERIMENT/RUN/metrics/METRIC` or, of a model, `mlruns/EXPERIMENT/models/MODEL/metrics/METRIC`. The file's name is
    the metric's (https://mlflow.org/docs/latest/ml/tracking). Seconds count from the first line. Raises LogRefused."""
    notes = ("MLflow logs the time of each value, not of the start: time counts from its first value.",)
    return TrainingLog("MLflow", checked(_points(text, metric)), notes=notes)


def _points(text: str, metric: str) -> Iterator[Point]:
    start = first = None
    for number, line in enumerate(text.splitlines(), 1):
        parts = LINE.fullmatch(line.strip())
        if not parts:
            raise LogRefused(f"line {number}: must be a time in milliseconds, a value and a step; got {line[:40]}")
        subject = parts["run"], parts["data"]
        first = first or subject
        if subject != first:
            others = "is of another run or data set than the first"
            raise LogRefused(f"line {number}: {others}: give a file with those of one")
        milliseconds = float(parts["time"])
        start = milliseconds if start is None else start
        step, seconds = float(parts["step"]) if parts["step"] else None, (milliseconds - start) / MILLISECONDS
        yield Point(f"line {number}", None, step, seconds, {metric: float(parts["value"])})
