"""What one computes on: accelerators, machines and clusters of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One chip (a TPU chip, one die of a K80 or M60) with its data-sheet figures; None where unknown.

    `dense_16bit_tflops` is the peak without sparsity; a chip without 16-bit arithmetic shows its fp32 peak. `chip` is the name
    shared by parts that differ in their memory (A100 for A100-80GB), `twin` the part whose data sheet is equal but for the
    size of the memory, if any. `cluster_network` says whether it is sold in machines joined by a fast network, `peer_to_peer`
    whether several in a machine exchange data without a detour through the host's memory, `rented_in_slices` whether a slice
    of any size counts as one machine, `device_memory` whether it computes out of memory beside the chip, so that a roofline
    holds. Speeds of a part that nobody measured are predicted where `predicted_unmeasured` is true: those of vendors with
    several measured parts.
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
    cluster_network: bool = False
    peer_to_peer: bool = True
    rented_in_slices: bool = False
    device_memory: bool = True
    predicted_unmeasured: bool = False

    @classmethod
    def unlisted(cls, name: str) -> Accelerator:
        """A part of which nothing is known but its name, such as a processor."""
        return cls(name, "", None, None, None, None, None, "", chip=name)

    def is_no_worse_than(self, other: Accelerator) -> bool:
        """Whether this is the same chip with no less and no slower memory, as far as both are known."""
        sizes = (self.memory_gib, other.memory_gib), (self.memory_bandwidth_gb_per_s, other.memory_bandwidth_gb_per_s)
        return self.chip == other.chip and not any(mine and others and mine < others for mine, others in sizes)


@dataclass(frozen=True, slots=True)
class Machine:
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
    def most_together(self) -> int:
        """How many of them anybody can rent together in one way or another."""
        return max(self.most_machines, self.most_in_block)


def counted(accelerators: int, accelerator: str, times: str = " ") -> str:
    """`8 V100`; of a machine without accelerators its processor alone."""
    return f"{accelerators}{times}{accelerator}" if accelerators else accelerator


@dataclass(frozen=True, slots=True)
class Cluster:
    """Equal machines working on one run: `accelerators` is per machine."""

    accelerator: str
    accelerators: int
    nodes: int = 1

    @property
    def total_accelerators(self) -> int:
        """Accelerators over all machines."""
        return self.accelerators * self.nodes
