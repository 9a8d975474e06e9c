"""Savings Plans of Amazon Web Services without an account, in every region, as AWS's own pricing page reads them.

For each region there is a document for each length (1 and 3 years) and payment (nothing, a part or all at once) of a Compute
Savings Plan, and one more for each family of machines of an EC2 Instance Savings Plan; the families are those that the first
list. Their rates hold what is paid at once. No answer of AWS was to be had: what programs that read these documents expect is
tested, with rates that one of them read. The plans of a kind in a region are read whole or not at all, and at most once a
day. What is not known of the machines of `aws-page` is left out here too.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import NamedTuple
from urllib.parse import quote

from msgspec import Struct, ValidationError, convert
from msgspec import field as named
from msgspec.structs import replace

from costcalc.offer import Gap, Offer, PurchaseOption
from pricing.packaged.machine_facts import packaged_machines
from pricing.scope import Scope
from pricing.sources.aws.page import MOST_MIB, REGION, Location, places_listed, read_map, rows_of
from pricing.sources.aws.price_list import PAYMENTS
from pricing.sources.aws.services import SECONDS_PER_YEAR, SavingsPlan, planned
from pricing.sources.common.endpoint import Endpoint, NotThere, Site, address
from pricing.sources.common.listing import Listing, amount
from pricing.sources.common.rows import read_rows
from pricing.sources.source import Bounds, Collected, SchemaChanged, SourceError

NAME, SOURCE = "aws-plans-page", "AWS Savings Plans pricing page"
MAPS = "/pricing/2.0/meteredUnitMaps/computesavingsplan/USD/current"
PLANS = MAPS + "/compute-savings-plan-ec2/{}/{}/{}/Linux/Shared/index.json"
FAMILY_PLANS = MAPS + "/instance-savings-plan-ec2/{}/{}/{}/{}/Linux/Shared/index.json"
YEARS = (1, 3)
AT_ONCE = 8  # regions, of some 50 small documents each
BARE = "NA"  # no software of others comes with the machine


class Listed(Struct):
    """A machine's rate under a plan."""

    price: str
    instance_type: str = named(name="ec2:InstanceType")
    software: str = named(name="ec2:PreInstalledSW", default=BARE)


class Seen(NamedTuple):
    """A rate: the region's code, what is rented, and the plan."""

    region: str
    instance_type: str
    rate: str
    plan: SavingsPlan

    def offer(self, listing: Listing) -> Offer:
        machine = self.region, self.instance_type, packaged_machines("aws")[self.instance_type]
        return planned(self.plan, amount(self.rate), machine, listing)


class Region(NamedTuple):
    """What was read of a region, and what was not."""

    code: str
    seen: list[Seen]
    gaps: tuple[Gap, ...] = ()
    faults: tuple[Gap, ...] = ()


class AwsPlansPage(Struct, frozen=True):
    """`page` has locations and rates."""

    page: Endpoint

    def collect(self, now: datetime) -> Collected:
        """Every region's rates. A kind of plan that breaks in one is a fault, one without plans a gap; SourceError where no
        region can be read."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            regions = list(pool.map(self._region, places_listed(self.page, REGION)))
        seen = [each for region in regions for each in region.seen]
        gaps = tuple(gap for region in regions for gap in region.gaps)
        faults = tuple(fault for region in regions for fault in region.faults)
        if not seen:
            reasons = "; ".join(gap.reason for gap in (*faults, *gaps)[:2])
            raise SourceError(reasons or f"{NAME}: the list of locations is empty")
        listing = Listing("aws", SOURCE, now)
        rates = read_rows(NAME, seen, lambda each: [each.offer(listing)])
        read = frozenset(region.code for region in regions if region.seen and not (region.gaps or region.faults))
        whole = Scope("aws", read, frozenset([PurchaseOption.SAVINGS_PLAN.value]))
        return replace(rates, gaps=(*rates.gaps, *gaps), faults=faults, whole=(whole,) if rates.whole else ())

    def _region(self, location: Location) -> Region:
        """A region's rates, of either kind of plan as far as it can be read."""
        code, seen = location.code, list[Seen]()
        try:
            seen += self._plans("Compute", PLANS, location)
            families = sorted({each.instance_type.partition(".")[0] for each in seen})
            of_families = [each for family in families for each in self._family_plans(location, family)]
        except NotThere:
            return Region(code, seen, gaps=(Gap(NAME, f"{code}: no Savings Plans are listed"),))
        except SourceError as error:
            return Region(code, seen, faults=(Gap(NAME, f"{code}: {str(error).removeprefix(f'{NAME}: ')}"),))
        gaps = () if of_families else (Gap(NAME, f"{code}: no EC2 Instance Savings Plans are listed"),)
        return Region(code, seen + of_families, gaps)

    def _family_plans(self, location: Location, family: str) -> list[Seen]:
        try:
            return self._plans("EC2Instance", FAMILY_PLANS, location, family)
        except NotThere:  # no plan is sold for this family there
            return []

    def _plans(self, kind: str, path: str, location: Location, *family: str) -> list[Seen]:
        return [
            seen
            for years in YEARS
            for payment in PAYMENTS
            for seen in self._plan(SavingsPlan("USD", years * SECONDS_PER_YEAR, payment, kind), path, location, *family)
        ]

    def _plan(self, plan: SavingsPlan, path: str, location: Location, *family: str) -> Iterator[Seen]:
        years = plan.duration_seconds // SECONDS_PER_YEAR
        place = path.format(*map(quote, (f"{years} year", plan.payment_option, *family, location.name)))
        try:
            rows = convert(rows_of(read_map(self.page, place), location), dict[str, Listed])
        except ValidationError as error:
            which = f"the list of {years} years, {plan.payment_option},"
            raise SchemaChanged(f"{NAME}: {which} is unreadable: {error}") from None
        for each in rows.values():
            machine = packaged_machines("aws").get(each.instance_type)
            if each.software == BARE and machine and machine.accelerators:
                yield Seen(location.code, each.instance_type, each.price, plan)


SPEC = Site(NAME, address("COSTCALC_AWS_PLANS_PAGE_URL", "https://b0.p.awsstatic.com")).spec(
    lambda api, now: AwsPlansPage(api).collect(now),
    label="AWS's pricing page of Savings Plans",
    rates="Compute and EC2 Instance Savings Plans of 1 and 3 years, in every region",
    cannot_see="Local Zones; types with an accelerator that no packaged table has",
    bounds=Bounds(
        MOST_MIB, memory_mib=128, offers=20_000
    ),  # 1,068 machines by region in January 2026, twelve rates each
    at_most_every=timedelta(hours=23),
)
