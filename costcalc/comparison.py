"""Two ways to train compared: which costs less and how surely, at which rate the answer turns, and when owning pays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from costcalc.answers import BreakEven, Estimate, OwnedMachine
from costcalc.costing.bills import Bill
from costcalc.costing.owning import owning_pays_from
from costcalc.offers import PurchaseOption

NOT_RENTED = frozenset((PurchaseOption.OWNED, PurchaseOption.FREE))


def owned_machines(own: Iterable[tuple[Estimate, Bill]], shown: Sequence[Estimate]) -> tuple[OwnedMachine, ...]:
    """Each of the asker's machines with the use from which on it beats each rental that the answer shows."""
    rented = [each for each in shown if each.purchase_option not in NOT_RENTED]
    return tuple(OwnedMachine(one, tuple(_break_even(one, bill, each) for each in rented)) for one, bill in own)


def _break_even(owned: Estimate, bill: Bill, rental: Estimate) -> BreakEven:
    hours = owning_pays_from(bill, rental.effective_cost, Decimal(repr(owned.hours)))
    return BreakEven(
        rank=rental.rank,
        provider=rental.provider,
        region=rental.region,
        instance_type=rental.instance_type,
        nodes=rental.nodes,
        purchase_option=rental.purchase_option,
        term=rental.term,
        payment=rental.payment,
        rented_cost=rental.effective_cost,
        break_even_hours=None if hours is None else float(hours),
    )
