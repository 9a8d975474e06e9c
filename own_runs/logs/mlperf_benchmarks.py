"""What MLPerf's benchmarks are: a log names its own, hence its data set, the size of that, and which values are better."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from costcalc.tasks.known import find_task
from costcalc.training import IMAGES_PER_EPOCH

RETINANET_SINCE = date(2022, 1, 1)
"""From round v2.0 on the benchmark ssd trains RetinaNet (mlcommons/training, single_stage_detector)."""
TOLERANCE = 2.0
"""Sizes of a training set that differ by no more are its own: some codes pad it, or leave out what they can't read."""


class Benchmark(NamedTuple):
    """A benchmark's network and data set; `samples` are those of what one epoch of its logs is, `exact` if of the whole set."""

    model: str
    dataset: str
    better: str
    samples: int
    exact: bool


def benchmark(name: str, day: date) -> Benchmark | None:
    """The benchmark that logs of that day call by this name; None where it is not known."""
    if name == "resnet":
        return Benchmark("resnet50", "imagenet", "higher", IMAGES_PER_EPOCH, exact=True)
    task = find_task("retinanet" if name == "ssd" and day >= RETINANET_SINCE else name)
    if task is None:
        return None
    return Benchmark(task.name, task.dataset, task.better, int(task.samples_per_pass), task.pass_name == "epochs")


def with_benchmark(stated: Mapping[str, str], day: date) -> tuple[dict[str, str], tuple[str, ...]]:
    """What a log states, and what its benchmark tells beside. A size that is not that of the data set gives way to it."""
    known = benchmark(stated.get("model", ""), day)
    if known is None:
        return dict(stated), ()
    size = float(stated.get("samples_per_epoch", "nan"))
    fits = known.samples / TOLERANCE <= size <= known.samples * TOLERANCE or (size > 0 and not known.exact)
    told = {"model": known.model, "dataset": known.dataset, "better": known.better}
    if fits:
        return {**stated, **told}, ()
    note = f"The log's train_samples of {size:,.0f} is not the size of {known.dataset}: {known.samples:,} samples are taken."
    return {**stated, **told, "samples_per_epoch": str(known.samples)}, (note,) if size > 0 else ()
