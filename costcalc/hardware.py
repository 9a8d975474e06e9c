"""What one computes on: accelerators, machines and clusters of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One chip (a TPU chip, one die of a K80 or M60) with its data-sheet figures; None where unknown.

    `dense_16bit_tflops` is the peak without sparsity; a chip without 16-bit arithmetic shows its fp32 peak.
    """

    name: str
    vendor: str
    memory_gib: float | None
    dense_16bit_tflops: float | None
    memory_bandwidth_gb_per_s: float | None
    power_watts: float | None
    introduced: int | None
    source: str


@dataclass(frozen=True, slots=True)
class Machine:
    """What one rentable instance holds. `accelerators` is 0 for a CPU machine, whose `accelerator` names the processor."""

    accelerator: str
    accelerators: int
    accelerator_memory_gib: float | None = None
    vcpus: int | None = None
    memory_gib: float | None = None


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
