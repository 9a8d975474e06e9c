"""Exchange rates are dated: the day's own or the last before it, never one from a currency that has ended."""

from datetime import date
from decimal import Decimal

import pytest

from pricing.exchange_rates import NoRate, currencies, current_currencies, parse, rate

TABLE = """Date,USD,JPY,HRK,
2024-01-05,1.10,160,N/A,
2024-01-04,1.00,150,N/A,
2023-12-29,1.25,200,,
2022-12-30,1.00,140,7.5,
"""


def test_a_rate_is_units_per_dollar():
    assert parse(TABLE, "JPY").rate(date(2024, 1, 5)).per_usd == Decimal(160) / Decimal("1.10")
    assert parse(TABLE, "EUR").rate(date(2023, 12, 29)).per_usd == Decimal("0.8")


def test_without_a_rate_of_the_day_the_last_one_before_holds_and_says_so():
    found = parse(TABLE, "JPY").rate(date(2024, 1, 3))
    assert (found.date, found.per_usd, found.currency) == (date(2023, 12, 29), Decimal(160), "JPY")
    assert "European Central Bank" in found.source


def test_after_the_last_day_of_the_table_its_last_rate_holds():
    assert parse(TABLE, "JPY").rate(date(2030, 1, 1)).date == date(2024, 1, 5)


@pytest.mark.parametrize(
    ("currency", "day"),
    [("HRK", date(2024, 1, 5)), ("JPY", date(2022, 12, 29)), ("JPY", date(2023, 6, 1))],
)
def test_no_rate_is_better_than_an_old_one(currency, day):
    with pytest.raises(NoRate, match=f"no rate of {currency} around {day}"):
        parse(TABLE, currency).rate(day)


def test_the_packaged_table():
    assert {"USD", "EUR", "CNY", "GBP", "HRK"} <= set(currencies())
    assert "HRK" not in current_currencies()
    assert {"EUR", "CNY"} <= set(current_currencies())
    euros = rate("EUR", date(2018, 4, 26))
    assert euros.date == date(2018, 4, 26)
    assert Decimal("0.81") < euros.per_usd < Decimal("0.84")
    assert rate("USD", date(2018, 4, 26)).per_usd == 1
