"""Amazon Web Services: on demand, reserved, spot, Savings Plans and capacity blocks.

Each service needs a permission of its own; one that is refused is a gap, but for the price list, without which nothing is read.
docs/price-sources-aws.md says how a rate comes about and lists the permissions.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from functools import partial
from importlib.util import find_spec
from time import sleep
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.offer import Gap, Offer, PurchaseOption
from costcalc.units import HOURS_PER_DAY
from pricing.packaged.machine_facts import packaged_machines
from pricing.scope import Scope
from pricing.sources.aws.calls import BLOCK_LIMIT, Calls, LimitReached, NotOffered, Unreachable, open_calls
from pricing.sources.aws.calls import SETTINGS as CALL_SETTINGS
from pricing.sources.aws.price_list import (
    ACCELERATED_FAMILIES,
    Machines,
    Product,
    described_machines,
    price_list_offers,
    product,
    reading,
    settled,
)
from pricing.sources.aws.services import LINUX_SPOT, capacity_block_offers, savings_plan_offers, spot_offers
from pricing.sources.common.http import Http
from pricing.sources.common.listing import Listing
from pricing.sources.source import (
    Bounds,
    Collected,
    CredentialsMissing,
    Environment,
    NotAllowed,
    SchemaChanged,
    SourceError,
    SourceSetting,
    SourceSpec,
    separated,
)

HOME = "us-east-1"  # the price list and the Savings Plans services answer there for all regions
FILTERS = {"operatingSystem": "Linux", "tenancy": "Shared", "capacitystatus": "Used", "preInstalledSw": "NA"}
ACCELERATED_NAMES = ["p*", "g*", "trn*", "inf*", "dl*"]
CALLS_AT_ONCE = 8
NAMES_PER_FILTER = 40
IN_PRICE_LIST = frozenset({PurchaseOption.ON_DEMAND.value, PurchaseOption.RESERVED.value})

FOR_ALL_REGIONS = (CredentialsMissing, Unreachable)  # errors of one region that hold in all

PricedProduct = tuple[Product, object]  # a product and its terms
T = TypeVar("T")
R = TypeVar("R")


class Question(Struct, frozen=True):
    """What a service is asked: about the machine types sold in one region, some of them in capacity blocks."""

    region: str
    names: Sequence[str]
    names_in_blocks: Sequence[str]
    machines: Machines
    now: datetime


class Service(Struct, frozen=True):
    """A service of its own, which lists all of `scope`. `always_priced` says that no rate at all would be strange."""

    name: str
    scope: Scope
    collect: Callable[[Calls, Question], Iterable[Offer]]
    always_priced: bool = True


class Answer(Struct, frozen=True):
    """What a service said of one region: all of it, or what came before the error."""

    region: str
    offers: tuple[Offer, ...]
    error: SourceError | None = None


class Account(Struct, frozen=True):
    """Collects over `calls` what an account may see: the price list, and the `services` beside it.

    `only_regions` limits everything; without them, `default_regions` limit the services beside the price list.
    """

    calls: Calls
    packaged: Mapping[str, Machine]
    default_regions: Sequence[str]
    only_regions: Sequence[str]
    services: Sequence[Service]

    def collect(self, now: datetime) -> Collected:
        """Every rate the account may see. Raises SourceError if the price list cannot be had."""
        listed, scopes = self._price_list()
        sold = _by_region(each for each, _ in listed)
        in_blocks = _by_region(each for each, _ in listed if each.in_blocks)
        regions = [region for region in self.only_regions or self.default_regions if region in sold] or sorted(sold)
        described, unseen = self._described({each.instance_type for each, _ in listed}, regions)
        machines = {**self.packaged, **described}
        offers: list[Offer] = []
        for each, terms in listed:
            if machine := machines.get(each.instance_type):
                offers += price_list_offers(each, terms, machine, Listing("aws", "AWS Price List API", now))
        questions = [Question(region, sold[region], in_blocks.get(region, ()), machines.get, now) for region in regions]
        answered = _at_once(partial(self._service, questions), self.services)
        priced = Collected(tuple(offers), whole=scopes)
        unknown = {each.instance_type for each, _ in listed} - machines.keys()
        return settled(Collected.together([priced, unseen, *answered]), unknown)

    def _price_list(self) -> tuple[list[PricedProduct], tuple[Scope, ...]]:
        """Accelerated machines of all regions, family by family; only those known by name where families are not understood."""
        if listed := self._products("instanceFamily", ACCELERATED_FAMILIES):
            regions = frozenset(self.only_regions) or None
            return listed, (Scope(regions=regions, purchase_options=IN_PRICE_LIST),)
        if listed := self._products("instanceType", sorted(self.packaged)):
            return listed, ()
        raise SchemaChanged("pricing:GetProducts listed not one machine with an accelerator")

    def _products(self, field: str, values: Sequence[str]) -> list[PricedProduct]:
        def products_where(value: str) -> list[PricedProduct]:
            wanted = {field: value, **FILTERS}.items()
            filters = [{"Type": "TERM_MATCH", "Field": name, "Value": text} for name, text in wanted]
            arguments = {"ServiceCode": "AmazonEC2", "Filters": filters, "MaxResults": 100}
            elements = self.calls.items("pricing:GetProducts", HOME, "PriceList", arguments)
            return [each for element in elements for each in self._listed(element)]

        return [each for products in _at_once(products_where, values) for each in products]

    def _listed(self, element: str) -> Iterator[PricedProduct]:
        """The element, if it is of our machines: filters may have let others through."""
        with reading("AWS price list"):
            content = json.loads(element)
            listed, terms = product(content["product"]), content["terms"]
        ours = listed and (listed.accelerated or listed.instance_type in self.packaged)
        if listed and ours and (not self.only_regions or listed.region in self.only_regions):
            yield listed, terms

    def _described(self, names: set[str], regions: Sequence[str]) -> tuple[dict[str, Machine | None], Collected]:
        """What EC2 says the machines hold. Further regions are asked until every name is known."""
        described: dict[str, Machine | None] = {}
        arguments = {"Filters": [{"Name": "instance-type", "Values": ACCELERATED_NAMES}], "MaxResults": 100}
        try:
            for region in regions:
                rows = self.calls.items("ec2:DescribeInstanceTypes", region, "InstanceTypes", arguments)
                described |= described_machines(rows, self.packaged)
                if names <= described.keys() | self.packaged.keys():
                    break
        except SourceError as error:
            return described, _gap_or_fault(error, Gap("aws", f"instance types: {error}; taken from our own table"))
        return described, Collected(())

    def _service(self, questions: Sequence[Question], service: Service) -> Collected:
        """What a service says of all regions. If the first region is refused or does not answer, the others are not asked."""
        first = self._answer(service, questions[0])
        others = () if isinstance(first.error, FOR_ALL_REGIONS) else questions[1:]
        answers = [first, *_at_once(partial(self._answer, service), others)]
        offers = [offer for answer in answers for offer in answer.offers]
        unseen = _unseen(service, answers)
        if service.always_priced and not offers and not unseen:
            return Collected((), (Gap("aws", f"{service.name}: AWS answered without a single rate for our machines"),))
        read = (answer.region for answer in answers if answer.error is None)
        whole = tuple(replace(service.scope, regions=frozenset({region})) for region in read)
        return Collected.together([Collected(tuple(offers), whole=whole), *unseen])

    def _answer(self, service: Service, question: Question) -> Answer:
        offers: list[Offer] = []
        try:
            for offer in service.collect(self.calls, question):  # one by one: what came before an error is kept
                offers.append(offer)
        except SourceError as error:
            return Answer(question.region, tuple(offers), error)
        return Answer(question.region, tuple(offers))


def _unseen(service: Service, answers: Sequence[Answer]) -> list[Collected]:
    """One gap or fault for all regions with the same error."""
    regions: dict[str, list[str]] = defaultdict(list)
    errors: dict[str, SourceError] = {}
    for answer in answers:
        if answer.error:
            regions[str(answer.error)].append(answer.region)
            errors[str(answer.error)] = answer.error
    everywhere = isinstance(answers[0].error, FOR_ALL_REGIONS)
    unseen = []
    for reason, error in errors.items():
        where = "" if everywhere else f" in {', '.join(regions[reason])}"
        unseen.append(_gap_or_fault(error, Gap("aws", f"{service.name}{where}: {reason}")))
    return unseen


def _gap_or_fault(error: SourceError, gap: Gap) -> Collected:
    """What an account may not call, or not so often, is a gap, anything else a fault."""
    return Collected((), (gap,)) if isinstance(error, NotAllowed | LimitReached) else Collected((), (), (gap,))


def _by_region(products: Iterable[Product]) -> dict[str, list[str]]:
    names: dict[str, set[str]] = defaultdict(set)
    for each in products:
        names[each.region].add(each.instance_type)
    return {region: sorted(types) for region, types in names.items()}


def _at_once(function: Callable[[T], R], values: Sequence[T]) -> list[R]:
    with ThreadPoolExecutor(CALLS_AT_ONCE) as pool:
        return list(pool.map(function, values))


def _spot(calls: Calls, question: Question) -> Iterable[Offer]:
    """Filters, not InstanceTypes: a name that EC2 has forgotten would be an error there. StartTime=now: what holds now."""
    filters = [
        {"Name": "instance-type", "Values": list(question.names)},
        {"Name": "product-description", "Values": sorted(LINUX_SPOT)},
    ]
    arguments = {"Filters": filters, "StartTime": question.now, "MaxResults": 1000}
    quotes = calls.items("ec2:DescribeSpotPriceHistory", question.region, "SpotPriceHistory", arguments)
    listing = Listing("aws", "AWS EC2 spot price history", question.now)
    return spot_offers(quotes, question.region, question.machines, listing)


def _savings_plans(calls: Calls, question: Question) -> Iterator[Offer]:
    listing = Listing("aws", "AWS Savings Plans rates", question.now)
    for start in range(0, len(question.names), NAMES_PER_FILTER):
        wanted = {
            "region": [question.region],
            "instanceType": list(question.names[start : start + NAMES_PER_FILTER]),
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
        yield from savings_plan_offers(rates, question.region, question.machines, listing)


SERVICES = (
    Service("spot prices", Scope(purchase_options=frozenset({PurchaseOption.SPOT.value})), _spot),
    Service("Savings Plans", Scope(purchase_options=frozenset({PurchaseOption.SAVINGS_PLAN.value})), _savings_plans),
)


BLOCK_DAYS = SourceSetting(
    "COSTCALC_AWS_BLOCK_DAYS",
    "lengths of the capacity blocks to ask for, in days separated by commas, such as 1,7,14; unset: none, since EC2 answers "
    "only about one such call in 4 seconds and region",
)
PERMISSION = "ec2:DescribeCapacityBlockOfferings"
PAUSES_SECONDS = (4, 15, 45)  # before a call, and before it is asked again, twice


class CapacityBlocks(Struct, frozen=True):
    """Asks for blocks of so many `days`. `pause` waits a number of seconds."""

    days: Sequence[int]
    pause: Callable[[float], None]

    def collect(self, calls: Calls, question: Question) -> Iterator[Offer]:
        """The cheapest block of each machine type and length in a region.

        Raises LimitReached when EC2 answers no more, after the blocks that it did list.
        """
        listing = Listing("aws", "AWS EC2 capacity block offerings", question.now)
        for name in question.names_in_blocks:
            with suppress(NotOffered):
                for days in self.days:
                    blocks = self._blocks(calls, question.region, name, days)
                    yield from capacity_block_offers(blocks, question.region, question.machines, listing)

    def _blocks(self, calls: Calls, region: str, name: str, days: int) -> list[object]:
        size = {"InstanceType": name, "InstanceCount": 1, "CapacityDurationHours": days * HOURS_PER_DAY}
        for seconds in PAUSES_SECONDS:
            self.pause(seconds)
            with suppress(LimitReached):
                return list(calls.items(PERMISSION, region, "CapacityBlockOfferings", size))
        raise LimitReached(
            f"{PERMISSION} answered {BLOCK_LIMIT} {len(PAUSES_SECONDS)} times: the account has no quota for capacity blocks "
            "there, or others use it up"
        )


def block_days(environment: Environment) -> tuple[int, ...]:
    """The lengths to ask for, none unless the setting names them. Raises SourceError if it names something else."""
    given = separated(BLOCK_DAYS.read(environment))
    if not all(days.isdecimal() and int(days) for days in given):
        raise SourceError(f"{BLOCK_DAYS.variable} names lengths in whole days, such as 1,7,14; not {','.join(given)!r}")
    return tuple(int(days) for days in given)


# Regions that every account has; others must be opted into (docs.aws.amazon.com, "AWS Regions").
REGIONS = (
    "us-east-1,us-east-2,us-west-1,us-west-2,ca-central-1,sa-east-1,eu-central-1,eu-north-1,eu-west-1,eu-west-2,eu-west-3,"
    "ap-northeast-1,ap-northeast-2,ap-northeast-3,ap-south-1,ap-southeast-1,ap-southeast-2"
)
ONLY_REGIONS = SourceSetting(
    "COSTCALC_AWS_REGIONS",
    "regions to collect, separated by commas; unset: the price list of all, the other services in the 17 that every account has",
)
SETTINGS = (*CALL_SETTINGS, ONLY_REGIONS, BLOCK_DAYS)
NO_CREDENTIALS = (
    "no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; "
    "the sources aws-page and aws-plans-page need none"
)


class Aws:
    """The source, by the account's own calls. `pause` waits a number of seconds between calls that AWS counts."""

    def __init__(self, environment: Environment, http: Http, pause: Callable[[float], None] = sleep) -> None:
        self._environment, self._http, self._pause = environment, http, pause

    def collect(self, now: datetime) -> Collected:
        """Every rate the account may see. Raises SourceError if on-demand prices cannot be had."""
        calls = open_calls(self._environment, self._http.recording)
        if calls is None:
            raise CredentialsMissing(NO_CREDENTIALS)
        only, services = separated(ONLY_REGIONS.read(self._environment)), list(SERVICES)
        if days := block_days(self._environment):
            terms = frozenset(f"{count}d" for count in days)
            scope = Scope(purchase_options=frozenset({PurchaseOption.CAPACITY_BLOCK.value}), terms=terms)
            blocks = CapacityBlocks(days, self._pause)
            services.append(Service("capacity blocks", scope, blocks.collect, always_priced=False))
        return Account(calls, packaged_machines("aws"), separated(REGIONS), only, services).collect(now)


def _missing(environment: Environment) -> str | None:
    if find_spec("boto3") is None:
        return "it needs the package boto3, run: pip install 'costcalc[prices]'"
    try:
        return None if open_calls(environment) else NO_CREDENTIALS
    except CredentialsMissing:
        return None  # whoever asks is told what is wrong with them


SPEC = SourceSpec(
    name="aws",
    label="Amazon Web Services",
    build=Aws,
    rates="on demand, spot, reserved and Savings Plans; capacity blocks if COSTCALC_AWS_BLOCK_DAYS names lengths",
    needs="pricing:GetProducts, ec2:DescribeInstanceTypes, ec2:DescribeSpotPriceHistory, "
    "ec2:DescribeCapacityBlockOfferings and savingsplans:DescribeSavingsPlansOfferingRates",
    cannot_see="negotiated discounts, reservations resold on the marketplace, Local Zones, China, GovCloud, free capacity",
    settings=SETTINGS,
    missing=_missing,
    bounds=Bounds(memory_mib=256, offers=30_000),  # the SDK's model of EC2 and a price list of every region
)
