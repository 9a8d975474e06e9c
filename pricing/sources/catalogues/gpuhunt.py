"""The catalogue that dstackai/gpuhunt publishes daily: many clouds at second hand, without any credentials.

For each provider the newest version is asked for, then that version's file, which is read without the gpuhunt package. Every
offer is flagged `second_hand`, with gpuhunt's own flags behind, and observed on the day of its catalogue. A provider whose
file can't be read is a fault of its own. Google's zones become regions; spot is the cheapest of them. gpuhunt writes A100 and
H100 for SXM and PCIe alike: where neither the packaged machine types nor the instance's name nor the cloud tells which, the
row stays out. Lambda stands in every region, with or without stock; Oracle's spot is half by rule.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import IO, Literal

from msgspec import Struct, convert

from costcalc.offers import SECOND_HAND, Offer, PurchaseOption
from pricing.offer_flags import MARKETPLACE
from pricing.packaged.billing import billed
from pricing.packaged.names import region
from pricing.scope import Scope
from pricing.sources.catalogues.csv_rows import CsvRow, csv_rows
from pricing.sources.catalogues.machine_matching import ListedMachine, collect_parts, machine, start_of_day
from pricing.sources.common.amounts import amount
from pricing.sources.common.endpoint import Endpoint, Site, address
from pricing.sources.common.rows import read_rows
from pricing.sources.source import (
    Bounds,
    Collected,
    CredentialsMissing,
    SchemaChanged,
    SourceError,
    SourceSetting,
    SourceSpec,
    separated,
)

SOURCE = "gpuhunt catalogue"
SITE = Site("gpuhunt", address("COSTCALC_GPUHUNT_URL", "https://dstack-gpu-pricing.s3.eu-west-1.amazonaws.com"))
PROVIDERS = SourceSetting(
    "COSTCALC_GPUHUNT_PROVIDERS",
    "providers to read, separated by commas",
    "aws,azure,gcp,lambdalabs,nebius,oci,runpod,verda,cloudrift",
)
VERSION_PATH, ZIP_PATH = "/v3/{provider}/version", "/v3/{provider}/{version}/catalog.zip"
OUR_NAMES = {"lambdalabs": "lambda", "vastai": "vast"}
MARKETS = {"vast": (MARKETPLACE,)}
COLUMNS = frozenset(
    {"instance_name", "location", "price", "cpu", "memory", "gpu_count", "gpu_name", "gpu_memory", "spot"}
)
VERSION = re.compile(r"[\w.-]+")
DAY = re.compile(r"(20\d\d)(\d\d)(\d\d)")
NOT_FOR_SALE = ("gcp-dws-calendar-mode", "runpod-cluster", "runpod-cpu")
LARGEST_BYTES = 100_000_000  # of an unpacked file
ZONE = re.compile(r"-[a-z]$")


@dataclass(frozen=True, slots=True)
class Gpuhunt:
    """The source: for each provider its newest version, then that version's file."""

    api: Endpoint
    providers: tuple[str, ...]

    def collect(self, now: datetime) -> Collected:
        """Every provider's rates; one that can't be read is a gap. Raises SourceError if none could be."""
        return collect_parts("gpuhunt", self.providers, partial(self._provider, now=now), now)

    def _provider(self, provider: str, now: datetime) -> Collected:
        try:
            version = self.api.bytes(VERSION_PATH.format(provider=provider)).decode("ascii", "replace").strip()
            if not VERSION.fullmatch(version):
                raise SchemaChanged("gpuhunt: the version is no version")
            content = self.api.bytes(ZIP_PATH.format(provider=provider, version=version))
        except CredentialsMissing:  # the store answers 403 for a file that isn't there
            raise SourceError("gpuhunt: no catalogue is published at this address") from None
        return offers(table(content, provider), provider, version, now)


