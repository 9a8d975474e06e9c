"""The price store: loads snapshots, publishes refreshes, tells the history of rates and how the sources fared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from importlib.resources.abc import Traversable

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, true, update

from costcalc.catalogue.catalogue import Catalogue
from costcalc.money import from_nanos
from costcalc.offer import Gap, Offer
from costcalc.text import in_lines
from pricing.checks import ended_names, shortened
from pricing.edition_head import EditionHead
from pricing.packaged.offers import packaged_digest, read_packaged
from pricing.scope import Key
from pricing.store import snapshots
from pricing.store.book import moment
from pricing.store.changes import By, Change, newest_changes, note
from pricing.store.connection import Database
from pricing.store.errors import StoreError
from pricing.store.local_file import OwnRun, default_url
from pricing.store.offer_rows import read_gaps
from pricing.store.publish import (
    Published,
    SourceResult,
    has_edition,
    merge_packaged,
    open_gaps,
    publish,
    standing_offers,
    withdraw,
)
from pricing.store.quarantine import Quarantined, Rate, accepted, quarantined, release
from pricing.store.tables import (
    EVERYBODY,
    SIGN_INS,
    own_runs,
    sign_ins,
    source_status,
    taken_editions,
    upsert,
    versions,
)


class SignIn(Struct, frozen=True):
    """A browser that signed in for a time: `id` is the digest of what its cookie holds, `token` that of its token under the
    store's key, so that a copy of the store opens no door."""

    id: str
    token: str
    until: datetime


class SnapshotGone(StoreError):
    """The snapshot is no longer kept ready; ask for the current one."""


class SourceState(Struct, frozen=True):
    """How a source last fared. `offers` is the length of its last good listing, `error` what went wrong last time,
    `observed_at` the moment of its newest observation.

    All are None for a source that was never asked.
    """

    name: str
    attempted_at: datetime | None
    succeeded_at: datetime | None
    offers: int | None
    seconds: float | None
    error: str | None
    observed_at: datetime | None = None


