"""Snapshots: what was published when, the newest book, and the segments that know earlier moments."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import reduce
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, select, true

from costcalc.catalogue.catalogue import Catalogue
from costcalc.hardware import Machine
from costcalc.units import Flags
from pricing.packaged.networks import packaged_networks
from pricing.store.book import Book
from pricing.store.errors import StoreUnavailable
from pricing.store.offer_rows import MACHINE_COLUMNS, read_gaps
from pricing.store.tables import books, machines, segments, snapshots

PARTS = 8  # of a segment: the history of a machine reads one of them
Machines = Mapping[tuple[str, str], Machine]


def newest(connection: Connection) -> Any:
    """The newest row of `snapshots`, or None in an empty store."""
    return connection.execute(select(snapshots).order_by(snapshots.c.sequence.desc()).limit(1)).first()


def newest_book(connection: Connection) -> Book:
    """The book of the newest snapshot; an empty one in an empty store."""
    document = connection.execute(select(books.c.document).order_by(books.c.sequence.desc()).limit(1)).scalar()
    return _read(document) if document else Book.empty()


def book_of_snapshot(connection: Connection, snapshot_id: str) -> tuple[Book, str] | None:
    """The book of a snapshot and its gaps; None if it is no longer kept."""
    wanted = select(books.c.document, snapshots.c.gaps).join(snapshots).where(snapshots.c.id == snapshot_id)
    row = connection.execute(wanted).first()
    return (_read(row.document), row.gaps) if row else None


def catalogue_at(connection: Connection, moments: Iterable[datetime]) -> Catalogue:
    """A catalogue that knows these moments and the present."""
    row, current = newest(connection), newest_book(connection)
    sequences: set[int] = set()
    for moment in moments:  # one by one, as a plan may ask about a thousand
        wanted = select(segments.c.sequence).where(segments.c.started_at <= moment, segments.c.ended_at > moment)
        sequences.update(connection.execute(wanted).scalars())
    earlier = _read_parts(connection, segments.c.sequence.in_(sequences))
    return _united([*earlier, current]).catalogue(row.id, read_gaps(row.gaps))


def observed_of_types(connection: Connection, instance_types: Collection[str]) -> Book:
    """All rows of these machine types (case ignored) that any book holds."""
    names = {name.casefold() for name in instance_types}

    def wanted(book: Book) -> Book:
        chosen: Flags = np.array([name.casefold() in names for _, name, _ in book.vocabulary.instances], bool)
        return book.taken(chosen[book.named["instance"]])

    parts = _read_parts(connection, segments.c.part.in_(map(_part_of, names)))
    return _united([*map(wanted, parts), wanted(newest_book(connection))])


def observed_by_others(connection: Connection, origins: Collection[str]) -> Book:
    """All rows that any book holds, but for those that one of these sources brought."""
    earlier = (_by_others(book, origins) for book in _read_parts(connection, true()))
    return _united([*earlier, current_by_others(connection, origins)])


def current_by_others(connection: Connection, origins: Collection[str]) -> Book:
    """What the newest book holds, but for the rows that one of these sources brought."""
    return _by_others(newest_book(connection), origins)


def _by_others(book: Book, origins: Collection[str]) -> Book:
    chosen: Flags = np.array([name not in origins for name in book.origins], bool)
    return book.taken(chosen[book.named["origin"]])


def segment_parts(book: Book) -> Iterator[dict[str, object]]:
    """The parts of a book that grows no longer, for the table `segments`: compressed, without what every later book keeps."""
    own = book.taken(~book.named["kept"])
    parts = np.array([_part_of(name) for _, name, _ in book.vocabulary.instances], np.int64)[own.named["instance"]]
    for part in range(PARTS):
        some = own.taken(parts == part).with_own_words().without_digests()
        yield {"part": part, "document": zlib.compress(some.to_bytes(), 1)}


def _part_of(instance_type: str) -> int:
    return zlib.crc32(instance_type.casefold().encode()) % PARTS


def _read_parts(connection: Connection, wanted: ColumnElement[bool]) -> Iterator[Book]:
    """These parts of segments, oldest first, one by one."""
    documents = select(segments.c.document).where(wanted).order_by(segments.c.sequence, segments.c.part)
    with connection.execute(documents, execution_options={"yield_per": 1}) as rows:
        for document in rows.scalars():
            yield _read(document, zlib.decompress)


def _read(document: bytes, unpack: Callable[[bytes], bytes] = bytes) -> Book:
    try:
        return Book.from_bytes(unpack(document))
    except (ValueError, KeyError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        raise StoreUnavailable(
            "the prices in the store are damaged, or were written by another version of costcalc: use that version, put a "
            "backup in their place, or set COSTCALC_DATABASE_URL to a new store"
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


def _united(books: list[Book]) -> Book:
    """The rows of all these books, oldest first: joined in pairs, so that no row is copied more than a few times."""
    while len(books) > 1:
        books = [reduce(Book.and_also, books[start : start + 2]) for start in range(0, len(books), 2)]
    return books[0]
