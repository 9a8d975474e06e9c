"""A year of hourly refreshes of 8,000 offers, of which a third changes each time: publication, database, memory and `as_of`.

`python -m benchmarks.price_year [DAYS] [sqlite|postgresql]` runs on one kind of database; a year takes half an hour on each.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import psycopg

from benchmarks.store import postgresql
from benchmarks.timing import median, report
from costcalc.hardware import Machine
from costcalc.money import from_nanos
from costcalc.offers import Offer, PurchaseOption
from pricing.scope import EVERYTHING
from pricing.store.connection import Database
from pricing.store.publish import Attempt, Listing, Publication
from pricing.store.store import Store

SEED, OFFERS, CHANGING = 13, 8_000, 3
START = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
CLOUDS = ("aws", "gcp", "azure")
TYPES, MACHINE = 100, Machine("V100", 8, 16.0, 64, 488.0)
GROWTH = 1.5
CHECKED_EVERY = 100
LOADING = """
import resource, sys
from pricing.store.store import Store
catalogue = Store(sys.argv[1]).load_current()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, len(catalogue))
"""


@dataclass
class Market:
    """Offers whose rates move, of which some vanish for a while; the same from every start."""

    chance: np.random.Generator = field(default_factory=lambda: np.random.default_rng(SEED))
    rates: np.ndarray = field(init=False)
    listed: np.ndarray = field(init=False)
    offers: list[Offer] = field(init=False)

    def __post_init__(self) -> None:
        self.rates = self.chance.integers(10**9, 90 * 10**9, OFFERS)
        self.listed = np.ones(OFFERS, bool)
        self.offers = [_offer(number, from_nanos(rate)) for number, rate in enumerate(self.rates.tolist())]

    def move(self, now: datetime) -> list[Offer]:
        """An hour later: a third of the rates change, one in a thousand offers comes or goes."""
        changed = self.chance.random(OFFERS) < 1 / CHANGING
        self.rates = np.where(
            changed, (self.rates * self.chance.uniform(0.9, 1.111, OFFERS)).astype(np.int64), self.rates
        )
        self.listed ^= self.chance.random(OFFERS) < 0.001
        for number in np.flatnonzero(changed).tolist():
            self.offers[number] = replace(self.offers[number], hourly_rate=from_nanos(self.rates[number]))
        return [replace(self.offers[number], observed_at=now) for number in np.flatnonzero(self.listed).tolist()]

    def standing(self) -> dict[tuple[str, str], int]:
        """The rate of each listed offer, by region and machine type: what `as_of` has to answer."""
        keys = (self.offers[number].key for number in np.flatnonzero(self.listed).tolist())
        return dict(zip((key[1:3] for key in keys), self.rates[self.listed].tolist(), strict=True))


def _offer(number: int, rate: Decimal) -> Offer:
    region, kind = divmod(number, TYPES)
    name = (CLOUDS[region % len(CLOUDS)], f"region-{region}", f"type-{kind}")
    return Offer(*name, MACHINE, PurchaseOption.SPOT, rate, START, "a spot price history")


@dataclass
class Year:
    """What was measured of each publication, in seconds: of our processor, since others are busy, and on the wall.

    `stood` is what stood at some moments.
    """

    seconds: list[float] = field(default_factory=list)
    wall_seconds: list[float] = field(default_factory=list)
    stood: dict[datetime, dict[tuple[str, str], int]] = field(default_factory=dict)


def simulated(store: Store, days: int, sweep: Callable[[], None]) -> Year:
    """Publishes every hour; remembers each hundredth hour's rates, and says every thirty days how long a publication takes."""
    market, year = Market(), Year()
    for hour in range(24 * days):
        now = START + hour * HOUR
        offers = market.move(now)
        publication = Publication((Listing("spot", offers, (EVERYTHING,)),), (Attempt("spot", 1, len(offers)),))
        started, on_the_wall = time.process_time(), time.perf_counter()
        store.publish(publication, now)
        year.seconds.append(time.process_time() - started)
        year.wall_seconds.append(time.perf_counter() - on_the_wall)
        if hour % CHECKED_EVERY == 0:
            year.stood[now + HOUR / 2] = market.standing()
        if hour % 24 == 0:
            sweep()
        if (hour + 1) % (24 * 30) == 0:
            print(f"     day {(hour + 1) // 24}: {median(year.seconds[-24:]) * 1000:.0f} ms", flush=True)
    return year


