"""The packaged, dated prices: CSV tables shipped with the code, read into offers or refused by file and row."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TypeVar

from costcalc.evidence.tables import Row, TableError, rows
from costcalc.hardware import Machine
from costcalc.offers import Offer, Payment, PurchaseOption
from pricing.packaged import free_tiers, owned
from pricing.packaged.cells import amount, choice, day, optional, parts, term

T = TypeVar("T")

OFFER_KEY = "provider,region,instance_type,purchase_option,term,payment,offering_class,observed_at"
HEADERS: Mapping[str, str] = {
    "instance_types.csv": "provider,instance_type,accelerator,accelerators,accelerator_memory_gib,vcpus,memory_gib,source",
    "providers.csv": "provider,name,billing_increment_seconds,minimum_seconds,source,observed_on",
    "offers.csv": f"{OFFER_KEY},hourly_rate,upfront,recurring_hourly,monthly,hours_in_month,currency,parts,"
    "effective_from,source,flags",
    "owned.csv": owned.HEADER,
    "free_tiers.csv": free_tiers.HEADER,
}


class PackagedTableError(Exception):
    """A packaged table is unreadable; the message names the file and the row."""


@dataclass(frozen=True, slots=True)
class PackagedPrices:
    """Every packaged observation, and a digest of the files they were read from."""

    offers: tuple[Offer, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class _Billing:
    increment_seconds: int = 3600
    minimum_seconds: int = 0


@dataclass(frozen=True, slots=True)
class _Tables:
    machines: Mapping[tuple[str, ...], Machine]
    billing: Mapping[tuple[str, ...], _Billing]


def packaged_folder() -> Traversable:
    """Where the tables lie in the installed package."""
    return files("pricing.packaged") / "data"


def packaged_digest(folder: Traversable | None = None) -> str:
    """A digest of the tables' bytes: equal digests hold equal prices. Raises PackagedTableError if one is missing."""
    digest = blake2b(digest_size=16)
    for name in HEADERS:
        digest.update(_read(folder or packaged_folder(), name))
    return digest.hexdigest()


def read_packaged(folder: Traversable | None = None) -> PackagedPrices:
    """All packaged prices. Raises PackagedTableError, naming file and row, on anything that cannot be trusted."""
    place = folder or packaged_folder()
    tables = _Tables(
        _table(place, "instance_types.csv", "provider,instance_type", _machine),
        _table(place, "providers.csv", "provider", _billing),
    )
    offers = (
        *_table(place, "offers.csv", OFFER_KEY, lambda row: _offer(row, tables)).values(),
        *_table(place, "owned.csv", owned.KEY, owned.owned_offer).values(),
        *_table(place, "free_tiers.csv", free_tiers.KEY, free_tiers.free_offer).values(),
    )
    return PackagedPrices(offers, packaged_digest(place))


def packaged_machines(provider: str, folder: Traversable | None = None) -> dict[str, Machine]:
    """What the packaged machine types of one provider hold, by instance type. Raises PackagedTableError."""
    machines = _table(folder or packaged_folder(), "instance_types.csv", "provider,instance_type", _machine)
    return {name: machine for (owner, name), machine in machines.items() if owner == provider}


def _table(folder: Traversable, name: str, key: str, build: Callable[[Row], T]) -> dict[tuple[str, ...], T]:
    """The rows of one table, built and unique by key."""
    built: dict[tuple[str, ...], T] = {}

    def add(row: Row) -> None:
        identity = tuple(row.maybe(column) or "" for column in key.split(","))
        if identity in built:
            raise ValueError(f"{' '.join(filter(None, identity))} stands here twice")
        built[identity] = build(row)

    try:
        for _ in rows(f"pricing/packaged/data/{name}", _text_of(folder, name), add):
            pass
    except (TableError, csv.Error) as error:
        raise PackagedTableError(str(error)) from error
    return built


def _text_of(folder: Traversable, name: str) -> str:
    """The table's text, if its header has every column."""
    content = _read(folder, name)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n") + 1
        raise PackagedTableError(f"pricing/packaged/data/{name}, line {row}: not UTF-8") from error
    missing = set(HEADERS[name].split(",")) - set(next(csv.reader([text.partition("\n")[0]]), []))
    if missing:
        raise PackagedTableError(f"pricing/packaged/data/{name}, line 1: lacks {', '.join(sorted(missing))}")
    return text


def _read(folder: Traversable, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise PackagedTableError(
            f"pricing/packaged/data/{name}: {error.strerror or error}; install the package again"
        ) from error


def _machine(row: Row) -> Machine:
    count = row.integer("accelerators")
    return Machine(
        row.text("accelerator") if count else row.maybe("accelerator") or "",  # a host whose processor is not fixed
        count,
        row.maybe_number("accelerator_memory_gib"),
        row.maybe_integer("vcpus"),
        row.maybe_number("memory_gib"),
    )


def _billing(row: Row) -> _Billing:
    return _Billing(row.maybe_integer("billing_increment_seconds") or 3600, row.maybe_integer("minimum_seconds") or 0)


def _offer(row: Row, tables: _Tables) -> Offer:
    name = (row.text("provider"), row.text("instance_type"))
    if name not in tables.machines:
        raise ValueError(f"{' '.join(name)} is not in instance_types.csv")
    billing = tables.billing.get(name[:1], _Billing())
    flags = tuple(flag for flag in (row.maybe("flags") or "").split(";") if flag)
    return Offer(
        provider=name[0],
        region=row.text("region"),
        instance_type=name[1],
        machine=tables.machines[name],
        purchase_option=choice(PurchaseOption, row, "purchase_option"),
        hourly_rate=amount(row, "hourly_rate"),
        observed_at=day(row, "observed_at"),
        source=row.text("source"),
        term=optional(row, "term", term),
        payment=optional(row, "payment", lambda cells, column: choice(Payment, cells, column)),
        offering_class=row.maybe("offering_class"),
        upfront=optional(row, "upfront", amount),
        recurring_hourly=optional(row, "recurring_hourly", amount),
        monthly=optional(row, "monthly", amount),
        hours_in_month=row.maybe_integer("hours_in_month") or 730,
        currency=row.text("currency"),
        parts=parts(row),
        effective_from=optional(row, "effective_from", day),
        flags=flags,
        billing_increment_seconds=billing.increment_seconds,
        minimum_seconds=billing.minimum_seconds,
    )
