"""Money that refuses floats and never mixes currencies."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import total_ordering

CENT = Decimal("0.01")
NANOS_PER_UNIT = 1_000_000_000


class CurrencyMismatch(ValueError):
    """Two currencies met in one sum or comparison."""


def to_nanos(amount: Decimal) -> int:
    """The amount in integer billionths of its currency unit, as rates are stored; half-up on the tenth decimal."""
    return int((amount * NANOS_PER_UNIT).to_integral_value(ROUND_HALF_UP))


def from_nanos(nanos: int) -> Decimal:
    """The exact amount that `to_nanos` stored, without trailing zeros."""
    amount = Decimal(int(nanos)) / NANOS_PER_UNIT
    return amount.quantize(Decimal(1)) if amount == amount.to_integral_value() else amount.normalize()


def cents(amount: Decimal) -> Decimal:
    """The amount rounded once, half-up, to hundredths: what leaves the house."""
    return amount.quantize(CENT, ROUND_HALF_UP)


@total_ordering
@dataclass(frozen=True, slots=True)
class Money:
    """An exact amount of one currency (ISO 4217)."""

    amount: Decimal
    currency: str = "USD"

    def __post_init__(self) -> None:
        if not isinstance(self.amount, Decimal):
            raise TypeError(f"Money takes a Decimal, not {type(self.amount).__name__}: {self.amount!r}")
        if not self.amount.is_finite():
            raise ValueError(f"Money must be finite, not {self.amount}")

    def _same(self, other: Money) -> Decimal:
        if self.currency != other.currency:
            raise CurrencyMismatch(f"cannot combine {self.currency} with {other.currency}; convert one of them first")
        return other.amount

    def __add__(self, other: Money) -> Money:
        return Money(self.amount + self._same(other), self.currency)

    def __sub__(self, other: Money) -> Money:
        return Money(self.amount - self._same(other), self.currency)

    def __mul__(self, factor: Decimal | int) -> Money:
        if isinstance(factor, float):
            raise TypeError(f"multiply Money by a Decimal or an int, not by the float {factor!r}")
        return Money(self.amount * factor, self.currency)

    __rmul__ = __mul__

    def __lt__(self, other: Money) -> bool:
        return self.amount < self._same(other)

    def rounded(self) -> Money:
        """The same amount in whole cents."""
        return Money(cents(self.amount), self.currency)
