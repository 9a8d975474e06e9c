"""Rates that the checks left out: since when, why, and which of them a person or time has released. Events are only added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, Row, insert, select

from costcalc.money import from_nanos, to_nanos
from costcalc.offer import Offer
from costcalc.text import in_lines
from pricing.scope import Key
from pricing.store.offer_rows import KEY_COLUMNS
from pricing.store.tables import quarantine

LEFT_OUT, RELEASED, REPEATED, OVER = "left_out", "released", "repeated", "over"
ACCEPTED = (RELEASED, REPEATED)
Rate = tuple[Key, str, Decimal]  # an offer's key, its currency and its hourly rate


class Quarantined(Struct, frozen=True):
    """A rate that is left out, why, and since when the source lists it unchanged."""

    origin: str
    rate: Rate
    reason: str
    since: datetime

    @property
    def key(self) -> dict[str, str]:
        """The parts of its offer's key by name; empty where it has none."""
        return dict(zip(KEY_COLUMNS, self.rate[0], strict=False))


class Inspection(Struct, frozen=True):
    """What the checks of one listing left out, each with its reason, and what they let pass because it repeated."""

    origin: str
    left_out: Mapping[Rate, str]
    repeated: frozenset[Rate] = frozenset()


def rate_of(offer: Offer) -> Rate:
    """What is released or repeated: an offer at this very rate."""
    return offer.key, offer.currency, from_nanos(to_nanos(offer.hourly_rate))


def quarantined(connection: Connection, origin: str | None = None) -> list[Quarantined]:
    """The rates left out of the last listing of this origin, or of all."""
    left_out = [row for row in _newest_events(connection, origin) if row.event == LEFT_OUT]
    return [in_lines(Quarantined(row.origin, _rate(row), row.reason, row.at)) for row in left_out]


def accepted(connection: Connection, origin: str) -> frozenset[Rate]:
    """The rates of an origin that were released, by a person or because they repeated."""
    return frozenset(_rate(row) for row in _newest_events(connection, origin) if row.event in ACCEPTED)


def record(connection: Connection, inspections: Iterable[Inspection], now: datetime) -> None:
    """Note what was left out anew, what was let pass because it repeated, and what is left out no longer."""
    for inspection in inspections:
        standing = {_rate(row) for row in _newest_events(connection, inspection.origin) if row.event == LEFT_OUT}
        events = [(rate, LEFT_OUT, reason) for rate, reason in inspection.left_out.items() if rate not in standing]
        renewed = {(key, currency) for key, currency, _ in inspection.left_out}
        for key, currency, amount in standing - inspection.left_out.keys():
            if (key, currency) not in renewed:
                rate = (key, currency, amount)
                events.append((rate, REPEATED if rate in inspection.repeated else OVER, ""))
        _append(connection, inspection.origin, events, now)


def release(connection: Connection, rates: Sequence[Quarantined], now: datetime) -> None:
    """Let these rates pass from the next refresh on."""
    for rate in rates:
        _append(connection, rate.origin, [(rate.rate, RELEASED, rate.reason)], now)


def _newest_events(connection: Connection, origin: str | None) -> Iterable[Row[Any]]:
    """The newest event of each offer and currency, of this origin or of all."""
    rows = select(quarantine).order_by(quarantine.c.id)
    if origin is not None:
        rows = rows.where(quarantine.c.origin == origin)
    return {(row.origin, *_key_and_currency(row)): row for row in connection.execute(rows)}.values()


def _key_and_currency(row: Row[Any]) -> tuple[str, ...]:
    """The key of a row's offer, as `Offer.key` gives it, and its currency."""
    return tuple(getattr(row, name) or "" for name in KEY_COLUMNS)


def _rate(row: Row[Any]) -> Rate:
    *key, currency = _key_and_currency(row)
    return tuple(key), currency, from_nanos(row.hourly_nanos)


def _append(connection: Connection, origin: str, events: Sequence[tuple[Rate, str, str]], now: datetime) -> None:
    rows = []
    for (key, currency, amount), event, reason in events:
        columns = dict(zip(KEY_COLUMNS, (*(part or None for part in key), currency), strict=True))
        noted = {"origin": origin, "event": event, "reason": reason, "at": now, "hourly_nanos": to_nanos(amount)}
        rows.append(columns | noted)
    if rows:
        connection.execute(insert(quarantine), rows)
