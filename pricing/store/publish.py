"""Publishing: a refresh becomes new observations, sightings of known ones and one snapshot, in a single transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, delete, func, insert, select

from costcalc.catalogue.catalogue import Catalogue
from costcalc.offers import ENDED, Gap, Offer
from pricing.checks import ended_names, shortened
from pricing.offer_flags import WITHDRAWN
from pricing.packaged.offers import PackagedPrices
from pricing.scope import Key, Scope
from pricing.store.inserts import insert_many, upsert
from pricing.store.offer_rows import (
    Observation,
    Sighting,
    key_of,
    machine_row,
    observation,
    read_gaps,
    to_offer,
    write_gaps,
)
from pricing.store.quarantine import Inspection, record
from pricing.store.snapshots import all_machines, all_offers, newest, standing
from pricing.store.tables import (
    ROWS_AT_ONCE,
    catalogues,
    machines,
    observations,
    packaged_editions,
    retractions,
    sightings,
    snapshots,
    source_status,
)

PACKAGED = "packaged"
CATALOGUES_KEPT = 3  # a worker may still be loading the one before


@dataclass(frozen=True, slots=True)
class Listing:
    """The offers that one source listed; `origin` is the source's name.

    An offer of a `whole` scope that is missing here has ended, unless it is among those `left_out`, which were listed too.
    """

    origin: str
    offers: Sequence[Offer]
    whole: tuple[Scope, ...] = ()
    left_out: frozenset[Key] = frozenset()

    def ends(self, key: Key) -> bool:
        """Whether an offer with this key, which is not among the offers, is no longer listed."""
        return key not in self.left_out and any(scope.holds(key) for scope in self.whole)


@dataclass(frozen=True, slots=True)
class Attempt:
    """How asking one source went: `offers` is the length of its listing, None if it failed; `error` says what failed."""

    name: str
    seconds: float
    offers: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Publication:
    """All that one refresh brings: an attempt for each source asked, and a listing for each that answered.

    `gaps` are those of the sources asked; the gaps of other sources stay. `inspections` are what the checks left out.
    """

    listings: tuple[Listing, ...]
    attempts: tuple[Attempt, ...]
    gaps: tuple[Gap, ...] = ()
    inspections: tuple[Inspection, ...] = ()


@dataclass(frozen=True, slots=True)
class Published:
    """The snapshot that was published, how many rates were new, how many seen again unchanged, and which offers ended.

    `ended` holds pairs of a source's name and an offer that it no longer lists.
    """

    snapshot: str
    new: int
    seen_again: int
    ended: tuple[tuple[str, Offer], ...] = ()


@dataclass(frozen=True, slots=True)
class _Changes:
    """New observations with their origin, offers that ended, sightings of known ones, ids to retract, an offer for each machine.

    `second_hand_machines` were described by a second-hand source only: they fill what is unknown and overrule nothing.
    """

    new: list[tuple[str, Observation]] = field(default_factory=list)
    ended: list[tuple[str, Offer]] = field(default_factory=list)
    seen_again: list[Sighting] = field(default_factory=list)
    retracted: list[int] = field(default_factory=list)
    machines: dict[tuple[str, str], Offer] = field(default_factory=dict)
    second_hand_machines: dict[tuple[str, str], Offer] = field(default_factory=dict)

    def note_machines(self, offers: Iterable[Offer]) -> None:
        """Remember one offer for each machine that these offers of a live source rent."""
        for offer in offers:
            noted = self.machines if offer.first_hand else self.second_hand_machines
            noted[offer.provider, offer.instance_type] = offer

    def note_packaged_machines(self, offers: Iterable[Offer]) -> None:
        """Remember one offer for each machine. A packaged machine is described by its own table, whoever saw its rate."""
        self.machines.update({(offer.provider, offer.instance_type): offer for offer in offers})


def publish(connection: Connection, publication: Publication, now: datetime) -> Published:
    """Write everything a refresh brought as the next snapshot, within the caller's transaction."""
    changes = _Changes()
    for listing in publication.listings:
        _compare(connection, listing, changes, now)
    _record_attempts(connection, publication.attempts, now)
    record(connection, publication.inspections, now)
    gaps = (*publication.gaps, *_ended_gaps(changes.ended))
    return _write_snapshot(connection, changes, _standing_gaps(connection, replace(publication, gaps=gaps), now), now)


def standing_offers(connection: Connection, origin: str) -> tuple[Offer, ...]:
    """What an origin last said of each of its offers, without those that have ended."""
    rows = [row for row in last_seen(connection, origin, *observations.c).values() if not _is_ended(row)]
    return tuple(_offers(connection, rows))


