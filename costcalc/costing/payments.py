"""When the money of a commitment or rental is due: upfront payments and monthly ones over its term."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from costcalc.costing.bills import Bill
from costcalc.money import cents
from costcalc.offers import COMMITMENTS, Offer, Payment, PurchaseOption

FIXED = (*sorted(COMMITMENTS), PurchaseOption.MONTHLY)
"""How machines are bought for a fixed time and fee."""

Cash = tuple[Decimal, ...]


@dataclass(frozen=True, slots=True)
class Due:
    """An upfront payment in the first month, and the rest in equal ones over all months; exactly."""

    upfront: Decimal
    rest: Decimal
    months: int

    @property
    def monthly(self) -> Decimal:
        """The equal payment of each month."""
        return self.rest / self.months

    def paid_by(self, month: int) -> Decimal:
        """What is paid by the end of the first, second, ... month."""
        return self.upfront + self.rest * month / self.months

    @property
    def by_month(self) -> Cash:
        """What is due in each month, in cents that add up to the rounded whole."""
        sums = [cents(self.paid_by(month)) for month in range(1, self.months + 1)]
        return tuple(now - before for before, now in zip([Decimal(0), *sums], sums, strict=False))


def due(bill: Bill) -> Due | None:
    """The fixed payments of a term; None where their split into upfront and monthly ones is unknown."""
    months, total = term_months(bill.offer), fixed_cost(bill)
    upfront = _upfront(bill, total)
    return None if upfront is None else Due(upfront, total - upfront, months)


def pays_back(payments: Due | None, sets: int, on_demand: Decimal | None) -> int | None:
    """The first month by whose end these payments add up to no more than as many months on demand; None if none does."""
    if payments is None or on_demand is None:
        return None
    months = range(1, payments.months + 1)
    return next((month for month in months if payments.paid_by(month) * sets <= on_demand * month), None)


def by_month(offer: Offer) -> bool:
    """Whether it is bought for a fixed fee and a whole number of months."""
    return offer.purchase_option in FIXED and not (offer.term or "").endswith("d")


def term_months(offer: Offer) -> int:
    """Months in an offer's term, one where it has none. Raises ValueError on a term in days."""
    term = offer.term or "1mo"
    return int(term.removesuffix("y")) * 12 if term.endswith("y") else int(term.removesuffix("mo"))


def fixed_cost(bill: Bill) -> Decimal:
    """What the whole term costs however little it is used."""
    return bill.tariff.fee * max(bill.tariff.minimum_periods, 1) * bill.factor


def _upfront(bill: Bill, total: Decimal) -> Decimal | None:
    offer = bill.offer
    if offer.purchase_option is PurchaseOption.MONTHLY:
        return Decimal(0)
    if offer.upfront is not None and offer.recurring_hourly is not None:
        return offer.upfront * bill.factor
    if offer.payment is Payment.PARTIAL_UPFRONT:
        return None
    return total if offer.payment is Payment.ALL_UPFRONT else Decimal(0)
