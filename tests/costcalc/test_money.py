"""Amounts keep every billionth, and are rounded half-up."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
