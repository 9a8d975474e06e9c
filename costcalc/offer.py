"""What a provider asks: an offer, its rates, and the tariff by which a run is billed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import force_setattr

from costcalc.hardware import Machine
from costcalc.text import line
from costcalc.units import HOURS_PER_DAY, HOURS_PER_MONTH, HOURS_PER_YEAR, SECONDS_PER_HOUR

LARGEST_AMOUNT = Decimal(9_000_000_000)  # of money: in billionths, as rates are stored, it fits into 64 bits
LARGEST_COUNT = 1_000_000_000  # of accelerators, seconds and the like: it fits into 32 bits
ANY_REGION = "any"  # one rate in all of a provider's regions


class PurchaseOption(StrEnum):
    """How capacity is bought."""

    ON_DEMAND = "on_demand"
    SPOT = "spot"
    RESERVED = "reserved"
    SAVINGS_PLAN = "savings_plan"
    COMMITTED_USE = "committed_use"
    CAPACITY_BLOCK = "capacity_block"
    MONTHLY = "monthly"
    OWNED = "owned"
    FREE = "free"


class Payment(StrEnum):
    """When a commitment is paid."""

    NO_UPFRONT = "no_upfront"
    PARTIAL_UPFRONT = "partial_upfront"
    ALL_UPFRONT = "all_upfront"


ANY_SOURCE = "any source"
"""The source of a gap that stands while none of them answers."""
OLD_DAYS = 30
"""A rate that was last seen longer ago is old: answers mark it, and it is not fresh enough to be sure of."""
SECOND_HAND, ROUNDED = "second_hand", "rounded"  # flags: read in somebody else's collection; not to the last digit
STANDS_ALONE = "stands_alone"  # flag of a machine without a network for several of them, such as a tower
COPIED = "copied"  # flag beside `second_hand`: whoever states the rate has it from a third party, or names nobody
OFF_MARKET = "off_market"  # flag: far off what others ask for the same accelerator
OWN = "own"  # flag of a machine of the user's: no filter of offers leaves it out, and its price never gets stale
YOURS = "your_sheet"  # flag of a rate that the user typed in a price sheet
SUPERSEDED = "superseded_from="  # flag of a rate: its provider announced another one, which is not known, for this day
AVAILABLE, NO_CAPACITY = "available", "no_capacity"  # flags: the provider said that one was, or none was, free to rent
WATTS = "watts="  # flag of a machine of the user's: what it and the building around it draw follows
STARTS = "starts="  # flag of a capacity block: its first day follows
INTERRUPTED = "interrupted="  # flag of a spot machine: the share that its provider took back in a month follows
COUNT_NOT_STATED = "count_not_stated"  # flag: which accelerators a machine has is known, and not how many
ENDED = "ended"  # flag of an observation that says: from now on, nobody can have this any more
DAYS_SOLD_SINGLY = {"aws": 14}
"""By provider, the days of a capacity block beyond which it is sold by whole weeks only; others sell any number of days.
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-purchase.html: 1 to 14 days, then multiples of 7 to 182."""
COMMITMENTS = frozenset({PurchaseOption.RESERVED, PurchaseOption.SAVINGS_PLAN, PurchaseOption.COMMITTED_USE})
BY_THE_TERM = COMMITMENTS | {PurchaseOption.MONTHLY}
"""What is paid for a whole term or month, however short the run."""
WITHOUT_TERM = frozenset({PurchaseOption.ON_DEMAND, PurchaseOption.SPOT, PurchaseOption.FREE})


class RatePart(Struct, frozen=True):
    """One named share of an hourly rate, such as the host beside a Cloud TPU."""

    name: str
    hourly: Decimal


class Offer(Struct, frozen=True):
    """One observed rate for one whole machine.

    `hourly_rate` is effective: upfront spread over the term, a month over `hours_in_month`. `upfront`, `recurring_hourly`
    are None where only the effective rate is known. `term` is `1mo` ... `5y` or `<n>d`. Raises ValueError on a naive date,
    a rate that isn't positive (free tiers and owned machines apart) or an empty source.
    """

    provider: str
    region: str
    instance_type: str
    machine: Machine
    purchase_option: PurchaseOption
    hourly_rate: Decimal
    observed_at: datetime
    source: str
    term: str | None = None
    payment: Payment | None = None
    offering_class: str | None = None
    upfront: Decimal | None = None
    recurring_hourly: Decimal | None = None
    monthly: Decimal | None = None
    hours_in_month: int = HOURS_PER_MONTH
    currency: str = "USD"
    parts: tuple[RatePart, ...] = ()
    effective_from: datetime | None = None
    flags: tuple[str, ...] = ()
    billing_increment_seconds: int = SECONDS_PER_HOUR
    minimum_seconds: int = 0
    session_hours: float | None = None
    hours_per_week: float | None = None

    def __post_init__(self) -> None:
        if fault := self._fault():
            raise ValueError(f"{self.provider} {self.region} {self.instance_type} {self.purchase_option}: {fault}")

    def _fault(self) -> str | None:
        if self.observed_at.tzinfo is None:
            return "observed_at needs a time zone"
        if not self.source:
            return "a rate needs a source"
        if not (len(self.currency) == 3 and self.currency.isascii() and self.currency.isupper()):
            return f"currency must be an ISO 4217 code such as USD, got {self.currency!r}"
        if not self.hourly_rate.is_finite() or self.hourly_rate < 0:
            return f"hourly_rate must not be negative, got {self.hourly_rate}"
        if self.hourly_rate == 0 and self.purchase_option not in (PurchaseOption.FREE, PurchaseOption.OWNED):
            return "a rate of zero is no rate"
        without_term = self.purchase_option in COMMITMENTS and self.term is None
        return "a commitment needs a term" if without_term else None

    @property
    def amounts(self) -> tuple[Decimal | None, ...]:
        """What it costs, by the hour and as the provider states it."""
        return self.hourly_rate, self.upfront, self.recurring_hourly, self.monthly

    @property
    def first_hand(self) -> bool:
        """Whether the provider itself stated this rate."""
        return is_first_hand(self.flags)

    @property
    def available(self) -> bool | None:
        """Whether the provider said that such a machine was free to rent; None if it says neither."""
        return is_available(self.flags)

    @property
    def available_at(self) -> datetime | None:
        """Since when it was free: the first day of a capacity block, else the moment of the observation; None unless it was."""
        if not self.available:
            return None
        starts = (datetime.fromisoformat(flag.removeprefix(STARTS)) for flag in self.flags if flag.startswith(STARTS))
        return next(starts, self.observed_at)

    @property
    def announced_for(self) -> datetime | None:
        """The moment from which it holds, where it was stated before; None where it held when it was stated."""
        ahead = self.effective_from is not None and self.effective_from > self.observed_at
        return self.effective_from if ahead else None

    @property
    def key(self) -> tuple[str, ...]:
        """What two observations of one offer at different times have in common."""
        return (
            self.provider,
            self.region,
            self.instance_type,
            self.purchase_option.value,
            self.term or "",
            self.payment.value if self.payment else "",
            self.offering_class or "",
        )


class PriceSource(Struct, frozen=True):
    """Where and when a rate was read."""

    source: str
    observed_at: datetime


class Gap(Struct, frozen=True):
    """A price source, or a part of one, that gives no new prices: its last good ones are used. The `reason`, in which the
    source's own names may stand, is one line."""

    source: str
    reason: str
    since: datetime | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "reason", line(self.reason))


