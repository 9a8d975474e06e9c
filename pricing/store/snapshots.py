"""Snapshots: what was published when, the newest book, and the segments that know earlier moments."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from functools import reduce
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from costcalc.catalogue.catalogue import Catalogue
from costcalc.hardware import Machine
from costcalc.units import Flags
from pricing.packaged.networks import packaged_networks
from pricing.store.book import Book
from pricing.store.connection import StoreUnavailable
from pricing.store.offer_rows import MACHINE_COLUMNS, read_gaps
from pricing.store.tables import books, machines, segments, snapshots

Machines = Mapping[tuple[str, str], Machine]


def newest(connection: Connection) -> Any:
    """The newest row of `snapshots`, or None in an empty store."""
    return connection.execute(select(snapshots).order_by(snapshots.c.sequence.desc()).limit(1)).first()


def newest_book(connection: Connection) -> Book:
    """The book of the newest snapshot; an empty one in an empty store."""
    found = connection.execute(select(books.c.document).order_by(books.c.sequence.desc()).limit(1)).scalar()
    return _read(found) if found else Book.empty()


def book_of_snapshot(connection: Connection, snapshot_id: str) -> tuple[Book, str] | None:
    """The book of a snapshot and its gaps; None if it is no longer kept."""
    wanted = select(books.c.document, snapshots.c.gaps).join(snapshots).where(snapshots.c.id == snapshot_id)
    found = connection.execute(wanted).first()
    return (_read(found.document), found.gaps) if found else None


def catalogue_at(connection: Connection, moments: Iterable[datetime]) -> Catalogue:
    """A catalogue that knows these moments and the present."""
    row, current = newest(connection), newest_book(connection)
    numbers = {number for moment in moments for number in _segments_at(connection, moment)}
    documents = select(segments.c.document).where(segments.c.sequence.in_(numbers)).order_by(segments.c.sequence)
    earlier = [read_segment(document) for document in connection.execute(documents).scalars()]
    united = _united(earlier, current)
    return united.catalogue(row.id, read_gaps(row.gaps))


def observed(connection: Connection, wanted: Callable[[Book], Flags]) -> Book:
    """All rows that any book holds and that are wanted of it."""
    current = newest_book(connection)
    documents = connection.execute(
        select(segments.c.document).order_by(segments.c.sequence), execution_options={"yield_per": 1}
    ).scalars()
    segments_read = map(read_segment, documents)
    return _united((each.taken(wanted(each)) for each in segments_read), current.taken(wanted(current)))


def of_types(instance_types: Collection[str]) -> Callable[[Book], Flags]:
    """Rows of these machine types, case ignored."""
    wanted = {name.casefold() for name in instance_types}

    def of_book(book: Book) -> Flags:
        chosen: Flags = np.array([name.casefold() in wanted for _, name, _ in book.vocabulary.instances], bool)
        return chosen[book.named["instance"]]

    return of_book


def of_others(origins: Collection[str]) -> Callable[[Book], Flags]:
    """Rows that none of these sources brought."""

    def of_book(book: Book) -> Flags:
        chosen: Flags = np.array([name not in origins for name in book.origins], bool)
        return chosen[book.named["origin"]]

    return of_book


def write_segment(book: Book) -> bytes:
    """A book that grows no longer, compressed and without the digests, which only a growing one needs."""
    return zlib.compress(book.without_digests().to_bytes(), 1)


def read_segment(document: bytes) -> Book:
    """The book that `write_segment` wrote."""
    return _read(zlib.decompress(document))


def _read(document: bytes) -> Book:
    try:
        return Book.from_bytes(document)
    except (ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise StoreUnavailable(
            "the prices in the store were written by another version of costcalc: use that version, or set "
            "COSTCALC_DATABASE_URL to a new store"
        ) from error


def all_machines(connection: Connection) -> Machines:
    """The machine of each instance type, by provider and instance type, with the network that the packaged tables know."""
    networks = packaged_networks()
    return {
        (row.provider, row.instance_type): networks.joined(
            row.provider, row.instance_type, Machine(*(getattr(row, column) for column in MACHINE_COLUMNS))
        )
        for row in connection.execute(select(machines))
    }


def _segments_at(connection: Connection, moment: datetime) -> list[int]:
    wanted = select(segments.c.sequence).where(segments.c.started_at <= moment, segments.c.ended_at > moment)
    return list(connection.execute(wanted).scalars())


def _united(earlier: Iterable[Book], current: Book) -> Book:
    """The rows of all these books; what later books keep is taken from the current one."""
    rows = (book.taken(~book.named["kept"]) for book in earlier)
    return reduce(lambda first, second: first.and_also(second), [*rows, current])
