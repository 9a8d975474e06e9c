"""Builds the service from real parts: evidence, store, watcher and clock. Nothing else does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from api.questions.errors import NotReady
from api.service import Service
from api.settings import Settings
from costcalc.catalogue.catalogue import Catalogue
from costcalc.estimate import answer
from costcalc.evidence import Evidence, TableError, load_evidence
from costcalc.query import EstimateQuery
from pricing.packaged.catalogue import packaged_catalogue
from pricing.packaged.offers import packaged_digest
from pricing.packaged.tables import PackagedTableError
from pricing.sources import SOURCES
from pricing.store.local_file import OwnRun, default_path, default_url, newest_catalogue, own_runs

if TYPE_CHECKING:  # SQLAlchemy stays out of a command that needs no store
    from pricing.store.store import Store
    from pricing.store.worker_catalogue import WorkerCatalogue


class CannotStart(Exception):
    """The prices or the evidence cannot be read; the message says what is wrong and where."""


WARMING = EstimateQuery("resnet50", 0.757)
NO_EARLIER = "earlier prices cannot be read from the store now; ask again, or without a date"
NOT_KEPT = "the store cannot be written to now, so nothing was changed; try again in a few seconds"
SILENT_SECONDS = 60  # a look at the store that takes longer hangs


def utc_now() -> datetime:
    """The current moment."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class WatchedPrices:
    """The snapshot that a watcher keeps up to date."""

    worker: WorkerCatalogue

    def catalogue(self) -> Catalogue:
        """The last good snapshot. Raises NotReady before the first is loaded."""
        from pricing.store.worker_catalogue import NoSnapshot

        try:
            return self.worker.catalogue()
        except NoSnapshot:
            raise NotReady("no prices are loaded yet; ask again in a few seconds") from None

    def catalogue_at(self, moments: tuple[datetime, ...]) -> Catalogue:
        """One that knows earlier moments too. Raises NotReady while the store cannot be reached."""
        with _within_reach():
            return self.worker.catalogue_at(moments)

    def history(self, instance_types: tuple[str, ...]) -> Catalogue:
        """All that was ever observed of these machine types. Raises NotReady while the store cannot be reached."""
        with _within_reach():
            return self.worker.history(instance_types)

    def trouble(self) -> str | None:
        """Where to read why the store cannot be reached; None while it can. The reason may name hosts, so only the log has it."""
        state = self.worker.state()
        if state.checked_at is None or not state.store_reachable:
            return "the log says why"
        silent = (self.worker.clock() - state.checked_at).total_seconds()
        return f"it has not answered for {silent:.0f} s" if silent > self.worker.poll_seconds + SILENT_SECONDS else None

    def quarantined(self) -> tuple[str, ...]:
        """The source of each rate that is left out because it looks odd."""
        return self.worker.state().quarantined

    def answered_at(self) -> tuple[tuple[str, datetime], ...]:
        """By source, the moment at which it last answered."""
        return self.worker.state().answered_at

    def failing(self) -> tuple[str, ...]:
        """The sources that failed, or broke in part, when they were last asked."""
        return self.worker.state().failing


@dataclass(frozen=True, slots=True)
class StoredRuns:
    """What people ran themselves, kept in the store that a watcher reads."""

    worker: WorkerCatalogue

    def add(self, run: OwnRun) -> None:
        """Keeps a run. Raises NotReady while the store cannot be reached."""
        with _within_reach(NOT_KEPT):
            self.worker.add_own_run(run)

    def remove(self, id: str) -> None:
        """Forgets a run. Raises NotReady likewise."""
        with _within_reach(NOT_KEPT):
            self.worker.remove_own_run(id)