def known_at(store: Store, moment: datetime) -> dict[tuple[str, str], int]:
    """The rates that the store answers for a moment, packaged prices apart."""
    catalogue = store.load_at([moment])
    rows = catalogue.current_offers(moment).listed
    columns, words = catalogue.columns, catalogue.vocabulary
    keys = [(words.regions[columns.region[row]], words.instances[columns.instance[row]][1]) for row in rows]
    return dict(zip(keys, columns.hourly[rows].tolist(), strict=True))


def measured(name: str, url: str, days: int) -> bool:
    """One kind of database, after its first day and at its end."""
    store = Store(url)
    store.fill(START)
    packaged = set(known_at(store, START))
    year = simulated(store, days, lambda: _sweep(url))
    first, last = median(year.seconds[:24]), median(year.seconds[-24:])
    ratio = last / first
    figure = f"{first * 1000:.0f} ms on the first day, {last * 1000:.0f} ms on day {days}, {ratio:.2f} times"
    fine = report(f"{name}: publication, p50", figure, f"at most {GROWTH} times", ratio <= GROWTH)
    wrong = [at for at, stood in year.stood.items() if _without(known_at(store, at), packaged) != stood]
    fine &= report(f"{name}: as_of of {len(year.stood)} moments", f"{len(wrong)} differ", "none", not wrong)
    early, late = (median(some) * 1000 for some in (year.wall_seconds[:24], year.wall_seconds[-24:]))
    figure = f"{early:.0f} ms on the first day, {late:.0f} ms on the last"
    report(f"{name}: publication on the wall, p50", figure, "for information", True)
    size = _size(url)
    report(f"{name}: database", f"{size / 2**20:.0f} MiB, {size / 2**20 / days:.2f} MiB a day", "for information", True)
    peak, rows = subprocess.run(
        [sys.executable, "-c", LOADING, url], check=True, capture_output=True, text=True
    ).stdout.split()
    report(
        f"{name}: a process that loads the prices",
        f"{float(peak):.0f} MiB, {int(rows):,} rows",
        "for information",
        True,
    )
    return fine


def _without(known: dict[tuple[str, str], int], packaged: set[tuple[str, str]]) -> dict[tuple[str, str], int]:
    return {key: rate for key, rate in known.items() if key not in packaged}


def _sweep(url: str) -> None:
    """What PostgreSQL does by itself within an hour: a simulated hour is too short for its autovacuum."""
    if url.startswith("postgresql"):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM")


def _size(url: str) -> int:
    if url.startswith("sqlite"):
        path = Path(url.removeprefix("sqlite:///"))
        return sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*"))
    with Database(url).reading() as connection:
        return int(connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar() or 0)


@contextmanager
def _database(kind: str) -> Iterator[str]:
    if kind == "postgresql":
        with postgresql(sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]) as url:
            yield url
        return
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{folder}/prices.sqlite3"


def run(
    days: int = int(os.environ.get("BENCH_DAYS", "365")), kinds: tuple[str, ...] = ("sqlite", "postgresql")
) -> bool:
    """Measures and reports, one kind of database after the other."""
    fine = True
    for kind in kinds:
        with _database(kind) as url:
            fine &= measured(kind, url, days)
    return fine


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(0 if run(int(given[0]) if given else 365, tuple(given[1:]) or ("sqlite", "postgresql")) else 1)
