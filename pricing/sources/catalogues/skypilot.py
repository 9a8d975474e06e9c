"""The catalogue of skypilot-org/skypilot-catalog: many clouds at second hand, without any credentials.

Every offer is flagged `second_hand`, and observed on the day on which its cloud's file last changed. A region's spot rate is its
cheapest zone's. An empty price, 0 and 700.0 mean unknown. Google's rows price the host only, and the accelerator in rows of its
own: both are added and kept as parts, or the machine is refused by name. In November 2026 many of Google's accelerator rows held
calendar-mode or flex-start rates as on demand (A100-80GB in us-central1 at 1.85 an hour, below its spot rate of 1.96; H100 at
4.20 in some regions, 9.80 and more in others): an on-demand rate below its own spot rate, or below 55 % of the dearest region's,
is refused and named. `without_local_ssd` marks A2 Ultra and A3, whose local SSD isn't in the file.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from io import BytesIO, TextIOWrapper

from msgspec import Struct, convert, field
from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.offer import SECOND_HAND, Gap, Offer, PurchaseOption, RatePart
from pricing.checks import ListingRefused, SourceListing, in_words, sound
from pricing.offer_flags import MARKETPLACE
from pricing.packaged.machine_facts import data_sheet_memory_gib, filled, known_accelerators, packaged_machines
from pricing.packaged.names import accelerator, region
from pricing.scope import Scope
from pricing.sources.common.endpoint import Endpoint, Site, address
from pricing.sources.common.listing import Listing, maybe_amount, spot
from pricing.sources.common.page import DocumentRow
from pricing.sources.common.rows import LeftOut, read_rows
from pricing.sources.source import Bounds, Collected, SchemaChanged, SourceError, SourceSetting, SourceSpec, separated

MIB_IN_GIB = 1024
GPU_MEMORY = re.compile(r"'MemoryInfo': \{'SizeInMiB': (\d+)")
SXM_ONLY = frozenset({"aws", "gcp", "jarvislabs", "oci"})
TOLD_APART = frozenset({"A100", "H100"})  # two cards of different speed bear these names
FORMS = {"pcie": "PCIe", "sxm": "SXM", "nvl": "NVL", "hbm3": "SXM"}  # of the H100s, only SXM has HBM3 in its name
NAMED_MEMORY = re.compile(r"(?P<base>[A-Z]+\d+)-(?P<memory>\d+)GB(?:-(?P<form>SXM|PCIe))?")
LEAST_SHARE = 0.85  # of the data sheet's memory, for a whole accelerator


class CatalogueRow(Struct, rename="pascal"):
    """A machine, an accelerator without a host, or a host without accelerators; empty texts where a part is missing."""

    region: str
    instance_type: str = ""
    accelerator_name: str = ""
    accelerator_count: float = 0
    availability_zone: str = ""
    gpu_info: str = ""
    memory_gib: float | None = field(default=None, name="MemoryGiB")
    vcpus: float | None = field(default=None, name="vCPUs")
    price: Decimal | None = None
    spot_price: Decimal | None = None

    @property
    def accelerator_gib(self) -> float | None:
        """The memory of one accelerator; Shadeform's SizeInMiB is in GiB."""
        memory = GPU_MEMORY.search(self.gpu_info)
        size = int(memory[1]) if memory else 0
        return (size / MIB_IN_GIB if size >= MIB_IN_GIB else size) or None


def machine(provider: str, row: CatalogueRow) -> Machine | None:
    """The machine: as packaged if it is, else as listed. None for a fraction of an accelerator.

    Raises UnknownName, and LeftOut where the name covers two accelerators and nothing tells which.
    """
    stated = packaged_machines(provider).get(row.instance_type)
    if stated is not None and stated.accelerators == row.accelerator_count:
        return stated
    if row.accelerator_count < 1 or row.accelerator_count % 1:
        return None
    name, memory_gib = _accelerator(provider, row), row.accelerator_gib
    sheet = data_sheet_memory_gib(name)
    if sheet and memory_gib and memory_gib < LEAST_SHARE * sheet:
        return None
    vcpus = int(row.vcpus) if row.vcpus else None
    return filled(Machine(name, int(row.accelerator_count), None, vcpus, row.memory_gib))


