"""Simulated years of a store: one seed drives clock, sources, disk, database, kills and visitors, against a model of what each
answer must be. A year that fails is told by its seed, and `YEAR=seed` replays it alone."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import event
from support.own_training_runs import own_run
from support.prices import offer
from support.sampled import WHOLE

from costcalc.catalogue.catalogue import Catalogue
from pricing import refresh as refreshing
from pricing.refresh import refresh
from pricing.sources.running import Outcome
from pricing.sources.source import Collected, SourceSpec
from pricing.store.backups import backup, restore
from pricing.store.changes import By
from pricing.store.connection import open_sqlite
from pricing.store.errors import StoreDamaged, StoreError
from pricing.store.store import Store
from pricing.store.worker_catalogue import WorkerCatalogue

SEEDS = [int(os.environ["YEAR"])] if "YEAR" in os.environ else range(1000 if WHOLE else 1)
BEGIN, END = datetime(2027, 6, 1, tzinfo=UTC), datetime(2028, 6, 1, tzinfo=UTC)  # with a leap day
ZONES = ("UTC", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Kiritimati", "Europe/Berlin")
SOURCES = ("aws", "gcp")
REGIONS = 8
LIES = 500, 2000  # times the true rate; none repeats, since what does for a day is taken over
NEVER = 1e6
Rates = dict[tuple[str, str], Decimal]


class Killed(BaseException):
    """The process is no more, as far as its transaction can tell."""


class Model:
    """What must be known: by moment, the rates that sources stated then, and the runs that are kept."""

    def __init__(self) -> None:
        self.stated: list[tuple[datetime, Rates]] = []
        self.runs: set[str] = set()

    def at(self, moment: datetime) -> Rates:
        known: Rates = {}
        for when, rates in sorted(self.stated, key=lambda each: each[0]):
            known |= rates if when <= moment else {}
        return known


class Year:
    """A store and a worker that answers from it, and what happened to them so far."""

    def __init__(self, seed: int, folder: Path, url: str) -> None:
        self.chance, self.folder, self.now, self.url = Random(seed), folder, BEGIN, url
        self.path = Path(url.removeprefix("sqlite:///"))
        self.is_file = url.startswith("sqlite")
        self.model, self.store = Model(), Store(self.url)
        self.worker = WorkerCatalogue(lambda: Store(self.url), lambda: self.now, poll_seconds=NEVER)
        self.rates = {(name, f"region-{at}"): Decimal(3 + at) for name in SOURCES for at in range(REGIONS)}
        self.listing: Callable[[str], Outcome] = self.honest
        self.copies, self.happened = 0, Counter[str]()

    def ask_all(self, specs: list[SourceSpec], *_: object) -> Iterator[Outcome]:
        """In the place of the network."""
        yield from (self.listing(spec.name) for spec in specs)

    def listed(self, name: str, rates: Rates) -> Outcome:
        offers = [offer(str(rate), self.now, provider=name, region=region) for (_, region), rate in rates.items()]
        return Outcome(name, 0.1, Collected(tuple(offers)))

    def own(self, name: str) -> Rates:
        return {key: rate for key, rate in self.rates.items() if key[0] == name}

    def honest(self, name: str) -> Outcome:
        return self.listed(name, self.own(name))

    def asked(self, listing: Callable[[str], Outcome], understood: Callable[[Rates], Rates], name: str = "") -> None:
        """A refresh in which one source answers so, and what of it must be known from then on."""
        name = name or self.chance.choice(SOURCES)
        self.listing = listing
        result = refresh([name], self.store, {}, self.now)
        assert len(result.results) == 1
        self.model.stated.append((self.now, understood(self.own(name))))

    def a_source_answers(self) -> None:
        for key in self.rates:
            self.rates[key] = (self.rates[key] * Decimal(self.chance.uniform(0.9, 1.1))).quantize(Decimal("0.0001"))
        self.asked(self.honest, lambda rates: rates)

    def lie(self, rate: Decimal) -> Decimal:
        factor = Decimal(self.chance.uniform(*LIES))
        return (rate * factor if self.chance.random() < 0.5 else rate / factor).quantize(Decimal("0.000001"))

    def a_source_lies_about_one_rate(self) -> None:
        name, region = self.chance.choice(SOURCES), f"region-{self.chance.randrange(REGIONS)}"
        wrong = self.own(name) | {(name, region): self.lie(self.rates[name, region])}
        self.asked(
            lambda _: self.listed(name, wrong),
            lambda rates: {k: rate for k, rate in rates.items() if k[1] != region},
            name,
        )

    def a_source_lies_about_all_rates(self) -> None:
        wrong = {key: self.lie(rate) for key, rate in self.rates.items()}
        self.asked(lambda name: self.listed(name, {k: v for k, v in wrong.items() if k[0] == name}), lambda _: {})

    def a_source_is_gone(self) -> None:
        self.asked(lambda name: Outcome(name, 0.1, None, "503 Service Unavailable"), lambda _: {})

    def a_source_is_slow(self) -> None:
        self.asked(lambda name: Outcome(name, 60.0, None, "took longer than 60 s", True), lambda _: {})

    def a_source_lists_nothing(self) -> None:
        self.asked(lambda name: self.listed(name, {}), lambda _: {})

    def the_clock_goes_back(self) -> None:
        """Answers are those of the newest observation, whenever it was made known."""
        self.now -= timedelta(minutes=self.chance.randrange(1, 180))

    def the_time_zone_changes(self) -> None:
        """That of the machine, with which nothing that is known changes; some have half hours, or summers of half an hour."""
        os.environ["TZ"] = self.chance.choice(ZONES)
        time.tzset()

    def the_process_is_killed(self) -> None:
        """In the midst of a publication: all of it stands, or nothing."""
        left = self.chance.randrange(1, 12)

        def execute(*_: object) -> None:
            nonlocal left
            left -= 1
            if not left:
                raise Killed

        self.interrupted("before_cursor_execute", execute, Killed)

    def the_disk_is_full(self) -> None:
        def connect(connection, _: object) -> None:
            [pages] = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {pages}").close()

        self.interrupted("connect", connect, StoreError)

    def interrupted(self, name: str, listener: Callable[..., None], error: type[BaseException]) -> None:
        """A publication that something ends, or that just goes through."""
        event.listen(self.store._engine, name, listener)
        try:
            self.a_source_answers()
        except error:
            pass
        finally:
            event.remove(self.store._engine, name, listener)

    def the_database_is_away(self) -> None:
        """The worker answers on from what it has."""
        away = self.path.with_name("away")
        self.path.rename(away)
        self.worker.check()
        assert self.answered(self.worker.catalogue(), self.now) == self.model.at(self.now)
        away.rename(self.path)

    def the_file_is_torn(self) -> None:
        """It is refused, and a backup takes its place; what came after that is gone."""
        open_sqlite(self.path, "rw", 1).execute("PRAGMA wal_checkpoint(TRUNCATE)").connection.close()
        os.truncate(self.path, self.path.stat().st_size // 2)
        with pytest.raises(StoreDamaged):
            Store(self.url)
        self.worker.check()
        restore(self.url, self.folder / f"copy-{self.copies}", self.now)
        self.model, self.store = deepcopy(self.backed_up), Store(self.url)

    def somebody_backs_up(self) -> None:
        self.copies += 1
        backup(self.url, self.folder / f"copy-{self.copies}")
        self.backed_up = deepcopy(self.model)

    def a_run_is_added(self) -> None:
        run = own_run(name=f"run-{len(self.model.runs)}-{self.happened.total()}").stored()
        self.store.add_own_run(run, By("anna", self.now))
        self.model.runs.add(run.id)

    def a_run_is_removed(self) -> None:
        if self.model.runs:
            gone = self.chance.choice(sorted(self.model.runs))
            self.store.remove_own_run(gone, By("anna", self.now))
            self.model.runs.remove(gone)

    def answered(self, catalogue: Catalogue, moment: datetime) -> Rates:
        rows = catalogue.current_offers(moment).listed.tolist()
        offers = [catalogue.offer(row) for row in rows]
        return {(each.provider, each.region): each.hourly_rate for each in offers}

    def a_visitor_asks(self) -> None:
        """About now, and about a moment of the past."""
        self.worker.check()
        catalogue = self.worker.catalogue()
        past = BEGIN + (self.now - BEGIN) * self.chance.random()
        for moment in (self.now, past.astimezone()):
            knowing = catalogue if catalogue.knows(moment) else self.worker.catalogue_at((moment,))
            assert self.answered(knowing, moment) == self.model.at(moment), moment
        assert {run.id for run in self.worker.own_runs(None)} == self.model.runs

    def what_happens(self) -> dict[Callable[[], None], int]:
        """How often, beside each other; a store of PostgreSQL is no file."""
        anywhere = {
            self.a_source_answers: 6, self.a_source_lies_about_one_rate: 2, self.a_source_lies_about_all_rates: 2,
            self.a_source_is_gone: 2, self.a_source_is_slow: 1, self.a_source_lists_nothing: 1, self.the_clock_goes_back: 1,
            self.the_time_zone_changes: 1, self.the_process_is_killed: 3, self.a_run_is_added: 2, self.a_run_is_removed: 1,
        }  # fmt: skip
        of_a_file = {
            self.the_disk_is_full: 2,
            self.the_database_is_away: 1,
            self.the_file_is_torn: 1,
            self.somebody_backs_up: 1,
        }
        return anywhere | (of_a_file if self.is_file else {})

    def goes_by(self) -> None:
        weights = self.what_happens()
        for name in SOURCES:
            self.asked(self.honest, lambda rates: rates, name)
        if self.is_file:
            self.somebody_backs_up()
        self.a_visitor_asks()
        while self.now < END:
            self.now += timedelta(hours=self.chance.choice([1, 7, 24, 24 * 7, 24 * 30]), seconds=self.chance.random())
            [what] = self.chance.choices([*weights], [*weights.values()])
            self.happened[what.__name__] += 1
            what()
            self.a_visitor_asks()


@pytest.mark.parametrize("seed", SEEDS)
def test_in_a_simulated_year_every_answer_is_right(
    seed: int, tmp_path: Path, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    year = Year(seed, tmp_path, store_url)
    monkeypatch.setattr(refreshing, "ask_all", year.ask_all)
    try:
        year.goes_by()
    finally:
        year.worker.close()
        monkeypatch.undo()
        time.tzset()
        print(*year.happened.items())
