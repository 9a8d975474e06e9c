"""The largest batch of a network that an accelerator's memory holds: measured where somebody tried, else with an interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from itertools import islice
from math import exp, floor, inf

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from costcalc.evidence.collection import Evidence
from costcalc.hardware import Accelerator
from costcalc.throughput.memory import Precision, gib_per_image, room_gib
from costcalc.throughput.workloads import REFERENCE_SIZE
from costcalc.training import Model, Tier

TRIED = ("largest_batch", "next_tried")
BITS: Mapping[Precision, str] = {"16bit": "fp16", "32bit": "fp32"}
OTHER_CARD, MODELLED, GUESSED = 0.15, 0.25, 1.0
"""ln half-widths at 80 %: of what was measured on other cards; of batches from a network's activations (0.17 on the card that the
factors were learned from); and from its multiply-adds alone. A test compares them with the measured ones."""
MODELLED_FROM = "modelled from parameters, activations, precision and image size"


class Fit(Struct, frozen=True):
    """The largest batch of a network on one accelerator with its 80 % interval, and how it is known.

    `precision` and `image_size` are None where the source of a measured batch does not state them.
    """

    model: str
    accelerator: str
    memory_gib: float
    precision: str | None
    image_size: int | None
    fits: bool
    largest_batch: int
    largest_batch_low: int
    largest_batch_high: int
    evidence: Tier
    source: str


class FitQuestion(Struct, frozen=True):
    """Networks and accelerators by their exact names, the precision, the image size (None: each network's own), and the day by
    which things are to be known."""

    models: tuple[str, ...]
    accelerators: tuple[str, ...]
    precision: Precision
    image_size: int | None
    day: date


class Fits(Struct, frozen=True):
    """Networks on accelerators in order, each worked out when it is looked at."""

    _pairs: list[tuple[_Network, Accelerator]]

    def __len__(self) -> int:
        return len(self._pairs)

    def __iter__(self) -> Iterator[Fit]:
        return (network.on(chip) for network, chip in self._pairs)

    def __getitem__(self, which: slice) -> Fits:
        return Fits(self._pairs[which])

    def of_the_first(self, networks: int) -> Fits:
        """The fits of the first networks."""
        first = set(islice(dict.fromkeys(network for network, _ in self._pairs), networks))
        return Fits([pair for pair in self._pairs if pair[0] in first])


def fits(evidence: Evidence, question: FitQuestion) -> Fits:
    """Every network on every accelerator for which memory and need are known, ordered by network, then by memory."""
    chips = [
        chip
        for name in question.accelerators
        if (chip := evidence.accelerators.get(name))
        and (bool(chip.memory_gib and chip.device_memory) and chip.on_sale_from <= question.day)
    ]
    chips.sort(key=lambda chip: (chip.memory_gib or 0.0, chip.name))
    about = [_Network(evidence, question, name) for name in question.models]
    return Fits([(network, chip) for network in about for chip in network.known_on(chips)])


def nearest(evidence: Evidence, question: FitQuestion, unfit: Fit) -> Fit | None:
    """The accelerator with the least memory that holds what an asked one does not; None if none does."""
    every = replace(question, models=(unfit.model,), accelerators=tuple(evidence.accelerators))
    return next((fit for fit in fits(evidence, every) if fit.fits), None)


def networks(evidence: Evidence) -> tuple[str, ...]:
    """The names of all networks whose memory need is known."""
    names = {name for name, model in evidence.models.items() if model.activations_millions or model.gmacs}
    return tuple(sorted(names | {batch.model for batch in evidence.largest_batches}))


class _Network:
    """One network at one image size and precision, with what was measured of it."""

    def __init__(self, evidence: Evidence, question: FitQuestion, name: str) -> None:
        self.name, self.precision = name, question.precision
        self.model: Model | None = evidence.models.get(name)
        own_size = self.model.image_size if self.model else None
        self.image_size = question.image_size or own_size
        precisions, sizes = {None, question.precision}, {None, self.image_size}
        rows = [row for row in evidence.largest_batches if row.model == name and row.known_on <= question.day]
        rows = [row for row in rows if self.image_size is None or row.image_size in sizes]
        self.measured = [row for row in rows if row.precision in precisions]
        self._has_run = any(row.largest_batch for row in self.measured)
        self.chips: Mapping[str, Accelerator] = evidence.accelerators

    def known_on(self, chips: list[Accelerator]) -> list[Accelerator]:
        """The accelerators for which a fit is known."""
        tried = {row.accelerator for row in self.measured}
        anywhere = self._has_run or (self.model and (self.model.activations_millions or self.model.gmacs))
        return chips if anywhere else [chip for chip in chips if chip.name in tried]

    def on(self, chip: Accelerator) -> Fit:
        """The fit on an accelerator: as measured; else interpolated, in proportion to the memory left, between the cards on which
        it was measured, or beyond them; else as modelled."""
        here = [row for row in self.measured if row.accelerator == chip.name]
        if here:
            row = max(here, key=lambda row: row.largest_batch)
            ends = (row.largest_batch, max(row.next_tried - 1, row.largest_batch))
            return self._fit(chip, (row.largest_batch, *ends), Tier.MEASURED, row.source, row.precision)
        room = self._room(chip)
        if self._has_run:
            ran, failed = (_images_in(room, *curve) for curve in self._curves)
            batches = ran, ran * exp(-OTHER_CARD), max(ran, failed) * exp(OTHER_CARD)
            sources = "; ".join(dict.fromkeys(row.source for row in self.measured))
            return self._fit(chip, batches, Tier.INTERPOLATED, f"other cards: {sources}", self.precision)
        width = MODELLED if self.model and self.model.activations_millions else GUESSED
        images = room / gib_per_image(self.model, self.image_size or REFERENCE_SIZE, BITS[self.precision])
        batches = images, images * exp(-width), images * exp(width)
        return self._fit(chip, batches, Tier.MODELLED, MODELLED_FROM, self.precision)

    @cached_property
    def _curves(self) -> list[tuple[list[float], list[float]]]:
        """For each of TRIED, the images over the room that is left on the cards on which it was measured, in order, from nothing
        on; less room never holds more."""
        rooms, curves = [self._room(self.chips[row.accelerator]) for row in self.measured], []
        for name in TRIED:
            points = zip(rooms, [getattr(row, name) for row in self.measured], strict=True)
            room, images = zip(*sorted([(0.0, 0), *points]), strict=True)
            curves.append((list(room), np.maximum.accumulate(images).tolist()))
        return curves

    def _room(self, chip: Accelerator) -> float:
        return room_gib(chip.memory_gib or inf, self.model)

    def _fit(self, chip: Accelerator, batches: Sequence[float], tier: Tier, source: str, precision: str | None) -> Fit:
        batch, low, high = [max(floor(each), 0) for each in batches]
        return Fit(
            model=self.name,
            accelerator=chip.name,
            memory_gib=chip.memory_gib or inf,
            precision=precision,
            image_size=self.image_size,
            fits=batch > 0,
            largest_batch=batch,
            largest_batch_low=low,
            largest_batch_high=high,
            evidence=tier,
            source=source,
        )


def _images_in(room: float, rooms: Sequence[float], images: Sequence[float]) -> float:
    return float(np.interp(room, rooms, images)) if room <= rooms[-1] else images[-1] * room / rooms[-1]
