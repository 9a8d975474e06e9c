"""What is checked before an edition is signed, and a hundred faults of pages of which none is."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace
from support.asking_here import ask_here
from support.prices import NOW, listed, offer
from support.sampled import sampled
from support.services import packaged_catalogue

from costcalc.offer import ENDED, Offer, PurchaseOption
from pricing import editions, nightly
from pricing import refresh as refreshing
from pricing.refresh import refresh
from pricing.scope import EVERYTHING
from pricing.sources import SOURCES
from pricing.sources.source import Collected
from pricing.store.store import Store

DAY = timedelta(days=1)
LATER = NOW + DAY
THIRD = Decimal(1) / 3


def rates(night: nightly.Night) -> list[str]:
    return [str(each.hourly_rate) for each in night.offers if ENDED not in each.flags]


@pytest.mark.parametrize(
    ("rate", "changes", "kept"),
    [
        ("3.99", {}, "3.99"),
        ("4.09", {}, "3.06"),
        ("2.04", {}, "3.06"),
        ("2.05", {}, "2.05"),
        ("4.08", {"source": "another page"}, "4.08"),
        ("3.06", {"currency": "EUR"}, "3.06"),
        ("8", {"purchase_option": PurchaseOption.SPOT}, "8"),
        ("9.2", {"purchase_option": PurchaseOption.SPOT}, "3.06"),
        ("6", {"flags": ("marketplace",)}, "6"),
    ],
)
def test_a_rate_that_moved_by_less_than_a_third_from_its_sources_last_is_taken(rate, changes, kept) -> None:
    before = offer("3.06", **{name: value for name, value in changes.items() if name == "purchase_option"})
    night = nightly.checked([before], [offer(rate, LATER, **changes)], [], [])
    assert (rates(night), len(night.held_back)) == ([kept], int(kept != rate or "currency" in changes))
    assert night.offers[0].observed_at == (NOW if night.held_back else LATER)


def test_a_packaged_row_explains_a_move_and_an_end() -> None:
    moved, gone = offer("6", LATER), offer("3", LATER, region="b", flags=(ENDED,))
    before = [offer(), *(offer("3", region=region) for region in "bc")]
    ends = [gone, replace(gone, region="c")]
    packaged = [replace(each, observed_at=NOW + DAY / 2, source="a person") for each in (moved, *ends)]
    assert rates(nightly.checked(before, [moved, *ends], packaged, [])) == ["6"]
    assert rates(nightly.checked(before, [moved, *ends], [], [])) == ["3.06", "3", "3"]


def test_a_list_that_moved_by_one_factor_stays_as_it_was() -> None:
    before = [offer(str(number), region=f"r{number}") for number in range(1, 13)]
    euros = [replace(each, hourly_rate=each.hourly_rate * Decimal("0.86"), observed_at=LATER) for each in before]
    assert [*nightly.checked(before, euros, [], []).offers] == before
    some = [*euros[:5], *before[5:]]
    assert {*rates(nightly.checked(before, some, [], []))} == {str(each.hourly_rate) for each in some}


def test_an_edition_whose_anchors_are_off_or_that_lost_rates_is_refused() -> None:
    anchor = nightly.Anchor(offer().key, Decimal("3.06"), "USD")
    assert nightly.checked([], [offer()], [], [anchor]).refused == ()
    [fault] = nightly.checked([], [offer("4.5")], [], [anchor]).refused
    assert fault == "aws us-east-1 p3.2xlarge on demand is at USD 4.5, not near USD 3.06"
    [fault] = nightly.checked([], [], [], [anchor]).refused
    assert fault == "aws us-east-1 p3.2xlarge on demand is missing"
    several = [offer(region=f"r{number}", source=f"page {number}") for number in range(20)]
    assert nightly.checked(several, several[2:], [], []).refused == ("2 of 20 rates are lost",)


def test_the_packaged_prices_pass_with_their_forty_anchors() -> None:
    offers, anchors = editions.passed_on(packaged_catalogue(), NOW), nightly.read_anchors()
    night = nightly.checked(offers, offers, offers, anchors)
    assert (len(anchors), night.refused, night.held_back, len(night.offers)) == (40, (), (), len(offers))


Page = Sequence[Offer]


def times(factor: str) -> Callable[[Page, Random], Page]:
    """Some or all rates are off by this factor."""

    def fault(page: Page, random: Random) -> Page:
        wrong = {*random.sample(range(len(page)), random.choice([1, 3, len(page) // 2, len(page)]))}
        return [
            replace(each, hourly_rate=each.hourly_rate * Decimal(factor), parts=(), upfront=None, recurring_hourly=None)
            if at in wrong
            else each
            for at, each in enumerate(page)
        ]

    return fault


def swapped(page: Page, random: Random) -> Page:
    """The column of rates is that of another machine, or of spot."""
    shift = random.randrange(1, len(page))
    others = [*page[shift:], *page[:shift]]
    return [replace(each, hourly_rate=other.hourly_rate, parts=()) for each, other in zip(page, others, strict=True)]


FAULTS: dict[str, Callable[[Page, Random], Page]] = {
    "tenfold": times("10"),
    "tenth": times("0.1"),
    "currency": lambda page, random: [replace(each, currency=random.choice(["EUR", "INR"])) for each in page],
    "amounts in another currency": lambda page, _: [replace(each, hourly_rate=each.hourly_rate * 83) for each in page],
    "columns swapped": swapped,
    "empty page": lambda *_: [],
    "half a page": lambda page, _: page[::2],
    "replay": lambda page, _: [
        replace(each, hourly_rate=each.hourly_rate * Decimal("0.5"), observed_at=NOW - 40 * DAY) for each in page
    ],
}
CASES = [(name, seed) for seed in range(13) for name in FAULTS][:100]


def pages() -> list[list[Offer]]:
    """What providers' pages list: on demand and spot, seen today."""
    catalogue, by_provider = packaged_catalogue(), dict[str, list[Offer]]()
    for each in map(catalogue.offer, catalogue.current_offers(NOW).listed.tolist()):
        if each.purchase_option in (PurchaseOption.ON_DEMAND, PurchaseOption.SPOT) and each.first_hand:
            today = replace(each, observed_at=LATER, source="a page", flags=())
            by_provider.setdefault(each.provider, []).append(today)
    return [offers[:80] for _, offers in sorted(by_provider.items()) if len(offers) >= 6]


