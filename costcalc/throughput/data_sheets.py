"""What the data sheets of accelerators say about speeds that nobody measured."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property, lru_cache

from msgspec import Struct

from costcalc.hardware import Accelerator

REFERENCE_VENDOR = "NVIDIA"  # most measured parts are theirs: effects of a vendor are differences from it
VINTAGE_MARGIN = 1.25  # a part may train so many times the images per joule of the best one before it


_unlisted = lru_cache(1024)(Accelerator.unlisted)


def part(accelerators: Mapping[str, Accelerator], name: str) -> Accelerator:
    """The accelerator of this name; one without a data sheet where the name is not listed."""
    return accelerators.get(name) or _unlisted(name)


def twin(accelerators: Mapping[str, Accelerator], name: str) -> str:
    """One name for parts whose data sheets differ in the size of their memory alone."""
    return part(accelerators, name).twin or name


class DataSheets(Struct, frozen=True, dict=True):
    """The parts, and the roofline through them: 1/X = tflop_per_image/F + gb_per_image/M, X in images/s of one accelerator.

    `images_per_joule` gives, by year of introduction in rising order, the most of any measured part of REFERENCE_VENDOR up to
    then. The roofline is that of Williams, Waterman and Patterson (2009), its two times added up instead of overlapped.
    """

    accelerators: Mapping[str, Accelerator]
    tflop_per_image: float
    gb_per_image: float
    images_per_joule: tuple[tuple[int, float], ...] = ()

    def part(self, name: str) -> Accelerator:
        """The accelerator of this name; one without a data sheet where the name is not listed."""
        return part(self.accelerators, name)

    def no_better(self, name: str) -> tuple[str, ...]:
        """The accelerator itself, and the same chip with no more and no faster memory."""
        return self._no_better.get(name, (name,))

    @cached_property
    def _no_better(self) -> dict[str, tuple[str, ...]]:
        of_chip: dict[str, list[Accelerator]] = defaultdict(list)
        for accelerator in self.accelerators.values():
            of_chip[accelerator.chip].append(accelerator)
        return {
            one.name: tuple(other.name for other in many if one.is_no_worse_than(other))
            for many in of_chip.values()
            for one in many
        }

    def roofline(self, name: str) -> float | None:
        """ln(images/s) that arithmetic, memory bandwidth and power allow; None where the data sheet does not say."""
        return self._rooflines.get(name)

    @cached_property
    def _rooflines(self) -> dict[str, float]:
        rates = ((part, self.bandwidth_roofline(name)) for name, part in self.accelerators.items())
        return {part.name: min(rate, self._power_limit(part)) for part, rate in rates if rate is not None}

    def memory_roof(self, name: str) -> float:
        """ln(images/s) at which the accelerator does nothing but move images to and from its memory; infinite where unknown."""
        chip = self.part(name)
        if not (chip.memory_bandwidth_gb_per_s and chip.device_memory):
            return math.inf
        return math.log(chip.memory_bandwidth_gb_per_s / self.gb_per_image)

    def bandwidth_roofline(self, name: str) -> float | None:
        """The roofline without the limit of power."""
        chip = self.part(name)
        if not (chip.dense_16bit_tflops and chip.memory_bandwidth_gb_per_s and chip.device_memory):
            return None
        return -math.log(
            self.tflop_per_image / chip.dense_16bit_tflops + self.gb_per_image / chip.memory_bandwidth_gb_per_s
        )

    def is_limited_by_power(self, name: str) -> bool:
        """Whether power, not arithmetic or memory bandwidth, limits the accelerator."""
        rate = self.bandwidth_roofline(name)
        return rate is not None and self._power_limit(self.part(name)) < rate

    def _power_limit(self, chip: Accelerator) -> float:
        """ln(images/s); infinite for parts newer than any measured one, of an unknown year, or of other vendors."""
        if chip.introduced is None or chip.vendor != REFERENCE_VENDOR or not chip.power_watts:
            return math.inf
        known = [best for year, best in self.images_per_joule if year <= chip.introduced]
        if not known or chip.introduced > self.images_per_joule[-1][0]:
            return math.inf
        return math.log(VINTAGE_MARGIN * known[-1] * chip.power_watts)

    def flops_per_byte(self, name: str) -> float:
        """TFLOP/s per GB/s of memory bandwidth; NaN where the data sheet does not say."""
        chip = self.part(name)
        return (chip.dense_16bit_tflops or math.nan) / (chip.memory_bandwidth_gb_per_s or math.nan)

    def tflops_per_watt(self, name: str) -> float:
        """Dense 16-bit TFLOP/s per watt; infinite where the arithmetic is not stated, per part where the power is not."""
        chip = self.part(name)
        return (chip.dense_16bit_tflops or math.inf) / (chip.power_watts or 1.0)