def _accelerator(provider: str, row: CatalogueRow) -> str:
    """The canonical name behind "A100-80GB", "H100NVL", "RTX4090"."""
    named = NAMED_MEMORY.fullmatch(row.accelerator_name)
    base = named["base"] if named else row.accelerator_name
    memory = float(named["memory"]) if named else row.accelerator_gib
    if base in TOLD_APART:
        base += " " + ((named and named["form"]) or _form(provider, row.instance_type))
    return accelerator(provider, base, memory)


def _form(provider: str, instance_type: str) -> str:
    forms = (form for text, form in FORMS.items() if text in instance_type.casefold())
    form = next(forms, "SXM" if provider in SXM_ONLY else None)
    if form is None:
        raise LeftOut("machines that don't say SXM or PCIe left out", f"{provider} {instance_type}")
    return form


SITE = Site("skypilot", address("COSTCALC_SKYPILOT_URL", "https://raw.githubusercontent.com"))
CLOUDS = SourceSetting(
    "COSTCALC_SKYPILOT_CLOUDS",
    "clouds to read, separated by commas",
    "aws,cudo,daytona,gcp,hyperbolic,jarvislabs,lambda,lium,mithril,nebius,oci,primeintellect,seeweb,shadeform,verda,yotta",
)
DATES = Site("skypilot", address("COSTCALC_SKYPILOT_DATES_URL", "https://api.github.com"))
COMMITS = "/repos/skypilot-org/skypilot-catalog/commits"
FILE = "catalogs/v8/{cloud}/vms.csv"
PATH = f"/skypilot-org/skypilot-catalog/master/{FILE}"
SOURCE = "SkyPilot catalogue v8"
COLUMNS = frozenset({"InstanceType", "AcceleratorName", "AcceleratorCount", "vCPUs", "MemoryGiB", "Price", "Region"})
OUR_NAMES = {"do": "digitalocean"}
MARKETS = dict.fromkeys(("vast", "lium", "primeintellect", "shadeform"), (MARKETPLACE,))  # they sell what others have
UNKNOWN = Decimal(700)
GOOGLE_FAMILIES = {  # the accelerator whose rows belong to a family's machines
    "a2-highgpu": "A100",
    "a2-megagpu": "A100",
    "a2-ultragpu": "A100-80GB",
    "a3-highgpu": "H100",
    "a3-megagpu": "H100-MEGA",
    "a3-ultragpu": "H200",
    "g2-standard": "L4",
}
WITH_LOCAL_SSD = ("a2-ultragpu", "a3-")
LEAST_SHARE_OF_DEAREST = Decimal("0.55")  # regions differ by a third; calendar mode costs half and less
TPU = re.compile(r"tpu-(?P<slice>(?P<version>v5litepod|v5p|v6e)-(?P<size>\d+))")
CORES_PER_CHIP = {"v5p": 2}  # its slices count cores, the others chips


class Rates(Struct, frozen=True):
    """On demand and spot by the hour, None where unknown."""

    on_demand: Decimal | None
    spot: Decimal | None


AcceleratorRates = Mapping[tuple[str, int, str], Rates]  # by accelerator, count and zone


