"""What a launch file allows: after how long a run is stopped, and what a machine may cost an hour."""

from __future__ import annotations

from decimal import Decimal

from msgspec import Struct

from costcalc.answers import Estimate
from costcalc.query import EstimateQuery

DEARER = Decimal("1.1")
"""How much dearer than the rate here a machine may always be: rates move by some per cent."""
LONGER, PREPARING_HOURS = 2, 1
"""Without a limit by the user, a run hangs after this multiple of the upper end of its range, and this long to prepare."""
MORE = 1.5
"""How many times the hours and the cost of the first machine one may take that stands in for it."""
ROUNDED = Decimal("1.0001")
"""Rates are rounded up for launchers, by less than this."""


class Limits(Struct, frozen=True):
    """The limits of one run, which `hours` end, in a file whose `first` machine others may stand in for.

    They keep the user's budget and time, which are for all runs asked about. Rates are of all machines, in `query.currency`.
    """

    query: EstimateQuery
    first: Estimate
    hours: float

    @classmethod
    def of(cls, first: Estimate, query: EstimateQuery) -> Limits:
        """The limits by the first machine: when budget or time is spent, or when a run hangs."""
        hours = LONGER * first.hours_high / query.runs + PREPARING_HOURS
        if query.max_hours is not None:
            hours = min(hours, query.max_hours / query.runs)
        if query.max_cost is not None:
            lasting = query.max_cost / Decimal(first.hours_high)
            rate = max(first.hourly_rate, min(_usual_highest(first), lasting))
            hours = min(hours, float(query.max_cost / query.runs / (rate * ROUNDED)))
        return cls(query, first, hours)

    def highest_rate(self, each: Estimate) -> Decimal:
        """The rate beyond which it shall not be rented: what the upper end of its cost allows; with a budget less, so that the
        budget lasts."""
        usual = _usual_highest(each)
        if self.query.max_cost is None:
            return usual
        return min(usual, self.query.max_cost / self.query.runs / Decimal(self.hours) / ROUNDED)

    def suit(self, each: Estimate) -> bool:
        """Whether another machine may stand in for the first: it takes not much more, and the limits leave it enough."""
        takes_more = each.hours > MORE * self.first.hours or float(each.billed_cost) > MORE * float(
            self.first.billed_cost
        )
        ends = each.hours_high / self.query.runs <= max(self.hours, self.first.hours_high / self.query.runs)
        return not takes_more and ends and each.hourly_rate <= self.highest_rate(each)


def _usual_highest(each: Estimate) -> Decimal:
    dearer = each.billed_cost_high / each.billed_cost if each.billed_cost else DEARER
    return each.hourly_rate * max(DEARER, dearer)
