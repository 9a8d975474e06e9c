"""How fast a network trains: steps of forward, backward and update on images in memory, timed in repeats after a warm-up."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from statistics import median
from time import perf_counter, thread_time
from typing import Any

import torch
from msgspec import Struct

from own_runs.measure.devices import DTYPES, Device

WARM_UP_STEPS = 2
REPEATS = 5
ENOUGH_MORE = 1.02  # a larger batch must be so much faster to go on
MOST_BATCH = 4096
SHORTEST_SECONDS = 1e-6  # clocks of processors tell no less


class Job(Struct, frozen=True):
    """What to measure: networks that `build` returns, on images of this size, in this precision; `seconds` for each batch."""

    build: Callable[[], Any]
    image_size: int
    precision: str
    seconds: float


class Rate(Struct, frozen=True):
    """Images per second in each repeat with this batch."""

    batch_size: int
    repeats: tuple[float, ...]

    @property
    def images_per_second(self) -> float:
        """The median of the repeats."""
        return median(self.repeats)

    @property
    def spread(self) -> float:
        """How far the repeats lie from their median, at most, as a share of it."""
        return max(abs(rate / self.images_per_second - 1) for rate in self.repeats)


def sweep(job: Job, device: Device, first_batch: int) -> Iterator[Rate]:
    """The rates of batches that double, until one does not fit the memory or two in a row are hardly faster."""
    best, idle, batch_size = 0.0, 0, first_batch
    while idle < 2 and batch_size <= MOST_BATCH:
        rate = measured(job, device, batch_size)
        if rate is None:
            return
        yield rate
        idle = 0 if rate.images_per_second > ENOUGH_MORE * best else idle + 1
        best, batch_size = max(best, rate.images_per_second), 2 * batch_size


def measured(job: Job, device: Device, batch_size: int) -> Rate | None:
    """The rate with one batch; None if it does not fit the memory."""
    try:
        step = training_step(job, device, batch_size)
        for _ in range(WARM_UP_STEPS):
            step()
        steps = max(1, math.ceil(job.seconds / REPEATS / _seconds(step, device, 1)))
        return Rate(batch_size, tuple(batch_size * steps / _seconds(step, device, steps) for _ in range(REPEATS)))
    except (torch.OutOfMemoryError, MemoryError):
        return None
    except RuntimeError as error:  # Metal and TPU have no class of their own for this
        if "out of memory" not in str(error).lower() and "resource_exhausted" not in str(error).lower():
            raise
        return None


def training_step(job: Job, device: Device, batch_size: int) -> Callable[[], None]:
    """A step of SGD with momentum on images that lie in the device's memory."""
    place = device.torch_device
    network = job.build().to(place).train()
    images = torch.randn(batch_size, 3, job.image_size, job.image_size, device=place)
    with torch.no_grad():
        classes = network(images[:2]).shape[-1]
    labels = torch.randint(classes, (batch_size,), device=place)
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3, momentum=0.9)
    scaler = torch.amp.GradScaler(device.kind, enabled=job.precision == "fp16" and device.kind == "cuda")

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with nullcontext() if job.precision == "fp32" else torch.autocast(device.kind, DTYPES[job.precision]):
            loss = torch.nn.functional.cross_entropy(network(images), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    return step


def _seconds(step: Callable[[], None], device: Device, steps: int) -> float:
    """How long so many steps take, until the device has done them; other programs do not count on a processor."""
    device.synchronize()
    start = seconds(device)
    for _ in range(steps):
        step()
        if device.kind == "xla":
            device.synchronize()  # a step is compiled and sent as a whole
    device.synchronize()
    return max(seconds(device) - start, SHORTEST_SECONDS)


def seconds(device: Device) -> float:
    """The clock of a device. That of a processor runs only while it works for us, in the thread that takes part in all that the
    others do."""
    return thread_time() if device.kind == "cpu" else perf_counter()
