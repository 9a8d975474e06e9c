"""Networks with the speed at which their code trained them on images: detectors, segmenters, adapters of image generators.

Of images of one's own they train so many epochs; what they reach on these nobody knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import cache
from math import log

from msgspec import Struct

from costcalc.evidence.collection import normalised
from costcalc.evidence.tables import packaged
from costcalc.throughput.workloads import REFERENCE_SIZE
from costcalc.training import OWN_DATA, Throughput, TrainingKind

CONTEXT_GIB = 0.5
"""Memory that CUDA takes beside what a program reserves."""
OF_DATA = log(1.12)
"""How far another data set may move an iteration: on Cityscapes, Pascal VOC, LVIS it takes 0.92, 0.97, 1.12 of COCO's."""


class TimedNetwork(Struct, frozen=True):
    """A network that is `also` called other names, separated by semicolons; `memory_gib` is what each accelerator reserved, as
    far as that was stated."""

    name: str
    also: str | None
    title: str
    kind: TrainingKind
    organisation: str
    precision: str
    seconds_per_iteration: float
    images_per_iteration: int
    accelerators: int
    accelerator: str
    memory_gib: float | None
    published: date
    source: str

    @property
    def words(self) -> tuple[str, ...]:
        """What it is called."""
        return (self.name, *(self.also.split(";") if self.also else ()))

    @property
    def images_per_second(self) -> float:
        return self.images_per_iteration / self.seconds_per_iteration

    @property
    def needed_gib(self) -> float:
        """The memory that an accelerator must have; 0 where that is not known."""
        return self.memory_gib + CONTEXT_GIB if self.memory_gib else 0.0

    @property
    def sentence(self) -> str:
        """`Mask R-CNN R50-FPN of detectron2 trains 61 images a second on 8 V100 (https://...).`"""
        rate = f"{self.images_per_second:.3g} images a second on {self.accelerators} {self.accelerator}"
        fits = (
            f"it needs {self.needed_gib:.1f} GiB" if self.memory_gib else "whether it fits smaller cards is not known"
        )
        return f"{self.title} trains {rate} ({self.source}); {fits}."

    @property
    def speed(self) -> Throughput:
        """Its speed as a row of evidence."""
        return Throughput(
            name=f"timed-{self.name}",
            model=self.name,
            image_size=REFERENCE_SIZE,
            accelerator=self.accelerator,
            accelerators=self.accelerators,
            framework="pytorch",
            framework_family="pytorch",
            stack=OWN_DATA,
            images_per_second=self.images_per_second,
            data="real",
            organisation=self.organisation,
            year=self.published.year,
            source=self.source,
            published=f"{self.published}",
            code="library",
        )


def find_timed_network(name: str) -> TimedNetwork | None:
    """The network of that name, however it is spelt."""
    return _by_spelling().get(normalised(name))


@cache
def timed_networks() -> Mapping[str, TimedNetwork]:
    """By name. Raises TableError."""
    return {each.name: each for each in packaged("timed_networks.csv", TimedNetwork)}


@cache
def _by_spelling() -> Mapping[str, TimedNetwork]:
    return {normalised(word): network for network in timed_networks().values() for word in network.words}
