"""Logs in JSON: the trainer state of transformers, lines of Weights & Biases, and MLPerf's log."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from own_runs.logs.log import LogRefused, Point, TrainingLog, checked

MLPERF = ":::MLLOG"
MLPERF_FACTS = {
    "global_batch_size": "batch_size",
    "train_samples": "samples_per_epoch",
    "submission_benchmark": "model",
}
MILLISECONDS = 1000.0
MOST = 1e300
PLACES = ("epoch", "step", "total_flos")


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
    return TrainingLog("transformers", checked(map(_trainer_point, range(len(history)), history)), stated)


def _trainer_point(index: int, entry: object) -> Point:
    where = f"log_history[{index}]"
    if not isinstance(entry, dict):
        raise LogRefused(f"{where}: must be an object")
    numbers = _numbers(entry)
    values = {name: value for name, value in numbers.items() if name not in PLACES}
    return Point(where, numbers.get("epoch"), numbers.get("step"), None, values)


def read_json_lines(text: str) -> TrainingLog:
    """One JSON object in each line, as Weights & Biases exports a run's history. Raises LogRefused."""
    return TrainingLog("Weights & Biases", checked(_line_points(text)))


def _line_points(text: str) -> Iterator[Point]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            numbers = _numbers(_object(line, f"line {number}"))
            epochs, steps = numbers.get("epoch"), numbers.get("_step", numbers.get("step"))
            values = {name: value for name, value in numbers.items() if name not in PLACES and not name.startswith("_")}
            yield Point(f"line {number}", epochs, steps, numbers.get("_runtime"), values)


def read_mlperf(text: str) -> TrainingLog:
    """MLPerf's log: its evaluations, timed from `run_start`. Raises LogRefused."""
    entries = list(_mlperf_entries(text))
    start = next((entry.time_ms for _, entry in entries if entry.key == "run_start"), None)
    if start is None:
        raise LogRefused("the log of MLPerf has no run_start")
    stated = {MLPERF_FACTS[entry.key]: str(entry.value) for _, entry in entries if entry.key in MLPERF_FACTS}
    return TrainingLog("MLPerf", checked(_mlperf_point(where, entry, start) for where, entry in entries), stated)


def _mlperf_entries(text: str) -> Iterator[tuple[str, MlperfEntry]]:
    for number, line in enumerate(text.splitlines(), 1):
        _, marked, document = line.partition(MLPERF)
        if marked:
            try:
                yield f"line {number}", msgspec.json.decode(document.strip(), type=MlperfEntry)
            except (msgspec.DecodeError, ValueError) as error:
                raise LogRefused(f"line {number}: not a line of MLPerf's log: {error}") from None


def _mlperf_point(where: str, entry: MlperfEntry, start: float) -> Point:
    is_value = entry.key == "eval_accuracy" and isinstance(entry.value, (int, float))
    epochs = entry.metadata.get("epoch_num")
    seconds = max((entry.time_ms - start) / MILLISECONDS, 0.0) if is_value else None
    reached = float(epochs) if is_value and isinstance(epochs, (int, float)) else None
    return Point(where, reached, None, seconds, {"accuracy": float(entry.value)} if is_value else {})


def _object(text: str, where: str = "the file") -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LogRefused(f"{where} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise LogRefused(f"{where} must be a JSON object")
    return found


def _numbers(entry: Mapping[str, Any]) -> dict[str, float]:
    """The entries that are numbers a float can hold."""
    numbers = {name: value for name, value in entry.items() if type(value) in (int, float)}
    return {name: float(value) for name, value in numbers.items() if not abs(value) >= MOST}
