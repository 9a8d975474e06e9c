"""What people ran and measured, as it is stored: a training run with its curve, the machine that it ran on and the log that it
was read from; and a measured speed, which answers use as a row of evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from costcalc.evidence import Evidence
from costcalc.fields import filled
from costcalc.hardware import Accelerator
from costcalc.small_networks import SmallDevice
from costcalc.text import in_lines
from costcalc.training import YOU, Throughput
from costcalc.units import SECONDS_PER_HOUR
from pricing.store.local_file import OwnRun

RUN = "run"
OWNER_SIGNS = 8  # of a digest, to tell apart runs of one name
LOWER = re.compile(
    r"(?<![a-z])(loss|err(or)?|ppl|perplexity|wer|cer|mae|r?mse|fid|nll|bpb|bpc|cross_?entropy)(?![a-z])", re.I
)
"""Metrics of which lower values are better."""
HIGHER = re.compile(
    r"acc(?:uracy)?|top[-_ /]?[1-9]|(?<![a-z])(?:f1|bleu|rouge|(?:m|roc|pr)?[-_]?auc|m?ap(?:@?\d+)?|miou|iou|dice|recall|"
    r"precision|psnr|ssim|r2|chrf|ndcg|mrr)(?![a-z])|bbox_map|map50",
    re.I,
)
"""Metrics of which higher values are better."""


class CurvePoint(NamedTuple):
    """The value of the metric after so many `epochs`, `seconds` after the start, None where the log has no time."""

    epochs: float
    seconds: float | None
    value: float


class Run(Struct, frozen=True):
    """One training run of a user's own. Its `name` is what answers are asked for as `model=`.

    `model` is the network, by our name of it where we know it. `curve` has the values of one metric in order of their epochs,
    which are at most `scheduled_epochs`, None where the schedule ended with the log. `accelerators` counts those of all `nodes`;
    `provider` and `instance_type` are None where the machine was not named. `batch_size` is that of all accelerators together,
    `samples_per_second` what they made on average, evaluations included. `ran_on` is the day of the run. `source` is the name of
    the log's file and `digest` that of its content; `notes` say in sentences how it was understood.
    """

    name: str
    model: str
    dataset: str
    metric: str
    lower_is_better: bool
    curve: tuple[CurvePoint, ...]
    accelerator: str
    accelerators: int
    nodes: int
    batch_size: int
    samples_per_epoch: int
    samples_per_second: float
    ran_on: date
    added_at: datetime
    source: str
    digest: str
    written_by: str
    precision: str | None = None
    image_size: int | None = None
    provider: str | None = None
    instance_type: str | None = None
    scheduled_epochs: float | None = None
    data_set_gb: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def reached(self) -> float:
        """The best value of its curve."""
        values = [point.value for point in self.curve]
        return min(values) if self.lower_is_better else max(values)

    @property
    def epochs(self) -> float:
        return self.curve[-1].epochs

    @property
    def hours(self) -> float:
        """How long the whole log took, by its own clock if it has one."""
        logged = self.curve[-1].seconds
        taken = self.epochs * self.samples_per_epoch / self.samples_per_second if logged is None else logged
        return taken / SECONDS_PER_HOUR

    def stored(self, owner: str | None = None) -> OwnRun:
        """As a row of the store, which `owner` alone sees, or everybody."""
        document = msgspec.json.encode(self).decode()
        return OwnRun(run_id(self.name, owner), RUN, owner, self.added_at.astimezone(UTC), document)


def run_id(name: str, owner: str | None) -> str:
    """The id under which a run of this name is stored: several owners may have one each."""
    return f"{name}.{owner[:OWNER_SIGNS]}" if owner else name


def stored_run(row: OwnRun) -> Run:
    """The run in a stored row, as lines. Raises ValueError if it holds none."""
    return in_lines(msgspec.json.decode(row.document, type=Run))


def is_lower_better(metric: str) -> bool:
    """Whether the name of a metric is that of a loss or an error."""
    return LOWER.search(metric) is not None


def is_higher_better(metric: str) -> bool:
    """Whether the name of a metric is that of an accuracy or a score of which everybody knows that more is better."""
    return HIGHER.search(metric) is not None and not is_lower_better(metric)


SPEED, SMALL_DEVICE = "speed", "small device"
OWN_CODE = "own-code"
FRAMEWORK = "pytorch"  # whatever it was: own speeds are compared with own speeds alone
ASKERS_KEPT = 8
SIGNS = re.compile("[^a-z0-9.]+")


class MeasuredSpeed(Struct, frozen=True):
    """How fast a network trained on one machine: `images_per_second` is the median of repeats, which lie within `spread`, a
    fraction of it, on either side.

    `accelerators` counts GPUs or TPU chips; a processor counts as one, of `cores`. `batch_size` is that of all of them together.
    `pipeline_images_per_second` is what the processors prepared alone, None where it was not measured; `machine` describes the
    rest of the machine in a few words.
    """

    model: str
    image_size: int
    accelerator: str
    accelerators: int
    precision: str
    batch_size: int
    images_per_second: float
    spread: float
    framework: str
    machine: str
    measured_at: datetime
    memory_gib: float | None = None
    cores: int | None = None
    pipeline_images_per_second: float | None = None

    @property
    def source(self) -> str:
        """Where the figure comes from."""
        return f"measured here on {self.measured_at:%Y-%m-%d}, {self.machine}"

    def stored(self, owner: str | None = None) -> OwnRun:
        """As a row of the store, which takes the place of an earlier measurement of the same."""
        machine = f"{self.accelerators}x{self.accelerator}"
        parts = self.model, machine, self.precision, self.image_size, (owner or "")[:OWNER_SIGNS]
        name = SIGNS.sub("-", "-".join(map(str, filter(None, parts))).lower())
        document = msgspec.json.encode(self).decode()
        return OwnRun(f"own-{name}"[:64], SPEED, owner, self.measured_at.astimezone(UTC), document)

    def row(self, name: str) -> Throughput:
        return filled(
            Throughput,
            self,
            as_usual=("compilation", "includes_evaluation", "instance_type", "nodes", "plain", "provider", "round"),
            name=name,
            framework_family=FRAMEWORK,
            stack=OWN_CODE,
            global_batch_size=self.batch_size,
            data="real",
            organisation=YOU,
            year=self.measured_at.year,
            note=f"spread {self.spread:.1%}",
            published=f"{self.measured_at:%Y-%m-%d}",
            code="own",
        )


def measured_speed(run: OwnRun) -> MeasuredSpeed:
    """The speed in a stored row, as lines. Raises ValueError if it holds none."""
    return in_lines(msgspec.json.decode(run.document, type=MeasuredSpeed))


def stored_device(device: SmallDevice, now: datetime) -> OwnRun:
    """What decides small networks on a device, as a row of the store."""
    name = SIGNS.sub("-", device.name.lower())
    return OwnRun(f"small-{name}"[:64], SMALL_DEVICE, None, now.astimezone(UTC), msgspec.json.encode(device).decode())


def small_device(run: OwnRun) -> SmallDevice:
    """The device in a stored row, as lines. Raises ValueError if it holds none."""
    return in_lines(msgspec.json.decode(run.document, type=SmallDevice))


def visible(runs: Iterable[OwnRun], owner: str | None) -> tuple[OwnRun, ...]:
    """The runs that a user sees: their own and those shared with everybody."""
    return tuple(run for run in runs if run.owner in (None, owner) or run.shared_by)


def digest_of(runs: Iterable[OwnRun]) -> str:
    """A digest of these stored runs; empty if there are none."""
    text = "".join(f"{run.id} {run.document}" for run in runs)
    return blake2b(text.encode(), digest_size=4).hexdigest() if text else ""


def with_own_speeds(evidence: Evidence, runs: Iterable[OwnRun]) -> Evidence:
    """The evidence with the speeds among these runs, under its own version."""
    return _with_speeds(evidence, tuple(run for run in runs if run.kind == SPEED))


@lru_cache(maxsize=ASKERS_KEPT)
def _with_speeds(evidence: Evidence, runs: tuple[OwnRun, ...]) -> Evidence:
    if not runs:
        return evidence
    speeds = {run.id: measured_speed(run) for run in runs}
    measured = {
        speed.accelerator: replace(Accelerator.unlisted(speed.accelerator), memory_gib=speed.memory_gib)
        for speed in speeds.values()
    }
    return replace(
        evidence,
        accelerators={**measured, **evidence.accelerators},
        own_speeds=tuple(speed.row(name) for name, speed in speeds.items()),
        version=f"{evidence.version}+{digest_of(runs)}",
    )
