"""What a service has in its store: prices, runs of people's own, and who is signed in. A store out of reach is `NotReady`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from api.questions.errors import NotReady
from costcalc.catalogue.catalogue import Catalogue
from own_runs.runs import digest_of, visible
from pricing.sources import NOT_PUBLIC
from pricing.store.local_file import OwnRun

if TYPE_CHECKING:  # SQLAlchemy stays out of a command that needs no store
    from pricing.store.changes import By
    from pricing.store.store import SignIn, Store
    from pricing.store.worker_catalogue import WorkerCatalogue

NO_SNAPSHOT = "no prices are loaded yet; ask again in a few seconds"
NO_EARLIER = "earlier prices cannot be read from the store now; ask again, or without a date"
NO_SIGN_INS = "the store cannot say now who is signed in; try again in a few seconds"
NO_RUNS = "the store cannot say now what you ran yourself; try again in a few seconds"
NOT_KEPT = "the store cannot be written to now, so nothing was changed; try again in a few seconds"
SILENT_SECONDS = 60  # a look at the store that takes longer hangs


class WatchedPrices(Struct, frozen=True):
    """The snapshot that a watcher keeps up to date."""

    worker: WorkerCatalogue

    def catalogue(self) -> Catalogue:
        """The last good snapshot. Raises NotReady before the first is loaded."""
        from pricing.store.worker_catalogue import NoSnapshot

        try:
            return self.worker.catalogue()
        except NoSnapshot:
            remedy = self.worker.state().remedy
            message = f"the price store cannot be reached: {remedy}" if remedy else NO_SNAPSHOT
            raise NotReady(message) from None

    def catalogue_at(self, moments: tuple[datetime, ...]) -> Catalogue:
        """One that knows earlier moments too. Raises NotReady while the store cannot be reached."""
        with _within_reach():
            return self.worker.catalogue_at(moments)

    def history(self, instance_types: tuple[str, ...]) -> Catalogue:
        """All that was ever observed of these machine types. Raises NotReady while the store cannot be reached."""
        with _within_reach():
            return self.worker.history(instance_types)

    def public(self) -> Catalogue:
        """The newest snapshot without what may not be passed on. Raises NotReady while the store cannot be reached."""
        with _within_reach():
            return self.worker.without(NOT_PUBLIC)

    def trouble(self) -> str | None:
        """What to do about a store that is gone, or where to read why it cannot be reached, which may name hosts; None while it
        can."""
        state = self.worker.state()
        if state.checked_at is None or not state.store_reachable:
            return state.remedy or "the log says why"
        silent = (self.worker.clock() - state.checked_at).total_seconds()
        return f"it has not answered for {silent:.0f} s" if silent > self.worker.poll_seconds + SILENT_SECONDS else None

    def quarantined(self) -> tuple[str, ...]:
        return self.worker.state().quarantined

    def answered_at(self) -> tuple[tuple[str, datetime], ...]:
        return self.worker.state().answered_at

    def failing(self) -> tuple[str, ...]:
        return self.worker.state().failing


class StoredRuns(Struct, frozen=True):
    """What people ran themselves, kept in the store that a watcher reads."""

    worker: WorkerCatalogue

    def seen_by(self, owner: str | None) -> tuple[OwnRun, ...]:
        """What this owner sees. Raises NotReady where it has changed and the store cannot be reached."""
        with _within_reach(NO_RUNS):
            return self.worker.own_runs(owner)

    def version(self, owner: str | None) -> str:
        """Changes with what this owner sees, and with nothing else."""
        return self.worker.version(owner)

    def add(self, run: OwnRun, by: By) -> None:
        with _within_reach(NOT_KEPT):
            self.worker.add_own_run(run, by)

    def remove(self, id: str, by: By) -> None:
        with _within_reach(NOT_KEPT):
            self.worker.remove_own_run(id, by)


class KnownRuns(Struct, frozen=True):
    """What people ran themselves as it was read once."""

    rows: tuple[OwnRun, ...] = ()

    def seen_by(self, owner: str | None) -> tuple[OwnRun, ...]:
        return visible(self.rows, owner)

    def version(self, owner: str | None) -> str:
        is_owner = any(row.owner == owner for row in self.rows)
        return f"{owner if is_owner else None}/{digest_of(self.seen_by(owner))}"


class StoredSignIns(Struct, frozen=True):
    """Which browsers are signed in, kept in the store that a watcher reads."""

    worker: WorkerCatalogue

    def key(self) -> bytes:
        with _within_reach(NO_SIGN_INS):
            return self.worker.key()

    def known(self) -> Mapping[str, SignIn]:
        return self.worker.sign_ins()

    def find(self, id: str) -> SignIn | None:
        with _within_reach(NO_SIGN_INS):
            return self.worker.sign_in_of(id)

    def add(self, sign_in: SignIn, now: datetime) -> None:
        with _within_reach(NOT_KEPT):
            self.worker.add_sign_in(sign_in, now)

    def end(self, id: str) -> None:
        with _within_reach(NOT_KEPT):
            self.worker.end_sign_in(id)


class FixedPrices(Struct, frozen=True):
    """One catalogue that never changes, and the store that knows earlier moments; None if the catalogue knows all."""

    fixed: Catalogue
    open_store: Callable[[], Store] | None = None

    def catalogue(self) -> Catalogue:
        return self.fixed

    def catalogue_at(self, moments: tuple[datetime, ...]) -> Catalogue:
        with _within_reach():
            return self.open_store().load_at(moments) if self.open_store else self.fixed

    def history(self, instance_types: tuple[str, ...]) -> Catalogue:
        with _within_reach():
            return self.open_store().load_history(instance_types) if self.open_store else self.fixed

    def public(self) -> Catalogue:
        with _within_reach():
            return self.open_store().load_without(NOT_PUBLIC) if self.open_store else self.fixed

    def trouble(self) -> str | None:
        return None

    def quarantined(self) -> tuple[str, ...]:
        return ()

    def answered_at(self) -> tuple[tuple[str, datetime], ...]:
        return ()

    def failing(self) -> tuple[str, ...]:
        return ()


@contextmanager
def _within_reach(message: str = NO_EARLIER) -> Iterator[None]:
    from pricing.store.errors import StoreError

    try:
        yield
    except StoreError:
        raise NotReady(message) from None
