from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace
from support.asking_here import ask_here
from support.histories import history
from support.prices import LATER, NOW, many, offer

from costcalc.hardware import Machine
from costcalc.offer import Gap, PurchaseOption
from pricing import refresh as refreshing
from pricing.refresh import LIMIT_VARIABLE, SourceResult, refresh, status, try_source
from pricing.scope import EVERYTHING, Scope
from pricing.sources import SOURCES, UnknownSource
from pricing.sources.common.http import Http, HttpError
from pricing.sources.running import Outcome, ask
from pricing.sources.source import Collected, CredentialsMissing, Environment, SourceError, SourceSpec
from pricing.store.changes import By
from pricing.store.store import Store

HOUR = timedelta(hours=1)
Collect = Callable[[datetime], Collected]


@dataclass
class Scripted:
    """A source that does what a test tells it to."""

    collect: Collect


Sources = dict[str, Collect]


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> Sources:
    """Put `name: collect` in, and `pricing.SOURCES` has it."""
    scripts: Sources = {}

    class Table(Mapping[str, SourceSpec]):
        def __getitem__(self, name: str) -> SourceSpec:
            collect = scripts[name]
            return SourceSpec(name, name, lambda environment, http: Scripted(collect))

        def __iter__(self) -> Iterator[str]:
            return iter(scripts)

        def __len__(self) -> int:
            return len(scripts)

    monkeypatch.setattr(refreshing, "SOURCES", Table())
    monkeypatch.setattr(refreshing, "ask_all", ask_here)
    return scripts


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path / 'prices.sqlite3'}")


def lists(*rates: str, **changes: object) -> Collect:
    """That many offers in regions of their own."""

    def collect(now: datetime) -> Collected:
        return Collected(tuple(offer(rate, now, region=f"region-{at}", **changes) for at, rate in enumerate(rates)))

    return collect


def fails(error: Exception) -> Collect:
    def collect(_: datetime) -> Collected:
        raise error

    return collect


def known(store: Store) -> dict[str, list[str]]:
    """Hourly rates by provider in the current snapshot."""
    catalogue = store.load_current()
    found: dict[str, list[str]] = {}
    for row in range(len(catalogue)):
        each = catalogue.offer(row)
        found.setdefault(each.provider, []).append(str(each.hourly_rate))
    return found


def test_all_sources_are_published_in_one_snapshot(sources: Sources, store: Store) -> None:
    sources |= {"aws": lists("3", "4"), "gcp": lists("2", provider="gcp")}
    seen: list[SourceResult] = []
    report = refresh([], store, {}, NOW, seen.append)
    assert report.exit_code == 0
    assert report.published.new == 3
    assert known(store) == {"aws": ["3", "4"], "gcp": ["2"]}
    assert {result.name for result in seen} == {"aws", "gcp"}
    assert tuple(seen) == report.results
    assert [(state.name, state.offers) for state in status(store)] == [("aws", 2), ("gcp", 1)]


@pytest.mark.parametrize("rate", ["1e10", "1e18", "1e40"])
def test_an_absurd_rate_costs_itself_alone(sources: Sources, store: Store, rate: str) -> None:
    sources |= {"aws": lists(*"34567"), "gcp": lists("2", provider="gcp")}
    refresh([], store, {}, NOW)
    sources |= {"aws": lists("3", "4", "5", "6", rate, rate), "gcp": lists("1", provider="gcp")}
    report = refresh([], store, {}, LATER)
    assert known(store) == {"aws": [*"34567"], "gcp": ["2", "1"]}
    assert ["costs more than 9,000,000,000" in gap.reason for gap in report.results[0].gaps] == [True]


