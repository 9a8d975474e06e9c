"""What one AWS account may see: the price list first, which says what is sold where, then the other services."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.offer import Gap, Offer, Payment, PurchaseOption
from costcalc.units import HOURS_PER_DAY
from pricing.checks import ROUNDING, UPFRONT_FIRST, shortened, terms_in_words
from pricing.scope import Scope
from pricing.sources.aws.calls import BLOCK_LIMIT, Calls, LimitReached, NotOffered, Unreachable
from pricing.sources.aws.price_list import (
    ACCELERATED_FAMILIES,
    Machines,
    Product,
    described_machines,
    price_list_offers,
    product,
    reading,
)
from pricing.sources.aws.services import LINUX_SPOT, capacity_block_offers, savings_plan_offers, spot_offers
from pricing.sources.common.listing import Listing
from pricing.sources.common.rows import flag_dear_spot
from pricing.sources.source import (
    Collected,
    CredentialsMissing,
    Environment,
    NotAllowed,
    SchemaChanged,
    SourceError,
    SourceSetting,
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
        return [each for products in _at_once(partial(self._products_where, field), values) for each in products]

    def _products_where(self, field: str, value: str) -> list[PricedProduct]:
        wanted = {field: value, **FILTERS}.items()
        filters = [{"Type": "TERM_MATCH", "Field": name, "Value": text} for name, text in wanted]
        arguments = {"ServiceCode": "AmazonEC2", "Filters": filters, "MaxResults": 100}
        elements = self.calls.items("pricing:GetProducts", HOME, "PriceList", arguments)
        return [each for element in elements for each in self._listed(element)]

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


LONG_AGO = datetime.min.replace(tzinfo=UTC)


def publishable(offers: Iterable[Offer]) -> tuple[tuple[Offer, ...], tuple[Gap, ...]]:
    """The offers to publish, and a gap for commitments left out because they cost more than on demand.

    AWS does list such: on-demand rates of P4 and P5 fell in June 2025, reservations' did not. Only a ladder of payments
    that is in order by itself is trimmed; any other is left for the checks to leave out.
    """
    current = newest(offers)
    plain = (each for each in current if each.purchase_option is PurchaseOption.ON_DEMAND)
    on_demand = {each.key[:3]: each.hourly_rate for each in plain}
    dear = set[Offer]()
    for ladder in _ladders(current):
        is_in_order = all(first.hourly_rate <= later.hourly_rate + ROUNDING for first, later in pairwise(ladder))
        limit = on_demand.get(ladder[0].key[:3])
        if is_in_order and limit is not None:
            dear |= {each for each in ladder if each.hourly_rate > limit + ROUNDING}
    names = [f"{each.instance_type} in {each.region} {terms_in_words(each)}" for each in current if each in dear]
    gaps = (Gap("aws", f"left out, dearer than on demand: {shortened(names)}"),) if names else ()
    return flag_dear_spot(each for each in current if each not in dear), gaps


def settled(collected: Collected, unknown: set[str]) -> Collected:
    """The offers to publish, with gaps for those left out and for the `unknown` types, of which nobody says what they hold.

    Nothing follows from the absence of either.
    """
    kept, left_out = publishable(collected.offers)
    dear = {each.key for each in collected.offers} - {each.key for each in kept}
    apart = frozenset(unknown | {instance_type for _, _, instance_type, *_ in dear})
    nameless = f"left out, no table names their accelerators: {', '.join(sorted(unknown))}"
    gaps = (*collected.gaps, *left_out, *((Gap("aws", nameless),) if unknown else ()))
    return replace(collected, offers=kept, gaps=gaps, whole=tuple(scope.without(apart) for scope in collected.whole))


def newest(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    """Each offer's latest effective rates, each once."""
    rates: dict[tuple[str, ...], list[Offer]] = defaultdict(list)
    for offer in offers:
        rates[offer.key].append(offer)
    standing: list[Offer] = []
    for same in rates.values():
        last = max(each.effective_from or LONG_AGO for each in same)
        latest = [each for each in same if (each.effective_from or LONG_AGO) == last]
        standing += {(each.hourly_rate, each.upfront): each for each in latest}.values()
    return tuple(standing)


def _ladders(offers: Iterable[Offer]) -> Iterable[list[Offer]]:
    """Offers that differ in payment only, the earliest payment first."""
    ladders: dict[tuple[str | None, ...], dict[Payment, list[Offer]]] = defaultdict(lambda: defaultdict(list))
    for each in offers:
        if each.payment:
            ladders[*each.key[:3], each.purchase_option, each.term, each.offering_class][each.payment].append(each)
    return [[each for payment in UPFRONT_FIRST for each in ladder.get(payment, ())] for ladder in ladders.values()]
