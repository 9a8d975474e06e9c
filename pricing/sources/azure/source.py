"""Azure's list prices of N-series machines under Linux, from the public retail price API.

Sizes whose accelerators the packaged table doesn't know become a gap. Windows, low priority, dev/test, dedicated hosts and
promotions stay out. docs/price-sources-azure.md says how a rate comes about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct, ValidationError, convert, field

from costcalc.hardware import Machine
from costcalc.offer import Gap
from pricing.packaged.machine_facts import packaged_machines
from pricing.scope import EVERYTHING
from pricing.sources.azure.items import N_SERIES, VIRTUAL_MACHINES, Quote, Unpriced, latest, offer, read_item
from pricing.sources.common.endpoint import Endpoint, Site, address
from pricing.sources.common.rows import first_few
from pricing.sources.common.uncounted import NOT_COUNTED, uncounted
from pricing.sources.source import Bounds, Collected, SchemaChanged, SourceSpec

SITE = Site("azure", address("COSTCALC_AZURE_PRICES_URL", "https://prices.azure.com"))
PATH = "/api/retail/prices"
API_VERSION = "2023-01-01-preview"  # without a preview version there are no savings plans
SERVICE_FILTER = f"serviceName eq '{VIRTUAL_MACHINES}'"
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


@dataclass(frozen=True, slots=True)
class Azure:
    """The source. Pages are cut by row number, which shifts when prices change: so region by region, a page or two each."""

    api: Endpoint
    machines: Mapping[str, Machine]

    def collect(self, now: datetime) -> Collected:
        """Every known N-series machine in every region and way to buy it. Raises SourceError."""
        read = self._read_of(sorted(REGIONS | self._regions()), now)
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

    def _read_of(self, regions: list[str], now: datetime) -> list[Quote | Unpriced]:
        """A few regions at once; the first that fails calls off the rest."""
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            return [each for read in pool.map(partial(self._region, now=now), regions) for each in read]
        finally:
            pool.shutdown(cancel_futures=True)

    def _regions(self) -> frozenset[str]:
        wanted = f"{SERVICE_FILTER} and armSkuName eq '{EVERYWHERE}' and priceType eq 'Consumption'"
        return frozenset(str(item["armRegionName"]) for item in self._items(wanted) if item.get("armRegionName"))

    def _region(self, region: str, now: datetime) -> list[Quote | Unpriced]:
        wanted = f"{SERVICE_FILTER} and armRegionName eq '{region}' and contains(armSkuName, '{N_SERIES}')"
        return [each for item in self._items(wanted) for each in read_item(item, now)]

    def _items(self, wanted: str) -> Iterator[dict[str, object]]:
        """All items of a filter, page by page; an empty page with a next link is no end."""
        query = {"api-version": API_VERSION, "$filter": wanted}
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


SPEC = SourceSpec(
    name="azure",
    label="Microsoft Azure",
    build=lambda environment, http: Azure(SITE.open(environment, http), packaged_machines("azure")),
    rates="on demand, spot, reservations and savings plans",
    cannot_see="enterprise, negotiated and CSP rates, quotas, zones, free capacity, government regions",
    settings=SITE.settings,
    bounds=Bounds(memory_mib=96, offers=20_000),
)
