"""The lines of a bill as FOCUS charges: what is paid, and for what is bought ahead also who uses it."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Context, Decimal
from typing import Any

from costcalc.costing.bills import Bill, Charge
from costcalc.money import Component, cents
from costcalc.offer import COMMITMENTS, Offer, Payment, PurchaseOption

ONE = Decimal(1)
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


def priced(quantity: Decimal, unit: str, list_price: Decimal, factor: Decimal = ONE, exchange: Decimal = ONE) -> Row:
    """A quantity at a list price, `factor` times which the customer pays, in the quoted currency and, times `exchange`, in that
    of the bill. Both are cut to digits whose products are exact."""
    sold, own_price = cut(quantity, QUANTITY_DIGITS), list_price * factor
    listed, own = (cut(price * exchange, PRICE_DIGITS) for price in (list_price, own_price))
    return {
        "ListCost": (listed * sold).normalize(),
        "ContractedCost": (own * sold).normalize(),
        "ListUnitPrice": listed,
        "ContractedUnitPrice": own,
        "PricingCurrencyListUnitPrice": cut(list_price, PRICE_DIGITS),
        "PricingCurrencyContractedUnitPrice": cut(own_price, PRICE_DIGITS),
        "PricingQuantity": sold,
        "PricingUnit": unit,
    }


def cut(value: Decimal, digits: int) -> Decimal:
    """The value rounded to so many significant digits, without trailing zeros."""
    return value.normalize(Context(prec=digits))


def price_id(offer: Offer, *more: str) -> str:
    """A name for a rate that stays the same as the rate changes."""
    return "/".join(part for part in (*offer.key, *more) if part)


def charges(bill: Bill, hours: Decimal, on_demand: Offer | None) -> Iterator[tuple[Decimal, Row]]:
    """The charges of a run of so many hours, each with the hours that it covers; a column that is missing is null.

    `on_demand` is the same machine on demand in the offer's currency. What is bought ahead costs nothing
    effectively: its use does.
    """
    lines, shared = bill.components(hours), _bought_ahead(bill, hours)
    for charge, line in zip(bill.charges, lines, strict=False):  # behind them come storage and egress
        covered = Decimal(bill.paid_hours(hours)) if charge.per_period else line.quantity / bill.terms.nodes
        yield covered, {**_paid(charge, line, bill), **(shared if charge.per_period else {})}
    for covered, row in _uses(bill, hours, on_demand) if bill.tariff.fee else ():
        yield covered, {**shared, **row}
    for line in lines[len(bill.charges) :]:
        yield hours, _beside(line, bill.offer)


def _paid(charge: Charge, line: Component, bill: Bill) -> Row:
    """One line of the bill."""
    offer, terms = bill.offer, bill.terms
    once = offer.payment is Payment.ALL_UPFRONT or charge.unit in ("units", "days", "machines")
    row: Row = {
        "ChargeCategory": "Purchase" if charge.per_period else "Usage",
        "ChargeFrequency": ("One-Time" if once else "Recurring") if charge.per_period else "Usage-Based",
        "PricingCategory": PRICING.get(offer.purchase_option, "Standard"),
        "ChargeDescription": f"{charge.name}, estimated",
        "SkuMeter": charge.name,
        "SkuPriceId": price_id(offer, charge.name),
        "BilledCost": line.amount,
        "EffectiveCost": Decimal(0) if charge.per_period else line.amount,
        **priced(line.quantity, UNITS[line.unit], charge.rate, terms.price_factor, terms.exchange),
    }
    return row if charge.per_period else {**row, **_consumed(row)}


def _beside(line: Component, offer: Offer) -> Row:
    """Storage or egress: used as it goes, priced in the billing currency, at the list's rate for the customer too."""
    category, subcategory = BESIDE[line.unit]
    row: Row = {
        "ChargeCategory": "Usage",
        "ChargeFrequency": "Usage-Based",
        "PricingCategory": "Standard",
        "PricingCurrency": None,
        "ChargeDescription": f"{line.name}, estimated",
        "ServiceCategory": category,
        "ServiceName": f"{offer.provider} {line.name}",
        "ServiceSubcategory": subcategory,
        "SkuId": f"{offer.provider}/{line.name}",
        "SkuMeter": line.name,
        "SkuPriceId": f"{offer.provider}/{line.name}",
        "SkuPriceDetails": None,
        "BilledCost": line.amount,
        "EffectiveCost": line.amount,
        **priced(line.quantity, UNITS[line.unit], line.rate),
    }
    return {**row, **_consumed(row)}


