"""Verda (formerly DataCrunch), on demand and spot, in US dollars.

The API gives a token for a client's id and secret, then lists the instance types. `gpu_memory` is that of all accelerators
together. One price holds in all locations, and which of them has a machine free is not asked: the region is `unspecified`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct, convert

from costcalc.hardware import Machine
from costcalc.offers import Offer, PurchaseOption
from pricing.packaged.billing import billed
from pricing.packaged.machine_facts import filled
from pricing.packaged.names import UNSPECIFIED, accelerator
from pricing.sources.common.amounts import amount, maybe_amount, spot
from pricing.sources.common.endpoint import Endpoint, Site, address
from pricing.sources.common.http import Http
from pricing.sources.common.rows import LeftOut, listed, read_rows
from pricing.sources.source import (
    Collected,
    CredentialsMissing,
    Environment,
    SchemaChanged,
    SourceSetting,
    SourceSpec,
)

SOURCE = "Verda API instance-types"
TOKEN_PATH, PATH = "/v1/oauth2/token", "/v1/instance-types"
COUNT = re.compile(r"^\d+x\s*")  # "2x A6000"
SITE = Site("verda", address("COSTCALC_VERDA_URL", "https://api.verda.com"))
ID = SourceSetting("COSTCALC_VERDA_CLIENT_ID", "the id of an API client", secret=True)
SECRET = SourceSetting("COSTCALC_VERDA_CLIENT_SECRET", "the secret of that API client", secret=True)


class Cpu(Struct):
    """The processors of a machine."""

    number_of_cores: int


class Gpu(Struct):
    """The accelerators of a machine, described as "2x A6000"."""

    description: str
    number_of_gpus: int


class Memory(Struct):
    """Memory, in GiB."""

    size_in_gigabytes: float


class InstanceType(Struct):
    """A machine and its prices by the hour; `gpu_memory` is that of all accelerators together."""

    instance_type: str
    currency: str
    price_per_hour: Decimal
    cpu: Cpu
    gpu: Gpu
    gpu_memory: Memory
    memory: Memory
    spot_price: Decimal | None = None


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
    return read_rows("verda", listed("verda", document), lambda row: _offers(convert(row, InstanceType), now))


def _offers(kind: InstanceType, now: datetime) -> Iterator[Offer]:
    machine = _machine(kind) if kind.gpu.number_of_gpus else None
    if machine is None:
        return
    if kind.currency.upper() != "USD":
        raise LeftOut("prices in another currency than USD left out", kind.instance_type)
    offer = Offer(
        *("verda", UNSPECIFIED, kind.instance_type, machine, PurchaseOption.ON_DEMAND),
        hourly_rate=amount(kind.price_per_hour),
        observed_at=now,
        source=SOURCE,
    )
    yield billed(offer)
    if rate := maybe_amount(kind.spot_price):
        yield billed(spot(offer, rate))


def _machine(kind: InstanceType) -> Machine | None:
    """None for an accelerator of which there are no figures."""
    count = kind.gpu.number_of_gpus
    memory_gib = kind.gpu_memory.size_in_gigabytes / count
    name = accelerator("verda", COUNT.sub("", kind.gpu.description), memory_gib)
    if name is None:
        return None
    return filled(Machine(name, count, memory_gib, kind.cpu.number_of_cores, kind.memory.size_in_gigabytes))


def _missing(environment: Environment) -> str | None:
    """A plain-http address needs no client."""
    known = ID.read(environment) and SECRET.read(environment)
    return (
        None if known or SITE.is_plain(environment) else f"set {ID.variable} and {SECRET.variable} to an API client's"
    )


def _build(environment: Environment, http: Http) -> Verda:
    missing = _missing(environment)
    hint = f"check {ID.variable} and {SECRET.variable}"
    api = replace(SITE.open(environment, http), hint=hint, refusal=missing and f"verda: {missing}")
    return Verda(api, ID.read(environment), SECRET.read(environment))


SPEC = SourceSpec(
    name="verda",
    label="Verda",
    build=_build,
    rates="on demand and spot",
    needs='an API client (console, "Keys", "Cloud API credentials")',
    cannot_see="long-term contracts, published as percentages off; the dynamic price's history; clusters; storage",
    settings=(*SITE.settings, ID, SECRET),
    missing=_missing,
)
