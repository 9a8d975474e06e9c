"""Azure retail price items to offers: which rows rent a Linux machine with accelerators, how, and for how much. Pure.

Shape and traps: learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices; see
docs/price-sources-azure.md.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from msgspec import Struct, convert

from costcalc.hardware import Machine
from costcalc.offer import COUNT_NOT_STATED, Offer, Payment, PurchaseOption, term_hours
from pricing.packaged.providers import billing
from pricing.sources.common.listing import Listing, amount
from pricing.sources.source import SchemaChanged

SOURCE = "Azure Retail Prices"
N_SERIES = "Standard_N"
PLACES = Decimal("1e-12")
VIRTUAL_MACHINES = "Virtual Machines"

# The same armSkuName carries Windows, low priority, dedicated hosts, classic cloud services and promotions.
_OTHER_PRODUCTS = re.compile(r"windows|low priority|dedicated|promo|cloud ?services|dev/?test", re.IGNORECASE)
# FPGAs, machines that hold a share of one GPU (NVv4, NGads V620, the three small NVads A10 v5), and ND40s_v2: its preview
# ended in 2020 (learn.microsoft.com/azure/virtual-machines/ndv2-series), yet its meters have rates to this day.
_NOT_RENTED = re.compile(r"Standard_(NP\d+s|NV\d+as_v4|NG\d+adm?s_V620_v1|NV(6|12|18)ads_A10_v5|ND40s_v2)$")
_GOVERNMENT = re.compile(r"usgov|usdod|ussec|usnat")  # not for everyone to rent
_YEARS = re.compile(r"(\d) years?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quote:
    """One way to rent one machine in one region. `amount` is US dollars per hour, for a reservation those of its term."""

    instance_type: str
    region: str
    option: PurchaseOption
    term: str | None
    amount: Decimal
    effective_from: datetime | None
    sku_id: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What two quotes may not both give a price for."""
        return (self.region, self.instance_type, self.option.value, self.term or "")


@dataclass(frozen=True, slots=True)
class Unpriced:
    """A row of an N-series machine that gives no price, and why a person should look at it."""

    instance_type: str
    why: str


class SavingsPlan(Struct, rename="camel"):
    """The rate by the hour under a plan of a term such as "1 Year"; only preview API versions list them."""

    term: str
    retail_price: Decimal


class Item(Struct, rename="camel"):
    """A row that rents a machine. `retail_price` is by the hour, a reservation's the total of its term."""

    type: str
    arm_sku_name: str
    arm_region_name: str
    currency_code: str
    retail_price: Decimal
    meter_name: str = ""
    sku_name: str = ""
    sku_id: str = ""
    meter_id: str = ""
    unit_of_measure: str = ""
    reservation_term: str | None = None
    effective_start_date: datetime | None = None
    effective_end_date: datetime | None = None
    savings_plan: list[SavingsPlan] = []


Row = Mapping[str, object]


def read_item(payload: object, now: datetime) -> tuple[Quote | Unpriced, ...]:
    """The quotes of one row: none for other things, several where savings plans hang on it. Raises SchemaChanged."""
    if not isinstance(payload, dict):
        raise SchemaChanged("azure: an item of the retail prices is no object")
    row = {name: " ".join(value.split()) if isinstance(value, str) else value for name, value in payload.items()}
    row = {name: value for name, value in row.items() if value not in ("", None)}
    if not _rents_a_machine(row):
        return ()
    try:
        return _quotes(convert(row, Item), now)
    except ValueError as error:
        what = f"{row['armSkuName']} in {row.get('armRegionName', 'no region')}"
        raise SchemaChanged(f"azure: the row of {what} has changed its shape: {error}") from None


def _rents_a_machine(row: Row) -> bool:
    name = str(row.get("armSkuName", ""))
    described = " ".join(str(row.get(field, "")) for field in ("productName", "meterName", "skuName", "armSkuName"))
    return (
        name.startswith(N_SERIES)
        and row.get("serviceName", VIRTUAL_MACHINES) == VIRTUAL_MACHINES
        and not _OTHER_PRODUCTS.search(described)
        and not _NOT_RENTED.match(name)
        and not _GOVERNMENT.match(str(row.get("armRegionName", "")))
        and row.get("isPrimaryMeterRegion") is not False  # the same machine once more, billed elsewhere
        and not row.get("tierMinimumUnits")
    )


