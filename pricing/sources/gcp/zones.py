"""What stands in the zones of Google Cloud: machine types and accelerators by Compute Engine, slices by the Cloud TPU API.

Compute Engine is asked with Google's SDK, which is imported only then. Wire format of the other:
cloud.google.com/tpu/docs/reference/rest/v2/projects.locations.acceleratorTypes. Prices do not tell where slices stand, because
Google also prices chips in regions that have none. A plain-http address is called anonymously: no token is sent in the clear.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, ValidationError, convert

from pricing.recording import Recording
from pricing.sources.common.http import Http, HttpError
from pricing.sources.gcp.offers import Inventory, MachineType
from pricing.sources.source import SchemaChanged, SourceError

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
    """What Compute Engine lists in every zone. Raises NotCallable if it may not be asked, SourceError if it fails.

    `recording` keeps what is answered.
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
    """The regions with a zone that has the slice. Raises NotCallable if it may not be asked, SourceError if it fails."""
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
