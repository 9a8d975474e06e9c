"""A million observations into SQLite and PostgreSQL, and the catalogue of a million offers out of them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.timing import report, slowness
from tools.cluster.postgres import PostgresServer, binaries

OFFERS = int(os.environ.get("BENCH_OFFERS", "1000000"))
LOAD_SECONDS = 2  # these of our processor: elsewhere others may be busy
PUBLISH_SECONDS = 200
PEAK_MIB = 4096


def run() -> bool:
    """Each database in a process of its own, so that its peak of memory is its own."""
    fine = True
    with tempfile.TemporaryDirectory() as folder:
        fine &= measured("SQLite", f"sqlite:///{folder}/prices.sqlite3")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # short, as a socket's path must be
        server = PostgresServer(binaries(), Path(folder))
        server.initialise()
        server.start()
        try:
            return measured("PostgreSQL", server.database()) and fine
        finally:
            server.stop()


def measured(database: str, url: str) -> bool:
    """Publishes, publishes again unchanged, and loads."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.store", url], check=True, capture_output=True, text=True)
    what, slow = f"{OFFERS:,} observations into {database}", slowness()
    bounds = {
        what: ("s of processor", PUBLISH_SECONDS),
        f"{what}, seen again unchanged": ("s of processor", PUBLISH_SECONDS),
        f"catalogue of {OFFERS:,} offers from {database}": ("s of processor", LOAD_SECONDS * slow),
        f"{what}, peak memory": ("MiB", PEAK_MIB),
    }
    reached = [
        report(of, f"{figure:.4g} {unit}", f"under {most:.4g}", figure < most)
        for (of, (unit, most)), figure in zip(bounds.items(), map(float, done.stdout.split()), strict=True)
    ]
    return all(reached)


def main(url: str) -> None:
    """Prints seconds to publish, to publish again and to load, and the peak of memory in MiB."""
    from datetime import timedelta

    from benchmarks.synthetic import NOW
    from pricing.store.store import Store

    store = Store(url)
    later = NOW + timedelta(days=1)
    seconds = []
    for moment in (NOW, later):
        listed = listing(moment)
        seconds.append(timed(lambda: store.publish(listed, moment)))  # noqa: B023
    load = min(timed(store.load_current) for _ in range(3))
    assert len(store.load_current().current_offers(later).rows) == OFFERS
    print(*seconds, load, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def timed(work) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def listing(moment):
    """As many offers as a source could ever list: the packaged ones, one of each key, in further regions."""
    from msgspec.structs import replace

    from benchmarks.synthetic import packaged
    from pricing.store.publish import SourceResult

    known = packaged()
    base = [known.offer(row) for row in known.current_offers(moment, 36_500).rows.tolist()]
    copies = range(-(-OFFERS // len(base)))
    offers = [replace(each, region=f"{each.region}~{n}", observed_at=moment) for n in copies for each in base]
    del offers[OFFERS:]
    return (SourceResult("bench", 1, tuple(offers)),)


if __name__ == "__main__":
    main(sys.argv[1])
