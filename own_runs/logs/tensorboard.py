"""Event files of TensorBoard, read one record at a time: whatever their size, a bounded number of values is kept."""

from __future__ import annotations

import os
import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from own_runs.logs.bounds import LARGEST_SCALARS_BYTES, MOST_METRICS, MOST_RECORD_BYTES, MOST_VALUES
from own_runs.logs.log import FROM_0, LogRefused, Point, TrainingLog, checked, counted_from_1

HEADER = struct.Struct("<QI")  # length of a record, and a checksum of that
FOOTER_BYTES = 4
EPOCH_TAGS = ("epoch", "train/epoch")  # of Lightning, and of transformers
CLOCK = "TensorBoard logs the time of each value, not of the start: time counts from its first event."
THINNED = "Of {} one in {} values is kept."


class Scalar(NamedTuple):
    """A value of a metric, and when it was logged."""

    step: int
    seconds: float
    value: float


@dataclass
class Scalars:
    """The values of each tag. Beyond MOST_VALUES every second one of the longest is dropped, again and again."""

    kept: dict[str, list[Scalar]] = field(default_factory=lambda: defaultdict(list))
    one_in: dict[str, int] = field(default_factory=lambda: defaultdict(lambda: 1))
    last: dict[str, Scalar] = field(default_factory=dict)
    _seen: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    _count: int = 0

    def add(self, tag: str, scalar: Scalar) -> None:
        """The next value of a tag. Raises LogRefused for more tags than any training has."""
        self.last[tag] = scalar
        if len(self.last) > MOST_METRICS:
            raise LogRefused(f"more than {MOST_METRICS:,} metrics are no training's")
        self._seen[tag] += 1
        if self._seen[tag] % self.one_in[tag]:
            return
        self.kept[tag].append(scalar)
        self._count += 1
        if self._count > MOST_VALUES:
            tag = max(self.kept, key=lambda each: len(self.kept[each]))
            values = self.kept[tag]
            self.kept[tag] = values[1::2]
            self.one_in[tag] *= 2
            self._count -= len(values) - len(self.kept[tag])

    def series(self) -> Mapping[str, Sequence[Scalar]]:
        """Each tag with the values that were kept, and its last."""
        ended = {tag: [self.last[tag]] if values[-1:] != [self.last[tag]] else [] for tag, values in self.kept.items()}
        return {tag: [*values, *ended[tag]] for tag, values in self.kept.items()}


def read_tensorboard(path: Path) -> TrainingLog:
    """The scalars of an event file. Raises LogRefused, also if TensorBoard is not installed."""
    scalars = _scalars(path)
    series = dict(scalars.series())
    epochs = next((series.pop(tag) for tag in EPOCH_TAGS if tag in series), ())
    points = checked(_points(series, epochs))
    notes = [CLOCK, *(THINNED.format(tag, each) for tag, each in scalars.one_in.items() if each > 1 and tag in series)]
    # the running epoch is logged instead of those completed where it is 0 after the first steps
    starts_at_0 = any(scalar.value == 0 and scalar.step > 0 for scalar in epochs)
    if not starts_at_0 or any(scalar.value % 1 for scalar in epochs):
        return TrainingLog("TensorBoard", points, notes=tuple(notes))
    return TrainingLog("TensorBoard", counted_from_1(points), notes=(*notes, FROM_0.format("TensorBoard")))


def _scalars(path: Path) -> Scalars:
    try:
        from google.protobuf.message import DecodeError
        from tensorboard.compat.proto.event_pb2 import Event
    except ModuleNotFoundError:
        raise LogRefused("event files need TensorBoard: pip install tensorboard") from None
    scalars, start = Scalars(), None
    for place, record in _records(path):
        try:
            event = Event.FromString(record)
        except DecodeError:
            raise LogRefused(f"byte {place}: this record is no event of TensorBoard") from None
        start = event.wall_time if start is None else start
        for tag, value in _values(event):
            scalars.add(tag, Scalar(event.step, max(event.wall_time - start, 0.0), value))
    return scalars


def _records(path: Path) -> Iterator[tuple[int, bytes]]:
    """Every whole record that can have scalars, with its place in the file."""
    size = path.stat().st_size
    with path.open("rb") as file:
        while (place := file.tell()) + HEADER.size <= size:
            length, _ = HEADER.unpack(file.read(HEADER.size))
            if length > MOST_RECORD_BYTES:
                raise LogRefused(f"byte {place}: a record of {length:,} bytes is no event")
            if place + HEADER.size + length > size:  # the last one is still being written
                return
            if length <= LARGEST_SCALARS_BYTES:
                yield place, file.read(length)
                file.seek(FOOTER_BYTES, os.SEEK_CUR)
            else:
                file.seek(length + FOOTER_BYTES, os.SEEK_CUR)


def _values(event: Any) -> Iterator[tuple[str, float]]:
    """The scalars of an event, as TensorBoard 1 and 2 write them."""
    for value in event.summary.value if event.HasField("summary") else ():
        if value.HasField("simple_value"):
            yield value.tag, value.simple_value
        elif value.HasField("tensor") and value.metadata.plugin_data.plugin_name in ("scalars", ""):
            from tensorboard.util import tensor_util

            if any(size.size != 1 for size in value.tensor.tensor_shape.dim):  # it may claim more than memory holds
                continue
            array = tensor_util.make_ndarray(value.tensor)
            if array.size == 1 and array.dtype.kind in "fiu":
                yield value.tag, float(array.item())


def _points(series: Mapping[str, Sequence[Scalar]], epochs: Sequence[Scalar]) -> Iterator[Point]:
    """The values of each step together, with the epoch logged there: if whole ones are logged, that which ran, else interpolated
    between those that were."""
    steps: dict[int, dict[str, Scalar]] = defaultdict(dict)
    for tag, scalars in series.items():
        for scalar in scalars:
            steps[scalar.step][tag] = scalar
    at, logged = [scalar.step for scalar in epochs], [scalar.value for scalar in epochs]
    for step in sorted(steps):
        values = steps[step]
        epoch = float(np.interp(step, at, logged)) if at else None
        if at and not any(each % 1 for each in logged):
            epoch = logged[max(int(np.searchsorted(at, step, side="right")) - 1, 0)]
        seconds = max(scalar.seconds for scalar in values.values())
        yield Point(f"step {step}", epoch, float(step), seconds, {tag: scalar.value for tag, scalar in values.items()})
