"""One refresh for all servers of a store, if it is due and no other process is at it.

`costcalc serve` starts it as `python -m pricing.refresher EVERY IDENTITY PARENT`: EVERY is in seconds, IDENTITY that of the
store, in whose place no other is begun, and PARENT the process with which it ends. It prints the number of seconds until it is
worth starting again.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from signal import SIG_IGN, SIGINT, SIGTERM, signal
from uuid import uuid4

from pricing.cell import limit_memory
from pricing.refresh import RefreshReport, refresh, unwatched_seconds
from pricing.sources.source import Environment
from pricing.store.errors import StoreError
from pricing.store.leases import Lease, give_back, take
from pricing.store.store import Store

log = logging.getLogger("costcalc.refresher")
WORK = "refresh"
MEMORY_MIB = 256  # beside the processes that ask the sources
PUBLISHING = timedelta(minutes=3)  # two of which it may wait for another writer
NICENESS = 10  # answers come first


def refresh_if_due(store: Store, environment: Environment, every: timedelta, clock: Callable[[], datetime]) -> datetime:
    """Refreshes, unless another process did so recently or is at it. Returns when it is worth asking again. Raises StoreError."""
    started = clock()
    limit = unwatched_seconds(environment)
    until = started + timedelta(seconds=limit) + PUBLISHING
    lease = Lease(WORK, uuid4().hex, every, until)
    if later := take(store, lease, started):
        return later
    done = False
    try:
        report = refresh((), store, environment, started, limit_seconds=limit)
        done = True
        log.info("%s, in %.0f s", in_words(report), (clock() - started).total_seconds())
    finally:
        give_back(store, lease, clock(), done=done)
    return clock() + every


def in_words(report: RefreshReport) -> str:
    """One line on what a refresh brought."""
    answers = [result for result in report.results if not result.missing]
    failed = sorted(result.name for result in answers if result.error)
    if len(failed) == len(answers):
        return "prices not refreshed: no price source answered; answers go on from the prices before"
    published = report.published
    rates = f"{published.new:,} new rates, {published.seen_again:,} seen again"
    without = f"; no answer from {', '.join(failed)}" if failed else ""
    return f"prices refreshed from {len(answers) - len(failed)} of {len(answers)} sources: {rates}{without}"


def main() -> None:
    """What the process does."""
    seconds, identity, parent = sys.argv[1:]
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    log.setLevel(logging.INFO)
    threading.Thread(target=_end_with, args=(int(parent),), daemon=True).start()
    signal(SIGINT, SIG_IGN)  # the server ends this process
    signal(SIGTERM, lambda *_: sys.exit(1))
    os.nice(NICENESS)
    limit_memory(MEMORY_MIB)
    try:
        store = Store(os.environ.get("COSTCALC_DATABASE_URL"), expected=identity)
        due = refresh_if_due(store, os.environ, timedelta(seconds=float(seconds)), _utc_now)
    except StoreError as error:
        sys.exit(f"prices not refreshed: {error}")
    print((due - _utc_now()).total_seconds())


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), SIGTERM)


if __name__ == "__main__":
    main()
