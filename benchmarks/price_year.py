"""A year of hourly refreshes of 8,000 offers, of which a third changes each time: publication, database, memory and `as_of`.

`python -m benchmarks price_year 30 sqlite` runs 30 days on one kind of database; a year takes half an hour on each.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
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
LOWEST, HIGHEST = 10**8, 10**11  # a rate in nano-dollars an hour: a walk of thousands of steps goes anywhere
START = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
DATABASES = ("sqlite", "postgresql")
CLOUDS = ("aws", "gcp", "azure")
REGION = "region-"  # no provider's regions are called so
TYPES, MACHINE = 100, Machine("V100", 8, 16.0, 64, 488.0)
GROWTH = 1.5
CHECKED_EVERY, DAYS_PER_MONTH = 100, 30
LOADING = """
import sys
from pricing.store.store import Store
catalogue = Store(sys.argv[1]).load_current()
[peak] = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]  # ru_maxrss has the parent's
print(int(peak) / 1024, len(catalogue))
"""


@dataclass
class Market:
    """Offers whose rates move, of which some vanish for a while; the same from every start."""

    chance: np.random.Generator = field(default_factory=lambda: np.random.default_rng(SEED))
    nanos: np.ndarray = field(init=False)
    rates: list[Decimal] = field(init=False)
    listed: np.ndarray = field(init=False)
    names: list[tuple[str, str, str]] = field(init=False)

    def __post_init__(self) -> None:
        self.nanos = self.chance.integers(10**9, 90 * 10**9, OFFERS)
        self.rates = list(map(from_nanos, self.nanos.tolist()))
        self.listed = np.ones(OFFERS, bool)
        self.names = list(map(_name, range(OFFERS)))

    def move(self, now: datetime) -> list[Offer]:
        """An hour later: a third of the rates change, one in a thousand offers comes or goes."""
        changed = self.chance.random(OFFERS) < 1 / CHANGING
        moved = (self.nanos * self.chance.uniform(0.9, 1.111, OFFERS)).clip(LOWEST, HIGHEST)
        self.nanos = np.where(changed, moved.astype(np.int64), self.nanos)
        self.listed ^= self.chance.random(OFFERS) < 0.001
        for number in np.flatnonzero(changed).tolist():
            self.rates[number] = from_nanos(self.nanos[number])
        return [
            Offer(*self.names[number], MACHINE, PurchaseOption.SPOT, self.rates[number], now, "a spot price history")
            for number in np.flatnonzero(self.listed).tolist()
        ]

    def standing(self) -> dict[tuple[str, str], int]:
        """The rate of each listed offer, by region and machine type: what `as_of` has to answer."""
        places = (self.names[number][1:] for number in np.flatnonzero(self.listed).tolist())
        return dict(zip(places, self.nanos[self.listed].tolist(), strict=True))


def _name(number: int) -> tuple[str, str, str]:
    region, kind = divmod(number, TYPES)
    return CLOUDS[region % len(CLOUDS)], f"{REGION}{region}", f"type-{kind}"


@dataclass(frozen=True)
class Footprint:
    """How large the database is, and a process that loads the current prices from it."""

    database_mib: float
    process_mib: float
    rows: int

    @classmethod
    def of(cls, url: str) -> Footprint:
        """Measured in a new process, as a worker is one."""
        command = [sys.executable, "-c", LOADING, url]
        peak, rows = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        return cls(_size(url) / 2**20, float(peak), int(rows))

    def __str__(self) -> str:
        return f"database {self.database_mib:.0f} MiB, worker {self.process_mib:.0f} MiB with {self.rows:,} rows"


@dataclass
class Year:
    """What was measured of each publication, in seconds: of our processor, since others are busy, and on the wall.

    `stood` is what stood at some moments, `footprints` are those at the end of the first day and of each month.
    """

    seconds: list[float] = field(default_factory=list)
    wall_seconds: list[float] = field(default_factory=list)
    stood: dict[datetime, dict[tuple[str, str], int]] = field(default_factory=dict)
    footprints: dict[int, Footprint] = field(default_factory=dict)

    @property
    def days(self) -> int:
        """The whole days so far."""
        return len(self.seconds) // 24


def simulated(store: Store, days: int, url: str) -> Year:
    """Publishes every hour and remembers each hundredth hour's rates. An interrupt ends the year early."""
    market, year = Market(), Year()
    try:
        for hour in range(24 * days):
            _an_hour(store, market, year, START + hour * HOUR)
            if (hour + 1) % 24 == 0:
                _a_day(year, url)
    except KeyboardInterrupt:
        print(f"     interrupted on day {year.days + 1}", flush=True)
    return year