def test_a_refresh_of_open_sources_alone_is_quick_and_names_what_it_left(
    sources: Sources, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[float] = []

    def ask_all(
        specs: Sequence[SourceSpec], environment: Environment, now: datetime, limit: float
    ) -> Iterator[Outcome]:
        limits.append(limit)
        yield Outcome("azure", 1.0, lists("3")(now))
        yield Outcome("oci", 20.0, None, "took longer than 20 s", late=True)

    monkeypatch.setattr(refreshing, "ask_all", ask_all)
    sources |= {"azure": lists("3"), "oci": lists("1")}
    report = refresh([], store, {}, NOW)
    assert [result.error for result in report.results] == [
        None,
        "took longer than 20 s; `costcalc prices refresh oci` waits longer",
    ]
    assert known(store) == {"aws": ["3"]}
    report = refresh(["azure", "oci"], store, {LIMIT_VARIABLE: "0.2"}, NOW)
    assert report.results[1].error == "took longer than 20 s"
    assert limits == [refreshing.QUICK_SECONDS, 0.2]


def test_what_answers_first_is_published_before_the_slowest(
    sources: Sources, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = {"aws": 6, "gcp": 7, "oci": 11, "azure": 13, "vast": 20}
    seconds = iter([0, *moments.values()])
    monkeypatch.setattr(refreshing, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    monkeypatch.setattr(refreshing, "ask_all", lambda specs, *given: (ask(spec, *given[:2]) for spec in specs))
    sources |= {name: lists("3", provider=name) for name in moments} | {"gcp": fails(SourceError("is down"))}
    seen: list[tuple[set[str], set[str]]] = []

    def watch(_: SourceResult) -> None:
        seen.append((set(known(store)), {gap.source for gap in store.gaps()}))

    report = refresh([], store, {}, NOW, watch)
    assert [providers for providers, _ in seen] == [{"aws"}] * 3 + [{"aws", "oci", "azure"}] * 2
    assert {gap for _, gaps in seen for gap in gaps} == set()
    assert set(known(store)) == set(moments) - {"gcp"}
    assert [(gap.source, gap.reason) for gap in store.gaps()] == [("gcp", "is down")]
    assert (report.published.new, report.published.snapshot) == (4, store.current_snapshot_id())
    assert {state.name for state in store.status() if state.succeeded_at} == set(moments) - {"gcp"}


def test_who_has_an_account_or_sets_the_seconds_is_waited_for() -> None:
    assert refreshing._limit({}, quick=True) <= 60
    assert refreshing._limit({}, quick=False) == refreshing.LIMIT_SECONDS
    assert refreshing._limit({LIMIT_VARIABLE: "300"}, quick=True) == 300
    assert {name for name, spec in SOURCES.items() if not spec.is_open} == {
        "aws", "digitalocean", "gcp", "jarvislabs", "lambda", "sheet",
    }  # fmt: skip


def test_a_source_that_may_be_asked_once_a_day_is_asked_once_a_day_unless_it_is_named(
    sources: Sources, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources |= {"page": lists("3"), "api": lists("2", provider="gcp")}
    each = refreshing.SOURCES["page"]
    monkeypatch.setattr(refreshing, "SOURCES", {**refreshing.SOURCES, "page": replace(each, at_most_every=23 * HOUR)})
    asked = [{result.name for result in refresh([], store, {}, NOW + hours * HOUR).results} for hours in (0, 1, 23)]
    assert asked == [{"page", "api"}, {"api"}, {"page", "api"}]
    assert [result.name for result in refresh(["page"], store, {}, NOW + 24 * HOUR).results] == ["page"]
    down = replace(each, build=lambda *_: Scripted(fails(SourceError("is down"))), at_most_every=24 * HOUR)
    monkeypatch.setattr(refreshing, "SOURCES", {**refreshing.SOURCES, "page": down})
    asked = [{result.name for result in refresh([], store, {}, NOW + hours * HOUR).results} for hours in (48, 53, 54)]
    assert asked == [{"page", "api"}, {"api"}, {"page", "api"}]
    edition, page = replace(each, name="edition"), replace(each, at_most_every=23 * HOUR)
    monkeypatch.setattr(refreshing, "SOURCES", {**refreshing.SOURCES, "page": page, "edition": edition})
    assert [
        {result.name for result in refresh([], store, {}, NOW + days * 24 * HOUR).results} for days in (3, 3.9, 4)
    ] == [
        {"page", "api", "edition"},
        {"api", "edition"},
        {"api", "edition"},
    ]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (CredentialsMissing("set COSTCALC_GCP_API_KEY"), "set COSTCALC_GCP_API_KEY"),
        (HttpError("https://prices answered 503"), "https://prices answered 503"),
        (KeyError("skus of key=hunter2"), "its answer could not be read (KeyError at "),
    ],
)
def test_a_failing_source_keeps_its_last_good_prices_and_is_a_gap(
    sources: Sources, store: Store, error: Exception, reason: str
) -> None:
    sources |= {"aws": lists("3"), "gcp": lists("2", provider="gcp")}
    refresh([], store, {}, NOW)
    sources |= {"aws": lists("3.1"), "gcp": fails(error)}
    report = refresh([], store, {}, LATER)
    assert report.exit_code == 1
    assert known(store) == {"aws": ["3", "3.1"], "gcp": ["2"]}
    [gap] = store.load_current().gaps
    assert (gap.source, gap.since) == ("gcp", NOW)
    assert gap.reason.startswith(reason)
    assert "hunter2" not in repr(store.status()) + repr(report)
    [state] = [state for state in status(store) if state.name == "gcp"]
    assert (state.succeeded_at, state.attempted_at, state.offers) == (NOW, LATER, 1)
    assert (state.error or "").startswith(reason)


def test_a_source_that_recovers_closes_its_gap(sources: Sources, store: Store) -> None:
    sources["aws"] = fails(HttpError("down"))
    refresh([], store, {}, NOW)
    assert store.gaps() == (Gap("aws", "down", NOW),)
    refresh([], store, {}, LATER)
    assert store.gaps() == (Gap("aws", "down", NOW),), "it has been open since then"
    sources["aws"] = lists("3")
    assert refresh([], store, {}, LATER).exit_code == 0
    assert store.gaps() == ()


def test_one_source_alone_leaves_the_others_gaps(sources: Sources, store: Store) -> None:
    sources |= {"aws": lists("3"), "gcp": fails(HttpError("down"))}
    refresh([], store, {}, NOW)
    assert refresh(["AWS"], store, {}, LATER).exit_code == 0
    assert [gap.source for gap in store.gaps()] == ["gcp"]


def test_a_listing_that_is_refused_costs_only_its_own_source(sources: Sources, store: Store) -> None:
    sources |= {"aws": lists("3", "4"), "gcp": lists("2", provider="gcp")}
    refresh([], store, {}, NOW)
    sources |= {"aws": lists("310", "400"), "gcp": lists("2.1", provider="gcp")}
    report = refresh([], store, {}, LATER)
    assert report.exit_code == 1
    assert known(store) == {"aws": ["3", "4"], "gcp": ["2", "2.1"]}
    [gap] = store.gaps()
    assert gap.source == "aws"
    assert "not taken over: p3.2xlarge in region-0, on demand, jumps from 3 to 310" in gap.reason


def test_an_odd_offer_is_left_out_by_name_and_the_rest_is_published(sources: Sources, store: Store) -> None:
    sources["aws"] = lists(*["3"] * 10)
    refresh([], store, {}, NOW)
    sources["aws"] = lists("16", *["4"] * 9)
    report = refresh([], store, {}, LATER)
    assert (report.exit_code, report.results[0].error, len(report.results[0].offers)) == (0, None, 9)
    [gap] = store.gaps()
    assert gap.reason == "looks odd, left out: p3.2xlarge in region-0, on demand, jumps from 3 to 16"
    catalogue = store.load_current()
    standing = [str(catalogue.offer(row).hourly_rate) for row in catalogue.current_offers(LATER).rows]
    assert sorted(standing) == ["3", *["4"] * 9], "the last good rate of the odd one stands"


def test_what_looks_odd_in_ones_own_sheet_is_kept_with_a_warning(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = tmp_path / "rates.csv"
    columns = "provider,region,instance_type,accelerator,accelerators,purchase_option,hourly_rate,currency\n"
    sheet.write_text(columns + "acme,here,four,H100,4,on_demand,16,USD\nacme,here,eight,H100,8,on_demand,15,USD\n")
    monkeypatch.setattr(refreshing, "SOURCES", {"sheet": SOURCES["sheet"]})
    report = refresh([], store, {"COSTCALC_SHEET": str(sheet)}, NOW)
    assert (report.exit_code, known(store)) == (0, {"acme": ["15", "16"]})
    [gap] = store.gaps()
    assert gap.reason == "looks odd, kept as typed: eight in here, on demand own, at 15 is below half as many at 16"


def test_a_rate_in_quarantine_passes_once_a_person_released_it(sources: Sources, store: Store) -> None:
    sources["aws"] = lists("3")
    refresh([], store, {}, NOW)
    sources["aws"] = lists("30")
    assert refresh([], store, {}, LATER).exit_code == 1
    [odd] = store.quarantined()
    assert (odd.origin, odd.since, odd.reason) == (
        "aws",
        LATER,
        "p3.2xlarge in region-0, on demand, jumps from 3 to 30",
    )
    store.release([odd], By("anna", LATER))
    sources["aws"] = lists("31")
    assert refresh([], store, {}, LATER).exit_code == 1, "another rate than the released one"
    [odd] = store.quarantined()
    store.release([odd], By("anna", LATER))
    assert (refresh([], store, {}, LATER).exit_code, store.quarantined()) == (0, [])
    assert known(store)["aws"][-1] == "31"


def test_a_rate_that_is_listed_unchanged_for_a_day_is_taken_over(sources: Sources, store: Store) -> None:
    rates = ["4"] * 9
    sources["aws"] = lists("3", *rates)
    refresh([], store, {}, NOW)
    moments = [NOW + timedelta(hours=hours) for hours in (1, 2, 3, 26, 27)]
    for moment, rate in zip(moments, ("16", "17", "16", "16", "16"), strict=True):
        sources["aws"] = lists(rate, *rates)
        refresh([], store, {}, moment)
        standing = "16" if moment == moments[-1] else "3"
        assert cheapest_or_odd(store, moment) == standing, "counted from when it was first listed unchanged"
    assert store.quarantined() == []


def cheapest_or_odd(store: Store, moment: datetime) -> str:
    catalogue = store.load_current()
    [row] = [row for row in catalogue.current_offers(moment).rows if catalogue.offer(row).region == "region-0"]
    return str(catalogue.offer(row).hourly_rate)


def test_a_rate_that_fits_again_leaves_quarantine(sources: Sources, store: Store) -> None:
    rates = ["4"] * 9
    for hours, rate in enumerate(("3", "16", "3.1")):
        sources["aws"] = lists(rate, *rates)
        refresh([], store, {}, NOW + timedelta(hours=hours))
        assert len(store.quarantined()) == (rate == "16")


def test_a_listing_that_is_refused_at_large_passes_only_by_hand(sources: Sources, store: Store) -> None:
    sources["aws"] = lists("3", "4")
    refresh([], store, {}, NOW)
    sources["aws"] = lists("300", "400")
    for days in (1, 2, 3):
        assert refresh([], store, {}, NOW + timedelta(days=days)).exit_code == 1
    store.release(store.quarantined(), By("anna", LATER))
    assert refresh([], store, {}, NOW + timedelta(days=4)).exit_code == 0


def test_two_rates_that_do_not_fit_each_other_stand_once_both_are_released(sources: Sources, store: Store) -> None:
    def ladder(now: datetime) -> Collected:
        four, eight = (
            replace(offer(rate, now, instance_type=name), machine=Machine("V100", count))
            for name, rate, count in (("four", "16", 4), ("eight", "15", 8))
        )
        return Collected((four, eight, *lists(*["4"] * 9)(now).offers))

    sources["aws"] = ladder
    refresh([], store, {}, NOW)
    assert len(store.quarantined()) == 2
    store.release(store.quarantined(), By("anna", NOW))
    for hours in (1, 2):
        refresh([], store, {}, NOW + timedelta(hours=hours))
        assert store.quarantined() == []
    assert {"15", "16"} < set(known(store)["aws"])


def test_many_violations_are_counted_not_listed(sources: Sources, store: Store) -> None:
    sources["aws"] = lists(*"12345", machine=Machine("V1000", 1))
    refresh([], store, {}, NOW)
    [gap] = store.gaps()
    assert gap.reason.endswith("; and 2 more")


def test_a_part_that_is_silent_is_a_gap_of_its_own_and_no_failure(sources: Sources, store: Store) -> None:
    part = Gap("aws", "Savings Plans: the account may not call savingsplans:DescribeSavingsPlansOfferingRates")
    sources["aws"] = lambda now: replace(lists("3")(now), gaps=(part,))
    assert refresh([], store, {}, NOW).exit_code == 0
    refresh([], store, {}, LATER)
    assert store.gaps() == (replace(part, since=NOW),)
    assert known(store) == {"aws": ["3", "3"]}


def test_a_part_that_breaks_is_a_gap_and_ends_with_1_and_its_last_rates_stand(sources: Sources, store: Store) -> None:
    sources["aws"] = lists("3", "1")
    refresh([], store, {}, NOW)
    fault = Gap("aws", "spot prices: ec2:DescribeSpotPriceHistory answered 503")
    sources["aws"] = lambda now: replace(lists("3.1")(now), faults=(fault,))
    report = refresh([], store, {}, LATER)
    assert (report.exit_code, report.results[0].error) == (1, None)
    assert known(store) == {"aws": ["3", "3.1", "1"]}
    assert replace(fault, since=LATER) in store.gaps()
    [state] = status(store)
    assert (state.succeeded_at, state.offers, state.error) == (LATER, 1, fault.reason)
    sources["aws"] = lists("3.1", "1")
    assert refresh([], store, {}, LATER).exit_code == 0
    assert (store.gaps(), status(store)[0].error) == ((), None)


@pytest.mark.parametrize("name", ["gcp", "lambda", "digitalocean", "sheet"])
def test_a_source_that_is_not_configured_is_skipped_unless_it_is_named(
    store: Store, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = SourceSpec("public", "Public", lambda environment, http: Scripted(lists("3")))
    monkeypatch.setattr(refreshing, "SOURCES", {name: SOURCES[name], "public": public})
    monkeypatch.setattr(refreshing, "ask_all", ask_here)
    report = refresh([], store, {}, NOW)
    assert report.exit_code == 0
    assert (store.gaps(), [state.name for state in store.status()]) == ((), ["public"])
    [skipped] = [result for result in report.results if result.name == name]
    assert (skipped.offers, skipped.error) == ((), None)
    assert (skipped.missing or "").startswith("set COSTCALC_")
    named = refresh([name], store, {}, LATER)
    assert named.exit_code == 1
    assert named.results[0].error == skipped.missing
    assert [gap.source for gap in store.gaps()] == [name]
    assert try_source(name, {}, NOW).error == named.results[0].error


def test_a_shorter_listing_is_published_and_flagged(sources: Sources, store: Store) -> None:
    sources["aws"] = lists("3", "4", "5")
    refresh([], store, {}, NOW)
    sources["aws"] = lists("3", "4.5")
    assert refresh([], store, {}, LATER).exit_code == 0
    [gap] = store.gaps()
    assert gap.reason == "lists 2 offers, 3 last time: the others stand as last observed"
    view = store.load_current().current_offers(LATER)
    assert len(view.rows) == 3


def test_what_a_source_says_of_itself_is_told_in_lines(sources: Sources, store: Store) -> None:
    evil = "a\n\x1b[31mb\u202ec"
    partly = Collected((offer(), offer(region="there")), (Gap("gcp", evil),), (Gap("gcp", evil),))
    sources |= {"aws": fails(SourceError(evil)), "gcp": lambda _: partly}
    results = {result.name: result for result in refresh([], store, {}, NOW).results}
    assert results["aws"].error == "a [31mb c"
    assert {gap.reason for gap in (*results["gcp"].gaps, *results["gcp"].faults)} == {"a [31mb c"}
    assert all(gap.reason.isprintable() for gap in store.gaps())


def test_an_empty_listing_is_a_failure(sources: Sources, store: Store) -> None:
    sources["aws"] = lambda _: Collected((), (Gap("aws", "spot: denied"),))
    assert refresh([], store, {}, NOW).exit_code == 1
    assert store.gaps()[0].reason == "listed no offers; spot: denied"


def test_an_offer_listed_twice_at_different_rates_is_left_out_and_named(sources: Sources, store: Store) -> None:
    sources["aws"] = lambda now: Collected(
        (offer("3", now), offer("3.5", now), offer("2", now, region="x"), offer("2", now, region="x"))
    )
    assert refresh([], store, {}, NOW).exit_code == 0
    assert known(store) == {"aws": ["2"]}
    [gap] = store.gaps()
    assert gap.reason == "listed twice at different rates, left out: us-east-1 p3.2xlarge on_demand"


def test_trying_a_source_stores_nothing(sources: Sources, store: Store) -> None:
    sources |= {"aws": lists("3", "4"), "gcp": fails(HttpError("down"))}
    tried = try_source("aws", {}, NOW)
    assert (tried.name, len(tried.offers), tried.error) == ("aws", 2, None)
    assert try_source("gcp", {}, NOW).error == "down"
    assert store.current_snapshot_id() is None


def test_a_misspelt_source_names_the_nearest(sources: Sources, store: Store) -> None:
    sources["aws"] = lists("3")
    with pytest.raises(UnknownSource, match="'awss': did you mean aws"):
        refresh(["awss"], store, {}, NOW)
    with pytest.raises(UnknownSource, match="there are aws"):
        try_source("xyz", {}, NOW)


def test_an_unchanged_world_adds_no_observation(sources: Sources, store: Store) -> None:
    blocks = {"purchase_option": PurchaseOption.CAPACITY_BLOCK, "term": "1d"}
    sources["aws"] = lambda now: Collected(
        (*many(5, "3", now), offer("40", now, flags=(f"starts={now:%Y-%m-%dT%H:%MZ}", "zone=us-east-1a"), **blocks))
    )
    refresh([], store, {}, NOW)
    for hours in (1, 2, 30):
        report = refresh([], store, {}, NOW + timedelta(hours=hours))
        assert (report.published.new, report.published.seen_again) == (0, 6)
    assert len(history(store, "p3.2xlarge")) == 6


def test_sessions_are_closed_whatever_happens(sources: Sources, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[bool] = []
    monkeypatch.setattr(Http, "close", lambda _: closed.append(True))
    sources |= {"aws": lists("3"), "gcp": fails(RuntimeError("x"))}
    refresh([], store, {}, NOW)
    assert len(closed) == 2


def test_settings_reach_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Environment] = []

    def build(environment: Environment, http: Http) -> Scripted:
        given.append(environment)
        return Scripted(lists("3"))

    monkeypatch.setattr(refreshing, "SOURCES", {"aws": SourceSpec("aws", "AWS", build)})
    monkeypatch.setattr(refreshing, "ask_all", ask_here)
    try_source("aws", {"AWS_ENDPOINT_URL_PRICING": "http://127.0.0.1:1"}, NOW)
    assert given == [{"AWS_ENDPOINT_URL_PRICING": "http://127.0.0.1:1"}]


def whole(*regions: str, rate: str = "3", scopes: tuple[Scope, ...] = (EVERYTHING,), **changes: object) -> Collect:
    """One offer in each of these regions, and no others are to be had."""

    def collect(now: datetime) -> Collected:
        return Collected(tuple(offer(rate, now, region=region, **changes) for region in regions), whole=scopes)

    return collect


def regions(store: Store, as_of: datetime) -> list[str]:
    """Where offers stand at a moment."""
    catalogue = store.load_current()
    return sorted(catalogue.offer(row).region for row in catalogue.current_offers(as_of).rows)


def test_what_a_source_no_longer_lists_is_gone_at_once_named_and_was_there_before(
    sources: Sources, store: Store
) -> None:
    sources["aws"] = whole("a", "b")
    refresh([], store, {}, NOW)
    sources["aws"] = whole("a", "c")
    report = refresh([], store, {}, LATER)
    assert (report.exit_code, report.ended) == (0, [("aws", ["p3.2xlarge, on demand, in b"])])
    assert [gap.reason for gap in store.gaps()] == ["no longer listed, ended: p3.2xlarge, on demand, in b"]
    just_before = LATER - timedelta(seconds=1)
    assert (regions(store, LATER), regions(store, just_before), regions(store, NOW)) == (
        ["a", "c"],
        ["a", "b"],
        ["a", "b"],
    )
    for hours in (2, 3):
        again = refresh([], store, {}, NOW + timedelta(hours=hours))
        assert (again.published.new, again.ended, store.gaps()) == (0, [], ())


def test_an_offer_that_comes_back_stands_again_even_if_its_own_date_is_older(sources: Sources, store: Store) -> None:
    day, listings = NOW - timedelta(days=1), []
    for hours, listing in enumerate((("a", "b"), ("a",), ("a", "b"))):
        dated = whole(*listing, scopes=(Scope(read_at=day),))(day)
        sources["aws"] = lambda _, dated=dated: dated
        refresh([], store, {}, NOW + timedelta(hours=hours))
        listings.append(regions(store, NOW))
    assert listings == [["a", "b"], ["a"], ["a", "b"]]


def test_what_a_listing_of_days_ago_lacks_stands_where_it_was_seen_since(sources: Sources, store: Store) -> None:
    sources |= {"aws": whole("a", "b"), "skypilot": whole("a", scopes=(Scope(read_at=NOW - timedelta(days=3)),))}
    refresh(["aws"], store, {}, NOW)
    sources["skypilot"] = lambda now, before=sources["skypilot"]: before(now - timedelta(days=3))
    refresh(["skypilot"], store, {}, LATER)
    assert regions(store, LATER) == ["a", "b"]


def test_a_copy_of_observations_adds_them_under_their_dates_once(sources: Sources, store: Store) -> None:
    days = timedelta(days=1)
    rates = {0: "3", 2: "2", 3: "4"}
    for number, ago in enumerate((2, 0, 3, 3, 2)):
        sources["skypilot"] = lambda now, ago=ago: lists(rates[ago])(NOW - ago * days)
        report = refresh([], store, {}, NOW + number * timedelta(hours=1))
        assert report.published.new == (number < 3)
    rates_by_day = [(str(seen.offer.hourly_rate), seen.offer.observed_at) for seen in history(store, "p3.2xlarge")]
    assert rates_by_day == [("4", NOW - 3 * days), ("2", NOW - 2 * days), ("3", NOW)]


def test_a_rate_far_from_what_anybody_said_last_is_left_out_of_a_fresh_store(sources: Sources, store: Store) -> None:
    store.publish([SourceResult("packaged", 0, (offer("3.99", NOW - timedelta(days=40), region="region-0"),))], NOW)
    sources["voltage"] = lists("39.90", "4")
    refresh([], store, {}, LATER)
    assert known(store)["aws"] == ["3.99", "4"]
    assert [each.reason for each in store.quarantined()] == [
        "p3.2xlarge in region-0, on demand, jumps from 3.99 to 39.90"
    ]


def announces(rate: str, announced: str, day: datetime) -> Collect:
    """An offer at this rate, and what it is to cost from that day on."""

    def collect(now: datetime) -> Collected:
        later = (offer(announced, now, effective_from=day),) if announced and now < day else ()
        return Collected((offer(announced if announced and now >= day else rate, now), *later), whole=(EVERYTHING,))

    return collect


def headline(store: Store, moment: datetime) -> list[str]:
    catalogue = store.load_current()
    return [str(catalogue.offer(row).hourly_rate) for row in catalogue.current_offers(moment).rows.tolist()]


def test_an_announced_rate_counts_from_its_day(sources: Sources, store: Store) -> None:
    day = NOW + timedelta(days=20)
    sources["lambda"] = announces("3", "4", day)
    for ago in (0, 1, 21):
        report = refresh([], store, {}, NOW + timedelta(days=ago))
        assert report.ended == []
    moments = [NOW, day - timedelta(seconds=1), day, NOW + timedelta(days=21)]
    assert [headline(store, moment) for moment in moments] == [["3"], ["3"], ["4"], ["4"]]


def test_an_announcement_that_is_taken_back_never_counts(sources: Sources, store: Store) -> None:
    day = NOW + timedelta(days=20)
    sources["lambda"] = announces("3", "4", day)
    refresh([], store, {}, NOW)
    sources["lambda"] = announces("3", "", day)
    assert [refresh([], store, {}, NOW + timedelta(days=ago)).published.new for ago in (1, 2)] == [1, 0]
    assert [headline(store, moment) for moment in (NOW, day)] == [["3"], ["3"]]


@pytest.mark.parametrize(
    "scopes",
    [
        (),
        (Scope(regions=frozenset("a")),),
        (Scope(purchase_options=frozenset({"spot"})),),
        (Scope("gcp"),),
        (Scope(terms=frozenset({"1y"})),),
        (Scope(apart_from=frozenset({"p3.2xlarge"})),),
    ],
    ids=["nothing", "region", "option", "provider", "term", "apart"],
)
def test_what_was_not_read_whole_ends_nothing(sources: Sources, store: Store, scopes: tuple[Scope, ...]) -> None:
    sources["aws"] = whole("a", "b")
    refresh([], store, {}, NOW)
    sources["aws"] = whole("a", scopes=scopes)
    assert refresh([], store, {}, LATER).ended == []
    assert regions(store, LATER) == ["a", "b"]


def test_a_source_that_fails_ends_nothing(sources: Sources, store: Store) -> None:
    sources["aws"] = whole("a", "b")
    refresh([], store, {}, NOW)
    sources["aws"] = fails(HttpError("down"))
    assert refresh([], store, {}, LATER).ended == []
    assert regions(store, LATER) == ["a", "b"]


def test_an_odd_offer_was_listed_and_does_not_end(sources: Sources, store: Store) -> None:
    names = [f"region-{number}" for number in range(10)]
    sources["aws"] = whole(*names)
    refresh([], store, {}, NOW)
    sources["aws"] = lambda now: replace(lists("16", *["4"] * 9)(now), whole=(EVERYTHING,))
    assert refresh([], store, {}, LATER).ended == []
    assert regions(store, LATER) == names


def test_a_row_deleted_from_ones_own_sheet_is_gone_at_the_next_refresh(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = tmp_path / "rates.csv"
    columns = (
        "provider,region,instance_type,accelerator,accelerators,purchase_option,hourly_rate,currency,observed_at\n"
    )
    rows = ("acme,a,eight,H100,8,on_demand,16,USD,2026-11-01\n", "acme,b,eight,H100,8,on_demand,0.48,USD,2026-11-01\n")
    monkeypatch.setattr(refreshing, "SOURCES", {"sheet": SOURCES["sheet"]})
    for hours, kept in enumerate((rows, rows[:1], rows)):
        sheet.write_text(columns + "".join(kept))
        assert refresh([], store, {"COSTCALC_SHEET": str(sheet)}, NOW + timedelta(hours=hours)).exit_code == 0
    assert [regions(store, NOW + timedelta(hours=hours)) for hours in range(3)] == [["a", "b"], ["a"], ["a", "b"]]
