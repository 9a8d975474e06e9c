"""The catalogue a serving worker answers from: the newest snapshot, kept when the store cannot be reached."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence.tables import TableError
from costcalc.memory import ENTRY_BYTES, Shelf
from pricing.store.book import PACKAGED
from pricing.store.changes import By
from pricing.store.errors import StoreError, StoreGone
from pricing.store.local_file import OwnRun
from pricing.store.store import SignIn, Store
from pricing.store.tables import EVERYBODY, SIGN_INS

log = logging.getLogger("costcalc")
EARLIER_KEPT = 3  # catalogues of earlier moments in memory
MOST_BYTES_OF_RUNS = 16 * 2**20  # in memory, of the owners who asked last
POLL_SECONDS = 2.0  # a new snapshot is answered from within 5 s, loading included


class Runs(Struct, frozen=True):
    """Runs of one owner, or those that everybody sees."""

    rows: tuple[OwnRun, ...]

    @property
    def about_bytes(self) -> int:
        return ENTRY_BYTES + sum(ENTRY_BYTES + len(run.document) for run in self.rows)


NO_RUNS = Runs(())


class NoSnapshot(Exception):
    """No snapshot is loaded yet."""


class WorkerState(Struct, frozen=True):
    """The snapshot that the worker answers from, and whether its store could be reached at the last look.

    `quarantined` names the source of each rate that the snapshot leaves out because it looks odd. `answered_at` has, by source,
    the moment at which it last answered, of the packaged prices that of their newest rate; `failing` names the sources that then
    failed or broke in part. `remedy` says what to do about a store that is gone.
    """

    snapshot: str | None = None
    store_reachable: bool = False
    checked_at: datetime | None = None
    error: str | None = None
    remedy: str | None = None
    quarantined: tuple[str, ...] = ()
    answered_at: tuple[tuple[str, datetime], ...] = ()
    failing: tuple[str, ...] = ()


@dataclass
class WorkerCatalogue:
    """Holds one catalogue. A daemon thread looks every `poll_seconds` for a newer one, so that no request waits for it.

    `open_store` opens the store and fills it; it is called again until it succeeds. `clock` returns the current moment.
    `warm` runs on each new catalogue before the first answer from it. `start()` starts the thread, which starts again
    after a fork; `close()` ends it.
    """

    open_store: Callable[[], Store]
    clock: Callable[[], datetime]
    poll_seconds: float = POLL_SECONDS
    warm: Callable[[Catalogue], None] = lambda _: None
    _store: Store | None = field(default=None, init=False)
    _catalogue: Catalogue | None = field(default=None, init=False)
    _last_change: int = field(default=0, init=False)
    _versions: Mapping[str, int] = field(default_factory=dict, init=False)
    _runs: Shelf = field(default_factory=lambda: Shelf(MOST_BYTES_OF_RUNS), init=False)
    _sign_ins: Mapping[str, SignIn] = field(default_factory=dict, init=False)
    _key: bytes = field(default=b"", init=False)
    _earlier: dict[tuple[str | None, tuple[datetime, ...]], Catalogue] = field(default_factory=dict, init=False)
    _state: WorkerState = field(default=WorkerState(), init=False)
    _stop: threading.Event = field(default_factory=threading.Event, init=False)
    _starting: threading.Lock = field(default_factory=threading.Lock, init=False)
    _thread: threading.Thread | None = field(default=None, init=False)
    _process: int = field(default=0, init=False)

    def start(self) -> None:
        """Load the newest snapshot now, and begin to look for newer ones.

        A store that fails is no error here: it is tried again. Raises TableError.
        """
        self.check()
        self._watch()

    def catalogue(self) -> Catalogue:
        """The catalogue to answer from. Raises NoSnapshot before the first one is loaded."""
        if self._process != os.getpid():  # threads do not survive a fork
            self._watch()
        if self._catalogue is None:
            raise NoSnapshot(self._state.error or "no prices are loaded yet")
        return self._catalogue

    def catalogue_at(self, moments: tuple[datetime, ...]) -> Catalogue:
        """A catalogue that knows earlier moments too, read from the store. Raises StoreError."""
        kept = self._earlier.get((self._state.snapshot, moments))
        if kept is None:
            kept = self._opened().load_at(moments)
            while len(self._earlier) >= EARLIER_KEPT:
                self._earlier.pop(next(iter(self._earlier)), None)
            self._earlier[self._state.snapshot, moments] = kept
        return kept

    def history(self, instance_types: tuple[str, ...]) -> Catalogue:
        """A catalogue of all that was ever observed of these machine types. Raises StoreError."""
        return self._opened().load_history(instance_types)

    def without(self, origins: Collection[str]) -> Catalogue:
        """The catalogue of the newest snapshot without the rates of these sources. Raises StoreError."""
        return self._opened().load_without(origins)

    def own_runs(self, owner: str | None) -> tuple[OwnRun, ...]:
        """What this owner sees of what people measured or ran themselves, the oldest first, as of the last look at the store.

        Raises StoreError where it has changed and cannot be read.
        """
        seen = (*self._runs_of(None).rows, *(self._runs_of(owner).rows if owner else ()))
        return tuple(sorted(seen, key=lambda run: (run.added_at, run.id)))

    def version(self, owner: str | None) -> str:
        """Changes with what this owner sees, and with nothing else."""
        shared, own = self._versions.get(EVERYBODY, 0), self._versions.get(owner or "", 0)
        return f"{shared}/{owner}/{own}" if own else str(shared)

    def _runs_of(self, owner: str | None) -> Runs:
        number = self._versions.get(owner or EVERYBODY, 0)
        read = lambda: Runs(self._opened().own_runs_of(owner))  # noqa: E731
        return self._runs.recall((owner, number), read) if number else NO_RUNS

    def add_own_run(self, run: OwnRun, by: By) -> None:
        """Keep a run, and answer from it at once; other workers do when they next look. Raises StoreError."""
        self._opened().add_own_run(run, by)
        self._follow_changes(self._opened())

    def remove_own_run(self, id: str, by: By) -> None:
        """Forget a run. Raises StoreError."""
        self._opened().remove_own_run(id, by)
        self._follow_changes(self._opened())

    def key(self) -> bytes:
        """The key by which the store knows tokens. Raises StoreError before the store was first opened."""
        self._key = self._key or self._opened().key()
        return self._key

    def sign_ins(self) -> Mapping[str, SignIn]:
        """Who is signed in, by the id of the sign-in, as of the last look at the store."""
        return self._sign_ins

    def sign_in_of(self, id: str) -> SignIn | None:
        """The sign-in of this id, also where another worker has just added it. Raises StoreError."""
        return self._sign_ins.get(id) or self._opened().sign_in_of(id)

    def add_sign_in(self, sign_in: SignIn, now: datetime) -> None:
        """Keep a sign-in, for all workers. Raises StoreError."""
        self._opened().add_sign_in(sign_in, now)
        self._follow_changes(self._opened())

    def end_sign_in(self, id: str) -> None:
        """End a sign-in: here at once, elsewhere when other workers next look. Raises StoreError."""
        self._opened().end_sign_in(id)
        self._follow_changes(self._opened())

    def state(self) -> WorkerState:
        """The last look at the store."""
        return self._state

    def check(self) -> None:
        """Look once for a newer snapshot and swap it in; when the store fails, the last good one goes on answering."""
        now = self.clock()
        try:
            self._renew()
            self._state = replace(self._state, store_reachable=True, checked_at=now, error=None, remedy=None)
        except TableError:
            raise
        except Exception as error:  # noqa: BLE001  a damaged row may raise anything, and the last good prices go on answering
            kind = "" if isinstance(error, StoreError) else f"prices cannot be read: {type(error).__name__}: "
            message, remedy = f"{kind}{error}", error.remedy if isinstance(error, StoreGone) else None
            if self._state.error != message:
                log.warning("%s", message)
            self._state = replace(self._state, store_reachable=False, checked_at=now, error=message, remedy=remedy)

    def close(self) -> None:
        self._stop.set()
        if self._thread is not None and self._process == os.getpid():
            self._thread.join()

    def _opened(self) -> Store:
        self._store = self._store or self.open_store()
        return self._store

    def _renew(self) -> None:
        store = self._opened()
        store.check_identity()
        self._follow_changes(store)
        newest = store.current_snapshot_id()
        if newest is not None and newest != self._state.snapshot:
            catalogue = store.load(newest)
            odd = tuple(each.origin for each in store.quarantined())
            states = store.status()
            moments = {  # the packaged prices are as old as the newest of them: to begin with them anew is no news
                state.name: state.observed_at if state.name == PACKAGED else state.succeeded_at for state in states
            }
            answered = tuple((name, moment) for name, moment in moments.items() if moment)
            self.warm(catalogue)
            failing = tuple(state.name for state in states if state.error)
            self._state = replace(self._state, snapshot=newest, quarantined=odd, answered_at=answered, failing=failing)
            self._catalogue = catalogue

    def _follow_changes(self, store: Store) -> None:
        """Reads who is signed in and whose runs have changed, where anything did; runs are read when they are asked for."""
        last = store.last_change()
        if last == self._last_change:
            return
        numbers = store.versions()
        if numbers.get(SIGN_INS) != self._versions.get(SIGN_INS):
            self._sign_ins = store.sign_ins()
        self._versions, self._last_change = numbers, last

    def _watch(self) -> None:
        with self._starting:
            if self._process == os.getpid():
                return
            self._process, self._stop = os.getpid(), threading.Event()
            self._thread = threading.Thread(target=self._look, args=(self._stop,), name="price-watcher", daemon=True)
            self._thread.start()

    def _look(self, stop: threading.Event) -> None:
        while not stop.wait(self.poll_seconds):
            self.check()
