"""What the data sheets of accelerators say about speeds that nobody measured."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from costcalc.hardware import Accelerator

VINTAGE_MARGIN = 1.25  # a chip may train so many times the images per joule of the best one before it
FIRST_HBM_GB_PER_S = 1500.0  # training parts with high-bandwidth memory, sold with machine-to-machine networks


MEMORY_SIZE = re.compile(r"-\d+GB")
MATRIX_DENSITY = 0.1  # TFLOP/s per watt: P100 has 0.07, the first chips with matrix units 0.14 and more
TWINS = {
    "Quadro RTX 6000": "Quadro RTX 8000",
    "V100-32GB": "V100",
    "T4G": "T4",
}  # data sheets equal but for memory size


def twin(name: str) -> str:
    """One name for chips whose data sheets differ in the size of their memory alone."""
    return TWINS.get(name, name)


def silicon(name: str) -> str:
    """The chip under an accelerator's name, whatever memory it is sold with: A100 for A100-80GB."""
    return MEMORY_SIZE.sub("", twin(name))


@dataclass(frozen=True, slots=True)
class Chips:
    """What the data sheets say, and the roofline through it: 1/X = compute/F + memory/M (TFLOP and GB for one image).

    `per_joule` is, by year of introduction, the most images per joule of NVIDIA's measured chips up to then.
    """

    table: Mapping[str, Accelerator]
    compute: float
    memory: float
    per_joule: tuple[tuple[int, float], ...] = ()

    def roofline(self, name: str) -> float | None:
        """ln(images/s) that compute, memory bandwidth and power allow; None where the data sheet is silent or has no DRAM."""
        rate = self.bandwidth_roofline(name)
        return None if rate is None else min(rate, self._power_limit(name))

    def starved(self, name: str) -> bool:
        """Whether its power, not its arithmetic or bandwidth, limits the chip."""
        rate = self.bandwidth_roofline(name)
        return rate is not None and self._power_limit(name) < rate

    def _power_limit(self, name: str) -> float:
        chip = self.table[name]
        known = [best for year, best in self.per_joule if year <= (chip.introduced or 0)]
        newer = not known or (chip.introduced or 0) > self.per_joule[-1][0]
        if newer or chip.vendor != "NVIDIA" or not chip.power_watts:
            return math.inf
        return math.log(VINTAGE_MARGIN * known[-1] * chip.power_watts)

    def bandwidth_roofline(self, name: str) -> float | None:
        """The same without the limit of power."""
        chip = self.table.get(name)
        if (
            chip is None
            or not chip.dense_16bit_tflops
            or not chip.memory_bandwidth_gb_per_s
            or chip.vendor == "Graphcore"
        ):
            return None
        return -math.log(self.compute / chip.dense_16bit_tflops + self.memory / chip.memory_bandwidth_gb_per_s)

    def balance(self, name: str) -> float:
        """TFLOP/s per GB/s, NaN where the data sheet is silent."""
        chip = self.table.get(name)
        return ((chip and chip.dense_16bit_tflops) or math.nan) / (
            (chip and chip.memory_bandwidth_gb_per_s) or math.nan
        )

    def density(self, name: str) -> float:
        """TFLOP/s per watt, infinite where the data sheet is silent."""
        chip = self.table.get(name)
        return ((chip and chip.dense_16bit_tflops) or math.inf) / ((chip and chip.power_watts) or 1.0)

    @property
    def without_matrix_units(self) -> frozenset[str]:
        """The chips that multiply as fast in 32 bits as the 16-bit figure of their data sheet says, or nearly."""
        return frozenset(name for name in self.table if self.density(name) < MATRIX_DENSITY)

    def vendor(self, name: str) -> str:
        """Who makes the chip, empty if unknown."""
        return self.table[name].vendor if name in self.table else ""

    def networked(self, name: str) -> bool:
        """Whether the accelerator is sold in clusters, so that many machines may be modelled before any was measured."""
        return (self.table[name].memory_bandwidth_gb_per_s or 0) >= FIRST_HBM_GB_PER_S if name in self.table else False
