"""The packaged table `providers.csv`: what providers are called, where each shows its rates, and how it bills use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources.abc import Traversable
from typing import TypedDict

from msgspec import Struct
from msgspec.structs import replace

from costcalc.offer import Offer
from costcalc.units import HOURS_PER_MONTH, SECONDS_PER_HOUR
from pricing.packaged.tables import Key, Table

PROVIDERS = Table(
    "providers.csv",
    "provider family",
    "name page billing_increment_seconds minimum_seconds hours_in_month source observed_on",
)

ALSO_CALLED = {
    **dict.fromkeys(("amazon", "amazon web services", "ec2", "amazon ec2", "sagemaker"), "aws"),
    **dict.fromkeys(
        ("google", "google cloud", "google cloud platform", "google compute engine", "gce", "vertex", "vertex ai"),
        "gcp",
    ),
    **dict.fromkeys(("microsoft", "microsoft azure", "ms azure"), "azure"),
    **dict.fromkeys(("oracle", "oracle cloud", "oracle cloud infrastructure"), "oci"),
    **dict.fromkeys(("lambda labs", "lambda cloud", "lambdalabs"), "lambda"),
    "datacrunch": "verda",
    "vast.ai": "vast",
    "together.ai": "together",
    "ovh": "ovhcloud",
    "alibaba cloud": "alibaba",
    "aliyun": "alibaba",
    "genesis": "genesis-cloud",
    "massed": "massed-compute",
    "akamai": "linode",
}
"""Other words for providers."""


class Provider(Struct, frozen=True):
    """Its usual name, and the address at which it shows its rates or lets one in; None where that is not known."""

    name: str
    page: str | None


class BillingTerms(TypedDict):
    """The fields of an `Offer` that say how its use is billed."""

    billing_increment_seconds: int
    minimum_seconds: int


class Billing(Struct, frozen=True):
    """Use is billed in whole increments, and never less than the minimum; a month that is paid counts so many hours."""

    increment_seconds: int
    minimum_seconds: int
    hours_in_month: int

    @property
    def terms(self) -> BillingTerms:
        """The billing terms as an offer holds them."""
        return {"billing_increment_seconds": self.increment_seconds, "minimum_seconds": self.minimum_seconds}


NOT_FOUND = "increment not found"
WHOLE_HOURS = Billing(SECONDS_PER_HOUR, SECONDS_PER_HOUR, HOURS_PER_MONTH)


def provider(code: str) -> Provider:
    """The provider of this code; one that the table lacks is called by its code."""
    return _providers().get((code, "")) or Provider(code, None)


def provider_code(text: str) -> str:
    """The code of a provider by its code, its name or another word for it; any other text in lower case."""
    word = text.casefold()
    named = (code for (code, _), each in _providers().items() if word == each.name.casefold())
    return ALSO_CALLED.get(word) or next(named, word)


def known_provider(word: str) -> Provider | None:
    """The provider of this code or name, in any case; None for any other word."""
    providers = _providers().items()
    return next((each for (code, _), each in providers if word.casefold() in (code, each.name.casefold())), None)


def billed(offer: Offer) -> Offer:
    """The offer with its provider's billing."""
    return replace(offer, **billing(offer.provider, offer.instance_type).terms)


def billing(provider: str, instance_type: str = "") -> Billing:
    """How a provider bills a machine: by whole hours if the table lacks it."""
    return find_billing(_packaged_billing(), provider, instance_type)


def find_billing(table: Mapping[Key, Billing], provider: str, instance_type: str) -> Billing:
    """The billing of the machine's family, the part of its type before the first dot, or else of its provider."""
    family = instance_type.partition(".")[0]
    return table.get((provider, family)) or table.get((provider, "")) or WHOLE_HOURS


def read_billing(folder: Traversable | None = None) -> Mapping[Key, Billing]:
    """The table, by provider and family. Raises TableError."""
    columns = ("billing_increment_seconds", "minimum_seconds", "hours_in_month")
    return PROVIDERS.read(lambda row: Billing(*map(row.integer, columns)), folder)


_packaged_billing = cache(read_billing)


@cache
def whole_hours_assumed() -> frozenset[str]:
    """The providers of which nobody found how they round time up."""
    sources = PROVIDERS.read(lambda row: row.text("source"))
    return frozenset(code for (code, _), source in sources.items() if source.startswith(NOT_FOUND))


@cache
def _providers() -> dict[tuple[str, ...], Provider]:
    return PROVIDERS.read(lambda row: Provider(row.text("name"), row.maybe("page")))
