"""Money, machines, purchases and the age of rates as people read them, in the terminal, in Slack and on the page alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Protocol

from costcalc.answers import Estimate, PriceBasis
from costcalc.assumptions import in_words
from costcalc.offers import Payment, PurchaseOption

SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}
NO_REGION = "unspecified"
OLD, SECOND_HAND = "†", "‡"
OLD_DAYS = 30
MEANINGS = {
    OLD: f"the rate is more than {OLD_DAYS} days old.",
    SECOND_HAND: "a third party states it, not the provider.",
}


class Cluster(Protocol):
    """What estimates, speeds and comparisons say of their machines."""

    @property
    def provider(self) -> str:
        """Who rents them out."""
        ...

    @property
    def instance_type(self) -> str:
        """Their type."""
        ...

    @property
    def nodes(self) -> int:
        """Their number."""
        ...


class Purchase(Protocol):
    """What offers, estimates and commitments say of how they are bought."""

    @property
    def purchase_option(self) -> PurchaseOption:
        """On demand, spot, reserved, ..."""
        ...

    @property
    def term(self) -> str | None:
        """The length of a commitment."""
        ...

    @property
    def payment(self) -> Payment | None:
        """When a commitment is paid."""
        ...


def money(amount: Decimal, currency: str) -> str:
    """An amount with two decimals and its currency."""
    sign = SIGNS.get(currency)
    return f"{sign}{amount:,.2f}" if sign else f"{amount:,.2f} {currency}"


def machine(each: Cluster) -> str:
    """Provider, number of machines and instance type: `aws 2 × p3.16xlarge`."""
    return f"{each.provider} {f'{each.nodes} × ' if each.nodes > 1 else ''}{each.instance_type}"


def in_region(text: str, region: str) -> str:
    """The text with the region behind, where the provider names one."""
    return text if region == NO_REGION else f"{text}, {region}"


def bought(each: Purchase) -> str:
    """Purchase option, term and payment: `reserved 1y no upfront`."""
    words = (each.purchase_option.value, each.term, each.payment and each.payment.value)
    return " ".join(word.replace("_", " ") for word in words if word)


def rates_seen(prices: PriceBasis) -> str:
    """When the oldest and the newest rate that the question allows were seen."""
    if prices.oldest_observed_at is None or prices.newest_observed_at is None:
        return "no rate matches"
    oldest, newest = f"{prices.oldest_observed_at:%Y-%m-%d}", f"{prices.newest_observed_at:%Y-%m-%d}"
    return f"rates seen {oldest}" if oldest == newest else f"rates seen {oldest} to {newest}"


def seen(each: Estimate) -> str:
    """The date of an estimate's rate, marked where that is old or second hand."""
    return f"{each.sources.price.observed_at:%Y-%m-%d}{_marks(each)}"


def marks_explained(estimates: Iterable[Estimate]) -> Iterator[str]:
    """What the marks of these estimates mean."""
    marks = "".join(map(_marks, estimates))
    return (f"{mark}: {meaning}" for mark, meaning in MEANINGS.items() if mark in marks)


def on_calendar(each: Estimate) -> str:
    """The time on the calendar, where there is waiting between sessions: `78 days with waiting`."""
    return f"{in_words(each.calendar_hours)} with waiting" if each.calendar_hours > each.hours else ""


def _marks(each: Estimate) -> str:
    return f"{OLD if each.price_age_days > OLD_DAYS else ''}{'' if each.price_first_hand else SECOND_HAND}"
