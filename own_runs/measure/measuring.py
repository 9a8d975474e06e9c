"""The use case: measure a network on this machine, and say what limits it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from time import perf_counter, process_time

import torch
from msgspec import Struct

from own_runs.measure import networks, pipeline
from own_runs.measure.devices import CannotMeasure, Device
from own_runs.measure.training import Job, Rate, measured, sweep
from own_runs.runs import MeasuredSpeed
from own_runs.this_machine import cpus, name

FIRST_BATCH = {"cpu": 4}
USUAL_FIRST_BATCH = 32
LEAST_SHARE = 0.7


class Request(Struct, frozen=True):
    """What to measure. `names` are those of one network, the one to store it under first; `module` builds one of the user's own.
    Without a batch, batches double until no more fit or the rate no longer rises; `seconds` are spent on each."""

    names: tuple[str, ...]
    module: str | None = None
    image_size: int = 224
    precision: str | None = None
    batch_size: int | None = None
    seconds: float = 10.0


class Measurement(Struct, frozen=True):
    """What was measured: the device's rate with each batch, and what the processors prepare. `processor_share` is the share of
    all cores' time that this process had while the device was measured."""

    request: Request
    device: Device
    precision: str
    rates: tuple[Rate, ...]
    pipeline_images_per_second: float
    processor_share: float = 1.0

    @property
    def is_disturbed(self) -> bool:
        """Whether other programs took much of a processor that was to be measured."""
        return self.device.kind == "cpu" and self.processor_share < LEAST_SHARE

    @property
    def best(self) -> Rate:
        return max(self.rates, key=lambda rate: rate.images_per_second)

    @property
    def together(self) -> float:
        """Images per second of both: a processor does one after the other, an accelerator is fed meanwhile."""
        trained, prepared = self.best.images_per_second, self.pipeline_images_per_second
        return 1 / (1 / trained + 1 / prepared) if self.device.kind == "cpu" else min(trained, prepared)

    @property
    def limited_by(self) -> str:
        """Which part takes longer."""
        return "accelerator" if self.best.images_per_second <= self.pipeline_images_per_second else "data pipeline"

    def speed(self, now: datetime) -> MeasuredSpeed:
        """The speed as a row to store."""
        return MeasuredSpeed(
            model=self.request.names[0],
            image_size=self.request.image_size,
            accelerator=self.device.name,
            accelerators=1,
            precision=self.precision,
            batch_size=self.best.batch_size,
            images_per_second=self.together,
            spread=self.best.spread,
            framework=f"PyTorch {torch.__version__}",
            machine=name(),
            measured_at=now,
            memory_gib=self.device.memory_gib,
            cores=cpus(),
            pipeline_images_per_second=self.pipeline_images_per_second,
        )


def measure(request: Request, device: Device, tell: Callable[[str], None]) -> Measurement:
    """Measures, telling what goes on. Raises CannotMeasure."""
    precision = request.precision or ("fp32" if device.kind == "cpu" else device.precisions[0])
    if precision not in device.precisions:
        raise CannotMeasure(f"{device.name} does not train in {precision}: write {', '.join(device.precisions)}")
    job = Job(partial(networks.build, request.names, request.module), request.image_size, precision, request.seconds)
    tell(f"{request.names[0]} at {request.image_size} px in {precision} on {device.name}")
    rates, start, processor_start = [], perf_counter(), process_time()
    tried: Iterable[Rate | None] = sweep(job, device, FIRST_BATCH.get(device.kind, USUAL_FIRST_BATCH))
    if request.batch_size is not None:
        tried = [measured(job, device, request.batch_size)]
    for rate in filter(None, tried):
        tell(f"batch {rate.batch_size}: {rate.images_per_second:,.4g} images/s, repeats within {rate.spread:.1%}")
        rates.append(rate)
    share = (process_time() - processor_start) / (perf_counter() - start) / cpus()
    if not rates:
        raise CannotMeasure(f"{request.names[0]} does not fit the memory of {device.name}: try --batch-size 1")
    prepared = pipeline.images_per_second(request.image_size, cpus(), min(request.seconds, 5.0))
    tell(f"data pipeline: {prepared:,.4g} images/s on {cpus()} cores")
    return Measurement(request, device, precision, tuple(rates), prepared, share)
