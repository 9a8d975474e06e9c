"""What is broken: two servers behind nginx on PostgreSQL and Redis, and a third server by itself on SQLite."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import select

from benchmarks.faulty.clients import Clients, Judge
from benchmarks.faulty.sheet import MACHINES, PROVIDER, Sheet
from pricing.store.connection import Database
from pricing.store.store import Store
from pricing.store.tables import snapshots
from tools.cluster.cluster import COSTCALC, Cluster, Ports, running, status_of, wait_for
from tools.cluster.program import Program

SETTINGS = {
    "COSTCALC_RATE_LIMIT": "1000000/minute",
    "COSTCALC_WAIT_SECONDS": "20",
    "COSTCALC_WORKERS": "1",
    "COSTCALC_POLL_SECONDS": "0.3",
    "OPENBLAS_NUM_THREADS": "1",
}


@dataclass
class Prices:
    """One store, the ports of the servers that answer from it, and the snapshots that were ever seen in it."""

    url: str
    ports: tuple[int, ...]
    seen: list[str] = field(default_factory=list)

    @property
    def file(self) -> Path | None:
        return Path(self.url.removeprefix("sqlite:///")) if self.url.startswith("sqlite") else None


@dataclass
class World:
    """Everything that runs."""

    cluster: Cluster
    alone: Program
    stores: tuple[Prices, Prices]
    sheet: Sheet
    clients: Clients
    judge: Judge

    def refresh(
        self, prices: Prices, before: Callable[[], None] | None = None, **settings: str
    ) -> subprocess.Popen[str]:
        """`costcalc prices refresh sheet`, not waited for; `before` runs in the new process."""
        chosen = {"COSTCALC_DATABASE_URL": prices.url, "COSTCALC_SHEET": self.sheet.url, **settings}
        return subprocess.Popen(
            [*COSTCALC, "prices", "refresh", "sheet"],
            env=self.cluster.environment(**chosen),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=before,  # noqa: PLW1509  no thread of this process holds a lock that it needs
        )

    def recover(self, prices: Prices) -> None:
        """A good refresh succeeds, its snapshot is whole, none is lost, and every server takes it up. Raises AssertionError."""
        self.sheet.behave()
        self.sheet.generation += 1
        told, _ = (process := self.refresh(prices)).communicate(timeout=200)
        assert process.returncode == 0, f"the refresh after it failed: {told}"
        snapshot = self.look(prices)
        assert rates_of(self.judge, snapshot) == {self.sheet.rate}, f"{snapshot} does not hold what was refreshed last"
        wait_for(lambda: all(status_of(port, "/readyz") == 200 for port in prices.ports))

    def look(self, prices: Prices) -> str:
        """The newest snapshot of a store, after checking that it is whole and none that was seen before is lost."""
        store = Store(prices.url)
        ids = snapshot_ids(prices.url)
        assert ids[: len(prices.seen)] == prices.seen, f"snapshots are lost: {set(prices.seen) - set(ids)}"
        for each in ids[len(prices.seen) :]:
            self.judge.catalogues[each] = store.load(each)
        prices.seen = ids
        assert len(rates_of(self.judge, ids[-1])) <= 1, f"{ids[-1]} is half published"
        return ids[-1]

    def judged(self) -> tuple[int, int, list[str]]:
        """How many answers since the last time were right, how many were honest errors, and what is wrong with the others."""
        answers = self.clients.taken()
        wrong = [told for each in answers if (told := self.judge.wrong(each))]
        right = sum(each.status == 200 for each in answers)
        return right, len(answers) - right, wrong


def snapshot_ids(url: str) -> list[str]:
    """Every snapshot of a store, oldest first."""
    with Database(url).reading() as connection:
        return list(connection.scalars(select(snapshots.c.id).order_by(snapshots.c.sequence)))


def rates_of(judge: Judge, snapshot: str) -> set[str]:
    """The rates of the sheet's machines in a snapshot; one where it is whole, none before the first. Raises AssertionError."""
    catalogue = judge.catalogues[snapshot]
    current = [
        catalogue.offer(row) for row in catalogue.current_offers(datetime.now(UTC) + timedelta(days=1)).rows.tolist()
    ]
    rates = [f"{offer.hourly_rate:.2f}" for offer in current if offer.provider == PROVIDER]
    assert len(rates) in (0, MACHINES), f"{snapshot} holds {len(rates)} of {MACHINES} machines"
    return set(rates)


@contextmanager
def world(seed: int) -> Iterator[World]:
    """All of it, asked by clients."""
    with running(Ports.free(2), **SETTINGS) as cluster, Sheet().served() as sheet:
        port = Ports.free(1).nginx
        own = Prices(f"sqlite:///{cluster.folder}/prices.sqlite3", (port,))
        alone = cluster.server(port, COSTCALC_DATABASE_URL=own.url)
        stores = (Prices(cluster.database_url, cluster.ports.servers), own)
        alone.start()
        try:
            alone.wait()
            clients = Clients((cluster.ports.nginx, cluster.ports.nginx, port), seed)
            made = World(cluster, alone, stores, sheet, clients, Judge())
            for each in stores:
                made.look(each)
                made.recover(each)
            with clients.asking():
                yield made
        finally:
            alone.stop()