class SkyPilot(Struct, frozen=True):
    """The source: one file for each cloud."""

    api: Endpoint
    dates: Endpoint
    clouds: tuple[str, ...]

    def collect(self, now: datetime) -> Collected:
        """Every cloud's rates; one that can't be read or is refused is a fault and costs the others nothing. Raises SourceError
        if no cloud is left."""
        every = Collected.together([self._cloud(cloud, now) for cloud in self.clouds])
        if not every.offers:
            faults = "; ".join(gap.reason for gap in every.faults)
            raise SourceError(f"skypilot: nothing could be taken over: {faults}")
        return every

    def _cloud(self, cloud: str, now: datetime) -> Collected:
        try:
            changed = self._changed(cloud)
            listed = cloud_offers(self.api.bytes(PATH.format(cloud=cloud)), cloud, min(changed, now))
            kept, odd = sound(SourceListing(listed.offers, frozenset(known_accelerators()), {}, now))
        except (SourceError, ListingRefused) as error:
            return Collected((), faults=(Gap("skypilot", f"{cloud}: {str(error).removeprefix('skypilot: ')}"),))
        left_out = frozenset(offer.instance_type for offer in {*listed.offers} - {*kept})
        gaps = (Gap("skypilot", f"{cloud}: looks odd, left out: {in_words(odd)}"),) if odd else ()
        return Collected(kept, (*listed.gaps, *gaps), whole=tuple(scope.without(left_out) for scope in listed.whole))

    def _changed(self, cloud: str) -> datetime:
        """When the file was last changed: what it says is as old, whenever it is read. Raises SourceError."""
        commits = self.dates.get(COMMITS, path=FILE.format(cloud=cloud), per_page="1")
        try:
            return datetime.fromisoformat(DocumentRow(commits).text("0.commit.committer.date"))
        except ValueError:
            raise SchemaChanged("skypilot: the date of the file is unreadable") from None


def cloud_offers(content: bytes, cloud: str, changed: datetime) -> Collected:
    """One cloud's file as offers, observed on the day on which it changed. Raises SchemaChanged."""

    def rows() -> Iterator[Mapping[str, str]]:
        """Without their empty cells."""
        try:
            reader = csv.DictReader(TextIOWrapper(BytesIO(content), "utf-8-sig", newline=""))
            if missing := COLUMNS - set(reader.fieldnames or ()):
                raise SchemaChanged(f"skypilot: the file lacks {', '.join(sorted(missing))}")
            for row in reader:
                yield {column: cell for column, cell in row.items() if column and cell}
        except (csv.Error, UnicodeDecodeError) as error:
            raise SchemaChanged(f"skypilot: the file is unreadable ({type(error).__name__})") from None

    # what the provider itself said on that day comes after it, and holds
    day = changed.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    provider = OUR_NAMES.get(cloud, cloud)
    whole = Scope(provider, read_at=day)
    if cloud != "gcp":
        return read_rows("skypilot", rows(), lambda row: _machine_offers(_read(row), provider, day), whole)
    accelerators = _accelerator_rates(rows())
    return read_rows("skypilot", rows(), lambda row: _google_offers(_read(row), accelerators, day), whole)


def _read(row: Mapping[str, str]) -> CatalogueRow:
    return convert(row, CatalogueRow, strict=False)


def _rates(row: CatalogueRow) -> Rates:
    rates = map(maybe_amount, (row.price, row.spot_price))
    return Rates(*(None if rate == UNKNOWN else rate for rate in rates))


def _machine_offers(row: CatalogueRow, provider: str, now: datetime) -> Iterator[Offer]:
    """A row that prices a machine with its accelerators."""
    if not row.accelerator_name or not row.instance_type:
        return
    rented = machine(provider, row)
    if rented is not None:
        yield from _offers((provider, region(provider, row.region), row.instance_type), rented, _rates(row), now)


def _offers(place: tuple[str, str, str], rented: Machine, rates: Rates, now: datetime) -> Iterator[Offer]:
    rate = rates.on_demand or rates.spot
    if rate is None:
        return
    flags = (SECOND_HAND, *MARKETS.get(place[0], ()))
    offer = Listing(place[0], SOURCE, now).offer(place[1], place[2], rented, rate, flags=flags)
    if rates.on_demand:
        yield offer
    if rates.spot:
        yield spot(offer, rates.spot)


