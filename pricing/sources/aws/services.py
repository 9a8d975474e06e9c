"""What AWS's other services answer, to offers: spot prices, Savings Plans and capacity blocks. Pure.

Wire formats: docs.aws.amazon.com, "DescribeSpotPriceHistory", "DescribeSavingsPlansOfferingRates",
"DescribeCapacityBlockOfferings".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from math import ceil
from statistics import median

from msgspec import Struct, convert

from costcalc.hardware import Machine
from costcalc.offer import STARTS, Offer, Payment, PurchaseOption
from costcalc.units import HOURS_PER_DAY, HOURS_PER_YEAR, SECONDS_PER_HOUR
from pricing.offer_flags import stock
from pricing.sources.aws.price_list import PAYMENTS, Machines, reading
from pricing.sources.common.listing import Listing, amount, spot
from pricing.sources.source import SchemaChanged

LINUX_SPOT = frozenset({"Linux/UNIX", "Linux/UNIX (Amazon VPC)"})  # the second is what EC2-Classic accounts are told
PLAN_CLASSES = {"Compute": "compute", "EC2Instance": "ec2_instance"}
BOX_USAGE = re.compile(r"(^|-)BoxUsage:")  # not HostBoxUsage, DedicatedUsage, UnusedBox, Reservation
REGION_NAME = re.compile(r"[a-z]{2}(-[a-z]+)+-\d")
SECONDS_PER_YEAR = HOURS_PER_YEAR * SECONDS_PER_HOUR


class SpotQuote(Struct, rename="pascal"):
    """The spot price of a machine in one zone since a moment."""

    instance_type: str
    availability_zone: str
    product_description: str
    spot_price: Decimal
    timestamp: datetime


class SavingsPlan(Struct, rename="camel"):
    """A plan that can be bought."""

    currency: str
    duration_seconds: int
    payment_option: str
    plan_type: str


class Property(Struct):
    """One of the properties that say what a Savings Plans rate is for."""

    name: str
    value: str | None = None


class PlanRate(Struct, rename="camel"):
    """The rate of some use under a Savings Plan, any upfront payment already spread."""

    rate: Decimal
    savings_plan_offering: SavingsPlan
    properties: list[Property] = []
    unit: str = "Hrs"
    usage_type: str = "BoxUsage:"


class CapacityBlock(Struct, rename="pascal"):
    """Machines for a stretch of time; the fee is for all of them over its real length."""

    instance_type: str
    availability_zone: str
    upfront_fee: Decimal
    capacity_block_duration_hours: int
    start_date: datetime
    instance_count: int = 1
    currency_code: str = "USD"


def spot_offers(rows: Iterable[object], region: str, machines: Machines, listing: Listing) -> Iterator[Offer]:
    """One offer per machine: the lowest zone's latest quote, with that zone and the zones' median as flags."""
    with reading("AWS spot price history"):
        quotes = (convert(row, SpotQuote) for row in rows)
        for instance_type, zones in _latest_quotes(quotes, region).items():
            machine = machines(instance_type)
            prices = {zone: amount(quote.spot_price) for zone, quote in zones.items()}
            rate, zone, since = min((price, zone, zones[zone].timestamp) for zone, price in prices.items())
            if machine and rate:
                flags = (f"zone={zone}", f"zones={len(zones)}", f"spot_median={median(prices.values())}")
                offer = listing.offer(region, instance_type, machine, rate, effective_from=since, flags=flags)
                yield spot(offer, rate)


def _latest_quotes(quotes: Iterable[SpotQuote], region: str) -> dict[str, dict[str, SpotQuote]]:
    """Linux quotes by instance type and zone, the newest of each; zones of other regions and Local Zones left out."""
    latest: dict[str, dict[str, SpotQuote]] = defaultdict(dict)
    for quote in quotes:
        zone = quote.availability_zone
        if quote.product_description not in LINUX_SPOT or not _is_zone(zone, region):
            continue
        zones = latest[quote.instance_type]
        if zone not in zones or quote.timestamp > zones[zone].timestamp:
            zones[zone] = quote
    return latest


def _is_zone(zone: str, region: str) -> bool:
    """`us-east-1a` lies in us-east-1; `us-east-1-bos-1a` is a Local Zone with its own prices; `use1-az4` names no region."""
    return zone[:-1] == region if REGION_NAME.match(zone) else bool(zone)


def savings_plan_offers(rows: Iterable[object], region: str, machines: Machines, listing: Listing) -> Iterator[Offer]:
    """The rates of Compute and EC2 Instance Savings Plans."""
    with reading("AWS Savings Plans rates"):
        for rate in (convert(row, PlanRate) for row in rows):
            properties = {each.name: each.value or "" for each in rate.properties}
            instance_type, hourly = properties.get("instanceType", ""), amount(rate.rate)
            machine = machines(instance_type)
            if machine and hourly and properties.get("region") == region and _is_linux_plan(rate, properties):
                yield planned(rate.savings_plan_offering, hourly, (region, instance_type, machine), listing)


def _is_linux_plan(rate: PlanRate, properties: dict[str, str]) -> bool:
    return (
        rate.unit == "Hrs"
        and rate.savings_plan_offering.plan_type in PLAN_CLASSES
        and bool(BOX_USAGE.search(rate.usage_type))
        and (properties.get("productDescription") or "Linux/UNIX") in LINUX_SPOT
        and (properties.get("tenancy") or "shared").lower() == "shared"
    )


def planned(plan: SavingsPlan, hourly: Decimal, machine: tuple[str, str, Machine], listing: Listing) -> Offer:
    """A machine (its region, its type, what it holds) under a plan at this hourly rate. Raises SchemaChanged."""
    if plan.currency != "USD":
        raise SchemaChanged(f"AWS prices a Savings Plan of {machine[1]} in {plan.currency}; expected USD")
    years, payment = round(plan.duration_seconds / SECONDS_PER_YEAR), PAYMENTS[plan.payment_option]
    prepaid = {  # the part paid at once under Partial Upfront is the buyer's choice from half upwards: left unknown
        Payment.NO_UPFRONT: (Decimal(0), hourly),
        Payment.ALL_UPFRONT: (hourly * years * HOURS_PER_YEAR, Decimal(0)),
    }
    upfront, recurring = prepaid.get(payment, (None, None))
    return listing.offer(
        *(*machine, hourly),
        purchase_option=PurchaseOption.SAVINGS_PLAN,
        term=f"{years}y",
        payment=payment,
        offering_class=PLAN_CLASSES[plan.plan_type],
        upfront=upfront,
        recurring_hourly=recurring,
    )


def capacity_block_offers(rows: Iterable[object], region: str, machines: Machines, listing: Listing) -> Iterator[Offer]:
    """The cheapest block per machine and started days: blocks end at 11:30 UTC, so one asked for as 24 hours may hold 19."""
    cheapest: dict[tuple[str, ...], Offer] = {}
    with reading("AWS capacity blocks"):
        for block in (convert(row, CapacityBlock) for row in rows):
            machine = machines(block.instance_type)
            if machine and _is_zone(block.availability_zone, region) and amount(block.upfront_fee):
                offer = _block(block, region, machine, listing)
                cheapest[offer.key] = min(offer, cheapest.get(offer.key, offer), key=lambda each: each.hourly_rate)
    yield from cheapest.values()


def _block(block: CapacityBlock, region: str, machine: Machine, listing: Listing) -> Offer:
    if block.currency_code != "USD":
        raise SchemaChanged(f"AWS prices a capacity block in {block.currency_code}; expected USD")
    start = f"{block.start_date:%Y-%m-%dT%H:%MZ}"
    hours, fee = block.capacity_block_duration_hours, block.upfront_fee / block.instance_count
    return listing.offer(
        *(region, block.instance_type, machine, fee / hours),
        purchase_option=PurchaseOption.CAPACITY_BLOCK,
        term=f"{ceil(hours / HOURS_PER_DAY)}d",
        payment=Payment.ALL_UPFRONT,
        upfront=fee,
        recurring_hourly=Decimal(0),
        flags=(f"zone={block.availability_zone}", f"hours={hours}", f"{STARTS}{start}", *stock(True)),
    )
