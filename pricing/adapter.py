"""What the smaller sources share: settings, calls whose faults are said, and rows that become offers or a reason."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib.resources import files
from typing import Any

from costcalc.answers import Gap
from costcalc.hardware import Machine
from costcalc.offers import Offer, PurchaseOption
from pricing.http import Http, HttpError
from pricing.invariants import SPOT_ABOVE_ON_DEMAND
from pricing.naming import UnknownName
from pricing.packaged import packaged_folder
from pricing.source import Collected, CredentialsMissing, Environment, SchemaChanged, SourceError

NO_CAPACITY = "no_capacity"  # priced, and nothing free to rent when it was read
SECOND_HAND = "second_hand"  # read in somebody else's collection, not at the provider's
UNSPECIFIED = "unspecified"  # the provider doesn't say in which region
RATE_PLACES = Decimal("1e-12")
SHOWN = 6  # names in one sentence


class LeftOut(Exception):
    """A row that becomes no offer; the message is the reason, the same for all rows like it. `name` is which."""

    def __init__(self, reason: str, name: str) -> None:
        super().__init__(reason)
        self.reason, self.name = reason, name


class NotThere(SourceError):
    """The provider has nothing at this address (404)."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where a source's API lives, and which variables say otherwise. An optional key is sent where there is one."""

    source: str
    url_setting: str
    url: str
    key_setting: str | None = None
    key_is_optional: bool = False

    @property
    def settings(self) -> dict[str, str | None]:
        """The environment variables it reads, with their defaults."""
        key: dict[str, str | None] = {self.key_setting: None} if self.key_setting else {}
        return {self.url_setting: self.url, **key}

    @property
    def secrets(self) -> frozenset[str]:
        """Those of the settings that are never shown."""
        return frozenset({self.key_setting} if self.key_setting else ())

    def missing(self, environment: Environment) -> str | None:
        """What to set. A plain-http address (a test server) is called without a key if none is set."""
        needed = self.key_setting and not self.key_is_optional and self._url(environment).startswith("https:")
        return f"set {self.key_setting} to an API key" if needed and not self._key(environment) else None

    def open(self, environment: Environment, http: Http) -> Endpoint:
        """The API as these settings name it."""
        key, missing = self._key(environment), self.missing(environment)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        hint = f"check {self.key_setting or self.url_setting}"
        refusal = missing and f"{self.source}: {missing}"
        return Endpoint(self.source, http, self._url(environment), headers, hint, refusal)

    def _url(self, environment: Environment) -> str:
        return (environment.get(self.url_setting) or self.url).rstrip("/")

    def _key(self, environment: Environment) -> str | None:
        return environment.get(self.key_setting) or None if self.key_setting else None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One API. Every call raises CredentialsMissing or SourceError, whose texts hold no query and no key."""

    source: str
    http: Http
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    hint: str = ""
    refusal: str | None = None

    def get(self, path: str, **params: str) -> Any:
        """The JSON answer to GET."""
        return self._call(lambda: self.http.get_json(self.url + path, params, self.headers))

    def post(self, path: str, body: Any) -> Any:
        """The JSON answer to a JSON POST."""
        return self._call(lambda: self.http.post_json(self.url + path, body, self.headers))

    def text(self, path: str) -> str:
        """The text of a page."""
        return str(self._call(lambda: self.http.get_text(self.url + path, self.headers)))

    def bytes(self, path: str) -> bytes:
        """A whole document as bytes, unpacked if it was sent compressed."""
        return bytes(self._call(lambda: _read(self.http, self.url + path)))

    def _call(self, send: Callable[[], Any]) -> Any:
        if self.refusal:
            raise CredentialsMissing(self.refusal)
        try:
            return send()
        except HttpError as error:
            if error.status in (401, 403):
                raise CredentialsMissing(f"{self.source}: {error}; {self.hint}") from None
            if error.status == 404:
                raise NotThere(f"{self.source}: {error}; check its address setting") from None
            raise SourceError(f"{self.source}: {error}") from None


def _read(http: Http, url: str) -> bytes:
    with http.stream(url) as stream:
        try:
            return bytes(stream.read())
        except Exception as error:  # noqa: BLE001 - urllib3's own errors for a body that breaks off
            raise HttpError(f"{url.split('?', 1)[0]} broke off: {type(error).__name__}") from None


def listed(source: str, document: Any, *path: str) -> list[Any]:
    """The list at `path` of a document. Raises SchemaChanged where there is none, SourceError where it is empty."""
    found = document
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    if not isinstance(found, list):
        raise SchemaChanged(f"{source}: the answer holds no list of {path[-1] if path else 'rows'}")
    if not found:
        raise SourceError(f"{source}: the list of {path[-1] if path else 'rows'} is empty")
    return found


def read_rows(source: str, rows: Iterable[Any], read: Callable[[Any], Iterable[Offer]]) -> Collected:
    """The offers of all rows. A row that can't be read is part of a gap; SchemaChanged if no row at all could be."""
    offers: list[Offer] = []
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007
        try:
            for offer in read(row):  # one by one: what a row gave before its fault stays
                offers.append(offer)
        except UnknownName as unknown:
            reasons[f"{unknown.kind}s not known here left out"].append(unknown.spelling)
        except LeftOut as left:
            reasons[left.reason].append(left.name)
        except (KeyError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
            reasons["rows that could not be read"].append(_said(error))
    gaps = tuple(Gap(source, f"{reason}: {names(found)}") for reason, found in reasons.items())
    if not offers:
        said = "; ".join(gap.reason for gap in gaps) or "no row offers an accelerator"
        raise SchemaChanged(f"{source}: not one rate in {count} rows ({said})")
    return Collected(_flagged(cheapest(offers)), gaps)


def _said(error: Exception) -> str:
    return f"no {error}" if isinstance(error, KeyError) else str(error)


def cheapest(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    """One offer for each key, the cheapest, in order of first appearance."""
    kept: dict[tuple[str, ...], Offer] = {}
    for offer in offers:
        before = kept.get(offer.key)
        if before is None or offer.hourly_rate < before.hourly_rate:
            kept[offer.key] = offer
    return tuple(kept.values())


def _flagged(offers: tuple[Offer, ...]) -> tuple[Offer, ...]:
    """Spot that is dearer than on demand says so: of many zones or hosts, the cheapest ways may be different ones."""
    on_demand = {
        offer.key[:3]: offer.hourly_rate for offer in offers if offer.purchase_option is PurchaseOption.ON_DEMAND
    }
    return tuple(_said_dear(offer) if _is_dear(offer, on_demand.get(offer.key[:3])) else offer for offer in offers)


def _is_dear(offer: Offer, on_demand: Decimal | None) -> bool:
    is_spot = offer.purchase_option is PurchaseOption.SPOT and SPOT_ABOVE_ON_DEMAND not in offer.flags
    return is_spot and on_demand is not None and offer.hourly_rate > on_demand


def _said_dear(offer: Offer) -> Offer:
    return replace(offer, flags=(*offer.flags, SPOT_ABOVE_ON_DEMAND))


def names(found: Iterable[str]) -> str:
    """The first few different names, and how many more there are."""
    different = sorted(set(found))
    more = f" and {len(different) - SHOWN} more" if len(different) > SHOWN else ""
    return ", ".join(different[:SHOWN]) + more


def amount(value: Any) -> Decimal:
    """A JSON number or a numeric text as money. Raises ValueError on anything else, and below zero."""
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        raise ValueError(f"{value!r} is no amount of money")
    try:
        money = Decimal(value)
    except InvalidOperation:
        raise ValueError(f"{value!r} is no amount of money") from None
    if not money.is_finite() or money < 0:
        raise ValueError(f"{value!r} is no amount of money")
    return money


def maybe_amount(value: Any) -> Decimal | None:
    """An amount above zero, or None where there is none: a price of zero or null is unknown, not free."""
    return None if value is None else amount(value) or None


def spread(total: Decimal, hours: int) -> Decimal:
    """A sum per hour."""
    return (total / hours).quantize(RATE_PLACES).normalize()


def monthly(offer: Offer, month: Decimal, hours: int, term: str = "1mo") -> Offer:
    """The same machine by the month of `hours` hours; `term` is how long it binds."""
    option = PurchaseOption.MONTHLY
    rate = spread(month, hours)
    return replace(offer, purchase_option=option, term=term, hourly_rate=rate, monthly=month, hours_in_month=hours)


def spot(offer: Offer, rate: Decimal) -> Offer:
    """The same machine as spot."""
    return replace(offer, purchase_option=PurchaseOption.SPOT, hourly_rate=rate, parts=())


def filled(machine: Machine, packaged: Machine | None = None) -> Machine:
    """The machine with what the provider leaves unsaid: from the packaged machine if that has the same accelerators.

    An accelerator's memory is that of its data sheet where nothing else says it.
    """
    if packaged is None or (packaged.accelerator, packaged.accelerators) != (machine.accelerator, machine.accelerators):
        return replace(
            machine, accelerator_memory_gib=machine.accelerator_memory_gib or _memories().get(machine.accelerator)
        )
    return replace(
        machine,
        accelerator_memory_gib=machine.accelerator_memory_gib or packaged.accelerator_memory_gib,
        vcpus=machine.vcpus or packaged.vcpus,
        memory_gib=machine.memory_gib or packaged.memory_gib,
    )


@dataclass(frozen=True, slots=True)
class Billing:
    """How a provider meters: the increment, and the least that is billed."""

    increment_seconds: int = 3600
    minimum_seconds: int = 0

    def of(self, offer: Offer) -> Offer:
        """The offer, metered so."""
        return replace(offer, billing_increment_seconds=self.increment_seconds, minimum_seconds=self.minimum_seconds)


def billing(provider: str) -> Billing:
    """How a provider meters, as packaged; whole hours where that isn't known."""
    return _billings().get(provider, Billing(3600, 3600))


@cache
def _billings() -> Mapping[str, Billing]:
    text = (packaged_folder() / "providers.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {
        row["provider"]: Billing(int(row["billing_increment_seconds"]), int(row["minimum_seconds"])) for row in rows
    }


@cache
def _memories() -> Mapping[str, float]:
    """GiB of each accelerator, by its data sheet."""
    return {row["accelerator"]: float(row["memory_gib"]) for row in _accelerators() if row["memory_gib"]}


@cache
def _accelerators() -> tuple[Mapping[str, str], ...]:
    text = (files("costcalc") / "evidence" / "data" / "accelerators.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def data_sheet_memory_gib(accelerator: str) -> float | None:
    """GiB of one accelerator, None where that isn't known."""
    return _memories().get(accelerator)


def known_accelerators() -> tuple[str, ...]:
    """The canonical names of all accelerators."""
    return tuple(row["accelerator"] for row in _accelerators())
