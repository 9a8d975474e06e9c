"""Money, machines and purchases as people read them, in the terminal and in Slack alike."""

from __future__ import annotations

from decimal import Decimal
from typing import Protocol

from costcalc.offers import Payment, PurchaseOption

SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}
NO_REGION = "unspecified"


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
