"""MLPerf's log: its evaluations, timed from the start of the run, and what it says of itself. It names its benchmark, hence its
data set, the size of that, and which values are better.

Its lines are those of https://github.com/mlcommons/logging; in round 0.6 the moment and the key stood before the JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

import msgspec

from costcalc.tasks.known import find_task
from costcalc.training import IMAGES_PER_EPOCH
from costcalc.units import SECONDS_PER_HOUR
from own_runs.logs.clock import value_of
from own_runs.logs.json_logs import numbers_of
from own_runs.logs.log import LogRefused, NothingYet, Point, TrainingLog, checked

MARK = ":::MLL"
LINE = re.compile(MARK + r"(?:OG\b| (?P<seconds>\d+\.\d+) (?P<key>\w+):)(?P<document>.*)")
FACTS = {"global_batch_size": "batch_size", "train_samples": "samples_per_epoch", "submission_benchmark": "model"}
MILLISECONDS = 1000.0
LATEST_MS = datetime(9999, 12, 31, tzinfo=UTC).timestamp() * MILLISECONDS
MOST_EPOCHS = 10_000  # some benchmarks write the samples seen into epoch_num
SAMPLES_SEEN = "This benchmark of MLPerf counts the samples seen: they are divided by those of the training set."
OFFLINE = "It has evaluations after the run was stopped: they count, without a time."
RETINANET_SINCE = date(2022, 1, 1)
"""From round v2.0 on the benchmark ssd trains RetinaNet (mlcommons/training, single_stage_detector)."""
TOLERANCE = 2.0
"""Sizes of a training set that differ by no more are its own: some codes pad it, or leave out what they can't read."""
BY_TIME = "All its evaluations stand at one epoch: they are placed within it by their times."


class Benchmark(NamedTuple):
    """A benchmark's network and data set; `samples` are those of what one epoch of its logs is, `exact` if of the whole set."""

    model: str
    dataset: str
    better: str
    samples: int
    exact: bool


class Entry(msgspec.Struct):
    """What one line says."""

    time_ms: float
    key: str
    value: Any = None
    metadata: dict[str, Any] = {}


def read_mlperf(text: str) -> TrainingLog:
    """The log; times count from `run_start`. Raises LogRefused."""
    entries = list(_entries(text))
    start = next((entry.time_ms for _, entry in entries if entry.key == "run_start"), None)
    if start is None:
        raise NothingYet("the log of MLPerf has no run_start")
    if not 0 <= start < LATEST_MS:
        raise LogRefused(f"the log of MLPerf starts at {start:g}, which is no date in milliseconds")
    day = datetime.fromtimestamp(start / MILLISECONDS, UTC).date()
    stated, notes = _with_benchmark(_facts(entry for _, entry in entries), day)
    stop = next((entry.time_ms for _, entry in entries if entry.key == "run_stop" and entry.time_ms > start), None)
    points = [_point(where, entry, start, stop) for where, entry in entries]
    if stop is not None and any(point.values and point.seconds is None for point in points):
        stated["hours"] = str((stop - start) / MILLISECONDS / SECONDS_PER_HOUR)
        notes = (*notes, OFFLINE)
    counts_samples = any("samples_count" in entry.metadata for _, entry in entries if entry.key == "eval_accuracy")
    if counts_samples or max(point.epochs or 0.0 for point in points) > MOST_EPOCHS:
        size = float(stated.get("samples_per_epoch", "nan"))
        if not size > 0:
            raise LogRefused("the log of MLPerf counts samples, but has no train_samples to tell the epochs")
        points = [point._replace(epochs=None if point.epochs is None else point.epochs / size) for point in points]
        return TrainingLog("MLPerf", checked(points), stated, (*notes, SAMPLES_SEEN))
    kept = checked(points)
    epochs, end = kept[0].epochs, kept[-1].seconds
    if len(kept) > 1 and {point.epochs for point in kept} == {epochs} and epochs and end:
        kept = tuple(point._replace(epochs=epochs * (point.seconds or 0.0) / end) for point in kept)
        notes = (*notes, BY_TIME)
    return TrainingLog("MLPerf", kept, stated, notes)


def _facts(entries: Iterable[Entry]) -> dict[str, str]:
    """The facts of a run. A list of one, as some write it, is its value; a size that is no number is left out."""
    facts: dict[str, str] = {}
    for entry in entries:
        if fact := FACTS.get(entry.key):
            [value] = entry.value if isinstance(entry.value, list) and len(entry.value) == 1 else [entry.value]
            facts |= {fact: str(value)} if fact == "model" or value_of(value) is not None else {}
    return facts


def _entries(text: str) -> Iterator[tuple[str, Entry]]:
    for number, line in enumerate(text.splitlines(), 1):
        if match := LINE.search(line):
            try:
                statement = msgspec.json.decode(match["document"].strip(), type=dict[str, Any])
                if match["key"]:
                    statement |= {"time_ms": float(match["seconds"]) * MILLISECONDS, "key": match["key"]}
                    statement["metadata"] = statement.get("metadata") or {}
                yield f"line {number}", msgspec.convert(statement, Entry)
            except (msgspec.DecodeError, ValueError) as error:
                raise LogRefused(f"line {number}: not a line of MLPerf's log: {error}") from None


def _point(where: str, entry: Entry, start: float, stop: float | None) -> Point:
    if entry.key != "eval_accuracy":
        return Point(where, None, None, None, {})
    places = numbers_of(entry.metadata)
    after_stop = stop is not None and entry.time_ms > stop
    seconds = None if after_stop else max((entry.time_ms - start) / MILLISECONDS, 0.0)
    seen = places.get("epoch_num", places.get("samples_count"))
    return Point(where, seen, places.get("step_num"), seconds, _values(entry))


def _values(entry: Entry) -> dict[str, float]:
    """The values of an evaluation by their names; one of a single value may be text."""
    result = entry.value
    if isinstance(result, dict) and isinstance(inner := result.get("accuracy"), dict):
        result = inner
    if isinstance(result, dict):
        return numbers_of(result)
    value = value_of(result) if isinstance(result, str) else result
    return numbers_of({str(entry.metadata.get("metric", "accuracy")): value})


def _benchmark(name: str, day: date) -> Benchmark | None:
    """The benchmark that logs of that day call by this name; None if it is unknown."""
    if name == "resnet":
        return Benchmark("resnet50", "imagenet", "higher", IMAGES_PER_EPOCH, exact=True)
    task = find_task("retinanet" if name == "ssd" and day >= RETINANET_SINCE else name)
    if task is None:
        return None
    return Benchmark(task.name, task.dataset, task.better, int(task.samples_per_pass), task.pass_name == "epochs")


def _with_benchmark(stated: Mapping[str, str], day: date) -> tuple[dict[str, str], tuple[str, ...]]:
    """What a log states, with the facts of its benchmark, whose data set decides where the log states another size."""
    benchmark = _benchmark(stated.get("model", ""), day)
    if benchmark is None:
        return dict(stated), ()
    size = float(stated.get("samples_per_epoch", "nan"))
    fits = benchmark.samples / TOLERANCE <= size <= benchmark.samples * TOLERANCE or (size > 0 and not benchmark.exact)
    facts = {"model": benchmark.model, "dataset": benchmark.dataset, "better": benchmark.better}
    if fits:
        return {**stated, **facts}, ()
    samples, other = benchmark.samples, f"is not the size of {benchmark.dataset}"
    note = f"The log's train_samples of {size:,.0f} {other}: {samples:,} samples are taken."
    return {**stated, **facts, "samples_per_epoch": str(samples)}, (note,) if size > 0 else ()
