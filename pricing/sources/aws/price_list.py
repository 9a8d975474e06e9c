"""AWS's price list to offers, on demand and reserved. Pure.

Wire format: docs.aws.amazon.com, "AWS Price List" (price list files).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from msgspec import Struct, convert, field

from costcalc.hardware import Machine
from costcalc.offer import Offer, Payment, PurchaseOption
from costcalc.units import HOURS_PER_YEAR
from pricing.sources.common.listing import Listing, amount
from pricing.sources.source import SchemaChanged

Machines = Callable[[str], Machine | None]  # instance type -> what it holds; None where that is unknown

PAYMENTS = {
    "No Upfront": Payment.NO_UPFRONT,
    "Partial Upfront": Payment.PARTIAL_UPFRONT,
    "All Upfront": Payment.ALL_UPFRONT,
}
ACCELERATED_FAMILIES = ("GPU instance", "Machine Learning ASIC Instances")
# Plain Linux on shared hardware. Without `capacitystatus` come the rows of capacity reservations (unused ones at the full
# rate, allocated ones at 0); filters have let neighbours through. An attribute that a row lacks does not count against it.
PLAIN_LINUX = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "capacitystatus": "Used",
    "preInstalledSw": "NA",
    "licenseModel": "No License required",
    "locationType": "AWS Region",  # Local and Wavelength Zones are priced apart
}
MARKET_OPTIONS = ("OnDemand", "CapacityBlock")
NOT_FOR_TRAINING = ("dl2q.", "vt1.")  # inference and video only


@dataclass(frozen=True, slots=True)
class Product:
    """A Linux machine that AWS rents by itself on shared hardware, or else `in_blocks` of capacity."""

    sku: str
    region: str
    instance_type: str
    accelerated: bool
    in_blocks: bool = False


class ListedProduct(Struct, rename="camel"):
    """A product as the price list has it."""

    sku: str
    attributes: dict[str, str] = {}
    product_family: str = "Compute Instance"


class Dimension(Struct, rename="camel"):
    """A price by currency; the unit is `Hrs`, or `Quantity` for what is paid upfront."""

    unit: str
    price_per_unit: dict[str, Decimal]


class TermAttributes(Struct, rename="pascal"):
    """How a reservation is bought; empty on demand."""

    purchase_option: str = ""
    lease_contract_length: str = ""
    offering_class: str = "standard"


class Term(Struct, rename="camel"):
    """A way to buy a product: its prices add up, in no stable order."""

    price_dimensions: dict[str, Dimension]
    term_attributes: TermAttributes
    effective_date: datetime | None = None


class Terms(Struct):
    """The ways to buy a product."""

    on_demand: dict[str, Term] | None = field(default=None, name="OnDemand")
    reserved: dict[str, Term] | None = field(default=None, name="Reserved")


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turns a payload that doesn't have the shape we read into SchemaChanged, naming the payload and what is wrong."""
    try:
        yield
    except (ValueError, ArithmeticError, LookupError) as error:
        raise SchemaChanged(f"{what} has changed its shape: {error}") from error


def product(payload: object, region_of: Callable[[Mapping[str, str]], str | None]) -> Product | None:
    """The machine behind one product of the price list, or None if it is not a plain Linux machine in a known region."""
    listed = convert(payload, ListedProduct)
    attributes = listed.attributes
    instance_type, region = attributes.get("instanceType"), region_of(attributes)
    is_plain = all(attributes.get(name, wanted) == wanted for name, wanted in PLAIN_LINUX.items())
    market = attributes.get("marketoption", "OnDemand")
    is_rented = listed.product_family.startswith("Compute Instance") and market in MARKET_OPTIONS
    if not (is_plain and is_rented and instance_type and region) or instance_type.startswith(NOT_FOR_TRAINING):
        return None
    accelerated = attributes.get("instanceFamily", "") in ACCELERATED_FAMILIES
    return Product(listed.sku, region, instance_type, accelerated, in_blocks=market == "CapacityBlock")


def price_list_offers(listed: Product, payload: object, machine: Machine, listing: Listing) -> Iterator[Offer]:
    """Every on-demand and reserved offer in one product's terms (`OnDemand`, `Reserved`). Raises SchemaChanged.

    The price list says where capacity blocks are sold, and 0 for their price: they give no offer here.
    """
    if listed.in_blocks:
        return
    with reading(f"AWS price list, {listed.instance_type} in {listed.region}"):
        terms = convert(payload, Terms)
        for term in (terms.on_demand or {}).values():
            if rate := _prices(listed, term)["Hrs"]:  # a rate of 0 means: not sold this way
                started = term.effective_date
                yield listing.offer(listed.region, listed.instance_type, machine, rate, effective_from=started)
        for term in (terms.reserved or {}).values():
            yield from _reserved(listed, term, machine, listing)


def _reserved(listed: Product, term: Term, machine: Machine, listing: Listing) -> Iterator[Offer]:
    """Effective hourly = recurring + upfront / hours in the term; all upfront still carries a recurring 0."""
    bought = term.term_attributes
    payment = PAYMENTS.get(bought.purchase_option)  # None: Light, Medium, Heavy Utilization, no longer sold
    years = int(re.sub(r"\D", "", bought.lease_contract_length))
    prices = _prices(listed, term)
    recurring, upfront = prices.get("Hrs", Decimal(0)), prices.get("Quantity", Decimal(0))
    effective = recurring + upfront / (years * HOURS_PER_YEAR)
    if payment and effective:
        yield listing.offer(
            *(listed.region, listed.instance_type, machine, effective),
            purchase_option=PurchaseOption.RESERVED,
            term=f"{years}y",
            payment=payment,
            offering_class=bought.offering_class.lower(),
            upfront=upfront,
            recurring_hourly=recurring,
            effective_from=term.effective_date,
        )


def _prices(listed: Product, term: Term) -> dict[str, Decimal]:
    """Price in US dollars by unit."""
    prices = {}
    for dimension in term.price_dimensions.values():
        if "USD" not in dimension.price_per_unit:
            currencies = ", ".join(sorted(dimension.price_per_unit)) or "no currency"
            raise SchemaChanged(f"AWS prices {listed.instance_type} in {currencies}; expected USD")
        prices[dimension.unit] = amount(dimension.price_per_unit["USD"])
    return prices
