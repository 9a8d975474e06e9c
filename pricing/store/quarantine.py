"""Rates that the checks left out: since when, why, and which of them a person or time has released. Events are only added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, insert, select

from costcalc.money import from_nanos, to_nanos
from costcalc.offers import Offer
from pricing.scope import Key
from pricing.store.offer_rows import KEY_COLUMNS, key_of
from pricing.store.tables import quarantine

LEFT_OUT, RELEASED, REPEATED, OVER = "left_out", "released", "repeated", "over"
ACCEPTED = (RELEASED, REPEATED)
Rate = tuple[Key, str, Decimal]  # an offer's key, its currency and its hourly rate


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A rate that is left out, why, and since when the source lists it unchanged."""

    origin: str
    rate: Rate
    reason: str
    since: datetime

    @property
    def key(self) -> dict[str, str]:
        """The parts of its offer's key by name; empty where it has none."""
        return dict(zip(KEY_COLUMNS, self.rate[0], strict=False))


@dataclass(frozen=True, slots=True)
class Inspection:
    """What the checks of one listing left out, each with its reason, and what they let pass because it repeated."""

    origin: str
    left_out: Mapping[Rate, str]
    repeated: frozenset[Rate] = frozenset()


def rate_of(offer: Offer) -> Rate:
    """What is released or repeated: an offer at this very rate."""
    return offer.key, offer.currency, from_nanos(to_nanos(offer.hourly_rate))


def quarantined(connection: Connection, origin: str | None = None) -> list[Quarantined]:
    """The rates left out of the last listing of this origin, or of all."""
    return [_quarantined(row) for row in _last(connection, origin).values() if row.event == LEFT_OUT]


def accepted(connection: Connection, origin: str) -> frozenset[Rate]:
    """The rates of an origin that were released, by a person or because they repeated."""
    return frozenset(_rate(row) for row in _last(connection, origin).values() if row.event in ACCEPTED)


def record(connection: Connection, inspections: Iterable[Inspection], now: datetime) -> None:
    """Note what was left out anew, what was let pass because it repeated, and what is left out no longer."""
    for each in inspections:
        last = _last(connection, each.origin)
        standing = {_rate(row) for row in last.values() if row.event == LEFT_OUT}
        events = [(rate, LEFT_OUT, reason) for rate, reason in each.left_out.items() if rate not in standing]
        renewed = {(key, currency) for key, currency, _ in each.left_out}
        for key, currency, amount in standing - each.left_out.keys():
            if (key, currency) not in renewed:
                rate = (key, currency, amount)
                events.append((rate, REPEATED if rate in each.repeated else OVER, ""))
        _append(connection, each.origin, events, now)


def release(connection: Connection, rates: Sequence[Quarantined], now: datetime) -> None:
    """Let these rates pass from the next refresh on."""
    for each in rates:
        _append(connection, each.origin, [(each.rate, RELEASED, each.reason)], now)


def _last(connection: Connection, origin: str | None) -> dict[tuple[Any, ...], Any]:
    """The newest event of each offer and currency."""
    rows = select(quarantine).order_by(quarantine.c.id)
    if origin is not None:
        rows = rows.where(quarantine.c.origin == origin)
    return {(row.origin, *key_of(row)): row for row in connection.execute(rows)}


def _rate(row: Any) -> Rate:
    *key, currency = key_of(row)
    return tuple(key), currency, from_nanos(row.hourly_nanos)


def _quarantined(row: Any) -> Quarantined:
    return Quarantined(row.origin, _rate(row), row.reason, row.at)


def _append(connection: Connection, origin: str, events: Sequence[tuple[Rate, str, str]], now: datetime) -> None:
    if events:
        connection.execute(insert(quarantine), [_row(origin, *each, now) for each in events])


def _row(origin: str, rate: Rate, event: str, reason: str, now: datetime) -> dict[str, Any]:
    key, currency, amount = rate
    columns = dict(zip(KEY_COLUMNS, (*(part or None for part in key), currency), strict=True))
    return {**columns, "origin": origin, "event": event, "reason": reason, "at": now, "hourly_nanos": to_nanos(amount)}