def withdraw(connection: Connection, origin: str, keys: frozenset[Key], now: datetime) -> Published:
    """End the offers of an origin that have one of these keys, as the next snapshot, within the caller's transaction."""
    changes = _Changes()
    _end(origin, (each for each in standing_offers(connection, origin) if each.key in keys), changes, now, WITHDRAWN)
    return _write_snapshot(connection, changes, open_gaps(connection), now)


def merge_packaged(connection: Connection, prices: PackagedPrices, now: datetime) -> Published | None:
    """Publish the packaged prices once per edition: add its rows, retract those of older editions that it lacks."""
    if has_edition(connection, prices.digest):
        return None
    changes = _edition_changes(connection, prices.offers)
    _record_attempts(connection, (Attempt(PACKAGED, 0, len(prices.offers)),), now)
    published = _write_snapshot(connection, changes, open_gaps(connection), now)
    edition = {"digest": prices.digest, "sequence": newest(connection).sequence}
    connection.execute(insert(packaged_editions), edition)
    return published


def has_edition(connection: Connection, digest: str) -> bool:
    """Whether this edition of the packaged prices was merged before."""
    known = select(packaged_editions.c.digest).where(packaged_editions.c.digest == digest)
    return connection.execute(known).first() is not None


def open_gaps(connection: Connection) -> tuple[Gap, ...]:
    """The gaps of the newest snapshot."""
    current = newest(connection)
    return read_gaps(current.gaps) if current else ()


def last_seen(connection: Connection, origin: str, *columns: Column[Any]) -> dict[bytes, Any]:
    """These columns of the newest observation of each offer that this origin brought, by offer digest."""
    rank = func.row_number().over(
        partition_by=observations.c.offer_digest, order_by=(observations.c.observed_at.desc(), observations.c.id.desc())
    )
    digest = observations.c.offer_digest
    ranked = select(digest, *columns, rank.label("rank")).where(observations.c.origin == origin).subquery()
    rows = connection.execute(select(ranked).where(ranked.c.rank == 1), execution_options={"yield_per": ROWS_AT_ONCE})
    return {row.offer_digest: row for row in rows}


def _compare(connection: Connection, listing: Listing, changes: _Changes, now: datetime) -> None:
    """A rate that is unchanged since it was last seen is a sighting, any other a new observation; what is missing ends."""
    changes.note_machines(listing.offers)
    last = last_seen(connection, listing.origin, *observations.c)
    listed = {item.offer_digest: item for item in map(observation, listing.offers)}
    missing = (row for digest, row in last.items() if digest not in listed and not _is_ended(row))
    gone = [row for row in missing if listing.ends(key_of(row)[:-1])]
    _end(listing.origin, _offers(connection, gone), changes, now)
    for item in listed.values():
        before = last.get(item.offer_digest)
        if before is None or before.rate_digest != item.rate_digest:
            again = before is not None and _is_ended(before) and item.offer.observed_at <= before.observed_at
            changes.new.append((listing.origin, observation(replace(item.offer, observed_at=now)) if again else item))
        elif item.offer.observed_at > before.observed_at:
            flags = ";".join(item.offer.flags)
            changed_flags = None if flags == before.flags else flags
            changes.seen_again.append(Sighting(before.id, item.offer.observed_at, changed_flags))


def _end(origin: str, offers: Iterable[Offer], changes: _Changes, now: datetime, *flags: str) -> None:
    """A further observation of each of these offers says that it has ended."""
    for offer in offers:
        changes.ended.append((origin, offer))
        ending = replace(offer, observed_at=now, flags=(*offer.flags, ENDED, *flags))
        changes.new.append((origin, observation(ending)))


def _offers(connection: Connection, rows: Sequence[Any]) -> Iterator[Offer]:
    machine_of = all_machines(connection) if rows else {}
    return (to_offer(row, machine_of[row.provider, row.instance_type]) for row in rows)


def _is_ended(row: Any) -> bool:
    return ENDED in row.flags.split(";")


def _ended_gaps(ended: Iterable[tuple[str, Offer]]) -> Iterator[Gap]:
    """One for each source, which names its first few."""
    offers: dict[str, list[Offer]] = defaultdict(list)
    for origin, offer in ended:
        offers[origin].append(offer)
    for origin, gone in offers.items():
        yield Gap(origin, f"no longer listed, ended: {shortened(ended_names(gone))}")


