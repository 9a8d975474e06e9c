"""How each provider bills use: the packaged table `providers.csv` and its only reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources.abc import Traversable
from typing import Any

from costcalc.evidence.tables import Row
from costcalc.offers import Offer
from pricing.packaged.tables import Table

PROVIDERS = Table("providers.csv", "provider", "name billing_increment_seconds minimum_seconds source observed_on")


@dataclass(frozen=True, slots=True)
class Billing:
    """Use is billed in whole increments, and never less than the minimum."""

    increment_seconds: int
    minimum_seconds: int

    @property
    def terms(self) -> Mapping[str, Any]:
        """The fields of an `Offer` that say so."""
        return {"billing_increment_seconds": self.increment_seconds, "minimum_seconds": self.minimum_seconds}

    def of(self, offer: Offer) -> Offer:
        """The offer, billed so."""
        return replace(offer, **self.terms)


WHOLE_HOURS = Billing(3600, 3600)


def billing(provider: str) -> Billing:
    """How a provider bills; whole hours where the table does not have it."""
    return _packaged().get(provider, WHOLE_HOURS)


def read_billing(folder: Traversable | None = None) -> Mapping[str, Billing]:
    """How each provider of the table bills. Raises PackagedTableError."""
    return {provider: billed for (provider,), billed in PROVIDERS.read(_billing, folder).items()}


def _billing(row: Row) -> Billing:
    return Billing(row.integer("billing_increment_seconds"), row.integer("minimum_seconds"))


@cache
def _packaged() -> Mapping[str, Billing]:
    return read_billing()
