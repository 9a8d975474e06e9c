"""Amazon Web Services without an account: on demand and spot in every region and Local Zone, as AWS's pricing pages read them.

One document has the locations, one for each of them its rates on demand, one the spot rates of all, of the lowest zone,
and one (of the Spot Instance advisor) which share of its spot machines AWS took back in a month; a spot rate carries it as a
flag. They are asked at most once a day. What a machine holds the packaged table says. Of a type that it lacks the page states
vCPUs and memory, and its name or family mostly the accelerator, but not how many: it is offered as such; all others are named.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from msgspec import Struct, ValidationError, convert, field
from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.interruptions import RISK_OF_SHARE
from costcalc.offer import COUNT_NOT_STATED, INTERRUPTED, Gap, Offer, PurchaseOption
from pricing.packaged.machine_facts import packaged_machines
from pricing.packaged.names import NOT_COUNTED, uncounted
from pricing.scope import Scope
from pricing.sources.common.endpoint import Endpoint, NotThere, Site, address
from pricing.sources.common.http import MIB
from pricing.sources.common.listing import Listing, amount, spot
from pricing.sources.common.rows import LeftOut, read_rows
from pricing.sources.source import Bounds, Collected, SchemaChanged, SourceError, SourceSpec

LOCATIONS = "/locations/1.0/aws/current/locations.json"
REGION, LOCAL_ZONE = "AWS Region", "AWS Local Zone"  # beside Wavelength Zones, of which nothing is read
GZIP = b"\x1f\x8b"  # sent packed whether or not that was asked for, and not always said
UNPACK_GZIP = 31  # https://docs.python.org/3/library/zlib.html#zlib.decompress
MOST_MIB = 16


class Location(Struct):
    """A region, or a zone beside one."""

    name: str
    code: str
    type: str


def places_listed(api: Endpoint, *types: str) -> list[Location]:
    """The places of these types, with the names that these documents give them: the price list spells nine otherwise. Raises
    SourceError."""
    try:
        locations = convert(read_map(api, LOCATIONS), dict[str, Location])
    except ValidationError as error:
        raise SchemaChanged(f"{api.source}: the list of locations is unreadable: {error}") from None
    return [each for each in locations.values() if each.type in types]


def read_map(api: Endpoint, path: str) -> dict[str, object]:
    """One document. Raises SourceError."""
    content = api.bytes(path)
    try:
        if content.startswith(GZIP):
            unpacked = zlib.decompressobj(UNPACK_GZIP)
            content = unpacked.decompress(content, MOST_MIB * MIB)
            if unpacked.unconsumed_tail:
                raise SourceError(f"{api.source}: {path} unpacks to more than {MOST_MIB} MiB")
        document = json.loads(content)
    except (ValueError, zlib.error, RecursionError):
        raise SchemaChanged(f"{api.source}: {path} is unreadable") from None
    if not isinstance(document, dict) or not document:
        raise SchemaChanged(f"{api.source}: {path} holds no object")
    return document


def rows_of(document: Mapping[str, object], location: Location) -> object:
    """What a document says of a location, None where it says nothing."""
    regions = document.get("regions")
    return regions.get(location.name) if isinstance(regions, dict) else None


NAME, SOURCE, SPOT_SOURCE = "aws-page", "AWS pricing page", "AWS spot pricing page"
ON_DEMAND = "/pricing/2.0/meteredUnitMaps/ec2/USD/current/ec2-ondemand-without-sec-sel/{}/Linux/index.json"
SPOT, ADVISOR = "/spot.json", "/spot-advisor-data.json"
ACCELERATED = ("GPU", "Machine Learning")  # those with FPGAs train nothing
BOUNDS = Bounds(document_mib=MOST_MIB, memory_mib=128, offers=8_000)
AT_ONCE = 4
Read = TypeVar("Read")
Shares = Mapping[tuple[str, str], str]
"""By region and instance type."""
ROUNDING = Decimal("0.0001")  # spot has four decimals, so that what equals on demand may stand above it


class Listed(Struct):
    """A machine on demand."""

    instance_type: str = field(name="Instance Type")
    family: str = field(name="Instance Family")
    price: str
    vcpus: str = field(default="", name="vCPU")
    memory: str = field(default="", name="Memory")

    @property
    def ram_gib(self) -> float | None:
        """Its memory, stated as `1,536 GiB`."""
        number, _, unit = self.memory.replace(",", "").partition(" ")
        return float(number) if unit == "GiB" else None


class Seen(NamedTuple):
    """A rate: the region's code, what is rented, and what the page says of the machine, if anything."""

    region: str
    instance_type: str
    rate: str
    stated: Listed | None = None


