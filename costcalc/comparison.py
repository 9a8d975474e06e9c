"""Two ways to train compared: which costs less and how surely, the break-even rate, and when owning pays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from math import hypot, log, sqrt
from statistics import NormalDist
from typing import Literal

from msgspec import Struct

from costcalc.answers import BreakEven, Estimate, OwnedMachine
from costcalc.costing.owning import PRICE_UNKNOWN, owning_pays_from
from costcalc.fields import filled
from costcalc.offer import PurchaseOption

NOT_RENTED = frozenset((PurchaseOption.OWNED, PurchaseOption.FREE))
OF_INTERVAL = NormalDist().inv_cdf(0.9)
"""Half-width of an 80 % interval in standard deviations."""
ALL, HALF, NOTHING = 1.0, 0.5, 0.0
"""How far the errors of two times go together: wholly where recipe and accelerators are the same, so that both times are wrong by
the same factor; by half where either is, the number of epochs or the chip being shared; else not at all. Set by hand."""


class Comparison(Struct, frozen=True):
    """Two estimates of the same training beside each other, by their effective costs.

    `price_ratio` is the hourly rate of `b` over that of `a`, None where a costs nothing. `speed_ratio` is how many times as fast
    `b` reaches the target, with start-up and the other overheads of both counted: `b` costs less where it is the larger one.
    `probability` is that of `cheaper`, from the 80 % intervals of both costs, whose errors go together by `correlation`. At
    `break_even_hourly_rate` of `b` both cost the same. `cost_per_hour_saved` is what the faster one costs more for each hour
    that it ends earlier; None where it costs less.
    """

    a: Estimate
    b: Estimate
    price_ratio: float | None
    speed_ratio: float
    cheaper: Literal["a", "b"]
    probability: float
    correlation: float
    break_even_hourly_rate: Decimal
    cost_per_hour_saved: Decimal | None


def comparison(a: Estimate, b: Estimate) -> Comparison:
    """Compares two estimates in one currency."""
    cost, other_cost = (each.bill.effective(Decimal(repr(each.hours))) for each in (a, b))
    together, more = correlation(a, b), cost - other_cost
    later = Decimal(repr(b.calendar_hours - a.calendar_hours))
    return Comparison(
        a=a,
        b=b,
        price_ratio=float(b.hourly_rate / a.hourly_rate) if a.hourly_rate else None,
        speed_ratio=a.hours / b.hours,
        cheaper="b" if more > 0 else "a",
        probability=_probability(a, b, together),
        correlation=together,
        break_even_hourly_rate=b.hourly_rate + more / Decimal(repr(b.hours)),
        cost_per_hour_saved=more / later if later and more / later > 0 else None,
    )


def correlation(a: Estimate, b: Estimate) -> float:
    """How far the errors of two times go together."""
    same_recipe, same_chip = a.recipe == b.recipe, a.accelerator == b.accelerator
    if same_recipe and same_chip and a.accelerators == b.accelerators:
        return ALL
    return HALF if same_recipe or same_chip else NOTHING


def _probability(a: Estimate, b: Estimate, together: float) -> float:
    """The probability that the estimate that costs less really does. The logarithm of the ratio of both costs is taken to be
    normal."""
    if not (a.effective_cost and b.effective_cost):
        return 1.0
    apart, of_a, of_b = abs(log(a.effective_cost / b.effective_cost)), _deviation(a), _deviation(b)
    spread = sqrt(max(hypot(of_a, of_b) ** 2 - 2 * together * of_a * of_b, 0.0))  # of the difference of both errors
    return NormalDist().cdf(apart / spread) if spread else 1.0 if apart else 0.5


def _deviation(estimate: Estimate) -> float:
    low, high = estimate.effective_cost_low, estimate.effective_cost_high
    return log(high / low) / 2 / OF_INTERVAL if low else 0.0


def owned_machines(own: Iterable[Estimate], shown: Sequence[Estimate]) -> tuple[OwnedMachine, ...]:
    """Each of the user's machines, with the use above which it costs less than each rental that the answer shows."""
    rented = [each for each in shown if each.purchase_option not in NOT_RENTED]

    def break_even(owned: Estimate, rental: Estimate) -> BreakEven:
        unknown = owned.sources.price.source == PRICE_UNKNOWN
        hours = None if unknown else owning_pays_from(owned.bill, rental.effective_cost, Decimal(repr(owned.hours)))
        after = None if hours is None else float(hours)
        return filled(BreakEven, rental, rented_cost=rental.effective_cost, break_even_hours=after)

    return tuple(OwnedMachine(owned, tuple(break_even(owned, each) for each in rented)) for owned in own)
