"""The sentences of an estimate: times as people say them, currencies by name, and quotas that nobody published."""

from datetime import date
from decimal import Decimal

import pytest
from fakes.offers import offer

from costcalc.money import ExchangeRate
from costcalc.offer import PurchaseOption
from costcalc.rented import converted, free_tier
from costcalc.units import in_words

RATES = {
    "EUR": ExchangeRate("EUR", Decimal("0.9200001"), date(2024, 5, 1), "a bank"),
    "JPY": ExchangeRate("JPY", Decimal("150.0"), date(2024, 5, 2), "another"),
}


@pytest.mark.parametrize(
    ("hours", "words"),
    [
        (0.2, "12 min"),
        (1, "1.0 h"),
        (3.14, "3.1 h"),
        (71.9, "71.9 h"),
        (72, "3.0 days"),
        (122.4, "5.1 days"),
        (240, "10 days"),
        (1872, "78 days"),
        (240_000, "10,000 days"),
    ],
)
def test_a_time_is_said_in_minutes_hours_or_days(hours, words):
    assert in_words(hours) == words


@pytest.mark.parametrize(
    ("quoted", "wanted", "said"),
    [
        ("USD", "USD", []),
        ("EUR", "EUR", []),
        ("USD", "EUR", ["Converted to EUR: 0.92 per USD on 2024-05-01 (a bank)."]),
        ("JPY", "USD", ["Quoted in JPY: 150 per USD on 2024-05-02 (another)."]),
        (
            "JPY",
            "EUR",
            [
                "Quoted in JPY: 150 per USD on 2024-05-02 (another).",
                "Converted to EUR: 0.92 per USD on 2024-05-01 (a bank).",
            ],
        ),
    ],
)
def test_both_exchange_rates_are_named_where_a_price_goes_through_dollars(quoted, wanted, said):
    assert [*converted(wanted, offer(currency=quoted), RATES)] == said


def test_a_free_tier_says_its_quota_and_its_sessions_or_that_nobody_published_them():
    known = offer(purchase_option=PurchaseOption.FREE, hourly_rate=Decimal(0), session_hours=12.0, hours_per_week=30.0)
    unknown = offer(purchase_option=PurchaseOption.FREE, hourly_rate=Decimal(0))
    assert [*free_tier(known, 60, 336)] == [
        "Free tier: 60.0 h of work take 14 days at 30 h a week, in sessions of at most 12 h.",
        "Free tiers are not guaranteed and their quotas may change; each session takes 6 min to restart.",
    ]
    assert free_tier(unknown, 0.5, 0.5)[0] == (
        "Free tier: 30 min of work without a published weekly quota, in sessions of unknown length."
    )
