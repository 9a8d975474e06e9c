"""What stated rates, precisions and clocks mean."""

from __future__ import annotations

from costcalc.training import Recipe, Throughput

SIXTEEN_BIT = frozenset({"amp", "fp16", "bf16"})
THIRTY_TWO_BIT = frozenset({"fp32", "tf32"})
LOGGED_EVALUATION_SHARE = 0.006  # of the elapsed time, median of MLPerf logs that state both rates
SIZE_EXPONENT = 1.6  # images/s falls with the side of the image to this power: less than its area


def training_rate(row: Throughput) -> float:
    """Images per second of training alone: rates that include evaluation are raised by its usual share."""
    return row.images_per_second * (1 + LOGGED_EVALUATION_SHARE * row.includes_evaluation)


def precision_class(precision: str | None) -> str | None:
    """`16bit` for amp, fp16 and bf16; the precision itself otherwise."""
    return "16bit" if precision in SIXTEEN_BIT else precision


def bits(precision: str | None) -> str | None:
    """`32bit` for fp32 and tf32, else as `precision_class`.

    Frameworks make TensorFloat-32 of 32-bit floating point on accelerators that have it.
    """
    return "32bit" if precision in THIRTY_TWO_BIT else precision_class(precision)


def own_rates(recipe: Recipe) -> list[float]:
    """Images per second in each phase on the recipe's own system; empty where nothing is known.

    A mean rate over several image sizes is shared out by what an image of each size costs.
    """
    rates = [phase.images_per_second for phase in recipe.phases if phase.images_per_second]
    if len(rates) == len(recipe.phases) or recipe.is_mlperf or not recipe.images_per_second:
        return rates if len(rates) == len(recipe.phases) else []
    epochs = [phase.to_epoch - phase.from_epoch for phase in recipe.phases]
    costs = [phase.image_size**SIZE_EXPONENT for phase in recipe.phases]
    mean_cost = sum(spent * cost for spent, cost in zip(epochs, costs, strict=True)) / sum(epochs)
    return [recipe.images_per_second * recipe.clock_factor * mean_cost / cost for cost in costs]
