"""AWS payloads to offers: pure functions over what the Price List, EC2 and Savings Plans services answer.

Wire formats: docs.aws.amazon.com, "AWS Price List" (price list files), "DescribeSpotPriceHistory",
"DescribeSavingsPlansOfferingRates", "DescribeCapacityBlockOfferings".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from math import ceil
from statistics import median
from typing import Any

from costcalc.hardware import Machine
from costcalc.offers import Offer, Payment, PurchaseOption
from costcalc.units import HOURS_PER_DAY, HOURS_PER_YEAR
from pricing.packaged.billing import billing
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
    "marketoption": "OnDemand",
    "locationType": "AWS Region",  # Local and Wavelength Zones are priced apart
}
NOT_FOR_TRAINING = ("dl2q.", "vt1.")  # inference and video only
LINUX_SPOT = frozenset({"Linux/UNIX", "Linux/UNIX (Amazon VPC)"})  # the second is what EC2-Classic accounts are told
PLAN_CLASSES = {"Compute": "compute", "EC2Instance": "ec2_instance"}
BOX_USAGE = re.compile(r"(^|-)BoxUsage:")  # not HostBoxUsage, DedicatedUsage, UnusedBox, Reservation
REGION_NAME = re.compile(r"[a-z]{2}(-[a-z]+)+-\d")
SECONDS_PER_YEAR = HOURS_PER_YEAR * 3600


@dataclass(frozen=True, slots=True)
class Seen:
    """Which service said it, and when it was asked."""

    source: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Product:
    """A Linux machine that AWS rents by itself on shared hardware."""

    sku: str
    region: str
    instance_type: str
    accelerated: bool


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turns a payload that doesn't have the shape we read into SchemaChanged, naming the payload and what is wrong."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError, ArithmeticError, IndexError) as error:
        raise SchemaChanged(f"{what} has changed its shape: {type(error).__name__} {str(error)[:80]}") from error


def product(listed: Mapping[str, Any], region_of: Callable[[Mapping[str, str]], str | None]) -> Product | None:
    """The machine behind one product of the price list, or None if it is not a plain Linux machine in a known region."""
    attributes = listed.get("attributes") or {}
    instance_type, region = attributes.get("instanceType"), region_of(attributes)
    plain = all(attributes.get(name, wanted) == wanted for name, wanted in PLAIN_LINUX.items())
    rented = listed.get("productFamily", "Compute Instance").startswith("Compute Instance")
    if not (plain and rented and instance_type and region) or instance_type.startswith(NOT_FOR_TRAINING):
        return None
    family = attributes.get("instanceFamily", "")
    return Product(listed["sku"], region, instance_type, family in ACCELERATED_FAMILIES)


def price_list_offers(
    listed: Product, terms: Mapping[str, Mapping[str, Any]], machine: Machine, seen: Seen
) -> Iterator[Offer]:
    """Every on-demand and reserved offer in one product's terms (`OnDemand`, `Reserved`). Raises SchemaChanged."""
    with reading(f"AWS price list, {listed.instance_type} in {listed.region}"):
        for term in (terms.get("OnDemand") or {}).values():
            yield from _on_demand(listed, term, machine, seen)
        for term in (terms.get("Reserved") or {}).values():
            yield from _reserved(listed, term, machine, seen)


def _on_demand(listed: Product, term: Mapping[str, Any], machine: Machine, seen: Seen) -> Iterator[Offer]:
    rate = _prices(listed, term)["Hrs"]
    if rate:  # a rate of 0 means: not sold this way
        yield Offer(
            "aws", listed.region, listed.instance_type, machine, PurchaseOption.ON_DEMAND, rate, seen.at, seen.source,
            effective_from=_instant(term.get("effectiveDate")), **billing("aws").terms,
        )  # fmt: skip


def _reserved(listed: Product, term: Mapping[str, Any], machine: Machine, seen: Seen) -> Iterator[Offer]:
    """Effective hourly = recurring + upfront / hours in the term; all upfront still carries a recurring 0."""
    bought = term["termAttributes"]
    payment = PAYMENTS.get(bought["PurchaseOption"])  # None: Light, Medium, Heavy Utilization, no longer sold
    years = int(re.sub(r"\D", "", bought["LeaseContractLength"]))
    prices = _prices(listed, term)
    recurring, upfront = prices.get("Hrs", Decimal(0)), prices.get("Quantity", Decimal(0))
    effective = recurring + upfront / (years * HOURS_PER_YEAR)
    if payment and effective:
        yield Offer(
            "aws", listed.region, listed.instance_type, machine, PurchaseOption.RESERVED, effective, seen.at, seen.source,
            term=f"{years}y", payment=payment, offering_class=bought.get("OfferingClass", "standard").lower(),
            upfront=upfront, recurring_hourly=recurring, effective_from=_instant(term.get("effectiveDate")),
        )  # fmt: skip


def _prices(listed: Product, term: Mapping[str, Any]) -> dict[str, Decimal]:
    """Price in USD by unit (`Hrs`, `Quantity`): the order of dimensions is not stable."""
    prices = {}
    for dimension in term["priceDimensions"].values():
        price = dimension["pricePerUnit"]
        if "USD" not in price:
            currencies = ", ".join(sorted(price)) or "no currency"
            raise SchemaChanged(f"AWS prices {listed.instance_type} in {currencies}; expected USD")
        prices[dimension["unit"]] = _amount(price["USD"])
    return prices


