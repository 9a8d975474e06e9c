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
from decimal import Decimal, InvalidOperation
from typing import Any

from costcalc.hardware import Machine
from costcalc.offers import Offer, Payment, PurchaseOption, term_hours
from pricing.packaged.billing import billing
from pricing.sources.source import SchemaChanged

SOURCE = "Azure Retail Prices"
N_SERIES = "Standard_N"
PLACES = Decimal("1e-12")
SHOWN = 6  # names in one sentence

# The same armSkuName carries Windows, low priority, dedicated hosts, classic cloud services and promotions.
_OTHER_PRODUCTS = re.compile(r"windows|low priority|dedicated|promo|cloud ?services|dev/?test", re.IGNORECASE)
# FPGAs, and machines that hold a share of one GPU: NVv4, NGads V620, the three small NVads A10 v5.
_NO_WHOLE_GPU = re.compile(r"Standard_(NP\d+s|NV\d+as_v4|NG\d+adm?s_V620_v1|NV(6|12|18)ads_A10_v5)$")
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
class LeftOut:
    """A row of an N-series machine that gives no price, and why a person should look at it."""

    why: str


def read_item(item: Any, now: datetime) -> tuple[Quote | LeftOut, ...]:
    """The quotes of one row: none for other things, several where savings plans hang on it. Raises SchemaChanged."""
    if not isinstance(item, dict):
        raise SchemaChanged("azure: an item of the retail prices is no object")
    if not _rents_a_machine(item):
        return ()
    try:
        return _quotes(item, now)
    except (KeyError, TypeError, AttributeError, ValueError, InvalidOperation) as error:
        what = f"{_text(item, 'armSkuName')} in {_text(item, 'armRegionName')}"
        raise SchemaChanged(f"azure: the row of {what} has changed its shape: {type(error).__name__} {error}") from None


def _rents_a_machine(item: Mapping[str, Any]) -> bool:
    name = _text(item, "armSkuName")
    described = " ".join(_text(item, field) for field in ("productName", "meterName", "skuName", "armSkuName"))
    return (
        name.startswith(N_SERIES)
        and _text(item, "serviceName") in ("", "Virtual Machines")
        and not _OTHER_PRODUCTS.search(described)
        and not _NO_WHOLE_GPU.match(name)
        and not _GOVERNMENT.match(_text(item, "armRegionName"))
        and item.get("isPrimaryMeterRegion") is not False  # the same machine once more, billed elsewhere
        and not item.get("tierMinimumUnits")
    )


def _text(item: Mapping[str, Any], field: str) -> str:
    """A text field without its non-breaking and doubled spaces."""
    return " ".join(str(item.get(field) or "").split())


def _quotes(item: Mapping[str, Any], now: datetime) -> tuple[Quote | LeftOut, ...]:
    kind = item["type"]
    read = {"Consumption": _consumption, "Reservation": _reservation}.get(kind)
    if read is None or not _is_current(item, now):
        return ()
    if item["currencyCode"] != "USD":
        return (LeftOut(f"priced in {item['currencyCode']}, not USD"),)
    return tuple(each for each in read(item) if isinstance(each, LeftOut) or each.amount)


def _is_current(item: Mapping[str, Any], now: datetime) -> bool:
    start, end = _moment(item, "effectiveStartDate"), _moment(item, "effectiveEndDate")
    return (start is None or start <= now) and (end is None or end > now)


def _moment(item: Mapping[str, Any], field: str) -> datetime | None:
    text = item.get(field)
    if not text:
        return None
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _consumption(item: Mapping[str, Any]) -> tuple[Quote | LeftOut, ...]:
    """The plain or spot rate, and the savings plans beside it (only preview API versions list them)."""
    if _text(item, "unitOfMeasure") != "1 Hour":
        return (LeftOut(f"{_text(item, 'armSkuName')} is priced by {_text(item, 'unitOfMeasure') or 'nothing'}"),)
    price = _amount(item["retailPrice"])
    if re.search(r"\bspot\b", f"{_text(item, 'meterName')} {_text(item, 'skuName')}", re.IGNORECASE):
        return (_quote(item, PurchaseOption.SPOT, None, price),)
    plans = [(plan["term"], _amount(plan["retailPrice"])) for plan in item.get("savingsPlan") or ()]
    quotes = [_termed(item, PurchaseOption.SAVINGS_PLAN, term, rate) for term, rate in plans]
    return (_quote(item, PurchaseOption.ON_DEMAND, None, price), *quotes)


def _reservation(item: Mapping[str, Any]) -> tuple[Quote | LeftOut, ...]:
    """retailPrice is the total of the term, whatever unitOfMeasure says."""
    return (_termed(item, PurchaseOption.RESERVED, item["reservationTerm"], _amount(item["retailPrice"])),)


def _termed(item: Mapping[str, Any], option: PurchaseOption, term: Any, amount: Decimal) -> Quote | LeftOut:
    years = _YEARS.match(" ".join(str(term).split()))
    if years is None:
        return LeftOut(f"{_text(item, 'armSkuName')} has the unknown term {term}")
    return _quote(item, option, f"{years[1]}y", amount)


def _quote(item: Mapping[str, Any], option: PurchaseOption, term: str | None, amount: Decimal) -> Quote:
    name, region = _text(item, "armSkuName"), _text(item, "armRegionName").lower()
    if not region:
        raise ValueError("no armRegionName")
    start = _moment(item, "effectiveStartDate")
    return Quote(name, region, option, term, amount, start, _text(item, "skuId") or _text(item, "meterId"))


def _amount(price: Any) -> Decimal:
    if isinstance(price, bool):
        raise ValueError(f"{price!r} is no price")
    amount = Decimal(str(price))
    if not amount.is_finite() or amount < 0:
        raise ValueError(f"{price!r} is no price")
    return amount


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
    return Offer(
        *("azure", quote.region, quote.instance_type, machine),
        purchase_option=quote.option,
        hourly_rate=hourly,
        observed_at=now,
        source=f"{SOURCE}: {quote.sku_id}" if quote.sku_id else SOURCE,
        term=quote.term,
        payment=payments.get(quote.option),
        upfront=Decimal(0) if plan else upfront,
        recurring_hourly=quote.amount if plan else None if upfront is None else Decimal(0),
        effective_from=quote.effective_from,
        **billing("azure").terms,
    )


def names(listed: Iterable[str]) -> str:
    """The first few names, and how many more there are."""
    known = sorted(set(listed))
    return ", ".join(known[:SHOWN]) + (f" and {len(known) - SHOWN} more" if len(known) > SHOWN else "")
