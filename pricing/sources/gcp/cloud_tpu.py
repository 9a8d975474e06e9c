"""Which TPU slices stand where: the accelerator types of every zone of the Cloud TPU API.

Wire format: cloud.google.com/tpu/docs/reference/rest/v2/projects.locations.acceleratorTypes. Prices do not tell, because
Google also prices chips in regions that have none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from msgspec import Struct, ValidationError, convert

from pricing.sources.common.http import Http, HttpError
from pricing.sources.gcp.compute_engine import REFUSED, NotCallable
from pricing.sources.source import SchemaChanged, SourceError

UNREAD = "zones of TPUs are not read"
MOST_PAGES = 100

Regions = Mapping[str, frozenset[str]]  # of a slice, such as `v5p-8`


class Location(Struct, rename="camel"):
    """A zone."""

    location_id: str


class SliceType(Struct):
    """A slice that a zone has."""

    type: str


class Page(Struct, rename="camel"):
    """A page of locations or of slices, and the token of the next, empty at the end."""

    locations: list[Location] = []
    accelerator_types: list[SliceType] = []
    next_page_token: str = ""


def slice_regions(http: Http, tpu_url: str, project: str) -> Regions:
    """The regions with a zone that has the slice. Raises NotCallable if it may not be asked, SourceError if it fails.

    A plain-http address is called anonymously: a token is never sent in the clear.
    """
    plain = tpu_url.startswith("http:")
    if not project and not plain:
        raise NotCallable(f"{UNREAD}, set COSTCALC_GCP_PROJECT")
    zones = f"{tpu_url}/v2/projects/{project or 'anonymous'}/locations"
    api = _CloudTpu(http, {} if plain else {"Authorization": f"Bearer {_token()}"})
    regions = defaultdict[str, set[str]](set)
    for zone in (location.location_id for page in api.pages(zones) for location in page.locations):
        for page in api.pages(f"{zones}/{zone}/acceleratorTypes"):
            for listed in page.accelerator_types:
                regions[listed.type].add(zone.rpartition("-")[0])
    return {name: frozenset(places) for name, places in regions.items()}


@dataclass(frozen=True, slots=True)
class _CloudTpu:
    http: Http
    headers: Mapping[str, str] = field(repr=False)

    def pages(self, url: str) -> Iterator[Page]:
        token = ""
        for _ in range(MOST_PAGES):
            page = self._page(url, token)
            yield page
            token = page.next_page_token
            if not token:
                return
        raise SchemaChanged("gcp: the pages of the Cloud TPU API have no end")

    def _page(self, url: str, token: str) -> Page:
        try:
            return convert(self.http.get_json(url, {"pageToken": token} if token else {}, self.headers), Page)
        except HttpError as error:
            if error.status in REFUSED:
                raise NotCallable(f"{UNREAD}, the Cloud TPU API answered {error.status}") from None
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
        missing = "Google credentials are missing, expired or refused"
        raise NotCallable(f"{UNREAD}, {missing} ({type(error).__name__})") from None
    return str(credentials.token)