def _edition_changes(connection: Connection, offers: Sequence[Offer]) -> _Changes:
    """What must be added and retracted so that exactly these packaged observations stand."""
    rows = connection.execute(standing().where(observations.c.origin == PACKAGED))
    before = {
        (row.offer_digest, row.rate_digest, row.observed_at, row.effective_from): row.id
        for row in rows
        if WITHDRAWN not in row.flags.split(";")  # whoever took it back did so for good
    }
    items = {
        (item.offer_digest, item.rate_digest, item.offer.observed_at, item.offer.effective_from): item
        for item in map(observation, offers)
    }
    new = [(PACKAGED, item) for identity, item in items.items() if identity not in before]
    gone = [number for identity, number in before.items() if identity not in items]
    changes = _Changes(new, retracted=gone)
    changes.note_packaged_machines(offers)
    return changes


def _standing_gaps(connection: Connection, publication: Publication, now: datetime) -> tuple[Gap, ...]:
    """The gaps of sources that were not asked, and the new ones; a gap that stays open keeps the moment it opened."""
    before, asked = open_gaps(connection), {attempt.name for attempt in publication.attempts}
    since = {(gap.source, gap.reason): gap.since for gap in before}
    others = tuple(gap for gap in before if gap.source not in asked)
    return others + tuple(
        replace(gap, since=gap.since or since.get((gap.source, gap.reason)) or now) for gap in publication.gaps
    )


def _record_attempts(connection: Connection, attempts: Sequence[Attempt], now: datetime) -> None:
    """How each source fared; a failure keeps the moment and the length of the last good listing."""
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
    upsert(connection, source_status, rows, _keep_last_success)


def _write_snapshot(connection: Connection, changes: _Changes, gaps: tuple[Gap, ...], now: datetime) -> Published:
    """The changes and the snapshot that follows from them."""
    previous = newest(connection)
    sequence = previous.sequence + 1 if previous else 1
    snapshot = _snapshot_id(previous.id if previous else "", changes, gaps, now)
    row = {"sequence": sequence, "id": snapshot, "published_at": now, "gaps": write_gaps(gaps)}
    connection.execute(insert(snapshots), row)
    _write_observations(connection, changes, sequence)
    _write_sightings(connection, changes.seen_again)
    catalogue = Catalogue.from_offers(all_offers(connection), snapshot, gaps)
    connection.execute(insert(catalogues), {"sequence": sequence, "document": catalogue.to_bytes()})
    connection.execute(delete(catalogues).where(catalogues.c.sequence <= sequence - CATALOGUES_KEPT))
    ended = tuple(changes.ended)
    return Published(snapshot, len(changes.new) - len(ended), len(changes.seen_again), ended)


def _snapshot_id(previous: str, changes: _Changes, gaps: tuple[Gap, ...], now: datetime) -> str:
    """The moment of publication and a digest of the previous id and all changes: equal ids mean equal prices."""
    digest = blake2b(previous.encode(), digest_size=4)
    for origin, item in changes.new:
        digest.update(origin.encode() + item.offer_digest + item.rate_digest)
    digest.update(repr((changes.seen_again, changes.retracted, gaps)).encode())
    return f"{now:%Y%m%dT%H%M%SZ}-{digest.hexdigest()}"


def _write_observations(connection: Connection, changes: _Changes, sequence: int) -> None:
    upsert(connection, machines, map(machine_row, changes.machines.values()), _unless_unknown)
    upsert(connection, machines, map(machine_row, changes.second_hand_machines.values()), _if_unknown)
    rows = ({**item.row(), "sequence": sequence, "origin": origin} for origin, item in changes.new)
    insert_many(connection, observations, rows)
    if changes.retracted:
        retracted = [{"observation_id": number, "sequence": sequence} for number in changes.retracted]
        connection.execute(insert(retractions), retracted)


def _write_sightings(connection: Connection, seen_again: Sequence[Sighting]) -> None:
    rows = ({**each._asdict(), "month": f"{each.seen_at:%Y-%m}"} for each in seen_again)
    upsert(connection, sightings, rows, _overwrite)


def _overwrite(old: ColumnElement[Any], new: ColumnElement[Any]) -> ColumnElement[Any]:
    return new


def _unless_unknown(old: ColumnElement[Any], new: ColumnElement[Any]) -> ColumnElement[Any]:
    return func.coalesce(new, old)


def _if_unknown(old: ColumnElement[Any], new: ColumnElement[Any]) -> ColumnElement[Any]:
    return func.coalesce(old, new)


def _keep_last_success(old: ColumnElement[Any], new: ColumnElement[Any]) -> ColumnElement[Any]:
    return _unless_unknown(old, new) if new.key in ("succeeded_at", "offers") else new