@dataclass(frozen=True, slots=True)
class FixedPrices:
    """One catalogue that never changes, and the store that knows earlier moments; None if the catalogue knows all."""

    fixed: Catalogue
    open_store: Callable[[], Store] | None = None

    def catalogue(self) -> Catalogue:
        """The catalogue."""
        return self.fixed

    def catalogue_at(self, moments: tuple[datetime, ...]) -> Catalogue:
        """One that knows earlier moments too. Raises NotReady while the store cannot be reached."""
        with _within_reach():
            return self.open_store().load_at(moments) if self.open_store else self.fixed

    def history(self, instance_types: tuple[str, ...]) -> Catalogue:
        """All that was ever observed of these machine types. Raises NotReady while the store cannot be reached."""
        with _within_reach():
            return self.open_store().load_history(instance_types) if self.open_store else self.fixed

    def trouble(self) -> str | None:
        """None: there is no store to lose."""
        return None

    def quarantined(self) -> tuple[str, ...]:
        """Empty: one command has no metrics."""
        return ()

    def answered_at(self) -> tuple[tuple[str, datetime], ...]:
        """Nothing: no source was asked."""
        return ()

    def failing(self) -> tuple[str, ...]:
        """Nothing likewise."""
        return ()


@contextmanager
def _within_reach(told: str = NO_EARLIER) -> Iterator[None]:
    from pricing.store.connection import StoreError

    try:
        yield
    except StoreError:
        raise NotReady(told) from None


def build(settings: Settings, evidence: Evidence | None = None) -> Service:
    """A service on the store of the settings, filled and loaded, watching for newer snapshots.

    Raises TableError or PackagedTableError for a corrupt table. A store out of reach is no error: it is tried again.
    """
    from pricing.store.worker_catalogue import WorkerCatalogue

    known = evidence or load_evidence()
    worker = WorkerCatalogue(_opener(settings), utc_now, settings.poll_seconds, _warmer(known))
    worker.start()
    runs, keeper = worker.own_runs, StoredRuns(worker)
    return Service(known, WatchedPrices(worker), utc_now, tuple(SOURCES), runs=runs, keeper=keeper)


def build_once(settings: Settings, snapshot: str | None = None) -> Service:
    """A service for one command: on the store if there is one, else on the packaged prices. Raises CannotStart.

    An earlier `snapshot` than the newest is one that the store still keeps.
    """
    try:
        evidence = load_evidence()
    except TableError as error:
        raise CannotStart(str(error)) from error
    prices, runs = FixedPrices(_catalogue(settings, snapshot), _opener(settings)), _own_runs(settings)
    return Service(evidence, prices, utc_now, tuple(SOURCES), runs=lambda: runs).seen_by(None)


def _catalogue(settings: Settings, snapshot: str | None) -> Catalogue:
    try:
        if snapshot:
            return _stored(settings, snapshot)
        if settings.database_url or default_path().exists():
            return newest_catalogue(settings.database_url or default_url(), packaged_digest()) or _stored(settings)
        return packaged_catalogue()
    except PackagedTableError as error:
        raise CannotStart(str(error)) from error


def _own_runs(settings: Settings) -> tuple[OwnRun, ...]:
    """What was measured and kept in the store, if there is one."""
    if not (settings.database_url or default_path().exists()):
        return ()
    known = own_runs(settings.database_url or default_url())
    if known is not None:
        return known
    from pricing.store.connection import StoreError

    try:
        return _opener(settings)().own_runs()
    except StoreError as error:
        raise CannotStart(str(error)) from error


def _stored(settings: Settings, snapshot: str | None = None) -> Catalogue:
    from pricing.store.connection import StoreError

    try:
        store = _opener(settings)()
        return store.load(snapshot) if snapshot else store.load_current()
    except StoreError as error:
        raise CannotStart(str(error)) from error


def _opener(settings: Settings) -> Callable[[], Store]:
    def open_store() -> Store:
        from pricing.store.store import Store

        store = Store(settings.database_url)
        store.fill(utc_now())
        return store

    return open_store


def _warmer(evidence: Evidence) -> Callable[[Catalogue], None]:
    """Computes, outside any request, what the first question about a new snapshot would otherwise wait for."""

    def warm(catalogue: Catalogue) -> None:
        if evidence.find_model(WARMING.model):
            answer(WARMING, evidence, catalogue, utc_now())

    return warm