def _an_hour(store: Store, market: Market, year: Year, now: datetime) -> None:
    offers = market.move(now)
    publication = Publication((Listing("spot", offers, (EVERYTHING,)),), (Attempt("spot", 1, len(offers)),))
    started, on_the_wall = time.process_time(), time.perf_counter()
    store.publish(publication, now)
    year.seconds.append(time.process_time() - started)
    year.wall_seconds.append(time.perf_counter() - on_the_wall)
    if len(year.seconds) % CHECKED_EVERY == 1:
        year.stood[now + HOUR / 2] = market.standing()


def _a_day(year: Year, url: str) -> None:
    """Sweeps, and says after the first day and each month how things are."""
    _sweep(url)
    if year.days == 1 or year.days % DAYS_PER_MONTH == 0:
        year.footprints[year.days] = footprint = Footprint.of(url)
        print(f"     day {year.days}: {median(year.seconds[-24:]) * 1000:.0f} ms, {footprint}", flush=True)


def known_at(store: Store, moment: datetime) -> dict[tuple[str, str], int]:
    """The rates that the store answers for a moment, without packaged ones: those of other dates begin during the year."""
    catalogue = store.load_at([moment])
    rows = catalogue.current_offers(moment).listed
    columns, words = catalogue.columns, catalogue.vocabulary
    keys = [(words.regions[columns.region[row]], words.instances[columns.instance[row]][1]) for row in rows]
    known = dict(zip(keys, columns.hourly[rows].tolist(), strict=True))
    return {key: rate for key, rate in known.items() if key[0].startswith(REGION)}


def measured(name: str, url: str, days: int) -> bool:
    """One kind of database, after its first day and at its end."""
    store = Store(url)
    store.fill(START)
    year = simulated(store, days, url)
    first, last = median(year.seconds[:24]), median(year.seconds[-24:])
    ratio = last / first
    figure = f"{first * 1000:.0f} ms on the first day, {last * 1000:.0f} ms on day {year.days}, {ratio:.2f} times"
    fine = report(f"{name}: publication, p50", figure, f"at most {GROWTH} times", ratio <= GROWTH)
    wrong = [at for at, stood in year.stood.items() if known_at(store, at) != stood]
    fine &= report(f"{name}: as_of of {len(year.stood)} moments", f"{len(wrong)} differ", "none", not wrong)
    early, late = (median(some) * 1000 for some in (year.wall_seconds[:24], year.wall_seconds[-24:]))
    figure = f"{early:.0f} ms on the first day, {late:.0f} ms on the last"
    report(f"{name}: publication on the wall, p50", figure, "for information", True)
    for day, footprint in {1: year.footprints[1], year.days: Footprint.of(url)}.items():
        report(f"{name}: after day {day}", str(footprint), "for information", True)
    return fine


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


def main(words: Sequence[str]) -> bool:
    """The benchmark with its options."""
    options = argparse.ArgumentParser("python -m benchmarks price_year", description=__doc__)
    options.add_argument("days", type=int, nargs="?", default=365, help="how many days are simulated (365)")
    options.add_argument(
        "databases", nargs="*", default=DATABASES, metavar="sqlite|postgresql", help="both, if none is named"
    )
    given = options.parse_args(words)
    if unknown := set(given.databases) - set(DATABASES):
        options.error(f"no database is called {', '.join(sorted(unknown))}: write {' or '.join(DATABASES)}")
    return run(given.days, tuple(given.databases))


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
