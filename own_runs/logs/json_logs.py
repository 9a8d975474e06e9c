"""Logs in JSON: the trainer state of transformers, lines of Weights & Biases, and MLPerf's log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from costcalc.units import SECONDS_PER_HOUR
from own_runs.logs.columns import Meaning, points_of
from own_runs.logs.log import MOST_SECONDS, LogRefused, NothingYet, Point, TrainingLog, checked
from own_runs.logs.mlperf_benchmarks import with_benchmark

MLPERF = ":::MLLOG"
MLPERF_FACTS = {
    "global_batch_size": "batch_size",
    "train_samples": "samples_per_epoch",
    "submission_benchmark": "model",
}
MILLISECONDS = 1000.0
MOST = 1e300
BESIDE = re.compile(r"(_runtime|_per_second)$|^(learning_rate|grad_norm)$")  # which transformers logs beside metrics
PLACES = ("epoch", "step", "total_flos")
TAKEN = ("epoch", "step", "_step", "_runtime", "_timestamp")
MOST_EPOCHS_OF_MLPERF = 10_000  # some benchmarks write the samples seen into epoch_num
SAMPLES_SEEN = "This benchmark of MLPerf counts the samples seen: they are divided by those of the training set."
OF_DEIT = {"epoch", "test_acc1", "n_parameters"}
"""What the lines of DeiT's training script have, and of those that took it over
(https://github.com/facebookresearch/deit/blob/main/main.py, read in November 2026): epochs from 0, accuracies in percent."""


class MlperfEntry(msgspec.Struct):
    """One line of MLPerf's log (https://github.com/mlcommons/logging)."""

    time_ms: float
    key: str
    value: Any = None
    metadata: dict[str, Any] = {}


def read_trainer_state(text: str) -> TrainingLog:
    """`trainer_state.json` of transformers. Raises LogRefused."""
    state = _object(text)
    history = state.get("log_history")
    if not isinstance(history, list):
        known = ", ".join(list(state)[:8])
        raise LogRefused(f"the JSON has no log_history, as trainer_state.json of transformers has; it has {known}")
    batch = state.get("train_batch_size")
    stated = {"batch_size": str(batch)} if isinstance(batch, int) else {}
    ended = [entry["train_runtime"] for entry in history if isinstance(entry, dict) and "train_runtime" in entry]
    if ended and type(ended[-1]) in (int, float) and 0 < ended[-1] <= MOST_SECONDS:
        stated["hours"] = str(ended[-1] / SECONDS_PER_HOUR)
    return TrainingLog("transformers", checked(map(_trainer_point, range(len(history)), history)), stated)


def _trainer_point(index: int, entry: object) -> Point:
    where = f"log_history[{index}]"
    if not isinstance(entry, dict):
        raise LogRefused(f"{where}: must be an object")
    numbers = _numbers(entry)
    values = {name: value for name, value in numbers.items() if name not in PLACES and not BESIDE.search(name)}
    return Point(where, numbers.get("epoch"), numbers.get("step"), None, values)


def read_json_lines(text: str) -> TrainingLog:
    """One JSON object in each line, as Weights & Biases exports a run's history, and as DeiT, detectron2 and mmcv log. Raises
    LogRefused."""
    lines = [
        (f"line {number}", _object(line, f"line {number}"))
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip()
    ]
    if all(entry.keys() >= OF_DEIT for _, entry in lines):
        points, notes = points_of(lines, Meaning("DeiT", from_0=True))
        in_fractions = []
        for point in points:
            values = {name: value / 100 if "_acc" in name else value for name, value in point.values.items()}
            in_fractions.append(point._replace(values=values))
        return TrainingLog("DeiT", tuple(in_fractions), notes=notes)
    writer = "Weights & Biases" if "_step" in lines[0][1] else "JSON lines"
    points, notes = points_of(_rows(lines), Meaning(writer))
    return TrainingLog(writer, points, notes=notes)


def _rows(lines: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The entries of lines that are numbers or moments. In logs of mmengine an evaluation has the epoch as its step."""
    of_mmengine = any(entry.keys() >= {"epoch", "iter", "step"} for _, entry in lines)
    for where, entry in lines:
        row = {
            name: value
            for name, value in entry.items()
            if name in TAKEN or not (name.startswith("_") or name in PLACES)
        }
        row = _numbers(row) | {name: value for name, value in row.items() if isinstance(value, str)}
        if of_mmengine and "epoch" not in row and "step" in row:
            row["epoch"] = row.pop("step")
        yield where, row


def read_mlperf(text: str) -> TrainingLog:
    """MLPerf's log: its evaluations, timed from `run_start`. Raises LogRefused."""
    entries = list(_mlperf_entries(text))
    start = next((entry.time_ms for _, entry in entries if entry.key == "run_start"), None)
    if start is None:
        raise NothingYet("the log of MLPerf has no run_start")
    said = {MLPERF_FACTS[entry.key]: str(entry.value) for _, entry in entries if entry.key in MLPERF_FACTS}
    stated, notes = with_benchmark(said, datetime.fromtimestamp(start / MILLISECONDS, UTC).date())
    points = [_mlperf_point(where, entry, start) for where, entry in entries]
    counts_samples = any("samples_count" in entry.metadata for _, entry in entries if entry.key == "eval_accuracy")
    if not counts_samples and max(point.epochs or 0.0 for point in points) <= MOST_EPOCHS_OF_MLPERF:
        return TrainingLog("MLPerf", checked(points), stated, notes)
    return TrainingLog("MLPerf", checked(_of_samples(points, stated)), stated, (*notes, SAMPLES_SEEN))


def _of_samples(points: Iterable[Point], stated: Mapping[str, str]) -> Iterator[Point]:
    """The points of a log that counts samples where others count epochs."""
    size = float(stated.get("samples_per_epoch", "nan"))
    if not size > 0:
        raise LogRefused("the log of MLPerf counts samples, but has no train_samples to tell the epochs")
    return (point._replace(epochs=None if point.epochs is None else point.epochs / size) for point in points)


def _mlperf_entries(text: str) -> Iterator[tuple[str, MlperfEntry]]:
    for number, line in enumerate(text.splitlines(), 1):
        _, marked, document = line.partition(MLPERF)
        if marked:
            try:
                yield f"line {number}", msgspec.json.decode(document.strip(), type=MlperfEntry)
            except (msgspec.DecodeError, ValueError) as error:
                raise LogRefused(f"line {number}: not a line of MLPerf's log: {error}") from None


def _mlperf_point(where: str, entry: MlperfEntry, start: float) -> Point:
    if entry.key != "eval_accuracy":
        return Point(where, None, None, None, {})
    name = str(entry.metadata.get("metric", "accuracy"))
    found = entry.value if isinstance(entry.value, dict) else {name: entry.value}
    places = _numbers(entry.metadata)
    seconds = max((entry.time_ms - start) / MILLISECONDS, 0.0)
    seen = places.get("epoch_num", places.get("samples_count"))
    return Point(where, seen, places.get("step_num"), seconds, _numbers(found))


def _object(text: str, where: str = "the file") -> Mapping[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LogRefused(f"{where} is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise LogRefused(f"{where} must be a JSON object")
    return document


def _numbers(entry: Mapping[str, Any]) -> dict[str, float]:
    """The entries that are numbers a float can hold."""
    numbers = {name: value for name, value in entry.items() if type(value) in (int, float)}
    return {name: float(value) for name, value in numbers.items() if not abs(value) >= MOST}
