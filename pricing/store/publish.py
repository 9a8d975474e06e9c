"""Publishing: a refresh becomes new rows of the book, sightings of known ones and one snapshot, in a single transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import blake2b

import numpy as np
from msgspec import Struct, field
from msgspec.structs import asdict, replace
from sqlalchemy import Connection, delete, func, insert, select

from costcalc.offer import ANY_SOURCE, COUNT_NOT_STATED, ENDED, Gap, Offer
from costcalc.units import Indices
from pricing.checks import ended_names, shortened
from pricing.edition_head import EditionHead
from pricing.offer_flags import WITHDRAWN
from pricing.packaged.offers import PackagedPrices
from pricing.scope import Key, Scope
from pricing.store.book import PACKAGED, Book, Entry, Last, book_of, digests_in, moment
from pricing.store.offer_rows import entry, machine_row, read_gaps, write_gaps
from pricing.store.quarantine import Inspection, record
from pricing.store.snapshots import all_machines, newest, newest_book, segment_parts
from pricing.store.tables import (
    books,
    machines,
    packaged_editions,
    segments,
    snapshots,
    source_status,
    taken_editions,
    upsert,
)

BOOKS_KEPT = 3  # a worker may still be loading the one before
ROWS_IN_A_BOOK = 40_000  # beyond that it becomes a segment


class SourceResult(Struct, frozen=True):
    """What came of one source: its offers (none on failure), its gaps, and the error if it failed.

    `faults` are the gaps left by parts that broke. `missing` says what to set if the source could not be asked without it.
    An offer of what it read `whole`, to the end, has ended where it is missing here, unless its key is one of those `left_out`,
    which were listed too. `inspection` is what the checks left out; None where nothing was listed. `is_own`: the rates are
    whatever the user last typed. `edition` is the one that all of it comes from. `notes` say how it was read.
    """

    name: str
    seconds: float
    offers: tuple[Offer, ...] = ()
    gaps: tuple[Gap, ...] = ()
    error: str | None = None
    faults: tuple[Gap, ...] = ()
    missing: str | None = None
    whole: tuple[Scope, ...] = ()
    left_out: frozenset[Key] = frozenset()
    inspection: Inspection | None = None
    is_own: bool = False
    edition: EditionHead | None = None
    notes: tuple[str, ...] = ()

    def ended_at(self, key: Key, now: datetime) -> datetime | None:
        """When an offer with this key, which is not among the offers, was no longer listed; None where nobody read that."""
        scopes = () if key in self.left_out else self.whole
        return next((scope.read_at or now for scope in scopes if scope.holds(key)), None)

    @property
    def trouble(self) -> str | None:
        """Why it failed, or which parts of it did."""
        return self.error or "; ".join(fault.reason for fault in self.faults) or None


class Published(Struct, frozen=True):
    """The snapshot that was published, how many rates were new, how many seen again unchanged, and which offers ended.

    `ended` holds pairs of a source's name and an offer that it no longer lists.
    """

    snapshot: str
    new: int
    seen_again: int
    ended: tuple[tuple[str, Offer], ...] = ()


class _Changes(Struct, frozen=True):
    """What happens to a book: new rows, offers that ended, rows seen again with their moments, an offer for each machine.

    `flags` are those of rows seen again if they had changed, None if not. `second_hand_machines` were described by a
    second-hand source only, or not counted: they fill what is unknown and overrule nothing.
    """

    new: list[Entry] = field(default_factory=list)
    ended: list[tuple[str, Offer]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    moments: list[int] = field(default_factory=list)
    flags: list[str | None] = field(default_factory=list)
    machines: dict[tuple[str, str], Offer] = field(default_factory=dict)
    second_hand_machines: dict[tuple[str, str], Offer] = field(default_factory=dict)

    def end(self, origin: str, offer: Offer, moment: datetime, *flags: str) -> None:
        """Adds a row that says that this offer had ended at that moment."""
        self.ended.append((origin, offer))
        self.new.append(entry(origin, replace(offer, observed_at=moment, flags=(*offer.flags, ENDED, *flags))))

    def see_again(self, before: Last, seen: int, flags: tuple[str, ...]) -> None:
        """Notes that a rate stood unchanged at that moment, with these flags."""
        words = ";".join(flags)
        self.rows.append(before.row)
        self.moments.append(seen)
        self.flags.append(None if words == before.flags else words)


def publish(connection: Connection, results: Sequence[SourceResult], now: datetime) -> Published:
    """Write everything a refresh brought as the next snapshot, within the caller's transaction. Sources that were not asked keep
    their gaps."""
    changes, book = _Changes(), _open_book(connection, now)
    for result in results:
        if not result.error:
            _compare(book, result, changes, now)
    _record_results(connection, results, now)
    editions = [asdict(result.edition) for result in results if result.edition]
    kept = [{name: value for name, value in edition.items() if name in taken_editions.c} for edition in editions]
    upsert(connection, taken_editions, kept, lambda _, new: new)
    record(connection, (result.inspection for result in results if result.inspection), now)
    ended = (
        Gap(origin, f"no longer listed, ended: {shortened(names)}")
        for origin, names in ended_names(changes.ended).items()
    )
    gaps = (*(gap for result in results for gap in result.gaps), *ended)
    return _write_snapshot(connection, book, changes, _standing_gaps(connection, results, gaps, now), now)


def withdraw(connection: Connection, origin: str, keys: frozenset[Key], now: datetime) -> Published:
    """End the offers of an origin that have one of these keys, as the next snapshot, within the caller's transaction."""
    changes, book = _Changes(), _open_book(connection, now)
    for offer in standing_offers(book, origin):
        if offer.key in keys:
            changes.end(origin, offer, now, WITHDRAWN)
    return _write_snapshot(connection, book, changes, open_gaps(connection), now)


