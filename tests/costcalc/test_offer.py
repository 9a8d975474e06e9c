"""Offers refuse what cannot be billed, and become two-part tariffs."""

from decimal import Decimal

import pytest
from fakes.offers import (
    DAY,
    all_offers,
    block_offers,
    committed_offers,
    metered_offers,
    monthly,
    offer,
    owned,
    rented_offers,
    reserved,
)
from hypothesis import given

from costcalc.hardware import Cluster
from costcalc.offer import Payment, PurchaseOption, Tariff, tariff, term_hours


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"observed_at": DAY.replace(tzinfo=None)}, "observed_at needs a time zone"),
        ({"source": ""}, "a rate needs a source"),
        ({"currency": "DOLLARS"}, "currency must be an ISO 4217 code"),
        ({"currency": "usd"}, "currency must be an ISO 4217 code"),
        ({"hourly_rate": Decimal(-1)}, "must not be negative"),
        ({"hourly_rate": Decimal("NaN")}, "must not be negative"),
        ({"hourly_rate": Decimal("Infinity")}, "must not be negative"),
        ({"hourly_rate": Decimal(0)}, "a rate of zero is no rate"),
        ({"purchase_option": PurchaseOption.COMMITTED_USE}, "a commitment needs a term"),
    ],
)
def test_a_broken_offer_is_refused_by_name(changes, message):
    with pytest.raises(ValueError, match=f"acme here one .*{message}"):
        offer(**changes)


@pytest.mark.parametrize(
    ("flags", "first_hand"),
    [((), True), (("available",), True), (("second_hand",), False), (("rounded", "own"), False)],
)
def test_a_rate_is_first_hand_unless_somebody_else_read_or_rounded_it(flags, first_hand):
    assert offer(flags=flags).first_hand is first_hand


def test_a_free_tier_costs_nothing():
    assert tariff(offer(purchase_option=PurchaseOption.FREE, hourly_rate=Decimal(0))).effective_hourly == 0


def test_the_key_is_what_two_observations_of_one_offer_share():
    assert reserved(offering_class="convertible").key == (
        "acme",
        "here",
        "one",
        "reserved",
        "1y",
        "partial_upfront",
        "convertible",
    )
    assert offer().key == ("acme", "here", "one", "on_demand", "", "", "")
    assert offer(hourly_rate=Decimal(9), source="elsewhere").key == offer().key


@pytest.mark.parametrize(
    ("term", "month", "hours"),
    [("1y", 730, 8760), ("5y", 730, 43800), ("3mo", 730, 2190), ("1mo", 720, 720), ("14d", 730, 336)],
)
def test_terms_in_hours(term, month, hours):
    assert term_hours(term, month) == hours


@pytest.mark.parametrize("term", ["", "y", "0d", "1w", "1.5y", "-1y", "12"])
def test_other_terms_are_refused_with_what_to_write(term):
    with pytest.raises(ValueError, match="write 1mo, 3mo, 6mo, 1y, 2y, 3y, 5y or a number of days such as 14d"):
        term_hours(term)


@given(metered_offers())
def test_metered_offers_are_all_meter(one):
    assert tariff(one) == Tariff(
        metered_hourly=one.hourly_rate,
        increment_seconds=one.billing_increment_seconds,
        minimum_seconds=one.minimum_seconds,
    )


@given(committed_offers())
def test_a_commitment_is_paid_whole(one):
    paid = tariff(one)
    assert (paid.minimum_periods, paid.metered_hourly, paid.period_hours) == (1, 0, term_hours(one.term))
    if one.upfront is not None:
        assert paid.fee == one.upfront + one.recurring_hourly * term_hours(one.term)
    assert float(paid.effective_hourly) == pytest.approx(float(one.hourly_rate), rel=1e-12)


@pytest.mark.parametrize("unknown", [{"upfront": None}, {"recurring_hourly": None}])
def test_a_commitment_whose_upfront_or_hourly_part_is_unknown_is_its_effective_rate_over_the_term(unknown):
    assert tariff(reserved(**unknown)) == Tariff(Decimal("1.2") * 8760, 8760, 1)


@given(rented_offers())
def test_a_rental_is_paid_by_whole_months(one):
    paid = tariff(one)
    assert (paid.fee, paid.period_hours) == (one.monthly, one.hours_in_month)
    assert paid.minimum_periods == {None: 1, "1mo": 1, "3mo": 3, "1y": 12, "14d": 1}[one.term]


def test_a_month_without_its_price_follows_from_the_hour():
    assert tariff(monthly(monthly=None, hourly_rate=Decimal("1.5"))).fee == 1095


@given(block_offers())
def test_a_block_is_paid_by_whole_days(one):
    paid = tariff(one)
    assert (paid.fee, paid.period_hours) == (one.hourly_rate * 24, 24)
    assert paid.minimum_periods == {None: 1, "1d": 1, "14d": 14}[one.term]


def test_an_owned_machine_is_its_price_over_its_life_and_its_running_cost():
    assert tariff(owned()) == Tariff(Decimal(26280), 26280, 1, Decimal("0.1"))
    assert tariff(owned()).effective_hourly == Decimal("1.1")


@pytest.mark.parametrize("missing", ["upfront", "term", "recurring_hourly"])
def test_an_owned_machine_needs_all_its_facts(missing):
    with pytest.raises(ValueError, match="needs its price, its life and its running cost"):
        tariff(owned(**{missing: None}))


@given(all_offers)
def test_the_effective_rate_is_that_of_the_offer(one):
    assert float(tariff(one).effective_hourly) == pytest.approx(float(one.hourly_rate), rel=1e-9, abs=2e-9)


def test_machines_add_up_to_a_cluster():
    assert Cluster("V100", 8, 4).total_accelerators == 32
    assert Cluster("V100", 8).total_accelerators == 8


def test_words_are_those_of_the_contract():
    assert " ".join(PurchaseOption) == (
        "on_demand spot reserved savings_plan committed_use capacity_block monthly owned free"
    )
    assert " ".join(Payment) == "no_upfront partial_upfront all_upfront"