def is_first_hand(flags: Iterable[str]) -> bool:
    """Whether the provider itself stated a rate with these flags: neither read second hand nor rounded by a reader."""
    return not {SECOND_HAND, ROUNDED} & set(flags)


def is_available(flags: Iterable[str]) -> bool | None:
    """Whether flags say that a machine was free to rent; None if they say neither."""
    stock = {AVAILABLE, NO_CAPACITY} & set(flags)
    return AVAILABLE in stock if stock else None


def superseded_from(flags: Iterable[str]) -> datetime | None:
    """From when on a provider announced that a rate with these flags does not hold any more; None where it did not."""
    days = (flag.removeprefix(SUPERSEDED) for flag in flags if flag.startswith(SUPERSEDED))
    return next((datetime.fromisoformat(day).replace(tzinfo=UTC) for day in days), None)


def drawn_watts(flags: Iterable[str]) -> float | None:
    """What a user's own machine with these flags draws, with the building around it; None for any other."""
    return next((float(flag.removeprefix(WATTS)) for flag in flags if flag.startswith(WATTS)), None)


def term_hours(term: str, hours_in_month: int = HOURS_PER_MONTH) -> int:
    """Hours in a term: `1y` is 8760, `3mo` three of the offer's own months, `14d` 336. Raises ValueError on other text."""
    for unit, hours in (("mo", hours_in_month), ("y", HOURS_PER_YEAR), ("d", HOURS_PER_DAY)):
        count = term.removesuffix(unit)
        if count != term and count.isdigit() and int(count) > 0:
            return int(count) * hours
    raise ValueError(f"unknown term {term!r}: write 1mo, 3mo, 6mo, 1y, 2y, 3y, 5y or a number of days such as 14d")