def standing_offers(book: Book, origin: str) -> list[Offer]:
    """What an origin last said of each of its offers, without those that have ended."""
    return book.offers(_rows(each.row for each in book.last(origin).values() if not each.is_ended))


def merge_packaged(connection: Connection, prices: PackagedPrices, now: datetime) -> Published | None:
    """Publish the packaged prices once per edition: add its rows, take out those of older editions that it lacks."""
    if has_edition(connection, prices.digest):
        return None
    book, changes = _edition(_open_book(connection, now), prices.offers)
    _record_results(connection, (SourceResult(PACKAGED, 0, prices.offers),), now)
    published = _write_snapshot(connection, book, changes, open_gaps(connection), now)
    edition = {"digest": prices.digest, "sequence": newest(connection).sequence}
    connection.execute(insert(packaged_editions), edition)
    return published


def has_edition(connection: Connection, digest: str) -> bool:
    """Whether this edition of the packaged prices was merged before."""
    merged = select(packaged_editions.c.digest).where(packaged_editions.c.digest == digest)
    return connection.execute(merged).first() is not None


def open_gaps(connection: Connection) -> tuple[Gap, ...]:
    """The gaps of the newest snapshot."""
    current = newest(connection)
    return read_gaps(current.gaps) if current else ()


def _open_book(connection: Connection, now: datetime) -> Book:
    """The newest book. One that has grown long becomes a segment, and a new one begins."""
    book = newest_book(connection)
    if len(book) <= max(ROWS_IN_A_BOOK, 2 * book.begun_with):
        return book
    whole = {"sequence": newest(connection).sequence, "started_at": moment(book.started_at), "ended_at": now}
    connection.execute(insert(segments), [whole | part for part in segment_parts(book)])
    return book.begun_anew(now)


