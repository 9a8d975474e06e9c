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
from pricing.packaged.tables import PackagedTableError
from pricing.store.book import PACKAGED
from pricing.store.changes import By
from pricing.store.connection import StoreError, StoreGone
from pricing.store.local_file import OwnRun
from pricing.store.store import SignIn, Store

log = logging.getLogger("costcalc")
EARLIER_KEPT = 3  # catalogues of earlier moments in memory
POLL_SECONDS = 2.0  # a new snapshot is answered from within 5 s, loading included


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
    _own_runs: tuple[OwnRun, ...] = field(default=(), init=False)
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

        A store that fails is no error here: it is tried again. Raises PackagedTableError.
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

    def own_runs(self) -> tuple[OwnRun, ...]:
        """What people measured or ran themselves, as of the last look at the store."""
        return self._own_runs

    def add_own_run(self, run: OwnRun, by: By) -> None:
        """Keep a run, and answer from it at once; other workers do when they next look. Raises StoreError."""
        self._opened().add_own_run(run, by)
        self._own_runs = self._opened().own_runs()

    def remove_own_run(self, id: str, by: By) -> None:
        """Forget a run. Raises StoreError."""
        self._opened().remove_own_run(id, by)
        self._own_runs = self._opened().own_runs()

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
        self._sign_ins = self._opened().sign_ins()

    def end_sign_in(self, id: str) -> None:
        """End a sign-in: here at once, elsewhere when other workers next look. Raises StoreError."""
        self._opened().end_sign_in(id)
        self._sign_ins = self._opened().sign_ins()

    def state(self) -> WorkerState:
        """The last look at the store."""
        return self._state

    def check(self) -> None:
        """Look once for a newer snapshot and swap it in; when the store fails, the last good one goes on answering."""
        now = self.clock()
        try:
            self._renew()
            self._state = replace(self._state, store_reachable=True, checked_at=now, error=None, remedy=None)
        except PackagedTableError:
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
        self._own_runs, self._sign_ins = store.own_runs(), store.sign_ins()
        newest = store.current_snapshot_id()
        if newest is not None and newest != self._state.snapshot:
            catalogue = store.load(newest)
            odd = tuple(each.origin for each in store.quarantined())
            states = store.status()
            moments = {  # the packaged prices are as old as the newest of them: to begin with them anew is no news
                each.name: each.observed_at if each.name == PACKAGED else each.succeeded_at for each in states
            }
            answered = tuple((name, moment) for name, moment in moments.items() if moment)
            self.warm(catalogue)
            failing = tuple(state.name for state in states if state.error)
            self._state = replace(self._state, snapshot=newest, quarantined=odd, answered_at=answered, failing=failing)
            self._catalogue = catalogue

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
