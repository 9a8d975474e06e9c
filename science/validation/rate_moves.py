"""How often the range of a rate's age held what was seen later, and what it costs to pick by rates as they were seen.

`python -m science.validation.rate_moves` prints both: what was seen in the last days is held back, or a whole provider.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from math import exp, log
from typing import NamedTuple

from costcalc.rate_moves import HYPERSCALER, OTHER_CLOUD, STILL, Moves
from pricing.packaged.offers import read_packaged
from science.fitting.rate_moves import Seen, learned, seen_rates

HELD_BACK = (30, 60, 120, 180)
LEFT_OUT, AHEAD = "providers left out", "held back"
TRUE_WITHIN = 45  # days: a rate that was seen within them counts as the one of the day
EVERY, FIRST = 30, date(2026, 5, 1).toordinal()  # the days that are looked back from
TINY = 1e-3  # in ln: ranges are rounded to it


class Held(NamedTuple):
    """A rate that was seen `age` days before another one, in ln; where it lies beside the range, and what was expected."""

    kind: str
    provider: str
    age: int
    moved: float
    side: int
    expected: float


class Coverage(NamedTuple):
    """The shares of n rates inside the 80 % range, below it and above; the mean change, and the one that was expected."""

    what: str
    kind: str
    days: int
    n: int
    providers: int
    inside: float
    below: float
    above: float
    moved: float
    expected: float


class PickRegret(NamedTuple):
    """By how much the machine that was picked cost more at the true rates of the day than the cheapest, on average over picks."""

    days: int
    picks: int
    as_seen: float
    as_expected: float


def coverage(known: Sequence[Seen], today: int) -> tuple[Coverage, ...]:
    """Of rates on demand, by class of provider and by the days that were held back, or by age where a provider is left out."""
    on_demand = [seen for seen in known if seen.option == "on_demand"]
    ahead = {days: list(held_back(on_demand, days, today)) for days in HELD_BACK}
    left_out = _by_age(
        held for provider in {seen.provider for seen in on_demand} for held in _left_out(on_demand, provider, today)
    )
    return tuple(
        _coverage(what, kind, days, of_kind)
        for what, found in ((AHEAD, ahead), (LEFT_OUT, left_out))
        for kind in (HYPERSCALER, OTHER_CLOUD)
        for days in HELD_BACK
        if (of_kind := [held for held in found[days] if held.kind == kind])
    )


def held_back(known: Sequence[Seen], days: int, today: int) -> Iterator[Held]:
    """The last rates of before so many days, beside the true ones, by what could be learned until then."""
    for then in range(FIRST, today + 1, EVERY):
        before = [seen.until(then - days) for seen in known]
        moves = learned(before, then - days)
        for was, seen in zip(before, known, strict=True):
            if was.days and (true := _true(seen, then, was.days[-1])):
                yield _held(
                    was, then, log(true / was.rates[-1]), moves[was.moving].moves if was.moving in moves else STILL
                )


def _left_out(known: Sequence[Seen], provider: str, today: int) -> Iterator[Held]:
    moves = learned([seen for seen in known if seen.provider != provider], today)
    for seen in (seen for seen in known if seen.provider == provider):
        for nth, day in enumerate(seen.days[1:], 1):
            if day >= FIRST:
                was = seen.until(seen.days[nth - 1])
                yield _held(was, day, log(seen.rates[nth] / was.rates[-1]), moves[was.moving].moves)


def _true(seen: Seen, then: int, after: int) -> float | None:
    """The rate of a day, if it was seen shortly before or on it, and later than another day."""
    days = [on for on in seen.days if max(after, then - TRUE_WITHIN) < on <= then]
    return seen.rates[seen.days.index(days[-1])] if days else None


def _held(was: Seen, day: int, moved: float, moves: Moves) -> Held:
    age = day - was.days[-1]
    fall, rise = moves.after_days(age)
    side = (moved > rise + TINY) - (moved < -fall - TINY)
    return Held(was.moving[0], was.provider, age, moved, side, moves.expected_after(age))


def _by_age(found: Iterator[Held]) -> dict[int, list[Held]]:
    by_age: dict[int, list[Held]] = defaultdict(list)
    for held in found:
        if HELD_BACK[0] / 2 < held.age < HELD_BACK[-1] * 1.5:
            by_age[min(HELD_BACK, key=lambda days: abs(log(days / held.age)))].append(held)
    return by_age


def _coverage(what: str, kind: str, days: int, found: Sequence[Held]) -> Coverage:
    n, providers = len(found), len({held.provider for held in found})
    sides = (sum(held.side == side for held in found) / n for side in (0, -1, 1))
    means = (sum(figures) / n for figures in ([held.moved for held in found], [held.expected for held in found]))
    return Coverage(what, kind, days, n, providers, *sides, *means)


def regret(known: Sequence[Seen], days: int, today: int) -> PickRegret:
    """Of the cheapest machine for each accelerator, when so many days are held back: picked by the rate as seen, and by the rate
    that is expected by now."""
    as_seen, as_expected = [], []
    for then in range(FIRST, today + 1, EVERY):
        before = [seen.until(then - days) for seen in known]
        moves = learned(before, then - days)
        by_accelerator = defaultdict(list)
        for was, seen in zip(before, known, strict=True):
            if was.days and was.option == "on_demand" and (true := _true(seen, then, was.days[-1])):
                expected = moves[was.moving].moves.expected_after(then - was.days[-1]) if was.moving in moves else 0.0
                by_accelerator[was.accelerator].append((was.rates[-1], was.rates[-1] * exp(expected), true))
        for rates in (rates for rates in by_accelerator.values() if len(rates) > 1):
            as_seen.append(_regret(rates, lambda rate: rate[0]))
            as_expected.append(_regret(rates, lambda rate: rate[1]))
    return PickRegret(days, len(as_seen), *(sum(each) / len(each) if each else 0.0 for each in (as_seen, as_expected)))


Rate = tuple[float, float, float]


def _regret(rates: Sequence[Rate], by: Callable[[Rate], float]) -> float:
    return min(rates, key=by)[2] / min(true for *_, true in rates) - 1


if __name__ == "__main__":
    offers = read_packaged().offers
    newest = max(offer.observed_at for offer in offers).toordinal()
    rates = seen_rates(offers)
    print("| | class | days | n | providers | inside | below | above | mean change | expected |")
    print("|" + "---|" * 10)
    for one in coverage(rates, newest):
        what, kind, days, n, providers, *figures = one
        print("|", " | ".join([what, kind, *map(str, (days, n, providers)), *(f"{each:.2f}" for each in figures)]), "|")
    for picks in (regret(rates, days, newest) for days in HELD_BACK):
        dearer = f"{picks.as_seen:.1%} more than the cheapest by the rate as seen, {picks.as_expected:.1%} by the expected one"
        print(f"- held back {picks.days} days: {picks.picks} picks cost {dearer}")
