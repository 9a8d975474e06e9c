"""A measured speed as it is stored, and as the row of evidence that answers then use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from costcalc.evidence import Evidence
from costcalc.fields import filled
from costcalc.hardware import Accelerator
from costcalc.small_networks import SmallDevice
from costcalc.text import in_lines
from costcalc.training import YOU, Throughput
from own_runs.runs import OWNER_SIGNS
from pricing.store.local_file import OwnRun

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