def _quotes(item: Item, now: datetime) -> tuple[Quote | Unpriced, ...]:
    read = {"Consumption": _consumption, "Reservation": _reservation}.get(item.type)
    start, end = _utc(item.effective_start_date), _utc(item.effective_end_date)
    is_current = (start is None or start <= now) and (end is None or end > now)
    if read is None or not is_current:
        return ()
    if item.currency_code != "USD":
        return (Unpriced(item.arm_sku_name, f"priced in {item.currency_code}, not USD"),)
    return tuple(each for each in read(item) if isinstance(each, Unpriced) or each.amount)


def _utc(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment and not moment.tzinfo else moment


def _consumption(item: Item) -> tuple[Quote | Unpriced, ...]:
    """The plain or spot rate, and the savings plans beside it."""
    if item.unit_of_measure != "1 Hour":
        return (Unpriced(item.arm_sku_name, f"{item.arm_sku_name} is priced by {item.unit_of_measure or 'nothing'}"),)
    price = amount(item.retail_price)
    if re.search(r"\bspot\b", f"{item.meter_name} {item.sku_name}", re.IGNORECASE):
        return (_quote(item, PurchaseOption.SPOT, None, price),)
    option, plans = PurchaseOption.SAVINGS_PLAN, item.savings_plan
    termed = (_termed(item, option, plan.term, amount(plan.retail_price)) for plan in plans)
    return (_quote(item, PurchaseOption.ON_DEMAND, None, price), *termed)


def _reservation(item: Item) -> tuple[Quote | Unpriced, ...]:
    """`retail_price` is the total of the term, whatever the unit of measure says."""
    if item.reservation_term is None:
        raise ValueError("a reservation without reservationTerm")
    return (_termed(item, PurchaseOption.RESERVED, item.reservation_term, amount(item.retail_price)),)


def _termed(item: Item, option: PurchaseOption, term: str, price: Decimal) -> Quote | Unpriced:
    years = _YEARS.match(" ".join(term.split()))
    if years is None:
        return Unpriced(item.arm_sku_name, f"{item.arm_sku_name} has the unknown term {term}")
    return _quote(item, option, f"{years[1]}y", price)


def _quote(item: Item, option: PurchaseOption, term: str | None, price: Decimal) -> Quote:
    region, start = item.arm_region_name.lower(), _utc(item.effective_start_date)
    return Quote(item.arm_sku_name, region, option, term, price, start, item.sku_id or item.meter_id)


def latest(quotes: Iterable[Quote]) -> tuple[tuple[Quote, ...], tuple[str, ...]]:
    """One quote per key, and the names of machines that two equally new rows price differently: the dearer one holds."""
    rows: defaultdict[tuple[str, ...], set[Quote]] = defaultdict(set)
    for quote in quotes:
        rows[quote.key].add(quote)
    kept, contradicted = [], set()
    for same in rows.values():
        newest = max(_start(quote) for quote in same)
        new = [quote for quote in same if _start(quote) == newest]
        kept.append(max(new, key=lambda quote: (quote.amount, quote.sku_id)))
        if len({quote.amount for quote in new}) > 1:
            contradicted.add(new[0].instance_type)
    return tuple(sorted(kept, key=lambda quote: quote.key)), tuple(sorted(contradicted))


def _start(quote: Quote) -> datetime:
    return quote.effective_from or datetime.min.replace(tzinfo=UTC)


def offer(quote: Quote, machine: Machine, now: datetime) -> Offer:
    """What is rented at this price, its term's total spread over the term's hours."""
    hourly = quote.amount
    upfront: Decimal | None = None
    if quote.option is PurchaseOption.RESERVED:
        hourly = (quote.amount / term_hours(quote.term or "")).quantize(PLACES)
        upfront = quote.amount
    plan = quote.option is PurchaseOption.SAVINGS_PLAN
    payments = {PurchaseOption.RESERVED: Payment.ALL_UPFRONT, PurchaseOption.SAVINGS_PLAN: Payment.NO_UPFRONT}
    listing = Listing("azure", f"{SOURCE}: {quote.sku_id}" if quote.sku_id else SOURCE, now)
    return listing.offer(
        *(quote.region, quote.instance_type, machine, hourly),
        purchase_option=quote.option,
        term=quote.term,
        payment=payments.get(quote.option),
        upfront=Decimal(0) if plan else upfront,
        recurring_hourly=quote.amount if plan else None if upfront is None else Decimal(0),
        effective_from=quote.effective_from,
        flags=() if machine.accelerators else (COUNT_NOT_STATED,),
        **billing("azure").terms,
    )
