"""Amazon Web Services: on demand, reserved, spot, Savings Plans and capacity blocks.

Each service needs a permission of its own; one that is refused is a gap, but for the price list, without which nothing is read.
docs/price-sources-aws.md says how a rate comes about and lists the permissions.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from importlib.util import find_spec
from time import sleep

from costcalc.offer import PurchaseOption
from pricing.packaged.machine_facts import packaged_machines
from pricing.scope import Scope
from pricing.sources.aws.account import BLOCK_DAYS, SERVICES, Account, CapacityBlocks, Service, block_days
from pricing.sources.aws.calls import SETTINGS as CALL_SETTINGS
from pricing.sources.aws.calls import open_calls
from pricing.sources.common.http import Http
from pricing.sources.source import (
    Bounds,
    Collected,
    CredentialsMissing,
    Environment,
    SourceSetting,
    SourceSpec,
    separated,
)

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