class AwsPage(Struct, frozen=True):
    """`page` has locations and rates on demand, `spot` the spot rates, `advisor` how often such machines are taken back."""

    page: Endpoint
    spot: Endpoint
    advisor: Endpoint

    def collect(self, now: datetime) -> Collected:
        """Every place's rates; a place, spot or the advisor that cannot be read is a fault. Raises SourceError if none can."""
        places, faults = places_listed(self.page, REGION, LOCAL_ZONE), list[Gap]()
        quoted = _tried(lambda: _quoted(read_map(self.spot, SPOT), places), "spot", faults) or []
        shares = _tried(lambda: _advised(read_map(self.advisor, ADVISOR)), "interruptions", faults) or {}
        with ThreadPoolExecutor(AT_ONCE) as pool:
            rates = list(pool.map(lambda each: _tried(partial(self._on_demand, each), each.code, faults), places))
        listed = {place.code: seen for place, seen in zip(places, rates, strict=True) if seen}
        if not listed:
            raise SourceError("; ".join(gap.reason for gap in faults[:2]) or f"{NAME}: the list of locations is empty")
        return replace(_collected(listed, quoted, shares, now), faults=tuple(faults))

    def _on_demand(self, location: Location) -> list[Seen]:
        """Its rates. A Local Zone without a document sells no machines."""
        try:
            document = read_map(self.page, ON_DEMAND.format(quote(location.name)))
            machines = convert(rows_of(document, location), dict[str, Listed])
        except NotThere:
            if location.type == LOCAL_ZONE:
                return []
            raise
        except ValidationError as error:
            raise SchemaChanged(f"{NAME}: the list of {location.code} is unreadable: {error}") from None
        return [Seen(location.code, each.instance_type, each.price, each) for each in machines.values()]


def _tried(read: Callable[[], Read], part: str, faults: list[Gap]) -> Read | None:
    try:
        return read()
    except SourceError as error:
        faults.append(Gap(NAME, f"{part}: {str(error).removeprefix(f'{NAME}: ')}"))
        return None


def _quoted(document: Any, regions: Collection[Location]) -> list[Seen]:
    """The spot rates of Linux in these regions. Raises SchemaChanged."""
    codes = {each.code for each in regions}
    try:
        return [
            Seen(region["region"], size["size"], rate)
            for region in document["config"]["regions"]
            if region["region"] in codes
            for family in region["instanceTypes"]
            for size in family["sizes"]
            for rate in (column["prices"]["USD"] for column in size["valueColumns"] if column["name"] == "linux")
            if not rate.startswith("N/A")
        ]
    except (KeyError, TypeError, AttributeError):
        raise SchemaChanged(f"{NAME}: {SPOT} is unreadable") from None


def _advised(document: Any) -> Shares:
    """The share of Linux machines that are taken back. Raises SchemaChanged."""
    try:
        labels = {each["index"]: each["label"] for each in document["ranges"]}
        shares = {
            (region, instance_type): labels[row["r"]]
            for region, systems in document["spot_advisor"].items()
            for instance_type, row in systems.get("Linux", {}).items()
        }
    except (KeyError, TypeError, AttributeError):
        raise SchemaChanged(f"{NAME}: {ADVISOR} is unreadable") from None
    if unknown := {*shares.values()} - RISK_OF_SHARE.keys():
        raise SchemaChanged(f"{NAME}: {ADVISOR} names other ranges: {', '.join(sorted(map(str, unknown)))}")
    return shares


