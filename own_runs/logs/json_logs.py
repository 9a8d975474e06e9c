"""Logs in JSON: the trainer state of transformers, Keras' history, and lines of Weights & Biases, detectron2, mmcv and others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from costcalc.units import SECONDS_PER_HOUR
from own_runs.logs.bounds import LONGEST_NAME, MOST_SECONDS
from own_runs.logs.clock import OF_EACH_STEP
from own_runs.logs.columns import Meaning, header_has_place, log_of
from own_runs.logs.log import LogRefused, Point, TrainingLog, checked

MOST = 1e300
BLANK = re.compile(r"[\s,]*")
BESIDE = re.compile(r"(_runtime|_per_second)$|^(learning_rate|grad_norm)$")  # which transformers logs beside metrics
OF_STEPS = {"time", "data_time"}
BESIDE_STEPS = ("time", "data_time", "rank_data_time", "eta_seconds", "memory")
"""What detectron2, mmcv and mmengine write of a step, in seconds and MB, beside what they measure."""
A_VALUE_AN_EPOCH = "Its lists are read as having a value for each epoch."
MOST_LISTED = 2_000
"""Epochs of such lists: longer ones have a value for each step."""
DEEPEST = 3
PLACES = ("epoch", "step", "total_flos")
TAKEN = ("epoch", "step", "_step", "_runtime", "_timestamp")
WRAPPED = ("log", "message", "msg", "MESSAGE", "text")
MOMENTS = ("time", "timestamp", "@timestamp", "ts")
OF_DEIT = {"epoch", "test_acc1", "n_parameters"}
"""What the lines of DeiT's training script have, and of those that took it over
(https://github.com/facebookresearch/deit/blob/main/main.py, read in November 2026): epochs from 0, accuracies in percent."""
Rows = Sequence[tuple[str, Mapping[str, object]]]


def read_json(text: str) -> TrainingLog:
    """A document of JSON, or several: one in each line, or wrapped over lines. Raises LogRefused."""
    documents = list(_documents(text))
    [(_, first), *more] = documents
    if more and all(isinstance(each, dict) for _, each in documents):
        return read_json_lines(documents)
    if not more and isinstance(first, dict) and isinstance(history := first.get("log_history"), list):
        return _trainer_state(first, history)
    rows = [] if more else _rows_in(first)
    if not rows:
        names = f"; it has {', '.join(list(first)[:8])}" if isinstance(first, dict) else ""
        raise LogRefused(
            f"the JSON has no lists of values and no log_history, as trainer_state.json of transformers has{names}"
        )
    return read_json_lines(rows) if any(header_has_place(row) for _, row in rows) else _lists(first, rows)


def _lists(document: object, rows: Rows) -> TrainingLog:
    """Lists with a value for each epoch, as Keras' history has them. Raises LogRefused."""
    if not isinstance(document, dict) or len(rows) > MOST_LISTED:
        names = ", ".join(rows[0][1])[:400]
        raise LogRefused(f"no entry of the JSON says how far training was: it needs epoch or step; there are {names}")
    counted = [(where, {"epoch": epoch, **row}) for epoch, (where, row) in enumerate(rows, 1)]
    log = log_of(counted, Meaning("Keras' history"))
    return replace(log, notes=(*log.notes, A_VALUE_AN_EPOCH))


def wrapped_text(text: str) -> str | None:
    """The lines of text that stand in JSON, one in each object, as containers keep them; None in others."""
    lines = []
    for line in filter(str.strip, text.splitlines()):
        entry = entry_in(line) if line.startswith("{") else None
        if entry is None or header_has_place(entry):
            return None
        told = next((entry[name] for name in WRAPPED if isinstance(entry.get(name), str)), None)
        if told is None:
            return None
        moment = next((entry[name] for name in MOMENTS if isinstance(entry.get(name), str)), "")
        lines.append(f"{moment} {told.rstrip()}".lstrip())
    return "\n".join(lines)


def entry_in(line: str) -> Mapping[str, Any] | None:
    """The object of JSON in which a line ends; None if it has none."""
    at = line.find('{"')
    try:
        document = json.loads(line[at:]) if at >= 0 else None
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _documents(text: str) -> Iterator[tuple[str, Any]]:
    """The documents in a text, each with its place."""
    decoder, at, counted, number = json.JSONDecoder(), 0, 0, 1
    while (at := BLANK.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        number += text.count("\n", counted, at)
        where, counted = f"line {number}", at
        try:
            document, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise LogRefused(f"{where if number > 1 else 'the file'} is not JSON: {error}") from None
        yield where, document


def _rows_in(document: object, depth: int = 0) -> list[tuple[str, Mapping[str, object]]]:
    """The longest list of entries, or lists of values, within a document."""
    if isinstance(document, list):
        entries = [each for each in document if isinstance(each, dict)]
        return (
            [(f"entry {number}", each) for number, each in enumerate(entries, 1)]
            if len(entries) == len(document)
            else []
        )
    if not isinstance(document, dict) or depth > DEEPEST:
        return []
    lists = {name: _listed(value) for name, value in document.items()}
    lists = {name: values for name, values in lists.items() if values}
    if lists:
        longest = max(map(len, lists.values()))
        same = {name: values for name, values in lists.items() if len(values) == longest}
        return [(f"value {at + 1}", {name: values[at] for name, values in same.items()}) for at in range(longest)]
    return max((_rows_in(value, depth + 1) for value in document.values()), key=len, default=[])


def _listed(value: object) -> list[object]:
    """The numbers of a list, or of an object with its places for names, as pandas writes a column."""
    if isinstance(value, dict) and value and all(name.isdecimal() for name in value):
        value = list(value.values())
    if not isinstance(value, list) or not all(isinstance(each, (int, float, str)) for each in value):
        return []
    return value if any(isinstance(each, (int, float)) for each in value) else []


def _trainer_state(state: Mapping[str, Any], history: Sequence[object]) -> TrainingLog:
    """`trainer_state.json` of transformers. Raises LogRefused."""
    batch = state.get("train_batch_size")
    stated = {"batch_size": str(batch)} if isinstance(batch, int) else {}
    points, ended = [], []
    for index, entry in enumerate(history):
        where = f"log_history[{index}]"
        if not isinstance(entry, dict):
            raise LogRefused(f"{where}: must be an object")
        numbers = numbers_of(entry)
        if "train_runtime" in numbers:
            ended.append(numbers)
        values = {name: value for name, value in numbers.items() if name not in PLACES and not BESIDE.search(name)}
        points.append(Point(where, numbers.get("epoch"), numbers.get("step"), None, values))
    return TrainingLog("transformers", checked(points), stated | stated_by_trainer(ended))


def stated_by_trainer(ended: Iterable[Mapping[str, float]]) -> dict[str, str]:
    """What the last entries of transformers' trainer say of a run: its hours, and the samples of a step of all processes."""
    stated = {}
    for entry in ended:
        if "epoch" in entry:
            stated["epochs"] = str(entry["epoch"])
        if 0 < entry["train_runtime"] <= MOST_SECONDS:
            stated["hours"] = str(entry["train_runtime"] / SECONDS_PER_HOUR)
        samples, steps = entry.get("train_samples_per_second", 0.0), entry.get("train_steps_per_second", 0.0)
        if samples > 0 and steps > 0:
            stated["samples_per_step"] = str(samples / steps)
    return stated


def read_json_lines(lines: Rows) -> TrainingLog:
    """Objects with a place each, as Weights & Biases exports a run's history, and as DeiT, detectron2 and mmcv log. Raises
    LogRefused."""
    lines = [(where, flat(entry)) for where, entry in lines]
    if all(entry.keys() >= OF_DEIT for _, entry in lines):
        return log_of(lines, Meaning("DeiT", from_0=True, percent=lambda name: "_acc" in name))
    writer = "Weights & Biases" if "_step" in lines[0][1] else "JSON lines"
    if not any(entry.keys() >= OF_STEPS for _, entry in lines):
        return log_of(_rows(lines), Meaning(writer))
    log = log_of(_rows(list(_timed(lines))), Meaning(writer))
    return replace(log, notes=(*log.notes, OF_EACH_STEP))


def flat(entry: Mapping[str, object], before: str = "", depth: int = 0) -> dict[str, object]:
    """An entry whose objects are parts of it: {"val": {"acc": 1}} is {"val/acc": 1}."""
    row: dict[str, object] = {}
    for name, value in entry.items():
        if isinstance(value, dict) and depth < DEEPEST:
            row |= flat(value, f"{before}{name[:LONGEST_NAME]}/", depth + 1)
        else:
            row[before + name] = value
    return row


def _timed(lines: Rows) -> Iterator[tuple[str, Mapping[str, object]]]:
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
        yield where, {name: value for name, value in entry.items() if name not in BESIDE_STEPS} | {"_runtime": seconds}


def _rows(lines: Rows) -> Iterator[tuple[str, Mapping[str, object]]]:
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


def numbers_of(entry: Mapping[str, object]) -> dict[str, float]:
    """The entries that are numbers a float can hold."""
    numbers = ((name, value) for name, value in entry.items() if isinstance(value, (int, float)))
    return {name: float(value) for name, value in numbers if not (isinstance(value, bool) or abs(value) >= MOST)}
