"""What one AWS account is told: the price list first, which says what is sold where, then the other services."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from costcalc.hardware import Machine
from costcalc.offers import Gap, Offer
from costcalc.units import HOURS_PER_DAY
from pricing.sources.aws.calls import Calls, NotOffered, Unreachable
from pricing.sources.aws.listing import straightened
from pricing.sources.aws.machines import described_machines, region_of
from pricing.sources.aws.price_list import (
    ACCELERATED_FAMILIES,
    Machines,
    Origin,
    Product,
    price_list_offers,
    product,
    reading,
)
from pricing.sources.aws.services import LINUX_SPOT, capacity_block_offers, savings_plan_offers, spot_offers
from pricing.sources.source import Collected, CredentialsMissing, NotAllowed, SchemaChanged, SourceError

HOME = "us-east-1"  # the price list and the Savings Plans services answer there for all regions
FILTERS = {"operatingSystem": "Linux", "tenancy": "Shared", "capacitystatus": "Used", "preInstalledSw": "NA"}
ACCELERATED_NAMES = ["p*", "g*", "trn*", "inf*", "dl*"]
SOLD_IN_BLOCKS = re.compile(r"p[4-9]|trn")  # docs.aws.amazon.com, "Capacity Blocks for ML"
BLOCK_DAYS = (1, 7, 14)
CALLS_AT_ONCE = 8
NAMES_PER_FILTER = 40

Listed = tuple[Product, Mapping[str, Any]]  # a product and its terms


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to a part: the machine types sold in one region."""

    region: str
    names: Sequence[str]
    machines: Machines
    now: datetime


@dataclass(frozen=True, slots=True)
class Part:
    """A service of its own. `always` says that no rate at all would be strange."""

    title: str
    collect: Callable[[Calls, Ask], Iterable[Offer]]
    always: bool = True


