"""A metric's file of MLflow: time, value and step in each line, in MLflow 3 also a model's run, and the data set."""

from __future__ import annotations

import re
from collections.abc import Iterator

from own_runs.logs.log import LogRefused, Point, TrainingLog, checked

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
