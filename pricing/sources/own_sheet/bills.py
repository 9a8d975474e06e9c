"""A cloud's bill as rates: what an hour of each machine came to, by region and way of buying, in the last month that has some.

FOCUS (https://focus.finops.org/focus-specification/) and AWS's Cost and Usage Report in both of its spellings
(https://docs.aws.amazon.com/cur/latest/userguide/data-dictionary.html). A charge is used where it is for hours of a machine with
accelerators that we know; every other one is counted by why it is not.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from costcalc.offer import Offer, Payment, PurchaseOption
from costcalc.text import line
from pricing.packaged.machine_facts import packaged_machines
from pricing.packaged.places import region_of
from pricing.packaged.providers import provider_code
from pricing.scope import EVERYTHING
from pricing.sources.own_sheet.sheet_rows import moment
from pricing.sources.source import Collected, SourceError

Cells = Mapping[str, str]
FOCUS = ("charge_category", "billed_cost")
AWS = ("line_item_line_item_type", "line_item_usage_type")
TAX, CREDIT, REFUND, UNUSED = "taxes", "credits", "refunds and corrections", "commitments that were not used"
FEES, OTHERS, NO_TERM = "fees and purchases", "other services", "use under a commitment of unknown term"
OTHER_SYSTEMS, OTHER_MACHINES = "Windows and the like", "other machines"
NO_HOURS, NO_PLACE = "no hours", "an unknown region"
ESTIMATES = "estimates, which nobody paid"
OLDER, NO_MONEY, BROKEN = "earlier months", "nothing paid", "unreadable amounts or days"
KEYS_OF_MACHINES = ("InstanceType", "instanceType", "ServiceType", "MachineType", "machine_type", "machine_spec")
MACHINE = re.compile(r"(?:^|[-:])(?:Box|Spot)Usage:([a-z0-9-]+\.[a-z0-9-]+)$")
HOURS = re.compile(r"(?:1 )?(?:hrs?|hours?|instance[- ]hours?|vm[- ]hours?)", re.IGNORECASE)
UNUSED_CAPACITY = re.compile(r"(?:^|[-:])(?:Unused\w*|Reservation|CapacityReservation\w*):")
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
TERMS = {"1yr": "1y", "3yr": "3y", "1": "1y", "3": "3y"}
DISCOUNTS = ("EdpDiscount", "PrivateRateDiscount", "BundledDiscount", "Discount", "SppDiscount")
OF_AWS = {
    "Tax": TAX, "Credit": CREDIT, "Refund": REFUND, "RIFee": UNUSED, "SavingsPlanRecurringFee": UNUSED, "Fee": FEES,
    "SavingsPlanUpfrontFee": FEES, "SavingsPlanNegation": FEES,
}  # fmt: skip
LEAST_HOURS = Decimal("0.01")


class Left(Exception):
    """Why a charge is not used."""


class Charge(Struct, frozen=True):
    """Hours of one type of machine and what they cost, of so many rows; a discount has none."""

    machine: tuple[str, str, str]  # provider, region, type
    option: PurchaseOption
    term: str | None
    payment: Payment | None
    hours: Decimal
    amount: Decimal
    currency: str
    start: datetime
    end: datetime
    rows: int = 1

    def __add__(self, other: Charge) -> Charge:
        """Both together, of one offer."""
        return replace(
            self,
            hours=self.hours + other.hours,
            amount=self.amount + other.amount,
            start=min(self.start, other.start),
            end=max(self.end, other.end),
            rows=self.rows + other.rows,
        )

    @property
    def offer(self) -> tuple[object, ...]:
        """What tells apart the rates of a bill."""
        return (*self.machine, self.option, self.term, self.payment, self.currency)


def named(header: Iterable[str]) -> list[str]:
    """The columns of a bill in one spelling: `lineItem/UsageType` and `line_item_usage_type`, `BilledCost` and `billed_cost`."""
    return [CAMEL.sub("_", name.strip()).replace("/", "_").casefold() for name in header]


def reader(names: Iterable[str]) -> Callable[[Cells], Charge] | None:
    """What reads a row of the bill that has these columns; None where it is no bill."""
    known = set(names)
    return _of_focus if known.issuperset(FOCUS) else _of_aws if known.issuperset(AWS) else None


def collected(rows: Iterable[Cells], read: Callable[[Cells], Charge], now: datetime) -> Collected:
    """The rates of a bill, and how many of its charges are not used. Raises SourceError where none is."""
    months: dict[tuple[object, ...], dict[tuple[int, int], Charge]] = defaultdict(dict)
    left: Counter[str] = Counter()
    for row in rows:
        try:
            charge = read(row)
            month, of_one = (charge.start.year, charge.start.month), months[charge.offer]
            of_one[month] = of_one[month] + charge if month in of_one else charge
        except Left as why:
            left[str(why)] += 1
        except (ValueError, InvalidOperation):
            left[BROKEN] += 1
    offers = [offer for of_one in months.values() for offer in _rate(of_one, left, now)]
    told = ", ".join(f"{count:,} of {why}" for why, count in left.most_common())
    if not offers:
        raise SourceError(
            f"sheet: no charge of this bill is for hours of a machine that is known here; left out: {told or 'no rows'}"
        )
    notes = (f"charges of the bill that are left out: {told}",) if left else ()
    return Collected(tuple(offers), whole=(EVERYTHING,), notes=notes)


def _rate(months: Mapping[tuple[int, int], Charge], left: Counter[str], now: datetime) -> Iterator[Offer]:
    """The rate of the last month, if anything was paid in it."""
    charge = months[max(months)]
    left.update({OLDER: sum(each.rows for each in months.values()) - charge.rows} if len(months) > 1 else {})
    if charge.hours < LEAST_HOURS or charge.amount <= 0:
        left.update({NO_MONEY: charge.rows})
        return
    provider, region, kind = charge.machine
    days = f"{charge.start:%Y-%m-%d} to {charge.end:%Y-%m-%d}"
    yield Offer(
        provider=provider,
        region=region,
        instance_type=kind,
        machine=packaged_machines(provider)[kind],
        purchase_option=charge.option,
        hourly_rate=charge.amount / charge.hours,
        observed_at=min(charge.end, now),
        source=f"bill of {days}: {charge.amount:,.2f} {charge.currency} for {charge.hours:,.1f} h",
        term=charge.term,
        payment=charge.payment,
        offering_class="own",
        currency=charge.currency,
    )


def _of_focus(row: Cells) -> Charge:
    """Raises Left, ValueError."""
    if row.get("x_is_estimate", "").casefold() == "true":
        raise Left(ESTIMATES)
    if (category := row["charge_category"].casefold()) != "usage":
        raise Left({"tax": TAX, "credit": CREDIT, "adjustment": REFUND}.get(category, FEES))
    if row.get("charge_class", "").casefold() == "correction" or row.get("charge_subcategory") == "Refund":
        raise Left(REFUND)
    meter, pricing = _first(row, "x_usage_type", "sku_meter"), row.get("pricing_category", "").casefold()
    statuses = (
        row.get(name, "")
        for name in ("commitment_discount_status", "capacity_reservation_status", "charge_subcategory")
    )
    if UNUSED_CAPACITY.search(meter) or any(status.casefold().startswith("unused") for status in statuses):
        raise Left(UNUSED)
    machine = _machine_of_focus(row, meter)
    if pricing == "committed" or row.get("commitment_discount_id"):
        raise Left(NO_TERM)
    counted = next((each for each in ("consumed", "usage") if row.get(f"{each}_quantity")), "pricing")
    return Charge(
        machine=machine,
        option=PurchaseOption.SPOT if pricing == "dynamic" or "SpotUsage" in meter else PurchaseOption.ON_DEMAND,
        term=None,
        payment=None,
        hours=_hours(row.get(f"{counted}_unit", ""), row.get(f"{counted}_quantity", "")),
        amount=Decimal(_first(row, "effective_cost", "billed_cost")),
        currency=row["billing_currency"].upper(),
        start=moment(row["charge_period_start"].removesuffix("UTC").strip()),
        end=moment(row["charge_period_end"].removesuffix("UTC").strip()),
    )


def _machine_of_focus(row: Cells, meter: str) -> tuple[str, str, str]:
    """Provider, region and type, which clouds write in the name of a meter, or among the facts of its SKU."""
    provider = provider_code(_first(row, "provider_name", "host_provider_name", "service_provider_name", "provider"))
    facts = {**_facts(row.get("x_sku_details", "")), **_facts(row.get("sku_price_details", ""))}
    kind = _first(row, "x_instance_type", "x_sku_instance_type")
    if match := MACHINE.search(meter):
        kind = kind or match[1]
    kind = kind or next((str(facts[key]) for key in KEYS_OF_MACHINES if facts.get(key)), "")
    name = _checked(provider, kind, str(facts.get("OperatingSystem", "")), row)
    return _placed(provider, name, _first(row, "region_id", "region_name", "region", "availability_zone"))


def _of_aws(row: Cells) -> Charge:
    """Raises Left, ValueError."""
    kind_of_line, usage = row["line_item_line_item_type"], row["line_item_usage_type"]
    if kind_of_line in OF_AWS:
        raise Left(OF_AWS[kind_of_line])
    if UNUSED_CAPACITY.search(usage):
        raise Left(UNUSED)
    match = MACHINE.search(usage)
    kind = match[1] if match else row.get("product_instance_type", "") if not row.get("line_item_product_code") else ""
    kind = _checked("aws", kind, row.get("product_operating_system", ""), row)
    is_discount = kind_of_line in DISCOUNTS
    if is_discount and row.get("line_item_net_unblended_cost"):
        raise Left(FEES)  # within the net cost of the usage
    option, amount, term, payment = _bought_at_aws(row, kind_of_line, "SpotUsage" in usage)
    return Charge(
        machine=_placed("aws", kind, _first(row, "product_region_code", "product_region", "line_item_availability_zone",
                                            "product_location")),
        option=option,
        term=term,
        payment=payment,
        hours=Decimal(0) if is_discount else _hours(row.get("pricing_unit", "") or "Hrs", row["line_item_usage_amount"]),
        amount=amount,
        currency=row["line_item_currency_code"].upper(),
        start=moment(row["line_item_usage_start_date"].removesuffix("UTC").strip()),
        end=moment(row["line_item_usage_end_date"].removesuffix("UTC").strip()),
    )  # fmt: skip


def _bought_at_aws(row: Cells, kind: str, is_spot: bool) -> tuple[PurchaseOption, Decimal, str | None, Payment | None]:
    """How a line of the report was bought, and what was paid for it, upfront payments spread over their hours."""
    if kind == "DiscountedUsage":
        amount = _first(row, "reservation_net_effective_cost", "reservation_effective_cost")
        bought, lasts, paid = PurchaseOption.RESERVED, "pricing_lease_contract_length", "pricing_purchase_option"
    elif kind == "SavingsPlanCoveredUsage":
        amount = _first(row, "savings_plan_net_savings_plan_effective_cost", "savings_plan_savings_plan_effective_cost")
        bought, lasts, paid = PurchaseOption.SAVINGS_PLAN, "savings_plan_purchase_term", "savings_plan_payment_option"
    else:
        amount = _first(row, "line_item_net_unblended_cost", "line_item_unblended_cost")
        return PurchaseOption.SPOT if is_spot else PurchaseOption.ON_DEMAND, Decimal(amount), None, None
    term = TERMS.get(row.get(lasts, "").replace(" ", "").casefold())
    if term is None or not amount:
        raise Left(NO_TERM)
    payment = row.get(paid, "").casefold().replace(" ", "_")
    return bought, Decimal(amount), term, Payment(payment) if payment in {*Payment} else None


def _checked(provider: str, kind: str, system: str, row: Cells) -> str:
    """The type of machine as we call it. Raises Left for one that is not known here, or runs another system than Linux."""
    if not kind:
        raise Left(OTHERS)
    name = _names(provider).get(kind.casefold().removeprefix("standard_"))
    if name is None or not packaged_machines(provider)[name].accelerators:
        raise Left(OTHER_MACHINES)
    operation = _first(row, "line_item_operation", "x_operation")
    if system.casefold() not in ("", "na", "linux") or operation not in ("", "RunInstances", "RunInstances:SV001"):
        raise Left(OTHER_SYSTEMS)
    return name


def _placed(provider: str, kind: str, region: str) -> tuple[str, str, str]:
    try:
        return provider, region_of(provider, region), kind
    except ValueError:
        raise Left(NO_PLACE) from None


def _hours(unit: str, quantity: str) -> Decimal:
    if not HOURS.fullmatch(unit.strip()):
        raise Left(NO_HOURS)
    return Decimal(quantity)


def _facts(text: str) -> dict[str, object]:
    """The facts of a SKU, written as JSON."""
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _first(row: Cells, *names: str) -> str:
    """The first cell that is filled."""
    return next((line(row[name]) for name in names if row.get(name)), "")


@cache
def _names(provider: str) -> Mapping[str, str]:
    """The types of machines by their plain names: Azure's `Standard_` is often left out."""
    return {name.casefold().removeprefix("standard_"): name for name in packaged_machines(provider)}