class Store(Database):
    """Opens, creating and migrating as needed, an SQLite file or a PostgreSQL database. Raises StoreUnavailable.

    Without a URL it is an SQLite file in the user's data folder. `wait_seconds` is how long to wait for another writer. Raises
    StoreGone where one stood before, or where it is not the one whose identity is `expected`. Every method opens its own
    connection, so that one store may serve threads and outlive forks. All raise StoreUnavailable when the database fails.
    """

    def __init__(self, url: str | None = None, wait_seconds: float = 120, expected: str | None = None) -> None:
        super().__init__(url or default_url(), wait_seconds, expected)

    def current_snapshot_id(self) -> str | None:
        """The newest published snapshot, or None in an empty store. Cheap: one row by its primary key."""
        with self.reading() as connection:
            row = snapshots.newest(connection)
        return row.id if row else None

    def load(self, snapshot_id: str) -> Catalogue:
        """The catalogue of one of the newest snapshots, which knows all moments since its book began. Raises SnapshotGone."""
        with self.reading(bulk=True) as connection:
            kept = snapshots.book_of_snapshot(connection, snapshot_id)
        if kept is None:
            raise SnapshotGone(f"snapshot {snapshot_id} is not kept in {self.address} any more")
        book, gaps = kept
        return book.catalogue(snapshot_id, read_gaps(gaps))

    def load_at(self, moments: Iterable[datetime]) -> Catalogue:
        """A catalogue that knows these moments too. Raises SnapshotGone in an empty store."""
        with self.reading(bulk=True) as connection:
            return snapshots.catalogue_at(connection, moments)

    def load_history(self, instance_types: Collection[str]) -> Catalogue:
        """A catalogue of all that was ever observed of these machine types (case ignored)."""
        with self.reading(bulk=True) as connection:
            row, book = snapshots.newest(connection), snapshots.observed_of_types(connection, instance_types)
        return book.catalogue(row.id, read_gaps(row.gaps))

    def load_current(self) -> Catalogue:
        """The catalogue of the newest snapshot. Raises SnapshotGone in an empty store."""
        return self.load(self.current_snapshot_id() or "none")

    def fill(self, now: datetime, folder: Traversable | None = None) -> str:
        """Merge this edition of the packaged prices if no process did so yet, and return the current snapshot's id.

        Raises TableError, StoreBusy.
        """
        digest = packaged_digest(folder)
        with self.reading() as connection:
            current = snapshots.newest(connection)
            if current and has_edition(connection, digest):
                return str(current.id)
        prices = read_packaged(folder)
        with self.writing() as connection:
            merge_packaged(connection, prices, now)
            return str(snapshots.newest(connection).id)

    def publish(self, results: Sequence[SourceResult], now: datetime) -> Published:
        """Write a whole refresh as the next snapshot, or nothing. Raises StoreBusy if another refresh does not finish."""
        with self.writing() as connection:
            return publish(connection, results, now)

    def all_offers(self, without: Collection[str] = ()) -> tuple[Offer, ...]:
        """Every rate, and every later sighting of it, except those of the sources in `without`."""
        with self.reading(bulk=True) as connection:
            catalogue = snapshots.observed_by_others(connection, without).catalogue("")
        return tuple(dict.fromkeys(map(catalogue.offer, range(len(catalogue)))))

    def load_without(self, origins: Collection[str]) -> Catalogue:
        """The catalogue of the newest snapshot without the rates of these sources."""
        with self.reading(bulk=True) as connection:
            row = snapshots.newest(connection)
            return snapshots.current_by_others(connection, origins).catalogue(row.id if row else "")

    def standing_offers(self, origin: str) -> tuple[Offer, ...]:
        """What a source last said of each of its offers that has not ended."""
        with self.reading(bulk=True) as connection:
            return tuple(standing_offers(snapshots.newest_book(connection), origin))

    def standing(self) -> dict[str, list[Offer]]:
        """By source, what it last said of each of its offers that has not ended."""
        with self.reading(bulk=True) as connection:
            book = snapshots.newest_book(connection)
            return {origin: standing_offers(book, origin) for origin in book.origins}

    def withdraw(self, origin: str, keys: frozenset[Key], by: By) -> Published:
        """End a source's offers with these keys from now on; earlier dates still know them. Raises StoreBusy."""
        with self.writing() as connection:
            published = withdraw(connection, origin, keys, by.at)
            gone = ended_names(published.ended).get(origin, [])
            note(connection, by, "withdrew", f"{origin}: {shortened(gone)}")
            return published

    def gaps(self) -> tuple[Gap, ...]:
        with self.reading() as connection:
            return open_gaps(connection)

    def quarantined(self) -> list[Quarantined]:
        """The rates that the last listings held and the checks left out."""
        with self.reading() as connection:
            return quarantined(connection)

    def quarantine_of(self, origin: str) -> tuple[list[Quarantined], frozenset[Rate]]:
        """The rates of a source that are left out, and those that were released."""
        with self.reading() as connection:
            return quarantined(connection, origin), accepted(connection, origin)

    def release(self, rates: Sequence[Quarantined], by: By) -> None:
        """Let these rates pass the checks from the next refresh on. Raises StoreBusy."""
        with self.writing() as connection:
            release(connection, rates, by.at)
            for each in rates:
                note(connection, by, "released", f"{each.origin}: {' '.join(filter(None, each.key.values()))}")

    def last_rates(self) -> dict[Key, Decimal]:
        """The last known hourly rate of each offer that any source ever brought, by the offer's key and its currency."""
        with self.reading(bulk=True) as connection:
            book = snapshots.newest_book(connection)
        rows = np.argsort(book.named["observed"], kind="stable")
        return dict(zip(book.keys(rows), map(from_nanos, book.named["hourly"][rows].tolist()), strict=True))

    def taken_editions(self) -> list[EditionHead]:
        """By signer, the edition that was taken last."""
        with self.reading() as connection:
            return [EditionHead(**row._mapping) for row in connection.execute(select(taken_editions))]

    def own_runs(self) -> tuple[OwnRun, ...]:
        """What people measured or ran themselves, the oldest first."""
        return self._own_runs(true())

    def own_runs_of(self, owner: str | None) -> tuple[OwnRun, ...]:
        """What this owner alone sees, or everybody: the oldest first."""
        is_shared = own_runs.c.owner.is_(None) | own_runs.c.shared_by.is_not(None)
        return self._own_runs(~is_shared & (own_runs.c.owner == owner) if owner else is_shared)

    def _own_runs(self, condition: ColumnElement[bool]) -> tuple[OwnRun, ...]:
        with self.reading() as connection:
            chosen = select(own_runs).where(condition).order_by(own_runs.c.added_at, own_runs.c.id)
            return tuple(OwnRun(**row._mapping) for row in connection.execute(chosen))

    def add_own_run(self, run: OwnRun, by: By) -> None:
        """Keeps a run in place of any of the same id. Raises StoreBusy."""
        with self.writing() as connection:
            self._forget(connection, run.id, by)
            connection.execute(insert(own_runs), asdict(run))
            _number(connection, _seers(run.owner, run.shared_by), by.at)
            note(connection, by, "added", f"{run.kind} {run.id}")

    def remove_own_run(self, id: str, by: By) -> None:
        """Forget the run of this id. Raises StoreBusy."""
        with self.writing() as connection:
            self._forget(connection, id, by)
            note(connection, by, "removed", id)

    @staticmethod
    def _forget(connection: Connection, id: str, by: By) -> None:
        known = select(own_runs.c.owner, own_runs.c.shared_by).where(own_runs.c.id == id)
        for owner, shared_by in connection.execute(known).all():
            _number(connection, _seers(owner, shared_by), by.at)
        connection.execute(delete(own_runs).where(own_runs.c.id == id))

    def last_change(self) -> int:
        """The number of the last change to runs and sign-ins. Cheap: the end of an index."""
        with self.reading() as connection:
            return int(connection.execute(select(func.max(versions.c.number))).scalar() or 0)

    def versions(self) -> dict[str, int]:
        """The number of the last change to each owner's runs, to EVERYBODY's and to SIGN_INS."""
        with self.reading() as connection:
            return {row.name: row.number for row in connection.execute(select(versions))}

    def give_own_runs(self, owners: Mapping[str, str]) -> None:
        """Gives the runs of these owners to others. Raises StoreBusy."""
        if not any(run.owner in owners for run in self.own_runs()):
            return
        with self.writing() as connection:
            for owner, new in owners.items():
                connection.execute(update(own_runs).where(own_runs.c.owner == owner).values(owner=new))
                _number(connection, (owner, new))

    def sign_in_of(self, id: str) -> SignIn | None:
        with self.reading() as connection:
            row = connection.execute(select(sign_ins).where(sign_ins.c.id == id)).first()
            return SignIn(**row._mapping) if row else None

    def sign_ins(self) -> dict[str, SignIn]:
        """Every sign-in by its id."""
        with self.reading() as connection:
            return {row.id: SignIn(**row._mapping) for row in connection.execute(select(sign_ins))}

    def add_sign_in(self, sign_in: SignIn, now: datetime) -> None:
        """Keep a sign-in, and forget those that have ended. Raises StoreBusy."""
        with self.writing() as connection:
            connection.execute(delete(sign_ins).where(sign_ins.c.until <= now))
            connection.execute(insert(sign_ins), asdict(sign_in))
            _number(connection, (SIGN_INS,), now)

    def end_sign_in(self, id: str) -> None:
        """End the sign-in of this id. Raises StoreBusy."""
        with self.writing() as connection:
            connection.execute(delete(sign_ins).where(sign_ins.c.id == id))
            _number(connection, (SIGN_INS,))

    def changes(self, most: int) -> list[Change]:
        """The latest changes with their authors, oldest first."""
        with self.reading() as connection:
            return newest_changes(connection, most)

    def status(self) -> list[SourceState]:
        """How each source that was ever asked last fared, by name."""
        with self.reading(bulk=True) as connection:
            rows = connection.execute(select(source_status).order_by(source_status.c.name)).all()
            book = snapshots.newest_book(connection)
        seen = {name: book.named["seen"][book.rows_of(name)] for name in book.origins}
        newest = {name: moment(int(moments.max())) for name, moments in seen.items() if len(moments)}
        return [in_lines(SourceState(**row._mapping, observed_at=newest.get(row.name))) for row in rows]


def _seers(owner: str | None, shared_by: str | None) -> Iterator[str]:
    """Who sees a run: its owner, who sees it as their own, and EVERYBODY where it is shared."""
    yield from [owner] if owner else []
    yield from [EVERYBODY] if shared_by or not owner else []


def _number(connection: Connection, names: Iterable[str], at: datetime | None = None) -> None:
    """Gives these names a number above all others, also above those before a backup was put back: the time, in ms."""
    highest = connection.execute(select(func.max(versions.c.number))).scalar() or 0
    number = max(highest + 1, int(1000 * at.timestamp()) if at else 0)
    upsert(connection, versions, [{"name": name, "number": number} for name in names], lambda _, new: new)
