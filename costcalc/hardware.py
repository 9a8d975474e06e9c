"""Hardware: accelerators, machines and clusters, and the data centers and grids around them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Literal

from msgspec import Struct, field

MACHINE_SHARE = 1.38
"""Watts of a whole machine in training for each on the data sheets of its accelerators: a node of eight H100, 700 W each, drew
76 % of its rated 10.2 kW in demanding training. Newkirk et al. 2025, https://arxiv.org/abs/2506.14551"""
USUAL_PUE = 1.56
"""Where the provider states none: the average of Uptime Institute's Global Data Center Survey 2024."""


NEVER = 9999
SINCE: Mapping[str, Mapping[str, int]] = {
    "bf16": {"NVIDIA": 2020},
    "tf32": {"NVIDIA": 2020, "AMD": 2023, "Intel": 2022, "AWS": 2022, "Google": NEVER},
}
"""The year in which a format came to a maker's chips (NVIDIA A100 Tensor Core GPU Architecture, 2020; AMD CDNA 3 white paper,
2023; Habana Gaudi2 white paper, 2022; AWS Neuron documentation, data types; cloud.google.com/tpu/docs/bfloat16)."""
Host = Literal["x86", "arm"]


class Accelerator(Struct, frozen=True):
    """One chip (a TPU chip, one die of a K80 or M60) with its data-sheet figures; None where unknown.

    `dense_16bit_tflops` is the peak without sparsity; a chip without 16-bit arithmetic shows its fp32 peak. `chip` is the name
    shared by parts that differ in their memory (A100 for A100-80GB), `twin` the part whose data sheet is equal but for the size
    of the memory, if any. `cluster_network` says whether it is sold in machines joined by a fast network, `peer_to_peer`
    whether several in a machine exchange data without a detour through the host's memory, `rented_in_slices` whether a slice of
    any size counts as one machine, `device_memory` whether it computes out of memory beside the chip, so that a roofline holds.
    Speeds of a part that nobody measured are predicted where `predicted_unmeasured` is true: it was made for training.
    `half_rate` says whether its maker halves the rate of its matrix units where they add up in 32 bits, as they do in training.
    `always_compiled` says whether whatever runs on it is compiled first (XLA, the graph compilers of Habana and Neuron).
    `eight_bit` says whether it multiplies matrices of eight-bit numbers in training. `silicon` names the die that it shares
    with parts sold as other chips (H100 and H200), None where it has its own. `introduced` is the year in which it was
    presented, `on_sale_from` the day from which one could have it: the last one of the month or year where no day is known.
    `host` is the kind of the processors in the machines that it is sold in.
    """

    name: str
    vendor: str
    memory_gib: float | None
    dense_16bit_tflops: float | None
    memory_bandwidth_gb_per_s: float | None
    power_watts: float | None
    introduced: int | None
    source: str
    chip: str
    twin: str | None = None
    matrix_units: bool = True
    half_rate: bool = False
    always_compiled: bool = False
    eight_bit: bool = False
    cluster_network: bool = False
    peer_to_peer: bool = True
    rented_in_slices: bool = False
    device_memory: bool = True
    predicted_unmeasured: bool = False
    on_sale_from: date = date.min
    silicon: str | None = None
    host: Host = "x86"

    @classmethod
    def unlisted(cls, name: str) -> Accelerator:
        """A part known by name alone, such as a processor."""
        return cls(name, "", None, None, None, None, None, "", chip=name)

    def computes_in(self, precision: str | None) -> bool:
        """Whether it multiplies numbers of this format, as far as is known."""
        if precision == "fp8":
            return self.eight_bit
        since = SINCE.get(precision or "", {}).get(self.vendor)
        return since is None or self.introduced is None or self.introduced >= since

    def is_no_worse_than(self, other: Accelerator) -> bool:
        """Whether this is the same chip with no less and no slower memory, as far as both are known."""
        sizes = (self.memory_gib, other.memory_gib), (self.memory_bandwidth_gb_per_s, other.memory_bandwidth_gb_per_s)
        return self.chip == other.chip and not any(mine and others and mine < others for mine, others in sizes)


class Machine(Struct, frozen=True):
    """What one rentable instance holds. `accelerators` is 0 for a CPU machine, whose `accelerator` names the processor.

    `network_gbits_per_second` is what it can send to others for as long as a job takes, None where that is not known;
    `most_machines` is how many of them anybody can rent together, 1 where they are not sold as clusters, and `most_in_block` how
    many in one capacity block.
    """

    accelerator: str
    accelerators: int
    accelerator_memory_gib: float | None = None
    vcpus: int | None = None
    memory_gib: float | None = None
    network_gbits_per_second: float | None = None
    most_machines: int = 1
    most_in_block: int = 1

    @property
    def shape(self) -> tuple[str, int, int]:
        """What decides how fast it computes, see `Cluster`: accelerator, accelerators, and without these its vCPUs."""
        return self.accelerator, self.accelerators, 0 if self.accelerators else self.vcpus or 0

    @property
    def most_together(self) -> int:
        """The most that anybody can rent together, one way or another."""
        return max(self.most_machines, self.most_in_block)


def counted(accelerators: int, accelerator: str, times: str = " ") -> str:
    """`8 V100`; for a machine without accelerators, its processor alone."""
    return f"{accelerators}{times}{accelerator}" if accelerators else accelerator


class Cluster(Struct, frozen=True):
    """Equal machines working on one run: `accelerators` is per machine, and so are the `vcpus` of machines that have no
    accelerators, 0 where that is not known or others decide."""

    accelerator: str
    accelerators: int
    nodes: int = 1
    vcpus: int = 0

    @property
    def total_accelerators(self) -> int:
        return self.accelerators * self.nodes


class GridCarbon(Struct, frozen=True):
    """Kilograms of CO2 equivalent that the grid around a provider's region emitted for a kWh in a year, on average; the year is
    None where the source does not state it."""

    provider: str
    region: str
    year: int | None
    kg_co2e_per_kwh: float
    source: str


class DataCenters(Struct, frozen=True):
    """How many kWh a provider's buildings take for each that their machines take: power usage effectiveness."""

    provider: str
    pue: float
    year: int
    source: str


class EnergyTables(Struct, frozen=True, eq=False):
    """Watts by accelerator, data centers by provider, and the grids of each region by year."""

    watts: Mapping[str, float] = field(default_factory=dict)
    data_centers: Mapping[str, DataCenters] = field(default_factory=dict)
    grids: Mapping[tuple[str, str], tuple[GridCarbon, ...]] = field(default_factory=dict)


def energy_tables(
    accelerators: Iterable[Accelerator], data_centers: Iterable[DataCenters], grids: Iterable[GridCarbon]
) -> EnergyTables:
    """Look-up tables made of these rows."""
    by_region = defaultdict[tuple[str, str], list[GridCarbon]](list)
    for grid in grids:
        by_region[grid.provider, grid.region].append(grid)
    return EnergyTables(
        {chip.name: chip.power_watts for chip in accelerators if chip.power_watts},
        {center.provider: center for center in data_centers},
        {place: tuple(rows) for place, rows in by_region.items()},
    )


NOTHING_DRAWN = EnergyTables()
