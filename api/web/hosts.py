"""Under which names the service may be asked, and whose pages may change something.

Through the browser, any page can reach what runs on the user's machine or network: it sends a form there, or points its own
name to that address (DNS rebinding). The first reveals its origin, the second its name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import cast
from urllib.parse import urlsplit

from flask import Request, current_app

from api.questions.errors import Refused
from api.questions.suggestions import clip
from api.settings import Settings

EXTENSION = "costcalc.hosts"
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+?)\.?)(?::\d{0,5})?", re.IGNORECASE)
LOOPBACK_NAME = re.compile(r"(.+\.)?localhost")
EVERY_SITE = "*"
READS = frozenset({"GET", "HEAD", "OPTIONS"})
STORES_NOTHING = frozenset({"plan.post_plan"})  # a question too long for an address
PROBES = frozenset({"health.healthz", "health.readyz", "health.prometheus"})


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names of the service, whether it is bound to every address of its machine, its public address as an origin, and the
    sites whose scripts may ask."""

    names: frozenset[str]
    is_bound_to_all: bool
    public: str
    sites: frozenset[str]

    @classmethod
    def of(cls, settings: Settings) -> Hosts:
        bound = "" if settings.bind.startswith("unix:") else name_of(settings.bind)
        public = urlsplit(settings.public_url or "")
        names = {*settings.hosts, bound, public.hostname or ""} - {""}
        return cls(frozenset(names), _is_unspecified(bound), public.netloc.casefold(), frozenset(settings.cors_origins))

    def include(self, host: str) -> bool:
        """Whether a Host header names the service. Bound to every address it has any that is written in digits: a page that
        would reach it under a name of its own needs a name."""
        name = name_of(host)
        try:
            address = ip_address(name)
        except ValueError:
            return name in self.names or LOOPBACK_NAME.fullmatch(name) is not None
        return name in self.names or address.is_loopback or self.is_bound_to_all

    def trust(self, request: Request) -> bool:
        """Whether a request that changes something comes from the service's own page, from a site that may ask, or from no page.

        As Go's CrossOriginProtection tells: a browser says it in Sec-Fetch-Site, an older one names the origin.
        """
        site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
        if site in ("same-origin", "none") or (site is None and origin is None):
            return True
        if origin in self.sites or (EVERY_SITE in self.sites and request.endpoint in STORES_NOTHING):
            return True
        own = {request.headers.get("Host", "").casefold(), self.public} - {""}
        return site is None and (origin or "").partition("://")[2].casefold() in own


def name_of(host: str) -> str:
    """The name or address in a Host header, in lower case; empty where it is none."""
    match = HOST.fullmatch(host)
    return (match[1] or match[2]).casefold() if match else ""


def check_host(request: Request) -> None:
    """Raises Refused for a request under a name that is not the service's, and for another site's page that would change
    something. Probes ask under any name, clients of HTTP/1.0 under none."""
    hosts = cast(Hosts, current_app.extensions[EXTENSION])
    host = request.headers.get("Host")
    if host and request.endpoint not in PROBES and not hosts.include(host):
        raise Refused(421, f"this service does not answer to the name {clip(host)}: COSTCALC_HOSTS adds names")
    if request.method not in READS and not hosts.trust(request):
        origin = clip(request.headers.get("Origin", "another site"))
        raise Refused(
            403, f"a page of {origin} may change nothing here: COSTCALC_CORS_ORIGINS names the sites that may"
        )


def _is_unspecified(name: str) -> bool:
    try:
        return ip_address(name).is_unspecified
    except ValueError:
        return False
