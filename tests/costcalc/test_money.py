"""Amounts keep every billionth, and are rounded half-up."""

from decimal import Decimal
from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costcalc.costing.bills import in_cents
from costcalc.money import cents, from_nanos, to_nanos

amounts = st.integers(-(10**15), 10**15).map(from_nanos)


@given(amounts)
def test_nanos_come_back_exactly(amount):
    assert from_nanos(to_nanos(amount)) == amount


@pytest.mark.parametrize(
    ("amount", "nanos"),
    [("0.0000000005", 1), ("0.00000000049", 0), ("10.273972602739726", 10273972603), ("-0.0000000005", -1)],
)
def test_nanos_round_half_up(amount, nanos):
    assert to_nanos(Decimal(amount)) == nanos


@pytest.mark.parametrize(("nanos", "text"), [(6690000000, "6.69"), (7500000000000, "7500"), (0, "0"), (1, "1E-9")])
def test_stored_amounts_read_without_trailing_zeros(nanos, text):
    assert str(from_nanos(nanos)) == text


@pytest.mark.parametrize(
    ("amount", "rounded"), [("0.005", "0.01"), ("0.0049", "0.00"), ("2.675", "2.68"), ("7", "7.00")]
)
def test_cents_round_half_up(amount, rounded):
    assert str(cents(Decimal(amount))) == rounded


@given(st.integers(0, 10**6), st.integers(1, 10**4), st.integers(1, 99))
def test_half_a_cent_is_rounded_up_after_a_division_too(seconds, share_of_rate, machines):
    rate = Decimal(share_of_rate) / 100
    exact = 100 * Fraction(rate) * seconds * machines / 3600
    assert 100 * cents(Decimal(seconds) / 3600 * rate * machines) == floor(exact + Fraction(1, 2))


def test_a_bill_that_ends_in_half_a_cent_is_rounded_up():
    assert cents(Decimal(18_925) / 3600 * Decimal("12.24")) == Decimal("64.35")


def test_many_amounts_are_rounded_as_each_is():
    many = [Decimal(seconds) / 3600 * Decimal("12.24") for seconds in (18_925, 1, 0, 7200)]
    assert in_cents(many) == [cents(amount) for amount in many]
