"""Verda (formerly DataCrunch): on demand and spot.

Needs an API client's id and secret (console, "Keys", "Cloud API credentials") in COSTCALC_VERDA_CLIENT_ID and
COSTCALC_VERDA_CLIENT_SECRET.
Cannot see: long-term contracts (published as percentages off), the dynamic price history, clusters, storage. One price
holds in all locations, and which of them has a machine free is another call: the region is `unspecified`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from costcalc.hardware import Machine
from costcalc.offers import Offer, PurchaseOption
from pricing.packaged.billing import billing
from pricing.packaged.machine_facts import filled
from pricing.packaged.names import UNSPECIFIED, accelerator
from pricing.sources.common.amounts import amount, maybe_amount, spot
from pricing.sources.common.endpoint import Endpoint, Site
from pricing.sources.common.http import Http
from pricing.sources.common.rows import LeftOut, listed, read_rows
from pricing.sources.source import Collected, CredentialsMissing, Environment, SchemaChanged, SourceSpec

SOURCE = "Verda API instance-types"
ID, SECRET = "COSTCALC_VERDA_CLIENT_ID", "COSTCALC_VERDA_CLIENT_SECRET"
SITE = Site("verda", "COSTCALC_VERDA_URL", "https://api.verda.com")
TOKEN_PATH, PATH = "/v1/oauth2/token", "/v1/instance-types"
COUNT = re.compile(r"^\d+x\s*")


@dataclass(frozen=True, slots=True)
class Verda:
    """The source: a token, then one call lists everything."""

    api: Endpoint
    client_id: str
    client_secret: str

    def __repr__(self) -> str:
        return f"Verda({self.api.url})"

    def collect(self, now: datetime) -> Collected:
        """Every instance type with an accelerator. Raises SourceError."""
        return offers(self._signed_in().get(PATH), now)

    def _signed_in(self) -> Endpoint:
        """The API with a token; a plain-http address (a test server) is called without one if no client is set."""
        if not (self.client_id and self.client_secret):
            if self.api.refusal:
                raise CredentialsMissing(self.api.refusal)
            return self.api
        grant = {"grant_type": "client_credentials", "client_id": self.client_id, "client_secret": self.client_secret}
        answer = self.api.post(TOKEN_PATH, grant)
        token = answer.get("access_token") if isinstance(answer, dict) else None
        if not token:
            raise SchemaChanged("verda: signing in gives no access_token")
        return replace(self.api, headers={"Authorization": f"Bearer {token}"})


def offers(document: Any, now: datetime) -> Collected:
    """The instance types with accelerators as offers."""
    return read_rows("verda", listed("verda", document), lambda kind: _offers(kind, now))


def _offers(kind: Mapping[str, Any], now: datetime) -> Iterator[Offer]:
    count = int(kind["gpu"]["number_of_gpus"])
    machine = _machine(kind, count) if count else None
    if machine is None:
        return
    if kind["currency"].upper() != "USD":
        raise LeftOut("prices in another currency than USD left out", kind["instance_type"])
    offer = Offer(
        *("verda", UNSPECIFIED, kind["instance_type"], machine, PurchaseOption.ON_DEMAND),
        hourly_rate=amount(kind["price_per_hour"]),
        observed_at=now,
        source=SOURCE,
    )
    yield billing("verda").of(offer)
    if rate := maybe_amount(kind.get("spot_price")):
        yield billing("verda").of(spot(offer, rate))


def _machine(kind: Mapping[str, Any], count: int) -> Machine | None:
    """None for an accelerator of which there are no figures. `gpu_memory` is that of all accelerators together."""
    memory_gib = float(kind["gpu_memory"]["size_in_gigabytes"]) / count
    name = accelerator("verda", COUNT.sub("", kind["gpu"]["description"]), memory_gib)
    memory = float(kind["memory"]["size_in_gigabytes"])
    return filled(Machine(name, count, memory_gib, int(kind["cpu"]["number_of_cores"]), memory)) if name else None


def _missing(environment: Environment) -> str | None:
    """A plain-http address needs no client."""
    plain = (environment.get(SITE.url_setting) or SITE.url).startswith("http:")
    known = environment.get(ID) and environment.get(SECRET)
    return None if plain or known else f"set {ID} and {SECRET} to an API client's"


def _build(environment: Environment, http: Http) -> Verda:
    missing = _missing(environment)
    opened = SITE.open(environment, http)
    hinted = replace(opened, hint=f"check {ID} and {SECRET}", refusal=missing and f"verda: {missing}")
    return Verda(hinted, environment.get(ID) or "", environment.get(SECRET) or "")


SETTINGS = {**SITE.settings, ID: None, SECRET: None}
SPEC = SourceSpec("verda", "Verda", _build, SETTINGS, frozenset({ID, SECRET}), _missing)
