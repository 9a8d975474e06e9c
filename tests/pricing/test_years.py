"""Simulated years of a store: one seed drives clock, sources, disk, database, Redis, kills and visitors, against a model of what
each answer must be. A year that fails is told by its seed, and `YEAR=seed` replays it alone."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from random import Random

import psycopg
import pytest
from sqlalchemy import Connection, event, make_url
from support.engine import evidence
from support.own_training_runs import own_run
from support.sampled import WHOLE
from support.simulated_worker import Worker
from support.simulated_world import LISTED, REGIONS, Key, Rates, Redis, Sources

from api.slack.verification import Replays
from api.web import replay
from pricing import refresh as refreshing
from pricing.edition_head import EditionHead
from pricing.refresh import EDITION, refresh
from pricing.scope import EVERYTHING
from pricing.store import publish
from pricing.store.backups import backup, restore
from pricing.store.book import Book
from pricing.store.changes import By
from pricing.store.connection import open_sqlite
from pricing.store.errors import StoreError
from pricing.store.store import SignIn, Store

YEARS, ON_POSTGRESQL = (1000, 10) if WHOLE else (12, 12)  # how many, and one in how many is on PostgreSQL too
SEEDS = [int(os.environ["YEAR"])] if "YEAR" in os.environ else range(YEARS)
CASES = [(seed, "sqlite") for seed in SEEDS]
CASES += [(seed, "postgresql") for seed in SEEDS if len(SEEDS) == 1 or seed % ON_POSTGRESQL == 0]
BEGIN, END = datetime(2027, 6, 1, tzinfo=UTC), datetime(2028, 6, 1, tzinfo=UTC)
LEAP_DAY = datetime(2028, 2, 29, tzinfo=UTC)
ZONES = ("UTC", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Kiritimati", "Europe/Berlin")
ROWS_IN_A_BOOK = 60  # so that a year fills several
STATEMENTS = 25  # of a publication, at most


class Killed(BaseException):
    """The process is no more, as far as its transaction can tell."""


class Model:
    """What must be known: by moment, the rates that sources stated then, None of an offer that ended; the runs, the sign-ins and
    the edition that were taken last."""

    def __init__(self) -> None:
        self.stated: list[tuple[datetime, dict[Key, Decimal | None]]] = []
        self.runs: set[str] = set()
        self.sign_ins: dict[str, SignIn] = {}
        self.edition: EditionHead | None = None

    def at(self, moment: datetime) -> Rates:
        known: dict[Key, Decimal | None] = {}
        for when, rates in sorted(self.stated, key=lambda each: each[0]):
            known |= rates if when <= moment else {}
        return {key: rate for key, rate in known.items() if rate is not None}


class Year:
    """A store with a worker, and what happened to them so far."""

    def __init__(self, seed: int, folder: Path, url: str) -> None:
        self.chance, self.folder, self.now, self.url = Random(seed), folder, BEGIN, url
        self.path, self.is_file = Path(url.removeprefix("sqlite:///")), url.startswith("sqlite")
        self.model, self.store = Model(), Store(self.url)
        self.sources, self.redis = Sources(self.chance), Redis()
        self.worker, self.replays = self.started(), [Replays(self.redis) for _ in range(2)]
        self.listings: list[tuple[datetime, str, Rates]] = []
        self.up_seconds, self.copies, self.happened = 0.0, 0, Counter[str]()

    def started(self) -> Worker:
        return Worker(self.url, lambda: self.now)

    def by(self) -> By:
        return By("anna", self.now)

    def asked(self, name: str, rates: Mapping[Key, Decimal | None], since: datetime | None = None) -> None:
        """A refresh of one source, and what of it must be known from then on."""
        result = refresh([name], self.store, {}, self.now)
        assert len(result.results) == 1
        self.model.stated.append(((since or self.now).replace(microsecond=0), dict(rates)))

    def a_source_answers(self) -> None:
        self.sources.a_day_passes()
        self.is_honest(self.chance.choice(LISTED))

    def is_honest(self, name: str) -> None:
        rates = self.sources.of(name)
        self.sources.lists(name, rates, self.now)
        self.listings.append((self.now, name, rates))
        self.asked(name, rates)

    def a_source_lies_about_one_rate(self) -> None:
        name, region = self.chance.choice(LISTED), f"region-{self.chance.randrange(REGIONS)}"
        true = self.sources.of(name)
        self.sources.lists(name, true | {(name, region): self.sources.lie(true[name, region])}, self.now)
        self.asked(name, {key: rate for key, rate in true.items() if key[1] != region})

    def a_source_lies_about_all_rates(self) -> None:
        name = self.chance.choice(LISTED)
        self.sources.lists(name, {key: self.sources.lie(rate) for key, rate in self.sources.of(name).items()}, self.now)
        self.asked(name, {})

    def a_source_is_gone(self) -> None:
        name = self.chance.choice(LISTED)
        self.sources.fails(name, "503 Service Unavailable")
        self.asked(name, {})

    def a_source_is_slow(self) -> None:
        name = self.chance.choice(LISTED)
        self.sources.fails(name, "took longer than 60 s", 60.0, late=True)
        self.asked(name, {})

    def a_source_lists_nothing(self) -> None:
        name = self.chance.choice(LISTED)
        self.sources.lists(name, {}, self.now)
        self.asked(name, {})

    def a_source_goes_back(self) -> None:
        """It lists what it listed before, under the date of then."""
        earlier = [each for each in self.listings if each[0] <= self.now] or self.listings[:1]
        since, name, rates = self.chance.choice(self.chance.choice([earlier, earlier[-4:]]))
        self.sources.lists(name, rates, since)
        self.asked(name, rates, since)

    def a_source_lists_a_region_no_more(self) -> None:
        """What was seen at a later moment, before the clock went back, does not end."""
        name = self.chance.choice(LISTED)
        gone = name, f"region-{self.chance.randrange(REGIONS)}"
        rest = {key: rate for key, rate in self.sources.of(name).items() if key != gone}
        self.sources.lists(name, rest, self.now, whole=(EVERYTHING,))
        is_seen_later = any(when > self.now and gone in rates for when, rates in self.model.stated)
        self.asked(name, rest if is_seen_later else {**rest, gone: None})

    def an_edition_is_published(self) -> None:
        self.sources.a_day_passes()
        self.an_edition_is_sent(self.sources.publishes(self.now))

    def an_edition_is_sent_again(self) -> None:
        """One of the last, soon after the next."""
        self.an_edition_is_published()
        self.goes_on(timedelta(hours=1))
        self.an_edition_is_published()
        self.an_edition_is_sent(self.chance.choice([*self.sources.editions][-3:]))

    def an_edition_is_forged(self) -> None:
        content = self.chance.choice([*self.sources.editions])
        at = self.chance.randrange(len(content))
        self.an_edition_is_sent(content[:at] + bytes([content[at] ^ 1 << self.chance.randrange(8)]) + content[at + 1 :])

    def an_edition_is_sent(self, content: bytes) -> None:
        """It is taken if it is true, and newer than the last one that was taken."""
        head, last = self.sources.sends(content, self.now), self.model.edition
        if head is None or (last and (head.made_at <= last.made_at or head.number <= last.number)):
            self.asked(EDITION, {})
        else:
            self.asked(EDITION, self.sources.editions[content], head.made_at)
            self.model.edition = head
        [taken] = self.store.taken_editions()
        assert taken.made_at == self.model.edition.made_at

    def the_clock_goes_back(self) -> None:
        """Answers are those of the newest observation, once none is answered from memory."""
        self.now -= timedelta(seconds=self.chance.randrange(60, 3 * 3600))
        self.up_seconds += replay.SECONDS_KEPT

    def the_time_zone_changes(self) -> None:
        """That of the machine, with which nothing that is known changes; some have half hours, or summers of half an hour."""
        os.environ["TZ"] = self.chance.choice(ZONES)
        time.tzset()

    def something_is_written(self) -> None:
        self.chance.choice(
            [self.a_source_answers, self.an_edition_is_published, self.a_run_is_added, self.somebody_signs_in]
        )()

    def the_process_is_killed(self) -> None:
        """In the midst of writing: all of it stands, or nothing."""
        self.interrupted("before_cursor_execute", self.in_the_midst(killed), Killed)

    def the_connection_breaks(self) -> None:
        self.interrupted("before_cursor_execute", self.in_the_midst(disconnected), StoreError)

    def in_the_midst(self, happens: Callable[[Connection], None]) -> Callable[..., None]:
        left = self.chance.randrange(1, STATEMENTS)

        def execute(connection: Connection, *_: object) -> None:
            nonlocal left
            left -= connection.get_execution_options().get("exclusive", False)
            if not left:
                happens(connection)

        return execute

    def the_disk_is_full(self) -> None:
        def connect(connection, _: object) -> None:
            [pages] = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {pages}").close()

        self.interrupted("connect", connect, StoreError)

    def interrupted(self, name: str, listener: Callable[..., None], error: type[BaseException]) -> None:
        """Something is written, which something ends, or which just goes through."""
        event.listen(self.store._engine, name, listener)
        try:
            self.something_is_written()
        except error:
            self.happened["writing was interrupted"] += 1
        finally:
            event.remove(self.store._engine, name, listener)

    def the_database_is_away(self) -> None:
        """The worker answers on from what it has, and nothing is written."""
        with self.file_away() if self.is_file else self.server_away():
            with pytest.raises(StoreError):
                self.something_is_written()
            self.the_worker_answers()

    @contextmanager
    def file_away(self) -> Iterator[None]:
        away = self.path.with_name("away")
        self.path.rename(away)
        yield
        away.rename(self.path)

    @contextmanager
    def server_away(self) -> Iterator[None]:
        url = make_url(self.url)
        with psycopg.connect(url.set(database="postgres").render_as_string(), autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {url.database} ALLOW_CONNECTIONS false".encode())
            yield
            connection.execute(f"ALTER DATABASE {url.database} ALLOW_CONNECTIONS true".encode())

    def the_file_is_torn(self) -> None:
        """It is refused, or holds the same; and a backup takes its place: what came after that is gone."""
        whole = self.store.all_offers()
        open_sqlite(self.path, "rw", 1).execute("PRAGMA wal_checkpoint(TRUNCATE)").connection.close()
        os.truncate(self.path, self.chance.randrange(self.path.stat().st_size))
        with suppress(StoreError):
            assert Store(self.url).all_offers() == whole
            self.happened["a torn file holds the same"] += 1
        self.the_worker_answers()
        restore(self.url, self.folder / f"copy-{self.copies}", self.now)
        self.model, self.store = deepcopy(self.backed_up), Store(self.url)

    def somebody_backs_up(self) -> None:
        self.copies += 1
        backup(self.url, self.folder / f"copy-{self.copies}")
        self.backed_up = deepcopy(self.model)

    def the_worker_starts_anew(self) -> None:
        self.worker.close()
        self.worker = self.started()

    def redis_goes_or_comes(self) -> None:
        self.redis.is_away = not self.redis.is_away

    def slack_sends_a_command_twice(self) -> None:
        """It is answered once, whichever worker it reaches; while Redis is away, once by each."""
        first, second = (self.chance.choice(self.replays) for _ in range(2))
        signature, now = f"v0={self.happened.total()}", self.now.timestamp()
        assert first.is_new(signature, now)
        assert second.is_new(signature, now) == (self.redis.is_away and second is not first)

    def a_run_is_added(self) -> None:
        run = own_run(name=f"run-{len(self.model.runs)}-{self.happened.total()}").stored()
        self.store.add_own_run(run, self.by())
        self.model.runs.add(run.id)

    def a_run_is_removed(self) -> None:
        if self.model.runs:
            gone = self.chance.choice(sorted(self.model.runs))
            self.store.remove_own_run(gone, self.by())
            self.model.runs.remove(gone)

    def somebody_signs_in(self) -> None:
        sign_in = SignIn(f"{self.happened.total():064}", "a token", self.now + timedelta(days=30))
        self.store.add_sign_in(sign_in, self.now)
        self.model.sign_ins = {id: each for id, each in self.model.sign_ins.items() if each.until > self.now}
        self.model.sign_ins[sign_in.id] = sign_in

    def somebody_signs_out(self) -> None:
        if self.model.sign_ins:
            gone = self.chance.choice(sorted(self.model.sign_ins))
            self.store.end_sign_in(gone)
            del self.model.sign_ins[gone]

    def the_worker_answers(self) -> None:
        """From its catalogue, then from its memory."""
        self.worker.catalogue.check()
        for _ in range(2):
            assert self.worker.rates() == self.model.at(self.now)

    def a_visitor_asks(self) -> None:
        """About now, and about a moment of the past."""
        self.the_worker_answers()
        if self.now > BEGIN and self.chance.random() < 0.3:
            past = (BEGIN + (self.now - BEGIN) * self.chance.random()).replace(microsecond=0)
            assert self.worker.rates(past.astimezone()) == self.model.at(past), past
        assert {run.id for run in self.worker.catalogue.own_runs(None)} == self.model.runs
        assert self.worker.catalogue.sign_ins() == self.model.sign_ins

    def what_happens(self) -> dict[Callable[[], None], int]:
        """How often, beside each other."""
        anywhere = {
            self.a_source_answers: 6, self.a_source_lies_about_one_rate: 2, self.a_source_lies_about_all_rates: 2,
            self.a_source_is_gone: 1, self.a_source_is_slow: 1, self.a_source_lists_nothing: 1, self.a_source_goes_back: 2,
            self.a_source_lists_a_region_no_more: 2, self.an_edition_is_published: 2, self.an_edition_is_sent_again: 2,
            self.an_edition_is_forged: 1, self.the_clock_goes_back: 2, self.the_time_zone_changes: 1,
            self.the_process_is_killed: 3, self.the_database_is_away: 1, self.the_worker_starts_anew: 1,
            self.redis_goes_or_comes: 1, self.slack_sends_a_command_twice: 2, self.a_run_is_added: 2, self.a_run_is_removed: 1,
            self.somebody_signs_in: 1, self.somebody_signs_out: 1,
        }  # fmt: skip
        of_a_file = {self.the_disk_is_full: 2, self.the_file_is_torn: 1, self.somebody_backs_up: 1}
        return anywhere | (of_a_file if self.is_file else {self.the_connection_breaks: 2})

    def goes_by(self) -> None:
        self.begins()
        weights = self.what_happens()
        while self.now < END:
            self.time_passes()
            [what] = self.chance.choices([*weights], [*weights.values()])
            self.happened[what.__name__] += 1
            what()
            self.a_visitor_asks()

    def begins(self) -> None:
        for name in LISTED:
            self.is_honest(name)
        self.an_edition_is_published()
        if self.is_file:
            self.somebody_backs_up()
        self.a_visitor_asks()

    def goes_on(self, step: timedelta) -> None:
        self.now += step
        self.up_seconds += step.total_seconds()

    def time_passes(self) -> None:
        """To the leap day at most, which no year leaves out. Now and then the worker has an answer of that moment in memory."""
        before, step = (
            self.now,
            timedelta(hours=self.chance.choice([1, 7, 24, 24 * 7, 24 * 30]), seconds=self.chance.random()),
        )
        self.now = LEAP_DAY if before < LEAP_DAY < before + step else before + step
        self.up_seconds += (self.now - before).total_seconds()
        if self.chance.random() < 0.2:
            assert self.worker.rates() == self.model.at(self.now)


def killed(_: Connection) -> None:
    raise Killed


def disconnected(connection: Connection) -> None:
    connection.connection.driver_connection.close()


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a year needs often, and nothing that happens in it changes, is read once. Books are short."""
    monkeypatch.setattr(refreshing, "load_evidence", evidence)
    monkeypatch.setattr(Book, "from_bytes", lru_cache(8)(Book.from_bytes))
    monkeypatch.setattr(publish, "ROWS_IN_A_BOOK", ROWS_IN_A_BOOK)


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The time zone afterwards is as it was."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        yield
    time.tzset()


@pytest.mark.parametrize(("seed", "store_url"), CASES, indirect=["store_url"])
@pytest.mark.usefixtures("cheap", "zone")
def test_in_a_simulated_year_every_answer_is_right(
    seed: int, tmp_path: Path, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    year = Year(seed, tmp_path, store_url)
    monkeypatch.setattr(refreshing, "ask_all", year.sources.ask_all)
    monkeypatch.setattr(replay, "monotonic", lambda: year.up_seconds)
    try:
        year.goes_by()
    finally:
        year.worker.close()
        print(*year.happened.items())
