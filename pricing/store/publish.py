"""Publishing: what sources brought becomes new observations, sightings and one snapshot, in a single transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Connection, func, insert, select

from costcalc.offers import Gap, Offer
from pricing.packaged.offers import PackagedPrices
from pricing.store.offer_rows import Sighting, observation
from pricing.store.snapshots import ROWS_AT_ONCE, newest, read_gaps, standing
from pricing.store.tables import observations, packaged_editions
from pricing.store.writing import Attempt, Changes, Published, record_attempts, write_snapshot

PACKAGED = "packaged"


@dataclass(frozen=True, slots=True)
class Listing:
    """What one source listed; `origin` is the source's name."""

    origin: str
    offers: Sequence[Offer]


@dataclass(frozen=True, slots=True)
class Publication:
    """All that one refresh brings: an attempt for each source asked, and a listing for each that answered.

    `gaps` are those of the sources asked; the gaps of others stand as they did.
    """

    listings: tuple[Listing, ...]
    attempts: tuple[Attempt, ...]
    gaps: tuple[Gap, ...] = ()


def publish(connection: Connection, publication: Publication, now: datetime) -> Published:
    """Everything a refresh brought, as the next snapshot. The connection is the only writer's transaction."""
    changes = Changes()
    for listing in publication.listings:
        _compare(connection, listing, changes)
    record_attempts(connection, publication.attempts, now)
    return write_snapshot(connection, changes, _standing_gaps(connection, publication, now), now)


def _standing_gaps(connection: Connection, publication: Publication, now: datetime) -> tuple[Gap, ...]:
    """Old gaps of sources not asked, and the new ones; a gap that stays open keeps the moment it opened."""
    before, asked = open_gaps(connection), {attempt.name for attempt in publication.attempts}
    since = {(gap.source, gap.reason): gap.since for gap in before}
    others = tuple(gap for gap in before if gap.source not in asked)
    return others + tuple(
        replace(gap, since=gap.since or since.get((gap.source, gap.reason)) or now) for gap in publication.gaps
    )


def open_gaps(connection: Connection) -> tuple[Gap, ...]:
    """What the newest snapshot says was silent."""
    current = newest(connection)
    return read_gaps(current.gaps) if current else ()


def merge_packaged(connection: Connection, prices: PackagedPrices, now: datetime) -> Published | None:
    """The packaged prices, once per edition: its rows are added, rows it no longer holds are taken back."""
    if has_edition(connection, prices.digest):
        return None
    changes = _edition(connection, prices.offers)
    record_attempts(connection, (Attempt(PACKAGED, 0, len(prices.offers)),), now)
    published = write_snapshot(connection, changes, open_gaps(connection), now)
    edition = {"digest": prices.digest, "sequence": newest(connection).sequence}
    connection.execute(insert(packaged_editions), edition)
    return published


def has_edition(connection: Connection, digest: str) -> bool:
    """Whether this edition of the packaged prices was merged in before."""
    known = select(packaged_editions.c.digest).where(packaged_editions.c.digest == digest)
    return connection.execute(known).first() is not None


def _compare(connection: Connection, listing: Listing, changes: Changes) -> None:
    """A rate that is unchanged since it was last seen is a sighting, any other a new observation."""
    changes.note_machines(listing.offers)
    known = (observations.c.id, observations.c.rate_digest, observations.c.observed_at, observations.c.flags)
    last = last_seen(connection, listing.origin, *known)
    for item in {item.offer_digest: item for item in map(observation, listing.offers)}.values():
        before = last.get(item.offer_digest)
        if before is None or before.rate_digest != item.rate_digest:
            changes.new.append((listing.origin, item))
        elif item.offer.observed_at > before.observed_at:
            flags = ";".join(item.offer.flags)
            changes.seen.append(Sighting(before.id, item.offer.observed_at, None if flags == before.flags else flags))


def last_seen(connection: Connection, origin: str, *columns: Column[Any]) -> dict[bytes, Any]:
    """These columns of the newest observation of each offer that this origin brought, by offer digest."""
    rank = func.row_number().over(
        partition_by=observations.c.offer_digest, order_by=(observations.c.observed_at.desc(), observations.c.id.desc())
    )
    digest = observations.c.offer_digest
    ranked = select(digest, *columns, rank.label("rank")).where(observations.c.origin == origin).subquery()
    rows = connection.execute(select(ranked).where(ranked.c.rank == 1), execution_options={"yield_per": ROWS_AT_ONCE})
    return {row.offer_digest: row for row in rows}


def _edition(connection: Connection, offers: Sequence[Offer]) -> Changes:
    """What must be added and taken back so that exactly these packaged observations stand."""
    rows = connection.execute(standing().where(observations.c.origin == PACKAGED))
    before = {(row.offer_digest, row.rate_digest, row.observed_at, row.effective_from): row.id for row in rows}
    items = {
        (item.offer_digest, item.rate_digest, item.offer.observed_at, item.offer.effective_from): item
        for item in map(observation, offers)
    }
    new = [(PACKAGED, item) for identity, item in items.items() if identity not in before]
    gone = [number for identity, number in before.items() if identity not in items]
    changes = Changes(new, [], gone)
    changes.note_machines(offers)
    return changes
