"""Refreshing prices: ask every source, check what it lists, publish what holds in one snapshot, record the rest as gaps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from difflib import get_close_matches
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from costcalc.evidence import load_evidence
from costcalc.fields import filled
from costcalc.offer import ANY_SOURCE, OFF_MARKET, YOURS, Gap, Offer
from pricing.checks import ListingRefused, SourceListing, Violation, ended_names, in_words, shortened, sound, violations
from pricing.market import Market, market
from pricing.packaged.catalogue import packaged_catalogue
from pricing.recording import Recording
from pricing.scope import Key
from pricing.sources import SOURCES, UnknownSource
from pricing.sources.running import Outcome, ask, ask_all
from pricing.sources.source import Environment, SourceSetting, SourceSpec
from pricing.store.book import PACKAGED
from pricing.store.publish import Published, SourceResult
from pricing.store.quarantine import Inspection, Quarantined, Rate, rate_of
from pricing.store.store import SourceState, Store

LIMIT_SECONDS, QUICK_SECONDS = 1800.0, 55.0
UNWATCHED_SECONDS = 300.0  # of a refresh for which nobody waits, and whose lease holds up others where it dies
FIRST_PART_SECONDS = 5.0  # what came in by then is published before the rest; the next part after twice the time
LIMIT_VARIABLE = "COSTCALC_REFRESH_SECONDS"
EDITION = "edition"  # the source that reads what others published
TRIES_OF_A_FAILURE = 4  # in the time after which a source that answered is asked again
REPEATED_AFTER = timedelta(days=1)  # a rate that looks odd is taken over once it was listed unchanged for so long
SETTINGS = (
    SourceSetting(
        LIMIT_VARIABLE,
        "The number of seconds that a refresh waits for its price sources. If unset, a refresh that names no source waits "
        f"{QUICK_SECONDS:g} while no account is set up, and a server's own {UNWATCHED_SECONDS:g}.",
        f"{LIMIT_SECONDS:g}",
    ),
)


class RefreshReport(Struct, frozen=True):
    """What a refresh published, and what came of each source, in the order they finished."""

    published: Published
    results: tuple[SourceResult, ...]

    @property
    def ended(self) -> list[tuple[str, list[str]]]:
        """By source, the names of the offers that it no longer lists."""
        return list(ended_names(self.published.ended).items())

    @property
    def exit_code(self) -> int:
        """0 when every source was fine, 1 when some failed or broke in part."""
        return int(any(result.error or result.faults for result in self.results))


Watch = Callable[[SourceResult], None]


def refresh(
    names: Iterable[str],
    store: Store,
    environment: Environment,
    now: datetime,
    watch: Watch = lambda _: None,
    limit_seconds: float | None = None,
) -> RefreshReport:
    """Ask these sources, or all that are configured if none is named, and publish what holds: in one snapshot, or in several
    where some sources take long.

    `watch` is called for each source as it finishes, first for those that could not be asked. `limit_seconds` takes the place
    of the usual limit. Raises UnknownSource, StoreBusy, StoreUnavailable.
    """
    named = list(names)
    specs, skipped = (chosen(named), ()) if named else _configured(_due(store, now), environment)
    limit = limit_seconds or _limit(environment, not named and all(spec.is_open for spec in specs))
    checker, parts = _Checker(store, now), _Parts(store, now)
    for each in skipped:
        watch(each)
    for outcome in ask_all(specs, environment, now, limit):
        error = outcome.error
        if outcome.late and limit == QUICK_SECONDS:
            error = f"{error}; `costcalc prices refresh {outcome.name}` waits longer"
        result = checker.result(replace(outcome, error=error))
        parts.add(result)
        watch(result)
    return RefreshReport(parts.published(), (*parts.results, *skipped))


def try_source(name: str, environment: Environment, now: datetime, recording: Recording | None = None) -> SourceResult:
    """Ask one source and check its listing, without its past; store nothing. Raises UnknownSource.

    Where a recording is kept, this process asks: what it keeps has no place in the bounds of a source.
    """
    [spec] = chosen([name])
    if recording is None:
        [outcome] = ask_all([spec], environment, now, _limit(environment, quick=False))
    else:
        outcome = ask(spec, environment, now, recording)
    return _Checker(None, now).result(outcome)


def recording_of(name: str, environment: Environment) -> Recording:
    """An empty recording of a source, which keeps none of its secrets. Raises UnknownSource."""
    [spec] = chosen([name])
    return Recording(environment.get(variable, "") for variable in spec.secrets)


def status(store: Store) -> list[SourceState]:
    """The last result of every source, by name, including those never asked."""
    states = {state.name: state for state in store.status()}
    names = sorted({*SOURCES, *states})
    return [states.get(name) or SourceState(name, None, None, None, None, None) for name in names]


def chosen(names: Iterable[str]) -> list[SourceSpec]:
    """The sources of these names, or all sources if none is named. Raises UnknownSource."""
    wanted = list(dict.fromkeys(name.lower() for name in names)) or list(SOURCES)
    for name in wanted:
        if name not in SOURCES:
            near = get_close_matches(name, SOURCES, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(SOURCES)}"
            raise UnknownSource(f"no price source is called {name!r}: {hint}")
    return [SOURCES[name] for name in wanted]


def quarantined(store: Store) -> dict[str, list[Quarantined]]:
    """By source, the rates that its last listing held and that look odd."""
    by_source: dict[str, list[Quarantined]] = {}
    for each in store.quarantined():
        by_source.setdefault(each.origin, []).append(each)
    return by_source


def withdrawable(name: str) -> str:
    """The name of a source, or of the packaged prices, as the store knows it. Raises UnknownSource."""
    if name.lower() == PACKAGED:
        return PACKAGED
    [spec] = chosen([name])
    return spec.name


def _due(store: Store, now: datetime) -> list[SourceSpec]:
    """All sources, except those asked as recently as allowed, or whose rates a published edition has as recently.

    If none answered last time, all are due: they did not fail.
    """
    if any(gap.source == ANY_SOURCE for gap in store.gaps()):
        return chosen(())
    states = {state.name: state for state in store.status()}
    published = states[EDITION].observed_at if EDITION in states else None

    def is_due(spec: SourceSpec) -> bool:
        state = states.get(spec.name)
        failed = state is not None and state.attempted_at != state.succeeded_at
        pause = spec.at_most_every / (TRIES_OF_A_FAILURE if failed else 1)
        is_published = spec.is_public and published is not None and published + spec.at_most_every > now
        return not is_published and (state is None or state.attempted_at is None or state.attempted_at + pause <= now)

    return list(filter(is_due, chosen(())))


def _configured(specs: list[SourceSpec], environment: Environment) -> tuple[list[SourceSpec], tuple[SourceResult, ...]]:
    """The sources that can be asked, and for each of the others a result that says what to set."""
    missing = {spec.name: spec.missing(environment) for spec in specs}
    skipped = tuple(SourceResult(name, 0.0, missing=message) for name, message in missing.items() if message)
    return [spec for spec in specs if not missing[spec.name]], skipped


class _Checker:
    """Checks listings by the rules and by what the store knows of the past, whoever stated it."""

    def __init__(self, store: Store | None, now: datetime) -> None:
        self._store, self._now = store, now
        self._accelerators = frozenset(load_evidence().accelerators)
        self._states = {state.name: state for state in store.status()} if store else {}

    @cached_property
    def _market(self) -> Market:
        stored = self._store and self._store.current_snapshot_id()
        catalogue = self._store.load_current() if self._store and stored else packaged_catalogue()
        return market(catalogue, self._now)

    @cached_property
    def _last_rates(self) -> Mapping[Key, Decimal]:
        return self._store.last_rates() if self._store else {}

    def result(self, outcome: Outcome) -> SourceResult:
        """The listing with its gaps, or its failure."""
        collected = outcome.collected
        if collected is None:
            return self._failed(outcome, outcome.error or "no answer")
        if self._store and (edition := collected.edition):
            of_signer = (taken for taken in self._store.taken_editions() if taken.key == edition.key)
            if fault := next(map(edition.fault_after, of_signer), None):
                return self._failed(outcome, f"the edition of {edition.made_at:%Y-%m-%d %H:%M} UTC {fault}")
        offers, conflicts = _unambiguous(collected.offers, outcome.name)
        if not offers:
            reasons = [gap.reason for gap in (*collected.faults, *collected.gaps, *conflicts)]
            return self._failed(outcome, "; ".join(["listed no offers", *reasons]))
        try:
            kept, odd, inspection = self._inspected(outcome.name, offers)
        except ListingRefused as refused:
            failed = self._failed(outcome, str(refused))
            return replace(failed, inspection=Inspection(outcome.name, _reasons(refused.broken)))
        kept = self._market.flagged(kept)
        parts, faults = (
            tuple(replace(gap, source=outcome.name) for gap in gaps) for gaps in (collected.gaps, collected.faults)
        )
        others = self._far_off_or_shorter(outcome.name, kept, len(offers), bool(collected.whole))
        return filled(
            SourceResult,
            outcome,
            collected,
            offers=kept,
            gaps=(*faults, *parts, *conflicts, *odd, *others),
            faults=faults,
            left_out=frozenset(offer.key for offer in collected.offers) - {offer.key for offer in kept},
            inspection=inspection,
            is_own=SOURCES[outcome.name].is_own,
            as_usual=("missing",),
        )

    def _far_off_or_shorter(self, name: str, kept: Sequence[Offer], count: int, is_whole: bool) -> Iterator[Gap]:
        """What is odd about a listing that was taken over. One of which no part was read whole may have lost offers since last
        time; their old rates stand."""
        if far_off := [self._market.comparison(offer) for offer in kept if OFF_MARKET in offer.flags]:
            yield Gap(name, f"far off the market, not confirmed: {shortened(far_off)}")
        before = self._states.get(name)
        if not is_whole and before and count < (before.offers or 0):
            yield Gap(name, f"lists {count} offers, {before.offers} last time: the others stand as last observed")

    def _inspected(self, name: str, offers: tuple[Offer, ...]) -> tuple[tuple[Offer, ...], tuple[Gap, ...], Inspection]:
        """The offers without odd ones, and a gap that names those; the user's own rates are kept, and the gap is a warning.

        What repeated is taken over, but not out of a listing that is refused.
        """
        store = self._store
        left_out, released = store.quarantine_of(name) if store else ([], frozenset[Rate]())
        facts = offers, self._accelerators, self._last_rates, self._now
        listing = SourceListing(*facts, lambda offer: rate_of(offer) in released)
        if SOURCES[name].is_own:
            broken: Sequence[Violation] = violations(listing)
            warning = (Gap(name, f"looks odd, kept as typed: {in_words(broken)}"),) if broken else ()
            offers = tuple(replace(offer, flags=(*offer.flags, YOURS)) for offer in offers)
            return offers, warning, Inspection(name, {})
        sound(listing)
        repeated = frozenset(each.rate for each in left_out if each.since <= self._now - REPEATED_AFTER)
        kept, broken = sound(replace(listing, accepts=lambda offer: rate_of(offer) in released | repeated))
        gaps = (Gap(name, f"looks odd, left out: {in_words(broken)}"),) if broken else ()
        return kept, gaps, Inspection(name, _reasons(broken), repeated & {rate_of(offer) for offer in kept})

    def _failed(self, outcome: Outcome, reason: str) -> SourceResult:
        before = self._states.get(outcome.name)
        gap = Gap(outcome.name, reason, before.succeeded_at if before else None)
        return SourceResult(outcome.name, outcome.seconds, (), (gap,), reason)


def _reasons(broken: Iterable[Violation]) -> dict[Rate, str]:
    """For each rate that only looks odd, the first rule that it breaks."""
    odd = [each for each in broken if each.is_only_odd]
    return {rate_of(offer): each.sentence for each in reversed(odd) for offer in each.offers}


def _unambiguous(offers: Iterable[Offer], name: str) -> tuple[tuple[Offer, ...], tuple[Gap, ...]]:
    """The offers without those listed twice at different rates, since nobody can tell which rate holds."""
    by_key: dict[tuple[Key, datetime | None], Offer] = {}
    conflicts: dict[tuple[Key, datetime | None], Offer] = {}
    for offer in offers:
        key = offer.key, offer.announced_for
        first = by_key.setdefault(key, offer)
        if (first.hourly_rate, first.upfront, first.currency) != (offer.hourly_rate, offer.upfront, offer.currency):
            conflicts[key] = offer
    kept = tuple(offer for key, offer in by_key.items() if key not in conflicts)
    if not conflicts:
        return kept, ()
    names = shortened([" ".join(filter(None, key[1:])) for key, _ in conflicts])
    return kept, (Gap(name, f"listed twice at different rates, left out: {names}"),)


class _Parts:
    """Publishes what comes in: the first part soon, each later one after twice the time, the last with what failed."""

    def __init__(self, store: Store, now: datetime) -> None:
        self.results: list[SourceResult] = []
        self._store, self._now = store, now
        self._unpublished: list[SourceResult] = []
        self._published: list[Published] = []
        self._started, self._due_after = time.monotonic(), FIRST_PART_SECONDS

    def add(self, result: SourceResult) -> None:
        """Adds the result of a source that has answered or failed."""
        self.results.append(result)
        self._unpublished.append(result)
        elapsed = time.monotonic() - self._started
        good = [each for each in self._unpublished if not each.error]
        if good and elapsed >= self._due_after:
            self._published.append(self._store.publish(good, self._now))
            self._unpublished = [each for each in self._unpublished if each.error]
            self._due_after = 2 * elapsed

    def published(self) -> Published:
        """All that was published, with the rest published now. If none of several sources answered, one gap says so for all: the
        network is missing."""
        if self._unpublished or not self._published:
            rest = self._unpublished
            if len(self.results) > 1 and all(result.error for result in self.results):
                nothing = Gap(ANY_SOURCE, "none of them answered")
                rest = [replace(each, gaps=() if number else (nothing,)) for number, each in enumerate(rest)]
            self._published.append(self._store.publish(rest, self._now))
        ended = tuple(each for part in self._published for each in part.ended)
        new, seen_again = (sum(getattr(part, name) for part in self._published) for name in ("new", "seen_again"))
        return Published(self._published[-1].snapshot, new, seen_again, ended)


def unwatched_seconds(environment: Environment) -> float:
    """How long a refresh that names no source, and for which nobody waits, gives its sources at most."""
    specs, _ = _configured(chosen(()), environment)
    limit = _limit(environment, all(spec.is_open for spec in specs))
    return UNWATCHED_SECONDS if limit == QUICK_SECONDS else limit


def _limit(environment: Environment, quick: bool) -> float:
    return float(environment.get(LIMIT_VARIABLE) or (QUICK_SECONDS if quick else LIMIT_SECONDS))
