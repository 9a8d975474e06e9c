"""What a stated rate and a stated precision mean."""

from __future__ import annotations

from costcalc.training import Throughput

SIXTEEN_BIT = frozenset({"amp", "fp16", "bf16"})
THIRTY_TWO_BIT = frozenset({"fp32", "tf32"})
EVALUATION_SHARE = 0.006  # of the elapsed time, median of MLPerf logs that state both rates


def training_rate(row: Throughput) -> float:
    """Images per second of training alone: rates that include evaluation are raised by its usual share."""
    return row.images_per_second * (1 + EVALUATION_SHARE * row.includes_evaluation)


def precision_class(precision: str | None) -> str | None:
    """`16bit` for amp, fp16 and bf16; the precision itself otherwise."""
    return "16bit" if precision in SIXTEEN_BIT else precision


def bits(precision: str | None) -> str | None:
    """`32bit` for fp32 and tf32, else as `precision_class`."""
    return "32bit" if precision in THIRTY_TWO_BIT else precision_class(precision)
