"""Event files of TensorBoard, read one record at a time."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from own_runs.logs.log import LogRefused, Point, TrainingLog, checked

HEADER = struct.Struct("<QI")  # length of a record, and a checksum of that
FOOTER_BYTES = 4
MOST_RECORD_BYTES = 64 * 2**20  # pictures and graphs stand beside the scalars
EPOCH_TAGS = ("epoch",)


def read_tensorboard(path: Path) -> TrainingLog:
    """The scalars of an event file. Raises LogRefused, also where TensorBoard is not installed."""
    try:
        from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    except ModuleNotFoundError:
        raise LogRefused("event files need TensorBoard: install it with pip install 'costcalc[logs]'") from None
    _check_records(path)
    notes = ("TensorBoard logs the time of each value, not of the start: time counts from its first event.",)
    return TrainingLog("TensorBoard", checked(_points(EventFileLoader(str(path)).Load())), notes=notes)


def _check_records(path: Path) -> None:
    """Walks over the records without reading them: one that claims to be huge would be read whole."""
    size = path.stat().st_size
    with path.open("rb") as file:
        while (place := file.tell()) + HEADER.size <= size:
            length, _ = HEADER.unpack(file.read(HEADER.size))
            if length > MOST_RECORD_BYTES:
                raise LogRefused(f"byte {place}: a record of {length:,} bytes is no event")
            file.seek(length + FOOTER_BYTES, os.SEEK_CUR)


def _points(events: Iterator[Any]) -> Iterator[Point]:
    start, epochs = None, None
    for event in events:
        start = event.wall_time if start is None else start
        values = dict(_scalars(event))
        epochs = next((values.pop(tag) for tag in EPOCH_TAGS if tag in values), epochs)
        yield Point(f"step {event.step}", epochs, float(event.step), max(event.wall_time - start, 0.0), values)


def _scalars(event: Any) -> Iterator[tuple[str, float]]:
    from tensorboard.util import tensor_util

    for value in event.summary.value if event.HasField("summary") else ():
        if value.metadata.plugin_data.plugin_name == "scalars" and value.HasField("tensor"):
            yield value.tag, float(tensor_util.make_ndarray(value.tensor).item())
