"""Money is exact, refuses floats, and never mixes currencies."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costcalc.money import CurrencyMismatch, Money, cents, from_nanos, to_nanos

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
    assert Money(Decimal(amount)).rounded() == Money(Decimal(rounded))


@given(amounts, amounts)
def test_sums_are_exact_and_undone_by_differences(one, other):
    assert Money(one) + Money(other) == Money(one + other)
    assert Money(one) + Money(other) - Money(other) == Money(one)
    assert (Money(one) < Money(other)) == (one < other)


def test_multiples_are_taken_from_either_side():
    assert 3 * Money(Decimal("1.10")) == Money(Decimal("1.10")) * Decimal(3) == Money(Decimal("3.30"))


@pytest.mark.parametrize(
    "combine",
    [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a < b, lambda a, b: a >= b],
    ids=["+", "-", "<", ">="],
)
def test_two_currencies_never_meet(combine):
    with pytest.raises(CurrencyMismatch, match="USD with EUR"):
        combine(Money(Decimal(1)), Money(Decimal(1), "EUR"))


@pytest.mark.parametrize("amount", [1.5, 1, "1"])
def test_only_decimals_are_money(amount):
    with pytest.raises(TypeError, match="takes a Decimal"):
        Money(amount)


@pytest.mark.parametrize("amount", ["NaN", "Infinity"])
def test_money_is_finite(amount):
    with pytest.raises(ValueError, match="finite"):
        Money(Decimal(amount))


def test_floats_do_not_multiply_money():
    with pytest.raises(TypeError, match=r"float 0\.5"):
        Money(Decimal(1)) * 0.5
