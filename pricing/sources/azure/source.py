"""Azure's list prices of N-series machines under Linux, from the public retail price API.

Sizes whose accelerators the packaged table doesn't know become a gap. Windows, low priority, dev/test, dedicated hosts and
promotions stay out. docs/price-sources-azure.md says how a rate comes about.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct, ValidationError, convert, field

from costcalc.hardware import Machine
from costcalc.offer import COUNT_NOT_STATED, Gap, Offer, Payment, PurchaseOption, term_hours
from pricing.packaged.machine_facts import packaged_machines
from pricing.packaged.names import NOT_COUNTED, uncounted
from pricing.packaged.providers import billing
from pricing.scope import EVERYTHING
from pricing.sources.common.endpoint import Endpoint, Site, address
from pricing.sources.common.listing import Listing, amount
from pricing.sources.common.rows import first_few
from pricing.sources.source import Bounds, Collected, SchemaChanged

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


class Quote(Struct, frozen=True):
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


class Unpriced(Struct, frozen=True):
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
    start, end = _utc(item.effective_start_date), _utc(item.effective_end_date)
    is_current = (start is None or start <= now) and (end is None or end > now)
    if item.type not in ("Consumption", "Reservation") or not is_current:
        return ()
    if item.currency_code != "USD":
        return (Unpriced(item.arm_sku_name, f"priced in {item.currency_code}, not USD"),)
    if item.type == "Consumption":
        quotes = _consumption(item)
    elif item.reservation_term is None:
        raise ValueError("a reservation without reservationTerm")
    else:  # the price is the total of the term, whatever the unit of measure says
        quotes = (_termed(item, PurchaseOption.RESERVED, item.reservation_term, amount(item.retail_price)),)
    return tuple(each for each in quotes if isinstance(each, Unpriced) or each.amount)


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
    paid: dict[str, Any] = {}
    if quote.option is PurchaseOption.RESERVED:
        hourly = (quote.amount / term_hours(quote.term or "")).quantize(PLACES)
        paid = {"payment": Payment.ALL_UPFRONT, "upfront": quote.amount, "recurring_hourly": Decimal(0)}
    elif quote.option is PurchaseOption.SAVINGS_PLAN:
        paid = {"payment": Payment.NO_UPFRONT, "upfront": Decimal(0), "recurring_hourly": quote.amount}
    listing = Listing("azure", f"{SOURCE}: {quote.sku_id}" if quote.sku_id else SOURCE, now)
    return listing.offer(
        *(quote.region, quote.instance_type, machine, hourly),
        purchase_option=quote.option,
        term=quote.term,
        **paid,
        effective_from=quote.effective_from,
        flags=() if machine.accelerators else (COUNT_NOT_STATED,),
        **billing("azure").terms,
    )


PATH = "/api/retail/prices"
API_VERSION = "2023-01-01-preview"  # without a preview version there are no savings plans
EVERYWHERE = "Standard_D2s_v5"  # a size that new regions start with: shows regions that the list below lacks
AT_ONCE = 4
MOST_PAGES = 500
# armRegionName of the public regions; later ones are found where they list EVERYWHERE
_KNOWN_REGIONS = """
australiacentral australiacentral2 australiaeast australiasoutheast austriaeast belgiumcentral brazilsouth
brazilsoutheast canadacentral canadaeast centralindia centralus chilecentral denmarkeast eastasia eastus eastus2
francecentral francesouth germanynorth germanywestcentral indonesiacentral israelcentral italynorth japaneast
japanwest jioindiacentral jioindiawest koreacentral koreasouth malaysiawest mexicocentral newzealandnorth
northcentralus northeurope norwayeast norwaywest polandcentral qatarcentral southafricanorth southafricawest
southcentralus southeastasia southindia spaincentral swedencentral swedensouth switzerlandnorth switzerlandwest
uaecentral uaenorth uksouth ukwest westcentralus westeurope westindia westus westus2 westus3
"""
REGIONS = frozenset(_KNOWN_REGIONS.split())


class Page(Struct):
    """A page of rows, and the address of the next one, which names the real host."""

    items: list[dict[str, object]] = field(name="Items")
    next_page: str | None = field(default=None, name="NextPageLink")


class Azure(Struct, frozen=True):
    """The source. Pages are cut by row number, which shifts when prices change: so region by region, a page or two each."""

    api: Endpoint
    machines: Mapping[str, Machine]

    def collect(self, now: datetime) -> Collected:
        """Every known N-series machine in every region and way to buy it. Raises SourceError."""
        read = self._read(now)
        quotes, contradicted = latest(each for each in read if isinstance(each, Quote))
        unpriced = [each for each in read if isinstance(each, Unpriced)]
        odd = {each.why for each in unpriced}
        if not quotes:
            raise SchemaChanged(f"azure: no item is a price of an N-series machine in USD {first_few(odd)}")
        unknown = {quote.instance_type for quote in quotes} - self.machines.keys()
        named = {name: part for name in unknown if (part := uncounted("azure", name, self.machines))}
        machines = {**self.machines, **named}
        offers = tuple(
            offer(quote, machines[quote.instance_type], now) for quote in quotes if quote.instance_type in machines
        )
        names_by_reason = {
            "rows left out": odd,
            "sizes whose accelerators are not known here left out": unknown - named.keys(),
            NOT_COUNTED: named.keys(),
            "two rows differ, the dearer one is taken": contradicted,
        }
        gaps = (Gap("azure", f"{reason}: {first_few(names)}") for reason, names in names_by_reason.items() if names)
        unread = frozenset(each.instance_type for each in unpriced) | unknown
        return Collected(offers, tuple(gaps), whole=(EVERYTHING.without(unread),))

    def _read(self, now: datetime) -> list[Quote | Unpriced]:
        """All regions, a few at once; the first that fails calls off the rest."""
        everywhere = self._items(f"armSkuName eq '{EVERYWHERE}' and priceType eq 'Consumption'")
        regions = REGIONS | {str(item["armRegionName"]) for item in everywhere if item.get("armRegionName")}

        def read(region: str) -> list[Quote | Unpriced]:
            items = self._items(f"armRegionName eq '{region}' and contains(armSkuName, '{N_SERIES}')")
            return [each for item in items for each in read_item(item, now)]

        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            return [each for of_region in pool.map(read, sorted(regions)) for each in of_region]
        finally:
            pool.shutdown(cancel_futures=True)

    def _items(self, wanted: str) -> Iterator[dict[str, object]]:
        """All machines of a filter, page by page; an empty page with a next link is no end."""
        query = {"api-version": API_VERSION, "$filter": f"serviceName eq '{VIRTUAL_MACHINES}' and {wanted}"}
        seen: list[dict[str, str]] = []
        while query not in seen and len(seen) < MOST_PAGES:
            seen.append(query)
            try:
                page = convert(self.api.get(PATH, **query), Page)
            except ValidationError as error:
                raise SchemaChanged(f"azure: the retail prices have changed their shape: {error}") from None
            yield from page.items
            if not page.next_page:
                return
            query = {"api-version": API_VERSION, **dict(parse_qsl(urlsplit(page.next_page).query))}
        raise SchemaChanged("azure: the pages of the retail prices have no end")


SPEC = Site("azure", address("COSTCALC_AZURE_PRICES_URL", "https://prices.azure.com")).spec(
    lambda api, now: Azure(api, packaged_machines("azure")).collect(now),
    label="Microsoft Azure",
    rates="on demand, spot, reservations and savings plans",
    cannot_see="enterprise, negotiated and CSP rates, quotas, zones, free capacity, government regions",
    bounds=Bounds(memory_mib=96, offers=20_000),
)