class Tariff(Struct, frozen=True):
    """A two-part tariff, per machine: a fee for each started period, and a rate for each metered hour.

    On demand is all metered; a reservation, a month or a capacity block is all fee; an owned machine is a fee (its price)
    over its life and metered electricity. Billed cost = fee x periods + metered_hourly x metered hours. More periods than
    `sold_singly` are sold in multiples of seven; 0 where any number is sold.
    """

    fee: Decimal = Decimal(0)
    period_hours: int = 1
    minimum_periods: int = 0
    metered_hourly: Decimal = Decimal(0)
    increment_seconds: int = 1
    minimum_seconds: int = 0
    sold_singly: int = 0

    @property
    def effective_hourly(self) -> Decimal:
        """The rate per hour when every hour of the period is used."""
        return self.fee / self.period_hours + self.metered_hourly

    @property
    def committed_fee(self) -> Decimal:
        """The fees of the whole term, however little it is used; of one period if there is no term."""
        return self.fee * max(self.minimum_periods, 1)

    @property
    def committed_hours(self) -> int:
        """Hours of the whole term; of one period if there is no term."""
        return self.period_hours * max(self.minimum_periods, 1)


def tariff(offer: Offer) -> Tariff:
    """How this offer bills a run: the whole term for commitments, whole months for rentals, metered time otherwise."""
    option = offer.purchase_option
    if option in COMMITMENTS:
        assert offer.term is not None
        hours = term_hours(offer.term, offer.hours_in_month)
        if offer.upfront is None or offer.recurring_hourly is None:
            return Tariff(offer.hourly_rate * hours, hours, 1)
        return Tariff(offer.upfront + offer.recurring_hourly * hours, hours, 1)
    if option is PurchaseOption.MONTHLY:
        monthly = offer.monthly if offer.monthly is not None else offer.hourly_rate * offer.hours_in_month
        months = term_hours(offer.term) // HOURS_PER_MONTH if offer.term else 1  # a year has twelve, of any length
        return Tariff(monthly, offer.hours_in_month, max(1, months))
    if option is PurchaseOption.CAPACITY_BLOCK:
        days = term_hours(offer.term) // HOURS_PER_DAY if offer.term else 1
        singly = DAYS_SOLD_SINGLY.get(offer.provider, 0)
        return Tariff(offer.hourly_rate * HOURS_PER_DAY, HOURS_PER_DAY, days, sold_singly=singly)
    if option is PurchaseOption.OWNED:
        return _owned(offer)
    return Tariff(
        metered_hourly=offer.hourly_rate,
        increment_seconds=offer.billing_increment_seconds,
        minimum_seconds=offer.minimum_seconds,
    )


def _owned(offer: Offer) -> Tariff:
    if offer.upfront is None or offer.term is None or offer.recurring_hourly is None:
        needs = "its price, its life and its running cost per hour"
        raise ValueError(f"{offer.instance_type}: an owned machine needs {needs}")
    return Tariff(offer.upfront, term_hours(offer.term), 1, offer.recurring_hourly)
