"""The faults: each breaks something, waits a little, and mends what does not mend itself.

All raise AssertionError for what is dishonest.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

from benchmarks.faulty.sheet import lies
from benchmarks.faulty.world import Prices, World
from tools.cluster.cluster import children
from tools.cluster.postgres import PostgresServer
from tools.cluster.program import Program

Fault = Callable[[World, Prices, Random], None]
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close with a reset


def kill_a_worker(world: World, prices: Prices, chance: Random) -> None:
    """kill -9 of a process that answers; its master starts another."""
    server = chance.choice(servers(world, prices))
    assert server.process is not None
    for worker in children(server.process.pid):
        os.kill(worker, signal.SIGKILL)


def kill_a_server(world: World, prices: Prices, chance: Random) -> None:
    """kill -9 of a server with all its workers."""
    server = chance.choice(servers(world, prices))
    server.kill()
    time.sleep(chance.uniform(0, 1))
    server.start()
    server.wait()


def freeze_a_server(world: World, prices: Prices, chance: Random) -> None:
    """A server that takes connections and says nothing for a while."""
    server = chance.choice(servers(world, prices))
    assert server.process is not None
    os.killpg(server.process.pid, signal.SIGSTOP)
    time.sleep(chance.uniform(0, 2))
    os.killpg(server.process.pid, signal.SIGCONT)


def kill_a_refresh(world: World, prices: Prices, chance: Random) -> None:
    """kill -9 at any point of a refresh."""
    world.sheet.generation += 1
    process = world.refresh(prices)
    time.sleep(chance.uniform(0, 4))
    process.kill()
    process.communicate()


def two_refreshes_at_once(world: World, prices: Prices, _: Random) -> None:
    """Both publish, one after the other."""
    world.sheet.generation += 1
    both = world.refresh(prices), world.refresh(prices)
    for process in both:
        told = process.communicate(timeout=200)[0]
        assert process.returncode == 0, told


def stop_the_database(world: World, prices: Prices, chance: Random) -> None:
    """PostgreSQL ends at once, and comes back; or the SQLite file is moved away, and back."""
    if prices.file is None:
        world.cluster.postgres.stop()
        time.sleep(chance.uniform(0, 2))
        world.cluster.postgres.start()
        return
    away = prices.file.rename(prices.file.with_suffix(".away"))
    time.sleep(chance.uniform(0, 2))
    away.rename(prices.file)


def stop_redis(world: World, _: Prices, chance: Random) -> None:
    """kill -9 of Redis, which comes back empty."""
    world.cluster.redis.kill()
    time.sleep(chance.uniform(0, 2))
    world.cluster.redis.start()
    world.cluster.redis.wait()


def cut_database_connections(world: World, prices: Prices, chance: Random) -> None:
    """Every connection to PostgreSQL ends in the middle of a refresh."""
    world.sheet.generation += 1
    process = world.refresh(prices)
    for _ in range(chance.randint(1, 8)):
        time.sleep(chance.uniform(0, 0.5))
        world.cluster.postgres.cut_connections()
    honest(process.communicate(timeout=200)[0])


def cut_clients(world: World, prices: Prices, chance: Random) -> None:
    """Clients that hang up in the middle of a request or an answer."""
    request = b"GET /cost?model=resnet50&target=0.75 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for _ in range(100):
        with socket.create_connection(("127.0.0.1", chance.choice(prices.ports))) as connection:
            connection.sendall(request[: chance.randint(0, len(request))])
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


def slow_source(world: World, prices: Prices, _: Random) -> None:
    """A price source that sends half and then nothing."""
    world.sheet.stalls = True
    refused(world, prices, COSTCALC_REFRESH_SECONDS="2")


def lying_source(world: World, prices: Prices, chance: Random) -> None:
    """A price source that sends something else than its prices."""
    world.sheet.spoil = lies(chance)
    refused(world, prices)


def full_disk(world: World, prices: Prices, chance: Random) -> None:
    """No file may grow any more while a refresh publishes: what a process writes beyond fails, as on a full disk."""
    world.sheet.generation += 1
    most = chance.randint(0, 2_000_000)
    if prices.file is not None:
        process = world.refresh(prices, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
        honest(process.communicate(timeout=200)[0])
        return
    try:
        limit_files(world.cluster.postgres, str(most * 10))
        honest(world.refresh(prices).communicate(timeout=200)[0])
    finally:
        if world.cluster.postgres.process:  # else it ended, as it does where its log cannot be written
            limit_files(world.cluster.postgres, "unlimited")
        else:
            world.cluster.postgres.start()


def limit_files(server: PostgresServer, most: str) -> None:
    """Sets how many bytes a file of the server's may have; root may not do so for others, but its owner may."""
    subprocess.run(["prlimit", f"--pid={server.process}", f"--fsize={most}:"], check=True, **server.owner)


def damaged_file(world: World, prices: Prices, chance: Random) -> None:
    """Bytes of the SQLite file turn into others under a running server; then a backup comes back."""
    prices = world.stores[1]
    assert prices.file is not None
    world.alone.stop()
    for each in beside(prices.file):
        shutil.copy(each, str(each) + ".backup")
    world.alone.start()
    world.alone.wait()
    with prices.file.open("r+b") as file:
        size = prices.file.stat().st_size
        for _ in range(chance.randint(1, 20)):
            file.seek(chance.randrange(size))
            file.write(chance.randbytes(chance.choice([1, 100, 4096])))
    honest(world.refresh(prices).communicate(timeout=200)[0])
    seen = prices.seen
    with suppress(Exception):  # what a damaged file still publishes may be answered from until the backup is back
        world.look(prices)
    prices.seen = seen
    world.alone.stop()
    for each in beside(prices.file):
        each.unlink()
    for each in prices.file.parent.glob(f"{prices.file.name}*.backup"):
        each.rename(str(each).removesuffix(".backup"))
    world.alone.start()
    world.alone.wait()


def refused(world: World, prices: Prices, **settings: str) -> None:
    """A refresh that says what its only source was refused for, and changes no rate."""
    process = world.refresh(prices, **settings)
    told, _ = process.communicate(timeout=200)
    honest(told)
    assert process.returncode == 1, told


def honest(told: str) -> None:
    """What a command printed has words for what failed."""
    assert "Traceback" not in told, told


def servers(world: World, prices: Prices) -> list[Program]:
    """Those that answer from a store."""
    return world.cluster.servers if prices.file is None else [world.alone]


def beside(file: Path) -> list[Path]:
    """The file, and those that SQLite keeps beside it."""
    return [each for ending in ("", "-wal", "-shm") if (each := Path(f"{file}{ending}")).exists()]


FAULTS: tuple[Fault, ...] = (
    kill_a_worker,
    kill_a_server,
    freeze_a_server,
    kill_a_refresh,
    two_refreshes_at_once,
    stop_the_database,
    stop_redis,
    cut_database_connections,
    cut_clients,
    slow_source,
    lying_source,
    full_disk,
    damaged_file,
)
