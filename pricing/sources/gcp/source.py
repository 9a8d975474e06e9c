"""Google Cloud's list prices: SKUs from the Cloud Billing Catalog, machine and accelerator types from Compute Engine.

The Cloud TPU API says where TPU slices stand. Without a project or credentials the packaged machine types stand in, TPU slices
are offered wherever their chips are priced, and gaps say so. docs/price-sources-gcp.md says how a rate comes about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from msgspec import Struct, ValidationError, convert
from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.offer import Gap
from pricing.packaged.machine_facts import packaged_machines
from pricing.scope import EVERYTHING
from pricing.sources.common.endpoint import address
from pricing.sources.common.http import Http, HttpError
from pricing.sources.gcp.machines import Shape, tpu_slices
from pricing.sources.gcp.offers import Gaps, Inventory, gaps_of_skus, listed_shapes, offers, packaged_shapes
from pricing.sources.gcp.skus import Skipped, SkipReason, Sku, rate_book, read_sku
from pricing.sources.gcp.zones import REFUSED, NotCallable, Page, Regions, inventory, paged, slice_regions
from pricing.sources.source import (
    Bounds,
    Collected,
    CredentialsMissing,
    Environment,
    SchemaChanged,
    SourceError,
    SourceSetting,
    SourceSpec,
)

API_KEY = SourceSetting(
    "COSTCALC_GCP_API_KEY",
    "API key for the price catalogue; prices are public, so it needs no role: restrict it to the Cloud Billing API",
    secret=True,
)
PROJECT = SourceSetting(
    "COSTCALC_GCP_PROJECT", "project whose zones are listed; unset: the packaged machine types stand in"
)
BILLING_ADDRESS = address("COSTCALC_GCP_BILLING_URL", "https://cloudbilling.googleapis.com")
COMPUTE_ADDRESS = address("COSTCALC_GCP_COMPUTE_URL", "https://compute.googleapis.com")
TPU_ADDRESS = address("COSTCALC_GCP_TPU_URL", "https://tpu.googleapis.com")
COMPUTE_ENGINE = "6F81-5844-456A"  # TPU v5e and later included
CLOUD_TPU = "E000-3F24-B8AA"  # v2 to v4
PAGE_SIZE = 5000  # the most it gives
UNREAD = (SkipReason.UNREADABLE, SkipReason.OTHER_CURRENCY)  # of SKUs that may hold a rate of ours
NO_KEY = "set COSTCALC_GCP_API_KEY to a key of a project with the Cloud Billing API"


class Gcp(Struct, frozen=True):
    """The source. `inventory` and `slice_regions` raise NotCallable where what is packaged and priced must stand in."""

    http: Http
    billing_url: str
    api_key: str | None
    inventory: Callable[[], Inventory]
    slice_regions: Callable[[], Regions]
    packaged: Mapping[str, Machine]

    def collect(self, now: datetime) -> Collected:
        """Every accelerator machine and TPU slice in every region and use that Google sells. Raises SourceError."""
        if self.api_key is None and self.billing_url.startswith("https:"):
            raise CredentialsMissing(f"gcp: {NO_KEY}")
        read, refused = self._read()
        skus = [sku for sku in read if isinstance(sku, Sku)]
        if not skus:
            raise SchemaChanged(f"gcp: none of the {len(read)} SKUs of the billing catalogue gives a rate in USD")
        book = rate_book(skus)
        shapes, shape_gaps, no_inventory = self._shapes()
        slices, no_slices = self._slices()
        sold, rate_gaps = offers((*shapes, *slices), book, now)
        skipped = [sku for sku in read if isinstance(sku, Skipped)]
        reasons = (*refused, *gaps_of_skus(skipped, book), *rate_gaps, *shape_gaps, *no_inventory, *no_slices)
        is_whole = not (refused or no_inventory or no_slices or any(sku.why in UNREAD for sku in skipped))
        return Collected(sold, tuple(Gap("gcp", reason) for reason in reasons), whole=(EVERYTHING,) if is_whole else ())

    def _read(self) -> tuple[list[Sku | Skipped], Gaps]:
        """The SKUs of both services; a refusal of the older one is only a gap."""
        read = list(self._skus(COMPUTE_ENGINE))
        try:
            return [*read, *self._skus(CLOUD_TPU)], ()
        except CredentialsMissing as refusal:
            return read, (f"TPU v2 to v4 are not read, {refusal}",)

    def _shapes(self) -> tuple[tuple[Shape, ...], Gaps, Gaps]:
        """The machines, what is not known of them, and a refusal to list them."""
        try:
            return *listed_shapes(self.inventory(), self.packaged), ()
        except NotCallable as refusal:
            instead = "packaged machine types stand in, wherever their parts are priced"
            return packaged_shapes(self.packaged), (), (f"{refusal}: {instead}",)

    def _slices(self) -> tuple[tuple[Shape, ...], Gaps]:
        slices, none = tuple(tpu_slices()), frozenset[str]()
        try:
            regions = self.slice_regions()
        except NotCallable as refusal:
            return slices, (f"{refusal}: TPU slices are offered wherever their chips are priced",)
        return tuple(replace(each, regions=regions.get(each.instance_type, none)) for each in slices), ()

    def _skus(self, service: str) -> Iterator[Sku | Skipped]:
        """Every SKU of a service."""
        pages = paged(lambda token: self._page(service, token), f"service {service} in the billing catalogue")
        return (read_sku(sku) for page in pages for sku in page.skus)

    def _page(self, service: str, token: str) -> Page:
        query = {"currencyCode": "USD", "pageSize": str(PAGE_SIZE), "pageToken": token, "key": self.api_key or ""}
        url = f"{self.billing_url}/v1/services/{service}/skus"
        try:
            return convert(self.http.get_json(url, {name: text for name, text in query.items() if text}), Page)
        except HttpError as error:
            if error.status in REFUSED:
                hint = "check COSTCALC_GCP_API_KEY, and that its project has the Cloud Billing API enabled"
                raise CredentialsMissing(f"gcp: {error}; {hint}") from None
            raise SourceError(f"gcp: {error}") from None
        except ValidationError as error:
            raise SchemaChanged(f"gcp: a page of service {service} has changed its shape: {error}") from None


def _missing(environment: Environment) -> str | None:
    """What to set. A plain-http address is called without a key."""
    is_plain = BILLING_ADDRESS.read(environment).startswith("http:")
    return None if is_plain or API_KEY.read(environment) else NO_KEY


def _build(environment: Environment, http: Http) -> Gcp:
    addresses = (BILLING_ADDRESS, COMPUTE_ADDRESS, TPU_ADDRESS)
    billing_url, compute_url, tpu_url = (each.read(environment).rstrip("/") for each in addresses)
    api_key, project = API_KEY.read(environment) or None, PROJECT.read(environment)
    listed = (lambda: inventory(compute_url, project, http.recording), lambda: slice_regions(http, tpu_url, project))
    return Gcp(http, billing_url, api_key, *listed, packaged_machines("gcp"))


SPEC = SourceSpec(
    name="gcp",
    label="Google Cloud",
    build=_build,
    rates="on demand, spot and committed use of GPU machines and Cloud TPUs",
    needs="an API key of a project with the Cloud Billing API; for machine types and zones of TPUs also application default "
    "credentials with roles/compute.viewer and roles/tpu.viewer",
    cannot_see="sustained-use, spend-based and negotiated discounts, calendar-mode and DWS reservations, free capacity",
    settings=(API_KEY, PROJECT, BILLING_ADDRESS, COMPUTE_ADDRESS, TPU_ADDRESS),
    missing=_missing,
    bounds=Bounds(document_mib=32, memory_mib=256, offers=10_000),  # the SDK alone takes 110 MiB, a page 12
)
