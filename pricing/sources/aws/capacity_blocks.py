"""Asking EC2 for capacity blocks: only where the price list says that they are sold, and at the pace that EC2 allows.

EC2 answers few of these calls: clients leave 4 s between two calls to a region, and wait 15 s, then 45 s, when EC2 answers
`CapacityBlockDescribeLimitExceeded`. Accounts without a quota for capacity blocks get that answer always.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from costcalc.offer import Offer
from costcalc.units import HOURS_PER_DAY
from pricing.sources.aws.account import Question
from pricing.sources.aws.calls import BLOCK_LIMIT, Calls, LimitReached, NotOffered
from pricing.sources.aws.services import capacity_block_offers
from pricing.sources.common.listing import Listing
from pricing.sources.source import Environment, SourceError, SourceSetting, separated

BLOCK_DAYS = SourceSetting(
    "COSTCALC_AWS_BLOCK_DAYS",
    "lengths of the capacity blocks to ask for, in days separated by commas, such as 1,7,14; unset: none, since EC2 answers "
    "only about one such call in 4 seconds and region",
)
PERMISSION = "ec2:DescribeCapacityBlockOfferings"
PAUSES_SECONDS = (4, 15, 45)  # before a call, and before it is asked again, twice


@dataclass(frozen=True, slots=True)
class CapacityBlocks:
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