def _compare(book: Book, listing: SourceResult, changes: _Changes, now: datetime) -> None:
    """Note in `changes` what a listing brings: a sighting of each unchanged rate, new rows for others, ends of what is missing.

    A rate is added under its own date, whatever was seen since; but what users change in their own sheet, they say now.
    """
    for offer in listing.offers:
        is_known = offer.first_hand and COUNT_NOT_STATED not in offer.flags
        noted = changes.machines if is_known else changes.second_hand_machines
        noted[offer.provider, offer.instance_type] = offer
    last = book.last(listing.name)
    listed = {each.offer_digest: each for each in (entry(listing.name, offer) for offer in listing.offers)}
    _end_missing(book, listing, [each for digest, each in last.items() if digest not in listed], changes, now)
    earlier = []
    for each in listed.values():
        before, seen = last.get(each.offer_digest), int(each.offer.observed_at.timestamp())
        if before is None:
            changes.new.append(each)
        elif seen < before.seen and not listing.is_own:
            earlier.append(each)
        elif before.rate_digest != each.rate_digest:
            is_late = seen < before.seen
            changes.new.append(replace(each, offer=replace(each.offer, observed_at=now)) if is_late else each)
        elif seen > before.seen:
            changes.see_again(before, seen, each.offer.flags)
    changes.new.extend(book.without_known(listing.name, earlier))


def _end_missing(book: Book, listing: SourceResult, missing: Iterable[Last], changes: _Changes, now: datetime) -> None:
    """End what the listing lacks of the parts that were read whole, if that was read after the offer was last seen.

    What was announced and has begun to count is not missing. Where an announcement is taken back, the present rate holds on that
    day too.
    """
    begins, standing = book.named["effective_from"], {each.row: each for each in missing if not each.is_ended}
    present = {offer.key: offer for offer in listing.offers if not offer.announced_for}
    ends: dict[datetime, list[int]] = defaultdict(list)
    for row, (*parts, _) in zip(standing, book.keys(_rows(standing)), strict=True):
        key, before = tuple(parts), standing[row]
        ended_at = listing.ended_at(key, now)
        if not ended_at or int(ended_at.timestamp()) < before.seen or before.seen < begins[row] <= now.timestamp():
            continue
        if begins[row] > now.timestamp() and key in present:
            as_now = replace(present[key], observed_at=now, effective_from=moment(int(begins[row])))
            changes.new.extend(each for each in [entry(listing.name, as_now)] if each.rate_digest != before.rate_digest)
            continue
        ends[ended_at].append(row)
    for ended_at, rows in ends.items():
        for offer in book.offers(_rows(rows)):
            changes.end(listing.name, offer, ended_at)


def _rows(numbers: Iterable[int]) -> Indices:
    return np.fromiter(numbers, np.int64)


def _edition(book: Book, offers: Sequence[Offer]) -> tuple[Book, _Changes]:
    """The book without the packaged rows that this edition lacks, and what it adds. A rate that somebody took back stays so."""
    items = {_identity(each): each for each in (entry(PACKAGED, offer) for offer in offers)}
    rows, columns = book.rows_of(PACKAGED), book.named
    withdrawn = np.array([WITHDRAWN in words.split(";") for words in book.vocabulary.flags], bool)[columns["flags"]]
    of_tables = rows[~withdrawn[rows]]
    before = zip(
        digests_in(columns["offer"][of_tables]),
        digests_in(columns["rate"][of_tables]),
        columns["observed"][of_tables].tolist(),
        columns["effective_from"][of_tables].tolist(),
        strict=True,
    )
    rows_before = dict(zip(before, of_tables.tolist(), strict=True))
    stays = np.ones(len(book), bool)
    stays[[row for identity, row in rows_before.items() if identity not in items]] = False
    changes = _Changes([each for identity, each in items.items() if identity not in rows_before])
    changes.machines.update({(offer.provider, offer.instance_type): offer for offer in offers})
    return book.taken(stays), changes


