"""How often spot machines are interrupted: what a cloud states for a machine in a region, by date, else a constant."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import date
from math import log
from typing import Literal, NamedTuple

from msgspec import Struct

Share = Literal["<5%", "5-10%", "10-15%", "15-20%", ">20%"]
Place = tuple[str, str, str]
"""A provider, an instance type and a region."""


class ObservedInterruptions(Struct, frozen=True):
    """A cloud's statement: the share of these spot machines that it took back in a month, the same in each of the regions, which
    are separated by spaces."""

    provider: str
    instance_type: str
    share: Share
    regions: str
    observed_on: date
    source: str


class HoursBetween(NamedTuple):
    """Mean hours between the interruptions of one machine: those expected, and those taken for the high end of a range."""

    usual: float
    pessimistic: float


LIFE_HOURS = 3.0
"""Of a spot machine that nobody takes back, set by hand: with it the highest share, taken as half of the machines, agrees with
MEASURED."""


UNKNOWN = HoursBetween(48.0, 12.0)
"""Set by hand, for where nobody says it."""
MEASURED = HoursBetween(4.4, 1.4)
"""For "more than 20 %", which has no upper end: machines of that share that somebody kept running, and those of the worst zone.

p3.2xlarge in seven zones of us-east-1, us-east-2 and us-west-2 in April and August 2023: 802 taken back in 3,497 hours; in
us-east-1c 41 in 56. github.com/skypilot-org/spot-traces@221da1a, preemption/ (Wu et al., NSDI 2024)."""
_BETWEEN = [LIFE_HOURS / -log(1 - share) for share in (0.025, 0.05, 0.075, 0.10, 0.125, 0.15, 0.175, 0.20)]
"""The advisor's share is of machines that ran, most of them for hours and not for its month: interruptions at random take the
share p of machines in such a life if they are LIFE_HOURS / -ln(1 - p) hours apart on average."""
RISKS = (UNKNOWN, *map(HoursBetween, _BETWEEN[::2], _BETWEEN[1::2]), MEASURED)
RISK_OF_SHARE: Mapping[Share, int] = {"<5%": 1, "5-10%": 2, "10-15%": 3, "15-20%": 4, ">20%": 5}
"""Which of RISKS belongs to a share: for each range of AWS's Spot Instance advisor its middle and its upper end.
https://aws.amazon.com/ec2/spot/instance-advisor/"""


def observed_until(observed: Sequence[ObservedInterruptions], day: date) -> int:
    """How many of these statements, ordered by date, were made by this day."""
    return bisect_right(observed, day, key=lambda statement: statement.observed_on)


def newest(observed: Sequence[ObservedInterruptions]) -> dict[Place, ObservedInterruptions]:
    """The newest of these statements, ordered by date, for each machine in each region."""
    return {(each.provider, each.instance_type, region): each for each in observed for region in each.regions.split()}