def table(content: bytes, provider: str) -> IO[bytes]:
    """The CSV file in a catalogue's zip file, unpacked as it is read. Raises SchemaChanged if none is there, or one too large."""
    try:
        packed = zipfile.ZipFile(io.BytesIO(content))
        if packed.getinfo(f"{provider}.csv").file_size > LARGEST_BYTES:
            raise SchemaChanged(f"gpuhunt: {provider}.csv is larger than {LARGEST_BYTES // 1_000_000} MB")
        return packed.open(f"{provider}.csv")
    except (zipfile.BadZipFile, KeyError, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise SchemaChanged(f"gpuhunt: {provider}'s catalogue is unreadable ({type(error).__name__})") from None


def offers(file: IO[bytes], provider: str, version: str, now: datetime) -> Collected:
    """A provider's rows as offers, spot at its cheapest zone, observed on the day of the version where that tells one."""
    rows = filter(_is_wanted, csv_rows("gpuhunt", file, COLUMNS))
    catalogue = Version(OUR_NAMES.get(provider, provider), _day(version, now))
    scope = Scope(catalogue.provider)
    return read_rows("gpuhunt", rows, lambda row: _offers(convert(row, GpuMachine, strict=False), catalogue), scope)


class GpuMachine(Struct):
    """A row of a catalogue. The price is the shortest text that gives the float gpuhunt had."""

    instance_name: str
    location: str
    gpu_name: str
    gpu_count: int
    cpu: int
    price: Decimal
    spot: Literal["True", "False"]
    gpu_memory: float | None = None
    flags: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    """Whose rates a catalogue holds, and when they were collected."""

    provider: str
    observed_at: datetime


def _day(version: str, now: datetime) -> datetime:
    """Midnight of the day in a version such as 20261119-7; of today where there is none or it lies ahead."""
    dated = DAY.match(version)
    try:
        day = datetime(*(int(part) for part in dated.groups()), tzinfo=UTC) if dated else start_of_day(now)  # type: ignore[arg-type, misc]
    except ValueError:
        return start_of_day(now)
    return min(day, start_of_day(now))


def _is_wanted(row: CsvRow) -> bool:
    """A GPU machine that can be bought like that."""
    is_tpu = row.get("gpu_vendor") == "google" or row.get("gpu_name", "").startswith("tpu")
    return row.get("gpu_count", "0") != "0" and not is_tpu and not set(NOT_FOR_SALE) & set(row.get("flags", "").split())


def _offers(row: GpuMachine, version: Version) -> Iterator[Offer]:
    provider = version.provider
    rented = machine(ListedMachine(provider, row.instance_name, row.gpu_name, row.gpu_count, row.gpu_memory, row.cpu))
    if rented is None:
        return
    place = region(provider, ZONE.sub("", row.location) if provider == "gcp" else row.location)
    name = row.instance_name
    if (
        provider == "runpod"
    ):  # named as the runpod source does; data centres are the secure cloud, countries the community's
        name = f"{rented.accelerators}x {rented.accelerator} {'secure' if '-' in row.location else 'community'}"
    offer = Offer(
        *(provider, place, name, rented),
        purchase_option=PurchaseOption.SPOT if row.spot == "True" else PurchaseOption.ON_DEMAND,
        hourly_rate=amount(row.price),
        observed_at=version.observed_at,
        source=SOURCE,
        flags=(SECOND_HAND, *MARKETS.get(provider, ()), *row.flags.split()),
    )
    yield billed(offer)


SPEC = SourceSpec(
    name="gpuhunt",
    label="gpuhunt's catalogue",
    build=lambda environment, http: Gpuhunt(SITE.open(environment, http), separated(PROVIDERS.read(environment))),
    rates="on demand and spot of nine clouds, second hand",
    cannot_see="reserved capacity, commitments, months and setup fees; AWS P2 and P3, which it left out as retired; TPUs, whose "
    "chips the file doesn't count; Google's calendar mode; RunPod's clusters",
    settings=(*SITE.settings, PROVIDERS),
    bounds=Bounds(document_mib=16, memory_mib=96, offers=20_000),
)
