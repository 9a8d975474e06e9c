"""The lines of a bill as FOCUS charges: what is paid, and for a commitment also who uses it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from typing import Any

from costcalc.costing.bills import Bill, Charge
from costcalc.money import Component, cents
from costcalc.offers import COMMITMENTS, Offer, Payment, PurchaseOption

QUANTITY_DIGITS, PRICE_DIGITS = 13, 15  # a reader who multiplies them in 28 digits, the usual precision, loses none
UNITS = {
    **{"hours": "Hours", "months": "Months", "days": "Days", "units": "Units", "machines": "Units"},
    **{"GB-months": "GB-Months", "GB": "GB"},
}
BESIDE = {"GB-months": ("Storage", "Object Storage"), "GB": ("Networking", "Other (Networking)")}
PRICING = {PurchaseOption.SPOT: "Dynamic", PurchaseOption.OWNED: "Other", PurchaseOption.FREE: "Other"}
COMMITMENT_TYPES = {
    PurchaseOption.RESERVED: ("Usage", "Reserved Instance"),
    PurchaseOption.SAVINGS_PLAN: ("Spend", "Savings Plan"),
    PurchaseOption.COMMITTED_USE: ("Usage", "Committed Use Discount"),
}

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Priced:
    """A quantity at a list and an own unit price, cut to digits that multiply exactly."""

    quantity: Decimal
    list_price: Decimal
    own_price: Decimal
    unit: str

    def columns(self) -> Row:
        """Quantity, unit prices and their exact products."""
        quantity = cut(self.quantity, QUANTITY_DIGITS)
        listed, own = cut(self.list_price, PRICE_DIGITS), cut(self.own_price, PRICE_DIGITS)
        costs = {"ListCost": (listed * quantity).normalize(), "ContractedCost": (own * quantity).normalize()}
        prices = {"ListUnitPrice": listed, "ContractedUnitPrice": own}
        return {**costs, **prices, "PricingQuantity": quantity, "PricingUnit": self.unit}


def cut(value: Decimal, digits: int) -> Decimal:
    """The value rounded to so many significant digits, without trailing zeros."""
    return value.normalize(Context(prec=digits))


def price_id(offer: Offer, *more: str) -> str:
    """A name for a rate that stays the same as the rate changes."""
    return "/".join(part for part in (*offer.key, *more) if part)


def charges(bill: Bill, hours: Decimal, on_demand: Decimal | None) -> Iterator[tuple[Decimal, Row]]:
    """The charges of a run of so many hours, each with the hours that it covers; a column that is missing is null.

    `on_demand` is the list rate per hour of the same machine in the offer's currency.
    """
    lines = bill.components(hours)
    listed = replace(bill, terms=replace(bill.terms, price_factor=Decimal(1))).components(hours)
    committed = _commitment(bill, hours) if bill.offer.purchase_option in COMMITMENTS else {}
    for charge, own, at_list in zip(bill.charges, lines, listed, strict=False):  # behind them come the extras
        covered = Decimal(bill.paid_hours(hours)) if charge.per_period else own.quantity / bill.terms.nodes
        yield covered, {**_paid(charge, own, at_list, bill.offer), **committed}
    for covered, row in _uses(bill, hours, on_demand) if committed else ():
        yield covered, {**committed, **row}
    for own in lines[len(bill.charges) :]:
        yield hours, _beside(own, bill.offer)


def _paid(charge: Charge, own: Component, at_list: Component, offer: Offer) -> Row:
    """One line of the bill. What pays for a commitment costs nothing effectively: its use does."""
    priced = Priced(own.quantity, at_list.rate, own.rate, UNITS[own.unit]).columns()
    row: Row = {
        "ChargeCategory": "Purchase" if charge.per_period else "Usage",
        "ChargeFrequency": _frequency(offer, charge) if charge.per_period else "Usage-Based",
        "PricingCategory": PRICING.get(offer.purchase_option, "Standard"),
        "ChargeDescription": f"{charge.name}, estimated",
        "SkuMeter": charge.name,
        "SkuPriceId": price_id(offer, charge.name),
        "BilledCost": own.amount,
        "EffectiveCost": Decimal(0) if offer.purchase_option in COMMITMENTS else own.amount,
        **priced,
    }
    return row if charge.per_period else {**row, **_consumed(row)}


def _beside(own: Component, offer: Offer) -> Row:
    """Storage or egress: used as it goes, at the same rate in the list as for the customer."""
    priced = Priced(own.quantity, own.rate, own.rate, UNITS[own.unit]).columns()
    category, subcategory = BESIDE[own.unit]
    return {
        "ChargeCategory": "Usage",
        "ChargeFrequency": "Usage-Based",
        "PricingCategory": "Standard",
        "ChargeDescription": f"{own.name}, estimated",
        "ServiceCategory": category,
        "ServiceName": f"{offer.provider} {own.name}",
        "ServiceSubcategory": subcategory,
        "SkuId": f"{offer.provider}/{own.name}",
        "SkuMeter": own.name,
        "SkuPriceId": f"{offer.provider}/{own.name}",
        "SkuPriceDetails": None,
        "BilledCost": own.amount,
        "EffectiveCost": own.amount,
        **priced,
        "ConsumedQuantity": priced["PricingQuantity"],
        "ConsumedUnit": UNITS[own.unit],
    }


def _frequency(offer: Offer, charge: Charge) -> str:
    once = offer.payment is Payment.ALL_UPFRONT or charge.unit in ("units", "days", "machines")
    return "One-Time" if once else "Recurring"


def _commitment(bill: Bill, hours: Decimal) -> Row:
    """What names a commitment on every row about it, with the whole of it as its quantity."""
    offer, (category, kind) = bill.offer, COMMITMENT_TYPES[bill.offer.purchase_option]
    return {
        "CommitmentDiscountCategory": category,
        "CommitmentDiscountId": price_id(offer),
        "CommitmentDiscountName": " ".join(filter(None, [offer.instance_type, offer.term, offer.payment])),
        "CommitmentDiscountType": kind,
        **_committed(bill, bill.paid_hours(hours) * Decimal(bill.terms.nodes)),
    }


def _committed(bill: Bill, machine_hours: Decimal) -> Row:
    """A part of a commitment in its own measure: hours, or the money that a spend commitment binds."""
    if COMMITMENT_TYPES[bill.offer.purchase_option][0] == "Usage":
        return {"CommitmentDiscountQuantity": cut(machine_hours, QUANTITY_DIGITS), "CommitmentDiscountUnit": "Hours"}
    return {"CommitmentDiscountQuantity": cut(machine_hours * _effective_price(bill), QUANTITY_DIGITS)}


def _uses(bill: Bill, hours: Decimal, on_demand: Decimal | None) -> Iterator[tuple[Decimal, Row]]:
    """This run's use of a commitment, other work's, and the hours nobody uses; their costs add up to the purchase."""
    nodes, utilization, paid = bill.terms.nodes, bill.terms.utilization, Decimal(bill.paid_hours(hours))
    left = paid - hours
    parts = (hours * nodes, left * utilization * nodes, left * (1 - utilization) * nodes)
    costs = [cents(part * _effective_price(bill)) for part in parts]
    bought = sum(line.amount for line in bill.components(hours)[: len(bill.charges)])
    costs[costs.index(max(costs))] += bought - sum(costs)
    kinds = (("Used", False, "used by this run"), ("Used", True, "used by other work"), ("Unused", None, "unused"))
    for part, cost, (status, by_others, words) in zip(parts, costs, kinds, strict=True):
        row = _use(bill, part, on_demand)
        row |= {"EffectiveCost": cost, "CommitmentDiscountStatus": status, "x_UsedByOtherWork": by_others}
        row["ChargeDescription"] = f"{bill.offer.instance_type} {bill.offer.term} commitment, {words}, estimated"
        yield hours if by_others is False else paid, row if status == "Unused" else {**row, **_consumed(row)}


def _use(bill: Bill, machine_hours: Decimal, on_demand: Decimal | None) -> Row:
    """Hours under a commitment, listed at what they cost on demand; at the commitment's own rate where that is unknown."""
    listed = (bill.tariff.effective_hourly if on_demand is None else on_demand) * bill.terms.exchange
    return {
        "ChargeCategory": "Usage",
        "ChargeFrequency": "Usage-Based",
        "PricingCategory": "Committed",
        "SkuMeter": bill.offer.instance_type,
        "SkuPriceId": price_id(bill.offer, "use"),
        "BilledCost": Decimal(0),
        **Priced(machine_hours, listed, listed * bill.terms.price_factor, "Hours").columns(),
        **_committed(bill, machine_hours),
    }


def _effective_price(bill: Bill) -> Decimal:
    return bill.tariff.effective_hourly * bill.terms.price_factor * bill.terms.exchange


def _consumed(row: Row) -> Row:
    return {"ConsumedQuantity": row["PricingQuantity"], "ConsumedUnit": "Hours"}