def _accelerator_rates(rows: Iterable[Mapping[str, str]]) -> AcceleratorRates:
    """Google's accelerators without a host, with the on-demand rates that can't be on demand taken out."""
    accelerators = (_read(row) for row in rows if "AcceleratorName" in row and "InstanceType" not in row)
    parts: dict[tuple[str, int, str], Rates] = {}
    for row in accelerators:
        parts[row.accelerator_name, int(row.accelerator_count), row.availability_zone] = _rates(row)
    dearest: defaultdict[tuple[str, int], Decimal] = defaultdict(Decimal)
    for (name, count, _), rates in parts.items():
        dearest[name, count] = max(dearest[name, count], rates.on_demand or Decimal(0))
    for key, rates in parts.items():
        rate, least = rates.on_demand, LEAST_SHARE_OF_DEAREST * dearest[key[:2]]
        if rate is not None and rate < max(rates.spot or Decimal(0), least):
            parts[key] = replace(rates, on_demand=None)
    return parts


def _google_offers(row: CatalogueRow, accelerators: AcceleratorRates, now: datetime) -> Iterator[Offer]:
    """One of Google's rows: a host, to which its accelerators are added, or a TPU slice."""
    if not row.instance_type:
        yield from _tpu(row, now)
        return
    name = GOOGLE_FAMILIES.get(row.instance_type.rpartition("-")[0])
    rented = packaged_machines("gcp").get(row.instance_type)
    if name is None or rented is None:
        return
    added = accelerators.get((name, rented.accelerators, row.availability_zone))
    if added is None:
        refused = "Google machines without the accelerator's price refused"
        raise LeftOut(refused, f"{row.instance_type} {row.region}", row.instance_type)
    place, host = ("gcp", row.region, row.instance_type), _rates(row)
    pairs = (host.on_demand, added.on_demand), (host.spot, added.spot)
    sums = Rates(*(rate + more if rate and more else None for rate, more in pairs))
    yield from (_with_parts(offer, added) for offer in _offers(place, rented, sums, now))
    if added.on_demand is None:
        refused = "Google's on-demand rates that look like calendar mode refused"
        raise LeftOut(refused, f"{name} {row.region}", row.instance_type)


def _with_parts(offer: Offer, added: Rates) -> Offer:
    of_spot = offer.purchase_option is PurchaseOption.SPOT
    rate = (added.spot if of_spot else added.on_demand) or Decimal(0)
    flags = ("without_local_ssd",) if offer.instance_type.startswith(WITH_LOCAL_SSD) else ()
    parts = (RatePart("vCPUs and memory", offer.hourly_rate - rate), RatePart("accelerators", rate))
    return replace(offer, parts=parts, flags=(*offer.flags, *flags))


def _tpu(row: CatalogueRow, now: datetime) -> Iterator[Offer]:
    """A slice of TPU v5e, v5p or v6e, whose price holds its hosts."""
    named = TPU.fullmatch(row.accelerator_name)
    if named is None:
        return
    name = accelerator("gcp", named["version"])
    chips = int(named["size"]) // CORES_PER_CHIP.get(named["version"], 1)
    if chips:
        rented = packaged_machines("gcp").get(named["slice"]) or filled(Machine(name, chips))
        yield from _offers(("gcp", row.region, named["slice"]), rented, _rates(row), now)


SPEC = SourceSpec(
    name="skypilot",
    label="SkyPilot's catalogue",
    build=lambda environment, http: SkyPilot(
        SITE.open(environment, http), DATES.open(environment, http), separated(CLOUDS.read(environment))
    ),
    rates="on demand and spot of sixteen clouds, second hand",
    cannot_see="reserved capacity, commitments and months; of Google's, accelerators added to N1 hosts, A4 and TPU v2 to v4; "
    "Spheron, which sells what others have and mistakes some of it",
    settings=(*SITE.settings, *DATES.settings, CLOUDS),
    at_most_every=timedelta(hours=23),
    bounds=Bounds(document_mib=16, memory_mib=96, offers=20_000),
)
