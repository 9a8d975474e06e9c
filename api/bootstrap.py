"""Builds the service from real parts: evidence, store, watcher and clock. Nothing else does."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from api.service import Service
from api.settings import Settings
from api.stored import FixedPrices, KnownRuns, StoredRuns, StoredSignIns, WatchedPrices
from api.tokens import Tokens
from costcalc.catalogue.catalogue import Catalogue
from costcalc.estimate import answer
from costcalc.evidence import Evidence, load_evidence
from costcalc.memory import Memory
from costcalc.query import EstimateQuery
from pricing.packaged.catalogue import packaged_catalogue
from pricing.packaged.offers import packaged_digest
from pricing.sources import OF_OTHER_NAMES, SOURCES
from pricing.store.local_file import OwnRun, default_path, default_url, newest_catalogue, own_runs, stands_or_stood

if TYPE_CHECKING:  # SQLAlchemy stays out of a command that needs no store
    from pricing.store.store import Store


PROVIDERS = tuple(
    name for name in SOURCES if name not in OF_OTHER_NAMES
)  # that can be asked for, whatever rates are there
WARMING = EstimateQuery("resnet50", 0.757)


def utc_now() -> datetime:
    """The current moment."""
    return datetime.now(UTC)


def user_name() -> str:
    """Who runs this process, by the name on this machine."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):  # a container may know none; Windows has no list of them
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown user"


def build(settings: Settings, evidence: Evidence | None = None, note: Path | None = None) -> Service:
    """A service on the store of the settings, filled and loaded, watching for newer snapshots.

    Workers of one server `note` in a file which store they opened, so that no later one begins another in its place. Raises
    TableError for a corrupt table. A store out of reach is no error: it is tried again.
    """
    from pricing.store.worker_catalogue import WorkerCatalogue

    evidence, memory = evidence or load_evidence(), Memory()

    def warm(catalogue: Catalogue) -> None:  # computes what the first question about a snapshot would wait for
        if evidence.find_model(WARMING.model):
            answer(WARMING, evidence, catalogue, utc_now(), memory=memory)

    worker = WorkerCatalogue(_opener(settings, note), utc_now, settings.poll_seconds, warm)
    worker.start()
    prices, runs, sign_ins = WatchedPrices(worker), StoredRuns(worker), StoredSignIns(worker)
    return Service(evidence, prices, utc_now, PROVIDERS, runs=runs, keeper=runs, sign_ins=sign_ins, memory=memory)


def build_once(settings: Settings, snapshot: str | None = None) -> Service:
    """A service for one command: on the store if there is one, else on the packaged prices.

    Raises TableError for a corrupt table, and StoreError where the store cannot be read.

    An earlier `snapshot` than the newest is one that the store still keeps.
    """
    evidence = load_evidence()
    prices, runs = FixedPrices(_catalogue(settings, snapshot), _opener(settings)), _own_runs(settings)
    return Service(evidence, prices, utc_now, PROVIDERS, runs=KnownRuns(runs), user=user_name()).seen_by(None)


def _catalogue(settings: Settings, snapshot: str | None) -> Catalogue:
    if snapshot:
        return _opener(settings)().load(snapshot)
    if not (settings.database_url or stands_or_stood(default_path())):
        return packaged_catalogue()
    newest = newest_catalogue(settings.database_url or default_url(), packaged_digest())
    return newest or _opener(settings)().load_current()


def _own_runs(settings: Settings) -> tuple[OwnRun, ...]:
    """What was measured and kept in the store, if there is one."""
    if not (settings.database_url or stands_or_stood(default_path())):
        return ()
    stored = own_runs(settings.database_url or default_url())
    return _opener(settings)().own_runs() if stored is None else stored


def _opener(settings: Settings, note: Path | None = None) -> Callable[[], Store]:
    def open_store() -> Store:
        from pricing.store.store import Store

        store = Store(settings.database_url, expected=note.read_text() if note and note.exists() else None)
        store.fill(utc_now())
        key = store.key()
        store.give_own_runs(
            {token.id(key): token.owner(key) for token in Tokens.of(settings.api_tokens).all if token.name}
        )
        if note:
            note.write_text(store.identity)
        return store

    return open_store
