"""The store's only writes: observations are added, bookkeeping is kept current, a snapshot seals them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, delete, func, insert
from sqlalchemy.dialects import postgresql, sqlite

from costcalc.catalogue.catalogue import Catalogue
from costcalc.offers import Gap, Offer
from pricing.offer_flags import SECOND_HAND
from pricing.store.bulk import insert_many
from pricing.store.offer_rows import Observation, Sighting, machine_cells
from pricing.store.snapshots import ROWS_AT_ONCE, all_offers, newest, write_gaps
from pricing.store.tables import catalogues, machines, observations, retractions, sightings, snapshots, source_status

CATALOGUES_KEPT = 3  # a worker may still be loading the one before


@dataclass(frozen=True, slots=True)
class Attempt:
    """How one source fared: `offers` is the length of its listing, None if it failed; `error` is why, or what broke in part."""

    name: str
    seconds: float
    offers: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Published:
    """The snapshot that was published, how many rates were new, and how many were seen again unchanged."""

    snapshot: str
    new: int
    seen_again: int


@dataclass(frozen=True, slots=True)
class Changes:
    """New observations with their origin, those seen again, ids taken back, and machines by their name.

    `hearsay` are machines that only a second-hand source described: they fill what is unknown and overrule nothing.
    """

    new: list[tuple[str, Observation]] = field(default_factory=list)
    seen: list[Sighting] = field(default_factory=list)
    retracted: list[int] = field(default_factory=list)
    machines: dict[tuple[str, str], Offer] = field(default_factory=dict)
    hearsay: dict[tuple[str, str], Offer] = field(default_factory=dict)

    def note_machines(self, offers: Iterable[Offer]) -> None:
        """Remember what these offers' machines hold."""
        for offer in offers:
            kept = self.hearsay if SECOND_HAND in offer.flags else self.machines
            kept[offer.provider, offer.instance_type] = offer


def write_snapshot(connection: Connection, changes: Changes, gaps: tuple[Gap, ...], now: datetime) -> Published:
    """The changes and the snapshot that follows from them, within the caller's transaction."""
    previous = newest(connection)
    sequence = previous.sequence + 1 if previous else 1
    snapshot = _name(previous.id if previous else "", changes, gaps, now)
    row = {"sequence": sequence, "id": snapshot, "published_at": now, "gaps": write_gaps(gaps)}
    connection.execute(insert(snapshots), row)
    _write_observations(connection, changes, sequence)
    _write_sightings(connection, changes.seen)
    catalogue = Catalogue.from_offers(all_offers(connection), snapshot, gaps)
    connection.execute(insert(catalogues), {"sequence": sequence, "document": catalogue.to_bytes()})
    connection.execute(delete(catalogues).where(catalogues.c.sequence <= sequence - CATALOGUES_KEPT))
    return Published(snapshot, len(changes.new), len(changes.seen))


def record_attempts(connection: Connection, attempts: Sequence[Attempt], now: datetime) -> None:
    """How sources fared; a failure keeps the moment and the length of the last good listing."""
    rows = [
        {
            "name": attempt.name,
            "attempted_at": now,
            "succeeded_at": None if attempt.offers is None else now,
            "offers": attempt.offers,
            "seconds": attempt.seconds,
            "error": attempt.error,
        }
        for attempt in attempts
    ]
    _upsert(connection, source_status, rows, _last_success)


def _name(previous: str, changes: Changes, gaps: tuple[Gap, ...], now: datetime) -> str:
    """The moment of publication and a digest over what came before and what is new: equal names, equal prices."""
    digest = blake2b(previous.encode(), digest_size=4)
    for origin, item in changes.new:
        digest.update(origin.encode() + item.offer_digest + item.rate_digest)
    digest.update(repr((changes.seen, changes.retracted, gaps)).encode())
    return f"{now:%Y%m%dT%H%M%SZ}-{digest.hexdigest()}"


def _write_observations(connection: Connection, changes: Changes, sequence: int) -> None:
    _upsert(connection, machines, map(machine_cells, changes.machines.values()), _unless_unknown)
    _upsert(connection, machines, map(machine_cells, changes.hearsay.values()), _if_unknown)
    rows = ({**item.row(), "sequence": sequence, "origin": origin} for origin, item in changes.new)
    insert_many(connection, observations, rows)
    if changes.retracted:
        taken_back = [{"observation_id": number, "sequence": sequence} for number in changes.retracted]
        connection.execute(insert(retractions), taken_back)


def _write_sightings(connection: Connection, seen: Sequence[Sighting]) -> None:
    rows = ({**each._asdict(), "month": f"{each.seen_at:%Y-%m}"} for each in seen)
    _upsert(connection, sightings, rows, _overwrite)


Merge = Callable[[ColumnElement[Any], ColumnElement[Any]], ColumnElement[Any]]


def _upsert(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]], merge: Merge) -> None:
    """Insert; where the primary key is there already, `merge` each other column from the old and the new value."""
    dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(table)
    key = [column.name for column in table.primary_key]
    others = [column for column in table.columns if column.name not in key]
    values = {column.name: merge(column, statement.excluded[column.name]) for column in others}
    upsert, waiting = statement.on_conflict_do_update(index_elements=key, set_=values), iter(rows)
    while some := list(islice(waiting, ROWS_AT_ONCE)):
        connection.execute(upsert, some)


def _overwrite(old: ColumnElement[Any], new: ColumnElement[Any]) -> ColumnElement[Any]:
    return new


def _unless_unknown(old: ColumnElement[Any], new: ColumnElement[Any]) -> ColumnElement[Any]:
    return func.coalesce(new, old)


def _if_unknown(old: ColumnElement[Any], new: ColumnElement[Any]) -> ColumnElement[Any]:
    return func.coalesce(old, new)


def _last_success(old: ColumnElement[Any], new: ColumnElement[Any]) -> ColumnElement[Any]:
    return _unless_unknown(old, new) if new.key in ("succeeded_at", "offers") else new
