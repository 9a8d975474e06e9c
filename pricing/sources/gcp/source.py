"""Google Cloud's list prices: SKUs from the Cloud Billing Catalog, machine and accelerator types from Compute Engine.

The Cloud TPU API says where TPU slices stand. Without a project or credentials the packaged machine types stand in, TPU slices
are offered wherever their chips are priced, and gaps say so. docs/price-sources-gcp.md says how a rate comes about.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct, ValidationError, convert
from msgspec.structs import replace

from costcalc.offer import Gap
from pricing.packaged.machine_facts import packaged_machines
from pricing.recording import Recording
from pricing.scope import EVERYTHING
from pricing.sources.common.endpoint import address
from pricing.sources.common.http import Http, HttpError
from pricing.sources.gcp.machines import (
    Gaps,
    Inventory,
    MachineType,
    Shape,
    gaps_of_skus,
    listed_shapes,
    offers,
    packaged_shapes,
    tpu_slices,
)
from pricing.sources.gcp.skus import Skipped, SkipReason, Sku, rate_book, read_sku
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

REFUSED = frozenset({400, 401, 403, 404})
CALL_SECONDS = 30
RETRY_SECONDS = 90  # all attempts of one call together: quotas refill each minute
THROTTLED = frozenset({"rateLimitExceeded", "RATE_LIMIT_EXCEEDED"})  # a 403: docs.cloud.google.com/compute/api-quota
OUR_FAMILIES = 'name eq "(a[0-9]|g[0-9]|n1).*"'
MOST_PAGES = 1000
NO_TYPES, NO_ZONES = "machine types are not read", "zones of TPUs are not read"
NO_PROJECT = "set COSTCALC_GCP_PROJECT"
NO_CREDENTIALS = "Google credentials are missing, expired or refused"

Regions = Mapping[str, frozenset[str]]  # of a slice, such as `v5p-8`


class NotCallable(Exception):
    """An API may not be asked, or refuses; the message says what is missing."""


class Location(Struct, rename="camel"):
    """A zone."""

    location_id: str


class SliceType(Struct):
    """A slice that a zone has."""

    type: str


class Page(Struct, rename="camel"):
    """A page of a list, of SKUs, zones or slices, and the token of the next, empty at the end."""

    skus: list[Any] = []
    locations: list[Location] = []
    accelerator_types: list[SliceType] = []
    next_page_token: str = ""


def paged(page_of: Callable[[str], Page], what: str) -> Iterator[Page]:
    """The pages of a list, each by the token that the one before names; an empty page with a next token is no end. Raises
    SchemaChanged."""
    token, seen = "", set[str]()
    while token not in seen and len(seen) < MOST_PAGES:
        seen.add(token)
        page = page_of(token)
        yield page
        token = page.next_page_token
        if not token:
            return
    raise SchemaChanged(f"gcp: the pages of {what} have no end")


def inventory(compute_url: str, project: str, recording: Recording | None = None) -> Inventory:
    """What Compute Engine lists in every zone, asked with Google's SDK, which is imported only here. Raises NotCallable if it may
    not be asked, SourceError if it fails.

    A plain-http address is called anonymously: a token is never sent in the clear. `recording` keeps what is answered.
    """
    is_plain = compute_url.startswith("http:")
    if not project and not is_plain:
        raise NotCallable(f"{NO_TYPES}, {NO_PROJECT}")
    from google.api_core.exceptions import GoogleAPICallError, RetryError
    from google.auth.exceptions import GoogleAuthError
    from google.protobuf.json_format import ParseError

    try:
        return _inventory(_clients(compute_url, is_plain, recording), project or "anonymous")
    except GoogleAuthError as error:
        raise NotCallable(f"{NO_TYPES}, {NO_CREDENTIALS} ({type(error).__name__})") from None
    except GoogleAPICallError as error:
        if error.code in REFUSED:
            raise NotCallable(f"{NO_TYPES}, Compute Engine answered {int(error.code)}") from None
        raise SourceError(f"gcp: Compute Engine answered {error.code and int(error.code)}") from None
    except (RetryError, OSError, ParseError, ValueError) as error:
        raise SourceError(f"gcp: Compute Engine: {type(error).__name__}") from None


def _clients(url: str, is_anonymous: bool, recording: Recording | None) -> tuple[Any, Any]:
    """Clients for machine types and for accelerators. They speak through requests, whose sessions let others read along."""
    import google.auth
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import compute_v1

    def keep(response: Any, **_: object) -> None:
        if recording is not None:
            recording.keep(response.request.method, response.url, response.content)

    scopes = ["https://www.googleapis.com/auth/compute.readonly"]
    credentials = AnonymousCredentials() if is_anonymous else google.auth.default(scopes=scopes)[0]
    options = {"credentials": credentials, "client_options": {"api_endpoint": url}, "transport": "rest"}
    clients = compute_v1.MachineTypesClient(**options), compute_v1.AcceleratorTypesClient(**options)
    for client in clients:
        client.transport._session.hooks["response"].append(keep)
    return clients


def _inventory(clients: tuple[Any, Any], project: str) -> Inventory:
    from google.api_core.retry import Retry

    call = {"timeout": CALL_SECONDS, "retry": Retry(predicate=_passes, initial=0.5, timeout=RETRY_SECONDS)}
    ours = {"project": project, "filter": OUR_FAMILIES, "max_results": 500}
    types, attachable = (
        client.aggregated_list(request=request, **call)
        for client, request in zip(clients, (ours, {"project": project}), strict=True)
    )
    machines = tuple(
        _machine_type(kind, scope.rpartition("/")[2])
        for scope, group in types
        for kind in group.machine_types
        if kind.deprecated.state not in ("OBSOLETE", "DELETED")
    )
    most = {
        (kind.name, scope.rpartition("/")[2]): kind.maximum_cards_per_instance
        for scope, group in attachable
        for kind in group.accelerator_types
    }
    return Inventory(machines, most)


def _passes(error: Exception) -> bool:
    """Whether Compute Engine may answer the same call a minute later."""
    from google.api_core.exceptions import GoogleAPICallError, ServerError, TooManyRequests

    if not isinstance(error, GoogleAPICallError):
        return False
    reasons = {error.reason, *(each.get("reason") for each in error.errors if isinstance(each, dict))}
    return isinstance(error, TooManyRequests | ServerError) or not THROTTLED.isdisjoint(reasons)


def _machine_type(listed: Any, zone: str) -> MachineType:
    gpus: Iterable[Any] = listed.accelerators
    accelerator_type, count = next(((gpu.guest_accelerator_type, gpu.guest_accelerator_count) for gpu in gpus), ("", 0))
    return MachineType(listed.name, zone, listed.guest_cpus, listed.memory_mb / 1024, accelerator_type, count)


def slice_regions(http: Http, tpu_url: str, project: str) -> Regions:
    """The regions with a zone that has the slice, by the Cloud TPU API: prices do not tell, because Google also prices chips in
    regions that have none. Raises NotCallable if it may not be asked, SourceError if it fails.

    A plain-http address is called anonymously: a token is never sent in the clear.
    """
    is_plain = tpu_url.startswith("http:")
    if not project and not is_plain:
        raise NotCallable(f"{NO_ZONES}, {NO_PROJECT}")
    headers = {} if is_plain else {"Authorization": f"Bearer {_token()}"}

    def pages(url: str) -> Iterator[Page]:
        return paged(lambda token: _tpu_page(http, url, token, headers), "the Cloud TPU API")

    zones = f"{tpu_url}/v2/projects/{project or 'anonymous'}/locations"
    regions = defaultdict[str, set[str]](set)
    for zone in (location.location_id for page in pages(zones) for location in page.locations):
        for page in pages(f"{zones}/{zone}/acceleratorTypes"):
            for listed in page.accelerator_types:
                regions[listed.type].add(zone.rpartition("-")[0])
    return {name: frozenset(places) for name, places in regions.items()}


def _tpu_page(http: Http, url: str, token: str, headers: Mapping[str, str]) -> Page:
    try:
        return convert(http.get_json(url, {"pageToken": token} if token else {}, headers), Page)
    except HttpError as error:
        if error.status in REFUSED:
            raise NotCallable(f"{NO_ZONES}, the Cloud TPU API answered {error.status}") from None
        raise SourceError(f"gcp: {error}") from None
    except ValidationError as error:
        raise SchemaChanged(f"gcp: a page of the Cloud TPU API has changed its shape: {error}") from None


def _token() -> str:
    """An access token of the application default credentials. Raises NotCallable."""
    import google.auth
    from google.auth.exceptions import GoogleAuthError
    from google.auth.transport.requests import Request

    try:
        credentials, _ = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
        credentials.refresh(Request())
    except GoogleAuthError as error:
        raise NotCallable(f"{NO_ZONES}, {NO_CREDENTIALS} ({type(error).__name__})") from None
    return str(credentials.token)


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
    """The source, by the addresses of its three services."""

    http: Http
    billing_url: str
    compute_url: str
    tpu_url: str
    api_key: str | None
    project: str

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
            listed = inventory(self.compute_url, self.project, self.http.recording)
            return *listed_shapes(listed, packaged_machines("gcp")), ()
        except NotCallable as refusal:
            instead = "packaged machine types stand in, wherever their parts are priced"
            return packaged_shapes(packaged_machines("gcp")), (), (f"{refusal}: {instead}",)

    def _slices(self) -> tuple[tuple[Shape, ...], Gaps]:
        slices, none = tuple(tpu_slices()), frozenset[str]()
        try:
            regions = slice_regions(self.http, self.tpu_url, self.project)
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
    billing, compute, tpu = (each.read(environment).rstrip("/") for each in addresses)
    return Gcp(http, billing, compute, tpu, API_KEY.read(environment) or None, PROJECT.read(environment))


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