def _identity(each: Entry) -> tuple[bytes, bytes, int, int]:
    """What two equal packaged rows have in common, as a book's columns hold it."""
    offer = each.offer
    started = int(offer.effective_from.timestamp()) if offer.effective_from else -1
    return each.offer_digest, each.rate_digest, int(offer.observed_at.timestamp()), started


def _standing_gaps(
    connection: Connection, results: Sequence[SourceResult], gaps: Sequence[Gap], now: datetime
) -> tuple[Gap, ...]:
    """The gaps of sources that were not asked, and the new ones; a gap that stays open keeps the moment it opened."""
    before = open_gaps(connection)
    renewed = {result.name for result in results} | {gap.source for gap in gaps}
    if not all(result.error for result in results):
        renewed.add(ANY_SOURCE)
    since = {(gap.source, gap.reason): gap.since for gap in before}
    others = tuple(gap for gap in before if gap.source not in renewed)
    return others + tuple(replace(gap, since=gap.since or since.get((gap.source, gap.reason)) or now) for gap in gaps)


def _record_results(connection: Connection, results: Iterable[SourceResult], now: datetime) -> None:
    """Record how each source fared. A failure keeps the moment and the length of the last good listing."""
    rows = [
        {
            "name": result.name,
            "attempted_at": now,
            "succeeded_at": None if result.error else now,
            "offers": None if result.error else len(result.offers),
            "seconds": result.seconds,
            "error": result.trouble,
        }
        for result in results
    ]
    kept = ("succeeded_at", "offers")
    upsert(connection, source_status, rows, lambda old, new: func.coalesce(new, old) if new.key in kept else new)


def _write_snapshot(
    connection: Connection, book: Book, changes: _Changes, gaps: tuple[Gap, ...], now: datetime
) -> Published:
    """Write the changes, and the snapshot that follows from them."""
    previous = newest(connection)
    sequence = previous.sequence + 1 if previous else 1
    snapshot = _snapshot_id(previous.id if previous else "", changes, gaps, now)
    row = {"sequence": sequence, "id": snapshot, "published_at": now, "gaps": write_gaps(gaps)}
    connection.execute(insert(snapshots), row)
    grown = _grown(connection, book, changes, now)
    connection.execute(insert(books), {"sequence": sequence, "document": grown.to_bytes()})
    connection.execute(delete(books).where(books.c.sequence <= sequence - BOOKS_KEPT))
    ended = tuple(changes.ended)
    return Published(snapshot, len(changes.new) - len(ended), len(changes.rows), ended)


def _grown(connection: Connection, book: Book, changes: _Changes, now: datetime) -> Book:
    """The book with the rows that this publication adds; machines hold what is known of them by now."""
    if changes.rows:
        book = book.seen_again(_rows(changes.rows), _rows(changes.moments), changes.flags)
    upsert(connection, machines, map(machine_row, changes.machines.values()), lambda old, new: func.coalesce(new, old))
    upsert(connection, machines, map(machine_row, changes.second_hand_machines.values()), func.coalesce)
    machine_of = all_machines(connection)
    added = []
    for each in changes.new:
        machine = machine_of[each.offer.provider, each.offer.instance_type]
        is_same = each.offer.machine == machine
        added.append(each if is_same else replace(each, offer=replace(each.offer, machine=machine)))
    if added:
        book = book.and_also(book_of(added, now))
    return book.with_machines(machine_of)


def _snapshot_id(previous: str, changes: _Changes, gaps: tuple[Gap, ...], now: datetime) -> str:
    """The moment of publication and a digest of the previous id and all changes: equal ids mean equal prices."""
    digest = blake2b(previous.encode(), digest_size=4)
    for each in changes.new:
        digest.update(each.origin.encode() + each.offer_digest + each.rate_digest)
    digest.update(repr((changes.rows, changes.moments, changes.flags, gaps)).encode())
    return f"{now:%Y%m%dT%H%M%SZ}-{digest.hexdigest()}"
