"""A rate is confirmed when somebody vouches for it and it is fresh."""

from datetime import timedelta
from decimal import Decimal

import pytest
from fakes.offers import DAY, MACHINES, offer, owned

from costcalc.catalogue.catalogue import Catalogue
from costcalc.catalogue.confirmation import ENOUGH_PROVIDERS, FRESH_DAYS
from costcalc.offer import PurchaseOption

HEARD = {"flags": ("second_hand",)}


def catalogue(*offers):
    return Catalogue.from_offers(offers, "test")


def at(days):
    return DAY + timedelta(days=days)


def heard(days, **changes):
    return offer(**{**HEARD, "observed_at": at(days), "source": "one/list@1 file.csv", **changes})


def said(held, days, max_price_age=540):
    """What is current after so many days, each with whether it is confirmed."""
    rows = held.current_offers(at(days), max_price_age).listed
    flags = held.confirmed(at(days), max_price_age).of(rows).tolist()
    return [(held.offer(row), confirmed) for row, confirmed in zip(rows.tolist(), flags, strict=True)]


def test_what_the_provider_said_stays_first_hand_when_a_third_party_sees_it_again():
    held = catalogue(offer(source="an API"), heard(100, flags=("zone=a", "second_hand")))
    [(one, confirmed)] = said(held, 101)
    assert (one.first_hand, one.observed_at, one.flags) == (True, at(100), ("zone=a",))
    assert one.source == "an API; seen again in one/list@1 file.csv"
    assert confirmed


@pytest.mark.parametrize("between", [heard(50, hourly_rate=Decimal(4)), heard(50, flags=("ended",))])
def test_a_rate_that_moved_or_ended_between_is_heard_anew(between):
    held = catalogue(offer(), between, heard(300))
    [(one, confirmed)] = said(held, 301)
    assert (one.first_hand, confirmed) == (False, False)


@pytest.mark.parametrize(
    ("second", "vouched"),
    [
        ({"source": "another/list@7"}, True),
        ({"source": "one/list@2 file.csv"}, False),
        ({"source": "another/list@7", "flags": ("second_hand", "copied")}, False),
        ({"source": "another/list@7", "hourly_rate": Decimal("3.01")}, False),
        ({"source": "another/list@7", "currency": "EUR"}, False),
        ({"source": "another/list@7", "observed_at": at(181)}, False),
        ({"source": "another/list@7", "flags": ("second_hand", "off_market")}, False),
    ],
)
def test_two_who_state_the_same_amount_vouch_for_it_unless_one_has_it_from_the_other(second, vouched):
    held = catalogue(heard(0), heard(20, **second))
    [(_, confirmed)] = said(held, 185 if "observed_at" in second else 21)
    assert confirmed == vouched


def test_a_witness_counts_though_others_spoke_between():
    first, other, wrong = heard(0), heard(30, source="b/list"), heard(40, source="c/list", hourly_rate=Decimal(9))
    [(_, confirmed)] = said(catalogue(first, other, wrong, heard(50)), 51)
    assert confirmed


def test_nobody_vouches_for_a_rate_far_off_the_market_whoever_said_it():
    assert said(catalogue(offer(flags=("off_market",))), 1)[0][1] is False


@pytest.mark.parametrize(
    ("option", "days"), [(option, days) for option, days in FRESH_DAYS.items() if option != "owned"]
)
def test_each_kind_of_purchase_is_fresh_for_its_own_time(option, days):
    term = {"term": "1y"} if option in ("reserved", "savings_plan", "committed_use") else {}
    kind = {"purchase_option": option, **term}
    many = [offer(provider=f"p{number}", observed_at=at(days), **kind) for number in range(ENOUGH_PROVIDERS)]
    held = catalogue(offer(**kind), *many)
    assert {one.provider: fresh for one, fresh in said(held, days)}["acme"]
    late = {one.provider: fresh for one, fresh in said(held, days + 1)}
    assert (late["acme"], late["p0"], held.confirmed(at(days + 1)).widened) == (False, True, {})


def test_where_few_providers_are_fresh_the_limit_widens_to_the_age_at_which_ten_are():
    held = catalogue(*(offer(provider=f"p{number:02}", observed_at=at(number * 10)) for number in range(12)))
    found = held.confirmed(at(300))
    assert found.widened == {PurchaseOption.ON_DEMAND: 300 - 20}
    assert [confirmed for one, confirmed in sorted(said(held, 300), key=lambda each: each[0].provider)] == [
        *[False] * 2,
        *[True] * 10,
    ]


def test_it_widens_to_as_many_as_there_are_and_never_beyond_the_age_asked_for():
    held = catalogue(offer(), offer(provider="late", observed_at=at(100)), heard(0, provider="heard"))
    assert held.confirmed(at(300)).widened == {PurchaseOption.ON_DEMAND: 300}
    assert held.confirmed(at(300), 250).widened == {PurchaseOption.ON_DEMAND: 200}
    assert said(held, 300, 250) == [(offer(provider="late", observed_at=at(100)), True)]
    assert held.confirmed(at(120), 30).limits[PurchaseOption.ON_DEMAND] == 30


@pytest.mark.parametrize("option", ["spot", "capacity_block"])
def test_what_moves_by_the_week_is_never_confirmed_beyond_a_month(option):
    kind = {"purchase_option": PurchaseOption(option)}
    held = catalogue(offer(**kind), offer(provider="late", observed_at=at(10), **kind))
    assert [confirmed for _, confirmed in said(held, 30)] == [True, True]
    assert {one.provider: confirmed for one, confirmed in said(held, 40)} == {"acme": False, "late": True}
    assert not any(confirmed for _, confirmed in said(held, 41))


def test_ones_own_sheet_vouches_for_its_rates_unless_they_are_far_off_the_market():
    mine, off = offer(flags=("yours",)), offer(provider="off", flags=("yours", "off_market"))
    assert {one.provider: confirmed for one, confirmed in said(catalogue(mine, off), 1)} == {"acme": True, "off": False}


@pytest.mark.parametrize(
    ("later", "on_a_day_between"),
    [
        ({}, True),
        ({"hourly_rate": Decimal("3.001"), "source": "a/list"}, True),
        ({"hourly_rate": Decimal("3.01")}, False),
        ({"flags": ("ended",)}, False),
        ({"purchase_option": "spot"}, False),
    ],
)
def test_what_was_the_same_before_a_past_date_and_after_it_is_fresh_on_it(later, on_a_day_between):
    kind = {"purchase_option": later.get("purchase_option", PurchaseOption.ON_DEMAND)}
    fresh = [offer(provider=f"p{number}", observed_at=at(300), **kind) for number in range(ENOUGH_PROVIDERS)]
    held = catalogue(offer(**kind), offer(observed_at=at(400), **later), *fresh)
    assert {one.provider: confirmed for one, confirmed in said(held, 300)}["acme"] is on_a_day_between


def test_a_rounded_amount_leaves_the_exact_one_and_its_hand():
    [(one, confirmed)] = said(
        catalogue(offer(hourly_rate=Decimal("32.7726")), heard(9, hourly_rate=Decimal("32.773"))), 10
    )
    assert (one.hourly_rate, one.first_hand, confirmed) == (Decimal("32.7726"), True, True)


def test_ones_own_machines_are_always_confirmed():
    own = owned(flags=("own",))
    assert [confirmed for _, confirmed in said(catalogue(own), 5000)] == [True]


def test_machines_alone_do_not_make_a_witness():
    held = catalogue(heard(0), heard(1, source="b/list", instance_type="eight", machine=MACHINES["eight"]))
    assert {confirmed for _, confirmed in said(held, 2)} == {False}