@pytest.mark.parametrize(("fault", "seed"), sampled(CASES, 7))
def test_no_fault_of_a_page_gets_into_an_edition(
    fault: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, choices = Random(seed), pages()
    page = choices[seed % len(choices)]
    known = [replace(each, observed_at=NOW) for each in page]
    wrong = FAULTS[fault](page, random)
    store = Store(f"sqlite:///{tmp_path / 'prices.sqlite3'}")
    store.publish(listed("edition", *known), NOW)

    class Scripted:
        def collect(self, now: object) -> Collected:
            return Collected(tuple(wrong), whole=(EVERYTHING,))

    spec = replace(SOURCES["oci"], name="page", build=lambda *_: Scripted())
    monkeypatch.setattr(refreshing, "SOURCES", {"page": spec})
    monkeypatch.setattr(refreshing, "ask_all", ask_here)
    refresh(["page"], store, {}, LATER)
    night = nightly.checked(known, editions.passed_on(store.load_current(), LATER), [], [])
    by_key = {each.key: each for each in night.offers if ENDED not in each.flags}
    assert not night.refused
    for true in known:
        signed = by_key[true.key]
        assert signed.currency == true.currency
        fall, rise = (Decimal(1) / 3, 3) if true.purchase_option == "spot" else (1 - THIRD, 1 + THIRD)
        assert fall <= signed.hourly_rate / true.hourly_rate <= rise