def _bought_ahead(bill: Bill, hours: Decimal) -> Row:
    """What names a commitment or a capacity block on every row about it; a commitment with the whole of it as its quantity."""
    offer = bill.offer
    if offer.purchase_option is PurchaseOption.CAPACITY_BLOCK:
        return {"CapacityReservationId": price_id(offer)}
    if offer.purchase_option not in COMMITMENTS:
        return {}
    category, kind = COMMITMENT_TYPES[offer.purchase_option]
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
    return {"CommitmentDiscountQuantity": cut(machine_hours * _fee_per_hour(bill), QUANTITY_DIGITS)}


def _uses(bill: Bill, hours: Decimal, on_demand: Offer | None) -> Iterator[tuple[Decimal, Row]]:
    """This run's use of what is bought ahead, other work's, and the hours nobody uses; their costs add up to the purchase."""
    nodes, utilization, paid = bill.terms.nodes, bill.terms.utilization, Decimal(bill.paid_hours(hours))
    left = paid - hours
    parts = (hours * nodes, left * utilization * nodes, left * (1 - utilization) * nodes)
    costs = [cents(part * _fee_per_hour(bill)) for part in parts]
    lines = zip(bill.charges, bill.components(hours), strict=False)
    costs[costs.index(max(costs))] += sum(line.amount for charge, line in lines if charge.per_period) - sum(costs)
    offer, terms, committed = bill.offer, bill.terms, bill.offer.purchase_option in COMMITMENTS
    listed = _list_fee_per_hour(bill) if on_demand is None else on_demand.hourly_rate
    column = "CommitmentDiscountStatus" if committed else ""  # a month or an owned machine has none
    column = "CapacityReservationStatus" if offer.purchase_option is PurchaseOption.CAPACITY_BLOCK else column
    kinds = (("Used", False, "used by this run"), ("Used", True, "used by other work"), ("Unused", None, "unused"))
    for part, cost, (status, by_others, words) in zip(parts, costs, kinds, strict=True):
        row = {
            "ChargeCategory": "Usage",
            "ChargeFrequency": "Usage-Based",
            "PricingCategory": "Committed" if committed else PRICING.get(offer.purchase_option, "Standard"),
            "SkuMeter": offer.instance_type,
            "SkuPriceId": price_id(offer, "use"),
            "BilledCost": Decimal(0),
            **priced(part, "Hours", listed, terms.price_factor, terms.exchange),
            **(_committed(bill, part) if committed else {}),
            **({column: status} if column else {}),
            "EffectiveCost": cost,
            "x_UsedByOtherWork": by_others,
            "ChargeDescription": f"{offer.instance_type} bought ahead, {words}, estimated",
        }
        yield hours if by_others is False else paid, {**row, **_consumed(row, status)}


def _list_fee_per_hour(bill: Bill) -> Decimal:
    return bill.tariff.fee / bill.tariff.period_hours


def _fee_per_hour(bill: Bill) -> Decimal:
    return _list_fee_per_hour(bill) * bill.terms.price_factor * bill.terms.exchange


def _consumed(row: Row, status: str = "Used") -> Row:
    """Null for the unused hours of a commitment, as FOCUS asks; none of other hours that nobody uses."""
    if status == "Unused" and "CommitmentDiscountStatus" in row:
        return {}
    used = row["PricingQuantity"] if status == "Used" else Decimal(0)
    return {"ConsumedQuantity": used, "ConsumedUnit": row["PricingUnit"]}