def spot_offers(quotes: Iterable[Mapping[str, Any]], region: str, machines: Machines, seen: Seen) -> Iterator[Offer]:
    """One offer per machine: the lowest zone's latest quote, with that zone and the zones' median as flags."""
    with reading("AWS spot price history"):
        for instance_type, zones in _latest_quotes(quotes, region).items():
            machine = machines(instance_type)
            rate, zone, since = min(
                (_amount(quote["SpotPrice"]), name, quote["Timestamp"]) for name, quote in zones.items()
            )
            if machine and rate:
                middle = median(_amount(quote["SpotPrice"]) for quote in zones.values())
                yield Offer(
                    "aws", region, instance_type, machine, PurchaseOption.SPOT, rate, seen.at, seen.source,
                    effective_from=since, flags=(f"zone={zone}", f"zones={len(zones)}", f"spot_median={middle}"),
                    **billing("aws").terms,
                )  # fmt: skip


def _latest_quotes(quotes: Iterable[Mapping[str, Any]], region: str) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Linux quotes by instance type and zone, the newest of each; zones of other regions and Local Zones left out."""
    latest: dict[str, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for quote in quotes:
        zone = quote["AvailabilityZone"]
        zones = latest[quote["InstanceType"]] if _is_zone(zone, region) else {}
        if quote["ProductDescription"] in LINUX_SPOT and (
            zone not in zones or quote["Timestamp"] > zones[zone]["Timestamp"]
        ):
            zones[zone] = quote
    return {name: zones for name, zones in latest.items() if zones}


def _is_zone(zone: str, region: str) -> bool:
    """`us-east-1a` lies in us-east-1; `us-east-1-bos-1a` is a Local Zone with its own prices; `use1-az4` names no region."""
    return zone[:-1] == region if REGION_NAME.match(zone) else bool(zone)


def savings_plan_offers(
    rates: Iterable[Mapping[str, Any]], region: str, machines: Machines, seen: Seen
) -> Iterator[Offer]:
    """Compute and EC2 Instance Savings Plans' rates. AWS states them with any upfront payment already spread."""
    with reading("AWS Savings Plans rates"):
        for rate in rates:
            where = {each["name"]: each.get("value") for each in rate.get("properties", ())}
            plan, hourly = rate["savingsPlanOffering"], _amount(rate["rate"])
            machine = machines(where.get("instanceType") or "")
            if machine and hourly and where.get("region") == region and _is_linux_plan(rate, where):
                yield _planned(plan, hourly, (region, where["instanceType"] or "", machine), seen)


def _is_linux_plan(rate: Mapping[str, Any], where: Mapping[str, str | None]) -> bool:
    return (
        rate.get("unit", "Hrs") == "Hrs"
        and rate["savingsPlanOffering"].get("planType") in PLAN_CLASSES
        and bool(BOX_USAGE.search(rate.get("usageType", "BoxUsage:")))
        and (where.get("productDescription") or "Linux/UNIX") in LINUX_SPOT
        and (where.get("tenancy") or "shared").lower() == "shared"
    )


def _planned(plan: Mapping[str, Any], hourly: Decimal, machine: tuple[str, str, Machine], seen: Seen) -> Offer:
    if plan["currency"] != "USD":
        raise SchemaChanged(f"AWS prices a Savings Plan of {machine[1]} in {plan['currency']}; expected USD")
    years, payment = round(plan["durationSeconds"] / SECONDS_PER_YEAR), PAYMENTS[plan["paymentOption"]]
    prepaid = {  # the part paid at once under Partial Upfront is the buyer's choice from half upwards: left unknown
        Payment.NO_UPFRONT: (Decimal(0), hourly),
        Payment.ALL_UPFRONT: (hourly * years * HOURS_PER_YEAR, Decimal(0)),
    }
    upfront, recurring = prepaid.get(payment, (None, None))
    return Offer(
        "aws", *machine, PurchaseOption.SAVINGS_PLAN, hourly, seen.at, seen.source,
        term=f"{years}y", payment=payment, offering_class=PLAN_CLASSES[plan["planType"]],
        upfront=upfront, recurring_hourly=recurring,
    )  # fmt: skip


def capacity_block_offers(
    blocks: Iterable[Mapping[str, Any]], region: str, machines: Machines, seen: Seen
) -> Iterator[Offer]:
    """The cheapest block per machine and started days. The fee is for all its machines over its real length: blocks end
    at 11:30 UTC, so one asked for as 24 hours may hold 19."""
    cheapest: dict[tuple[str, ...], Offer] = {}
    with reading("AWS capacity blocks"):
        for block in blocks:
            machine = machines(block["InstanceType"])
            if machine and _is_zone(block["AvailabilityZone"], region) and _amount(block["UpfrontFee"]):
                offer = _block(block, region, machine, seen)
                cheapest[offer.key] = min(offer, cheapest.get(offer.key, offer), key=lambda each: each.hourly_rate)
    yield from cheapest.values()


def _block(block: Mapping[str, Any], region: str, machine: Machine, seen: Seen) -> Offer:
    if block.get("CurrencyCode", "USD") != "USD":
        raise SchemaChanged(f"AWS prices a capacity block in {block['CurrencyCode']}; expected USD")
    hours = block["CapacityBlockDurationHours"]
    fee = _amount(block["UpfrontFee"]) / block.get("InstanceCount", 1)
    return Offer(
        "aws", region, block["InstanceType"], machine, PurchaseOption.CAPACITY_BLOCK, fee / hours, seen.at, seen.source,
        term=f"{ceil(hours / HOURS_PER_DAY)}d", payment=Payment.ALL_UPFRONT, upfront=fee, recurring_hourly=Decimal(0),
        flags=(f"zone={block['AvailabilityZone']}", f"hours={hours}", f"starts={block['StartDate']:%Y-%m-%dT%H:%MZ}"),
    )  # fmt: skip


def _amount(text: str) -> Decimal:
    amount = Decimal(text)
    if not amount.is_finite() or amount < 0:
        raise ValueError(f"{text!r} is not an amount of money")
    return amount


def _instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
