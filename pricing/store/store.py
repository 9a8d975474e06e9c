"""The price store: loads snapshots, publishes refreshes, tells the history of rates and how the sources fared."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from importlib.resources.abc import Traversable

from sqlalchemy import func, select

from costcalc.catalogue.catalogue import Catalogue
from costcalc.money import from_nanos
from costcalc.offers import Gap, Offer
from pricing.packaged.offers import packaged_digest, read_packaged
from pricing.scope import Key
from pricing.store import snapshots
from pricing.store.connection import Database, StoreError
from pricing.store.local_file import default_url
from pricing.store.offer_rows import KEY_COLUMNS, key_of, to_offer
from pricing.store.publish import (
    Publication,
    Published,
    has_edition,
    last_seen,
    merge_packaged,
    open_gaps,
    publish,
    standing_offers,
    withdraw,
)
from pricing.store.quarantine import Quarantined, Rate, accepted, quarantined, release
from pricing.store.tables import observations, sightings, source_status


class SnapshotGone(StoreError):
    """The snapshot is no longer kept ready; ask for the current one."""


@dataclass(frozen=True, slots=True)
class Observed:
    """One rate of the history: the offer as first observed, when it was last seen unchanged, and the source's name."""

    offer: Offer
    last_seen_at: datetime
    origin: str


@dataclass(frozen=True, slots=True)
class SourceState:
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


class Store:
    """Opens, creating and migrating as needed, an SQLite file or a PostgreSQL database. Raises StoreUnavailable.

    Without a URL it is an SQLite file in the user's data folder. `wait_seconds` is how long to wait for another writer.
    Every method opens its own connection, so that one store may serve threads and outlive forks. All raise
    StoreUnavailable when the database fails.
    """

    def __init__(self, url: str | None = None, wait_seconds: float = 120) -> None:
        self._database = Database(url or default_url(), wait_seconds)

    @property
    def address(self) -> str:
        """The store's address, without a password."""
        return self._database.address

    def current_snapshot_id(self) -> str | None:
        """The newest published snapshot, or None in an empty store. Cheap: one row by its primary key."""
        with self._database.reading() as connection:
            row = snapshots.newest(connection)
        return row.id if row else None

    def load(self, snapshot_id: str) -> Catalogue:
        """The catalogue of one of the newest snapshots. Raises SnapshotGone."""
        with self._database.reading(bulk=True) as connection:
            catalogue = snapshots.load(connection, snapshot_id)
        if catalogue is None:
            raise SnapshotGone(f"snapshot {snapshot_id} is not kept in {self.address} any more")
        return catalogue

    def load_current(self) -> Catalogue:
        """The catalogue of the newest snapshot. Raises SnapshotGone in an empty store."""
        return self.load(self.current_snapshot_id() or "none")

    def fill(self, now: datetime, folder: Traversable | None = None) -> str:
        """Merge this edition of the packaged prices if no process did so yet, and return the current snapshot's id.

        Raises PackagedTableError, StoreBusy.
        """
        digest = packaged_digest(folder)
        with self._database.reading() as connection:
            current = snapshots.newest(connection)
            if current and has_edition(connection, digest):
                return str(current.id)
        prices = read_packaged(folder)
        with self._database.writing() as connection:
            merge_packaged(connection, prices, now)
            return str(snapshots.newest(connection).id)

    def publish(self, publication: Publication, now: datetime) -> Published:
        """Write a whole refresh as the next snapshot, or nothing. Raises StoreBusy if another refresh does not finish."""
        with self._database.writing() as connection:
            return publish(connection, publication, now)

    def all_offers(self, without: Collection[str] = ()) -> tuple[Offer, ...]:
        """Every rate and every time that it was seen again, but for those of the sources in `without`."""
        with self._database.reading(bulk=True) as connection:
            return tuple(snapshots.all_offers(connection, without))

    def standing_offers(self, origin: str) -> tuple[Offer, ...]:
        """What a source last said of each of its offers that has not ended."""
        with self._database.reading() as connection:
            return standing_offers(connection, origin)

    def withdraw(self, origin: str, keys: frozenset[Key], now: datetime) -> Published:
        """End a source's offers with these keys from now on; earlier dates still know them. Raises StoreBusy."""
        with self._database.writing() as connection:
            return withdraw(connection, origin, keys, now)

    def gaps(self) -> tuple[Gap, ...]:
        """The gaps of the newest snapshot."""
        with self._database.reading() as connection:
            return open_gaps(connection)

    def quarantined(self) -> list[Quarantined]:
        """The rates that the last listings held and the checks left out."""
        with self._database.reading() as connection:
            return quarantined(connection)

    def quarantine_of(self, origin: str) -> tuple[list[Quarantined], frozenset[Rate]]:
        """The rates of a source that are left out, and those that were released."""
        with self._database.reading() as connection:
            return quarantined(connection, origin), accepted(connection, origin)

    def release(self, rates: Sequence[Quarantined], now: datetime) -> None:
        """Let these rates pass the checks from the next refresh on. Raises StoreBusy."""
        with self._database.writing() as connection:
            release(connection, rates, now)

    def last_rates(self, origin: str) -> dict[tuple[str, ...], Decimal]:
        """The last known hourly rate of each offer a source ever brought, by the offer's key and its currency."""
        with self._database.reading() as connection:
            wanted = (observations.c[name] for name in (*KEY_COLUMNS, "hourly_nanos"))
            return {
                key_of(row): from_nanos(row.hourly_nanos) for row in last_seen(connection, origin, *wanted).values()
            }

    def status(self) -> list[SourceState]:
        """How each source that was ever asked last fared, by name."""
        with self._database.reading() as connection:
            rows = connection.execute(select(source_status).order_by(source_status.c.name)).all()
            newest = snapshots.newest_observations(connection)
        return [SourceState(**row._mapping, observed_at=newest.get(row.name)) for row in rows]

    def history(self, instance_type: str, provider: str | None = None) -> list[Observed]:
        """Every rate ever observed for an instance type (case ignored), oldest first; empty if none was."""
        rows = snapshots.standing().where(func.lower(observations.c.instance_type) == instance_type.lower())
        if provider is not None:
            rows = rows.where(observations.c.provider == provider.lower())
        seen = select(sightings.c.observation_id, func.max(sightings.c.seen_at)).group_by(sightings.c.observation_id)
        with self._database.reading() as connection:
            found = connection.execute(rows.order_by(observations.c.observed_at, observations.c.id)).all()
            machine_of = snapshots.all_machines(connection) if found else {}
            again = dict(
                connection.execute(seen.where(sightings.c.observation_id.in_([row.id for row in found]))).all()
            )
        return [
            Observed(
                to_offer(row, machine_of[row.provider, row.instance_type]),
                again.get(row.id, row.observed_at),
                row.origin,
            )
            for row in found
        ]
