"""Logs in JSON: the trainer state of transformers, and lines of Weights & Biases, detectron2 and mmcv."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from costcalc.units import SECONDS_PER_HOUR
from own_runs.logs.bounds import MOST_SECONDS
from own_runs.logs.columns import Meaning, points_of
from own_runs.logs.log import LogRefused, Point, TrainingLog, checked

MOST = 1e300
BESIDE = re.compile(r"(_runtime|_per_second)$|^(learning_rate|grad_norm)$")  # which transformers logs beside metrics
OF_STEPS = {"time", "data_time"}
BESIDE_STEPS = ("time", "data_time", "rank_data_time", "eta_seconds", "memory")
"""What detectron2, mmcv and mmengine write of a step, in seconds and MB, beside what they measure."""
STEPS_ADDED_UP = "Its times are those of a step: they are added up, without evaluations."
PLACES = ("epoch", "step", "total_flos")
TAKEN = ("epoch", "step", "_step", "_runtime", "_timestamp")
OF_DEIT = {"epoch", "test_acc1", "n_parameters"}
"""What the lines of DeiT's training script have, and of those that took it over
(https://github.com/facebookresearch/deit/blob/main/main.py, read in November 2026): epochs from 0, accuracies in percent."""


def read_trainer_state(text: str) -> TrainingLog:
    """`trainer_state.json` of transformers. Raises LogRefused."""
    state = _object(text)
    history = state.get("log_history")
    if not isinstance(history, list):
        names = ", ".join(list(state)[:8])
        raise LogRefused(f"the JSON has no log_history, as trainer_state.json of transformers has; it has {names}")
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
    numbers = numbers_of(entry)
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
    of_steps = any(entry.keys() >= OF_STEPS for _, entry in lines)
    points, notes = points_of(_rows(list(_timed(lines)) if of_steps else lines), Meaning(writer))
    return TrainingLog(writer, points, notes=(*notes, STEPS_ADDED_UP) if of_steps else notes)


def _timed(lines: Sequence[tuple[str, Mapping[str, object]]]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The lines with the seconds since the start, from those of a step.

    mmcv counts steps (`iter`) anew in each epoch, and those of an evaluation too; detectron2 (`iteration`) counts through.
    """
    seconds = done = last = 0.0
    for where, entry in lines:
        numbers = numbers_of(entry)
        count, taken = numbers.get("iter", numbers.get("iteration")), numbers.get("time")
        taken = last if taken is None and "iteration" in numbers else taken
        if count is not None and taken is not None:
            seconds += (count - done if count > done else count) * taken
            done, last = count, taken
        yield where, {name: value for name, value in entry.items() if name not in BESIDE_STEPS} | {"seconds": seconds}


def _rows(lines: Sequence[tuple[str, Mapping[str, object]]]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The entries of lines that are numbers or moments. In logs of mmengine an evaluation has the epoch as its step."""
    of_mmengine = any(entry.keys() >= {"epoch", "iter", "step"} for _, entry in lines)
    for where, entry in lines:
        row = {
            name: value
            for name, value in entry.items()
            if name in TAKEN or not (name.startswith("_") or name in PLACES)
        }
        row = numbers_of(row) | {name: value for name, value in row.items() if isinstance(value, str)}
        if of_mmengine and "epoch" not in row and "step" in row:
            row["epoch"] = row.pop("step")
        yield where, row


def _object(text: str, where: str = "the file") -> Mapping[str, object]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LogRefused(f"{where} is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise LogRefused(f"{where} must be a JSON object")
    return document


def numbers_of(entry: Mapping[str, object]) -> dict[str, float]:
    """The entries that are numbers a float can hold."""
    numbers = ((name, value) for name, value in entry.items() if isinstance(value, (int, float)))
    return {name: float(value) for name, value in numbers if not (isinstance(value, bool) or abs(value) >= MOST)}