def _collected(listed: Mapping[str, list[Seen]], quoted: list[Seen], shares: Shares, now: datetime) -> Collected:
    """The offers of all rows, and which parts were read whole."""
    rows = [each for rates in listed.values() for each in rates]
    on_demand = {(each.region, each.instance_type): amount(each.rate) for each in rows}
    reader = _Reader(Listing("aws", SOURCE, now), packaged_machines("aws"), on_demand, shares)
    collected = read_rows(NAME, [*rows, *quoted], reader.offers)
    parts = (listed, PurchaseOption.ON_DEMAND), ({each.region for each in quoted}, PurchaseOption.SPOT)
    scopes = tuple(Scope("aws", frozenset(regions), frozenset([option.value])) for regions, option in parts if regions)
    return replace(collected, whole=scopes if collected.whole else ())


class _Reader(NamedTuple):
    """Makes offers of rows, by the known machines, the rates on demand and the shares of spot machines that are taken back."""

    listing: Listing
    machines: Mapping[str, Machine]
    on_demand: Mapping[tuple[str, str], Decimal]
    shares: Shares

    def offers(self, seen: Seen) -> Iterator[Offer]:
        """The offer of a row with an accelerator. Raises LeftOut where somebody has to look up what it holds."""
        machine, place = self.machines.get(seen.instance_type), (seen.region, seen.instance_type)
        if machine and machine.accelerators:
            offer = self.listing.offer(*place, machine, amount(seen.rate))
            yield offer if seen.stated else _as_spot(offer, self.on_demand.get(place), self.shares.get(place))
        elif machine is None and seen.stated and seen.stated.family.startswith(ACCELERATED):
            vcpus = int(seen.stated.vcpus) if seen.stated.vcpus else None
            machine = uncounted("aws", seen.instance_type, self.machines, vcpus, seen.stated.ram_gib)
            if machine is None:
                raise LeftOut("machine types not known here left out", seen.instance_type)
            yield self.listing.offer(*place, machine, amount(seen.rate), flags=(COUNT_NOT_STATED,))
            raise LeftOut(NOT_COUNTED, seen.instance_type)


def _as_spot(offer: Offer, on_demand: Decimal | None, share: str | None) -> Offer:
    """The spot offer with the share that is taken back. A rate above on demand by rounding alone is lowered to it."""
    rate = offer.hourly_rate
    if on_demand is not None and on_demand < rate <= on_demand + ROUNDING:
        rate = on_demand
    flags = (f"{INTERRUPTED}{share}",) if share else ()
    return replace(spot(offer, rate), source=SPOT_SOURCE, flags=flags)


PAGE = Site(NAME, address("COSTCALC_AWS_PAGE_URL", "https://b0.p.awsstatic.com"))
SPOT_PAGE = Site(NAME, address("COSTCALC_AWS_SPOT_PAGE_URL", "https://website.spot.ec2.aws.a2z.com"))
ADVISOR_PAGE = Site(NAME, address("COSTCALC_AWS_ADVISOR_URL", "https://spot-bid-advisor.s3.amazonaws.com"))


SPEC = SourceSpec(
    name=NAME,
    label="AWS's pricing pages",
    build=lambda environment, http: AwsPage(
        *(site.open(environment, http) for site in (PAGE, SPOT_PAGE, ADVISOR_PAGE))
    ),
    rates="on demand and spot with how often it is interrupted, in every region and Local Zone",
    cannot_see="reserved, capacity blocks; how many accelerators a new type has",
    settings=(*PAGE.settings, *SPOT_PAGE.settings, *ADVISOR_PAGE.settings),
    bounds=BOUNDS,
    at_most_every=timedelta(hours=23),
)