class Account:
    """Collects over `calls`. `only` limits everything to these regions; without it, `usual` limits the other services."""

    def __init__(
        self, calls: Calls, packaged: Mapping[str, Machine], usual: Sequence[str], only: Sequence[str]
    ) -> None:
        self._calls, self._packaged, self._usual, self._only = calls, packaged, usual, only

    def collect(self, now: datetime) -> Collected:
        """Every rate the account may see. Raises SourceError if the price list cannot be had."""
        listed = self._price_list()
        sold = _by_region(each for each, _ in listed)
        regions = [region for region in self._only or self._usual if region in sold] or sorted(sold)
        described, silence = self._described({each.instance_type for each, _ in listed}, regions)
        machines = {**self._packaged, **described}
        offers = _listed_offers(listed, machines.get, Origin("AWS Price List API", now))
        asks = [Ask(region, sold[region], machines.get, now) for region in regions]
        told = _together(offers, [silence, *_side_by_side(lambda part: self._part(part, asks), PARTS)])
        unknown = {each.instance_type for each, _ in listed} - machines.keys()
        kept, left_out = straightened(told.offers)
        return Collected(kept, (*told.gaps, *left_out, *unknown_gap(unknown)), told.faults)

    def _price_list(self) -> list[Listed]:
        """Accelerated machines of all regions, family by family; name by name where families are not understood."""
        found = self._products("instanceFamily", ACCELERATED_FAMILIES)
        found = found or self._products("instanceType", sorted(self._packaged))
        if not found:
            raise SchemaChanged("pricing:GetProducts listed not one machine with an accelerator")
        return found

    def _products(self, field: str, values: Sequence[str]) -> list[Listed]:
        return [each for found in _side_by_side(partial(self._products_where, field), values) for each in found]

    def _products_where(self, field: str, value: str) -> list[Listed]:
        wanted = {field: value, **FILTERS}
        filters = [{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in wanted.items()]
        arguments = {"ServiceCode": "AmazonEC2", "Filters": filters, "MaxResults": 100}
        elements = self._calls.items("pricing:GetProducts", HOME, "PriceList", arguments)
        return [each for element in elements for each in self._listed(element)]

    def _listed(self, element: str) -> Iterator[Listed]:
        """The element again if it is ours: filters may have let others through."""
        with reading("AWS price list"):
            content = json.loads(element)
            found, terms = product(content["product"], region_of), content["terms"]
        ours = found and (found.accelerated or found.instance_type in self._packaged)
        if found and ours and (not self._only or found.region in self._only):
            yield found, terms

    def _described(self, names: set[str], regions: Sequence[str]) -> tuple[dict[str, Machine | None], Collected]:
        """What EC2 says the machines hold, asked on in further regions while a name is known neither there nor to us."""
        described: dict[str, Machine | None] = {}
        arguments = {"Filters": [{"Name": "instance-type", "Values": ACCELERATED_NAMES}], "MaxResults": 100}
        try:
            for region in regions:
                rows = self._calls.items("ec2:DescribeInstanceTypes", region, "InstanceTypes", arguments)
                described |= described_machines(rows, self._packaged)
                if names <= described.keys() | self._packaged.keys():
                    break
        except SourceError as error:
            return described, _silent(error, Gap("aws", f"instance types: {error}; taken from our own table"))
        return described, Collected(())

    def _part(self, part: Part, asks: Sequence[Ask]) -> Collected:
        """All regions; if the first is refused or nobody answers, so would be the others, and it speaks for them."""
        first = self._ask(part, asks[0])
        refused = isinstance(first, CredentialsMissing | Unreachable)
        answers = [first, *([] if refused else _side_by_side(partial(self._ask, part), asks[1:]))]
        offers = [offer for answer in answers if not isinstance(answer, SourceError) for offer in answer]
        errors: dict[str, SourceError] = {}
        regions: dict[str, list[str]] = defaultdict(list)
        for ask, answer in zip(asks, answers, strict=False):
            if isinstance(answer, SourceError):
                errors[str(answer)] = answer
                regions[str(answer)].append(ask.region)
        silent = [_silent(error, _gap(part, said, regions[said], everywhere=refused)) for said, error in errors.items()]
        if part.always and not offers and not silent:
            nothing = Gap("aws", f"{part.title}: AWS answered without a single rate for our machines")
            silent = [Collected((), (nothing,))]
        return _together(offers, silent)

    def _ask(self, part: Part, ask: Ask) -> tuple[Offer, ...] | SourceError:
        try:
            return tuple(part.collect(self._calls, ask))
        except SourceError as error:
            return error


def _silent(error: SourceError, gap: Gap) -> Collected:
    """What an account may not call is a gap, anything else a fault."""
    return Collected((), (gap,)) if isinstance(error, NotAllowed) else Collected((), (), (gap,))


def _together(offers: Iterable[Offer], parts: Iterable[Collected]) -> Collected:
    """These offers, and those of all parts with what they did not see."""
    kept = list(parts)
    return Collected(
        (*offers, *(offer for part in kept for offer in part.offers)),
        tuple(gap for part in kept for gap in part.gaps),
        tuple(fault for part in kept for fault in part.faults),
    )


def _gap(part: Part, reason: str, regions: Sequence[str], everywhere: bool) -> Gap:
    where = "" if everywhere else f" in {', '.join(regions)}"
    return Gap("aws", f"{part.title}{where}: {reason}")


def unknown_gap(names: set[str]) -> tuple[Gap, ...]:
    """A gap for accelerated machines of which nobody says what they hold; none if there are none."""
    listed = ", ".join(sorted(names))
    return (Gap("aws", f"left out, no table names their accelerators: {listed}"),) if names else ()


def _by_region(products: Iterable[Product]) -> dict[str, list[str]]:
    names: dict[str, set[str]] = defaultdict(set)
    for each in products:
        names[each.region].add(each.instance_type)
    return {region: sorted(found) for region, found in names.items()}


def _listed_offers(listed: Iterable[Listed], machines: Machines, origin: Origin) -> Iterator[Offer]:
    for each, terms in listed:
        machine = machines(each.instance_type)
        if machine:
            yield from price_list_offers(each, terms, machine, origin)


def _side_by_side(function: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
    with ThreadPoolExecutor(CALLS_AT_ONCE) as pool:
        return list(pool.map(function, values))


def _spot(calls: Calls, ask: Ask) -> Iterable[Offer]:
    """Filters, not InstanceTypes: a name that EC2 has forgotten would be an error there. StartTime=now: what holds now."""
    filters = [
        {"Name": "instance-type", "Values": list(ask.names)},
        {"Name": "product-description", "Values": sorted(LINUX_SPOT)},
    ]
    arguments = {"Filters": filters, "StartTime": ask.now, "MaxResults": 1000}
    quotes = calls.items("ec2:DescribeSpotPriceHistory", ask.region, "SpotPriceHistory", arguments)
    return spot_offers(quotes, ask.region, ask.machines, Origin("AWS EC2 spot price history", ask.now))


def _savings_plans(calls: Calls, ask: Ask) -> Iterator[Offer]:
    for start in range(0, len(ask.names), NAMES_PER_FILTER):
        wanted = {
            "region": [ask.region],
            "instanceType": list(ask.names[start : start + NAMES_PER_FILTER]),
            "productDescription": ["Linux/UNIX"],
            "tenancy": ["shared"],
        }
        arguments = {
            "savingsPlanTypes": ["Compute", "EC2Instance"],
            "products": ["EC2"],
            "filters": [{"name": name, "values": values} for name, values in wanted.items()],
            "maxResults": 1000,
        }
        rates = calls.items("savingsplans:DescribeSavingsPlansOfferingRates", HOME, "searchResults", arguments)
        yield from savings_plan_offers(rates, ask.region, ask.machines, Origin("AWS Savings Plans rates", ask.now))


def _capacity_blocks(calls: Calls, ask: Ask) -> Iterator[Offer]:
    origin = Origin("AWS EC2 capacity block offerings", ask.now)
    for name in filter(SOLD_IN_BLOCKS.match, ask.names):
        try:
            for days in BLOCK_DAYS:
                size = {"InstanceType": name, "InstanceCount": 1, "CapacityDurationHours": days * HOURS_PER_DAY}
                blocks = calls.items("ec2:DescribeCapacityBlockOfferings", ask.region, "CapacityBlockOfferings", size)
                yield from capacity_block_offers(blocks, ask.region, ask.machines, origin)
        except NotOffered:
            continue


PARTS = (
    Part("spot prices", _spot),
    Part("Savings Plans", _savings_plans),
    Part("capacity blocks", _capacity_blocks, always=False),
)
