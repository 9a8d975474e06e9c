"""python -m benchmarks faults --seed 1 --count 200: random faults in a cluster while clients ask.

Every answer must be the one that is right for the snapshot that it names, or an honest error. After each fault a refresh must
succeed, no snapshot may be lost or half published, and every server must be ready again. The same seed breaks the same things in
the same order.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from random import Random
from typing import Any

from sqlalchemy import select

from api.bootstrap import utc_now
from api.service import Service
from api.settings import Settings
from api.stored import FixedPrices
from api.web.app import create_app
from benchmarks.timing import report
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import load_evidence
from costcalc.memory import Memory
from pricing.sources import SOURCES
from pricing.store.connection import Database
from pricing.store.store import Store
from pricing.store.tables import snapshots
from tools.cluster.cluster import COSTCALC, Cluster, Ports, children, running, status_of, wait_for

MACHINES, PROVIDER = 150, "acme"
HEADER = "provider,region,instance_type,accelerator,accelerators,purchase_option,currency,hourly_rate"
BROKEN = 0  # the status of a connection that broke
HONEST = {BROKEN, 502, 503, 504}  # nginx found no server, or a server said that it cannot answer now
CLIENTS, PAUSE_SECONDS = 3, 0.3
MEMORY = Memory()
SETTINGS = {
    "COSTCALC_RATE_LIMIT": "1000000/minute",
    "COSTCALC_WAIT_SECONDS": "20",
    "COSTCALC_WORKERS": "1",
    "COSTCALC_POLL_SECONDS": "0.3",
    "OPENBLAS_NUM_THREADS": "1",
}


@dataclass
class World:
    """A cluster that is asked, what was answered since the last fault, and every snapshot that was published, in order."""

    cluster: Cluster
    generation: int = 0
    answers: list[tuple[str, int, bytes]] = field(default_factory=list)
    published: dict[str, Catalogue] = field(default_factory=dict)

    @property
    def rate(self) -> str:
        """That of all machines in one generation of prices, so that half a generation shows."""
        return f"{2 + self.generation / 100:.2f}"

    def refresh(self) -> subprocess.Popen[str]:
        """`costcalc prices refresh sheet` of the next generation, not waited for."""
        self.generation += 1
        sheet = self.cluster.folder / f"{self.generation}.csv"
        rows = (f"{PROVIDER},region-{at},v100,V100,8,on_demand,USD,{self.rate}" for at in range(MACHINES))
        sheet.write_text("\n".join([HEADER, *rows, ""]))
        environment = self.cluster.environment(COSTCALC_SHEET=str(sheet))
        command = [*COSTCALC, "prices", "refresh", "sheet"]
        return subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.cluster.folder,
        )

    def look(self) -> set[str]:
        """The rate in the newest snapshot, which is whole, and before which none is lost. Raises AssertionError."""
        with Database(self.cluster.database_url).reading() as connection:
            ids = list(connection.scalars(select(snapshots.c.id).order_by(snapshots.c.sequence)))
        assert ids[: len(self.published)] == list(self.published), "snapshots are lost"
        store = Store(self.cluster.database_url)
        self.published |= {each: store.load(each) for each in ids[len(self.published) :]}
        newest = self.published[ids[-1]]
        rows = newest.current_offers(utc_now() + timedelta(days=1)).rows.tolist()
        rates = [f"{each.hourly_rate:.2f}" for each in map(newest.offer, rows) if each.provider == PROVIDER]
        assert len(rates) in (0, MACHINES), f"{ids[-1]} holds {len(rates)} of {MACHINES} machines"
        assert len(set(rates)) <= 1, f"{ids[-1]} is half published"
        return set(rates)

    def recover(self) -> None:
        """A good refresh succeeds, its snapshot is whole, and every server takes it up. Raises AssertionError."""
        succeeds(self.refresh())
        assert self.look() == {self.rate}, "the newest snapshot does not hold what was refreshed last"
        wait_for(lambda: all(status_of(port, "/readyz") == 200 for port in self.cluster.ports.servers))

    def judged(self) -> tuple[int, int, list[str]]:
        """How many answers since the last time were right, how many were honest errors, and what is wrong with the others."""
        answers, self.answers = self.answers, []
        wrong = list(self._wrong(answers))
        good = sum(status == 200 for _, status, _ in answers)
        return good, len(answers) - good, wrong

    def _wrong(self, answers: Sequence[tuple[str, int, bytes]]) -> Iterator[str]:
        right = cache(lambda snapshot: right_answers(self.published[snapshot]))
        for path, status, body in answers:
            if status in HONEST and b"Traceback" not in body:
                continue
            if status != 200:
                yield f"{path}: {status} {body[:300]!r}"
                continue
            told = json.loads(body)
            snapshot, moment = told["prices"]["snapshot"], told["prices"]["as_of"]
            if snapshot not in self.published:
                yield f"{path}: nobody published the snapshot {snapshot}"
            elif told != right(snapshot)(path, moment):
                yield f"{path}: not the answer of {snapshot}"

    @contextmanager
    def asked(self, seed: int) -> Iterator[None]:
        """By clients, meanwhile."""
        ended = threading.Event()
        threads = [threading.Thread(target=self._ask, args=(Random(f"{seed} {n}"), ended)) for n in range(CLIENTS)]
        for each in threads:
            each.start()
        try:
            yield
        finally:
            ended.set()
            for each in threads:
                each.join()

    def _ask(self, chance: Random, ended: threading.Event) -> None:
        """One of many questions after the other; half are about the machines whose rates change."""
        while not ended.wait(PAUSE_SECONDS):
            where = f"&provider={PROVIDER}" * chance.randint(0, 1)
            path = f"/cost?model=resnet50&target={chance.randint(700, 759) / 1000}&limit={chance.randint(1, 5)}{where}"
            with closing(http.client.HTTPConnection("127.0.0.1", self.cluster.ports.nginx, timeout=60)) as connection:
                try:
                    connection.request("GET", path)
                    response = connection.getresponse()
                    self.answers.append((path, response.status, response.read()))
                except (OSError, http.client.HTTPException):
                    self.answers.append((path, BROKEN, b""))


def right_answers(catalogue: Catalogue) -> Callable[[str, str], Any]:
    """What is right to answer to a path at a moment, by the prices of a snapshot, worked out anew."""
    now = utc_now()
    service = Service(load_evidence(), FixedPrices(catalogue), lambda: now, tuple(SOURCES), memory=MEMORY)
    client = create_app(service, Settings(cache_answers=0)).test_client()

    def answer(path: str, moment: str) -> Any:
        nonlocal now
        now = datetime.fromisoformat(moment)
        return client.get(path).json

    return answer


def kill_a_worker(world: World, chance: Random) -> None:
    """kill -9 of a process that answers; its master starts another."""
    server = chance.choice(world.cluster.servers)
    assert server.process is not None
    for worker in children(server.process.pid):
        os.kill(worker, signal.SIGKILL)


def kill_a_server(world: World, chance: Random) -> None:
    """kill -9 of a server with all its workers."""
    server = chance.choice(world.cluster.servers)
    server.kill()
    time.sleep(chance.uniform(0, 1))
    server.start()
    server.wait()


def freeze_a_server(world: World, chance: Random) -> None:
    """A server that takes connections and says nothing for a while."""
    server = chance.choice(world.cluster.servers)
    assert server.process is not None
    os.killpg(server.process.pid, signal.SIGSTOP)
    time.sleep(chance.uniform(0, 2))
    os.killpg(server.process.pid, signal.SIGCONT)


def kill_a_refresh(world: World, chance: Random) -> None:
    """kill -9 at any point of a refresh."""
    process = world.refresh()
    time.sleep(chance.uniform(0, 4))
    process.kill()
    process.communicate()


def two_refreshes_at_once(world: World, _: Random) -> None:
    """Both publish, one after the other."""
    for process in (world.refresh(), world.refresh()):
        succeeds(process)


def stop_the_database(world: World, chance: Random) -> None:
    """PostgreSQL ends at once, and comes back."""
    world.cluster.postgres.stop()
    time.sleep(chance.uniform(0, 2))
    world.cluster.postgres.start()


def stop_redis(world: World, chance: Random) -> None:
    """kill -9 of Redis, which comes back empty."""
    world.cluster.redis.kill()
    time.sleep(chance.uniform(0, 2))
    world.cluster.redis.start()
    world.cluster.redis.wait()


def cut_database_connections(world: World, chance: Random) -> None:
    """Every connection to PostgreSQL ends in the middle of a refresh, which has words for it."""
    process = world.refresh()
    for _ in range(chance.randint(1, 8)):
        time.sleep(chance.uniform(0, 0.5))
        world.cluster.postgres.cut_connections()
    told, _ = process.communicate(timeout=200)
    assert "Traceback" not in told, told


FAULTS: tuple[Callable[[World, Random], None], ...] = (
    kill_a_worker,
    kill_a_server,
    freeze_a_server,
    kill_a_refresh,
    two_refreshes_at_once,
    stop_the_database,
    stop_redis,
    cut_database_connections,
)


def succeeds(refresh: subprocess.Popen[str]) -> None:
    told, _ = refresh.communicate(timeout=200)
    assert refresh.returncode == 0, f"a refresh failed: {told}"


def survives(world: World, number: int, seed: int) -> bool:
    """Whether one fault did no harm. The kinds take turns in random order, so that few faults meet many kinds."""
    chance, turn = Random(f"{seed}/{number}"), number // len(FAULTS)
    fault = Random(f"{seed} {turn}").sample(FAULTS, len(FAULTS))[number % len(FAULTS)]
    failure = []
    try:
        fault(world, chance)
        world.look()
        world.recover()
    except AssertionError as error:
        failure.append(str(error))
    right, errors, wrong = world.judged()
    print(f"     {number}: {fault.__name__.replace('_', ' ')}: {right} answers right, {errors} errors", flush=True)
    for each in [*failure, *wrong][:5]:
        print(f"        {each}", flush=True)
    return not failure and not wrong


def main(arguments: Sequence[str] = ()) -> bool:
    """Breaks, judges and reports."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks faults", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    given = parser.parse_args(arguments)
    print(f"     seed {given.seed}: {given.count} faults", flush=True)
    with running(Ports.free(2), **SETTINGS) as cluster:
        world = World(cluster)
        world.recover()
        with world.asked(given.seed):
            survived = [survives(world, number, given.seed) for number in range(given.count)]
    return report("faults survived", f"{sum(survived)} of {len(survived)}", "all", all(survived))
