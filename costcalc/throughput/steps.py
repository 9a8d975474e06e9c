"""How short a step of many machines can be: what it costs to wait for one another."""

from __future__ import annotations

from costcalc.training import Model

WAIT_SECONDS = 3.0e-3  # launches and latency that no step of NVIDIA's A100 and H100 pods avoided
BYTES_PER_SECOND = 50e9  # of one accelerator to other machines: InfiniBand NDR, 400 Gb/s
GRADIENT_BYTES = 2  # of one parameter, sent in 16 bits
SHORTEST_SECONDS = 5.0e-3  # the shortest measured, less a tenth: 5.7 ms, NVIDIA's 3,584 H100 in MLPerf v3.0


def shortest_step(model: Model | None) -> float:
    """Seconds below which no step on several machines is taken to go: waiting, and the ring all-reduce of the gradients."""
    parameters = ((model.parameters_millions if model else None) or 25.6) * 1e6
    return WAIT_SECONDS + 2 * parameters * GRADIENT_BYTES / BYTES_PER_SECOND
