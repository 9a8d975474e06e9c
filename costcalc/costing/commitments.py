"""Commitments against paying as you go: the hours of use above which each pays, and when its money is due."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, Decimal

from msgspec import Struct

from costcalc.costing.bills import Bill, Terms, break_even_hours
from costcalc.money import cents
from costcalc.offer import COMMITMENTS, Offer, Payment, PriceSource, PurchaseOption
from costcalc.units import HOURS_PER_MONTH

FIXED = (*sorted(COMMITMENTS), PurchaseOption.MONTHLY)
"""How machines are bought for a fixed time and fee."""

Cash = tuple[Decimal, ...]
UTILIZATIONS = tuple(map(Decimal, ("0.1", "0.25", "0.5", "0.75", "1")))
NO_HOURS = Decimal(0)
MILLIONTH = Decimal("0.000001")


class PaymentSchedule(Struct, frozen=True):
    """An upfront payment in the first month, and the rest in equal monthly payments; exact."""

    upfront: Decimal
    rest: Decimal
    months: int

    @property
    def monthly(self) -> Decimal:
        """The equal payment of each month."""
        return self.rest / self.months

    def paid_by(self, month: int) -> Decimal:
        """What is paid by the end of the first, second, ... month."""
        return self.upfront + self.rest * month / self.months

    @property
    def by_month(self) -> Cash:
        """What is due in each month, in cents that add up to the rounded whole."""
        sums = [cents(self.paid_by(month)) for month in range(1, self.months + 1)]
        return tuple(now - before for before, now in zip([Decimal(0), *sums], sums, strict=False))


def payment_schedule(bill: Bill) -> PaymentSchedule | None:
    """The fixed payments of a term; None where their split into upfront and monthly ones is unknown."""
    months, total = term_months(bill.offer), bill.committed_cost
    upfront = _upfront(bill, total)
    return None if upfront is None else PaymentSchedule(upfront, total - upfront, months)


def pays_back(schedule: PaymentSchedule | None, sets: int, on_demand: Decimal | None) -> int | None:
    """The first month by whose end these payments add up to no more than as many months on demand; None if none does."""
    if schedule is None or on_demand is None:
        return None
    months = range(1, schedule.months + 1)
    return next((month for month in months if schedule.paid_by(month) * sets <= on_demand * month), None)


def by_month(offer: Offer) -> bool:
    """Whether it is bought for a fixed fee and a whole number of months."""
    return offer.purchase_option in FIXED and not (offer.term or "").endswith("d")


def term_months(offer: Offer) -> int:
    """Months in an offer's term, one where it has none. Raises ValueError on a term in days."""
    term = offer.term or "1mo"
    return int(term.removesuffix("y")) * 12 if term.endswith("y") else int(term.removesuffix("mo"))


def _upfront(bill: Bill, total: Decimal) -> Decimal | None:
    offer = bill.offer
    if offer.purchase_option is PurchaseOption.OWNED:
        return None
    if offer.purchase_option is PurchaseOption.MONTHLY:
        return Decimal(0)
    if offer.upfront is not None and offer.recurring_hourly is not None:
        return offer.upfront * bill.factor
    if offer.payment is Payment.PARTIAL_UPFRONT:
        return None
    return total if offer.payment is Payment.ALL_UPFRONT else Decimal(0)


class Usage(Struct, frozen=True):
    """How much machines are used in a month of 730 hours, and what that costs on demand and by this purchase.

    `machine_sets` are how many such sets of machines the hours need at once. `asked` marks the one that `runs_per_month` implies.
    `pays_back_in_month` is the first month by whose end this purchase has cost no more than on demand.
    """

    utilization: Decimal
    asked: bool
    hours_per_month: Decimal
    runs_per_month: Decimal
    machine_sets: int
    on_demand_per_month: Decimal | None
    cost_per_month: Decimal
    saving_per_month: Decimal | None
    saving_per_term: Decimal | None
    pays_back_in_month: int | None


class PurchaseChoice(Struct, frozen=True):
    """One way to buy the machines for a term of `months`; amounts for all of them under own terms.

    `hourly_rate` holds where every hour is used. `upfront` and `monthly` are None where only an effective rate is known.
    Break-even figures are None where on demand is never dearer, or can't be had. `cash_by_month` has the fixed payments of one
    set of machines and adds up to `total`.
    """

    purchase_option: PurchaseOption
    term: str | None
    payment: Payment | None
    offering_class: str | None
    months: int
    hourly_rate: Decimal
    upfront: Decimal | None
    monthly: Decimal | None
    total: Decimal
    break_even_hours_per_term: Decimal | None
    break_even_hours_per_month: Decimal | None
    break_even_utilization: Decimal | None
    break_even_runs_per_month: Decimal | None
    price: PriceSource
    cash_by_month: Cash | None
    usage: tuple[Usage, ...]


class Demand(Struct, frozen=True):
    """Training to be done on one set of machines: hours of one run, and the requested runs a month, if any."""

    hours_per_run: Decimal
    runs_per_month: Decimal | None = None

    @property
    def hours(self) -> tuple[Decimal, ...]:
        """Hours a month to compare at, ascending: the usual shares of a month and what the runs take."""
        usual = {share * HOURS_PER_MONTH for share in UTILIZATIONS}
        return tuple(sorted(usual | ({self.asked} if self.asked is not None else set())))

    @property
    def asked(self) -> Decimal | None:
        """Hours a month that the requested runs take, to a millionth."""
        return None if self.runs_per_month is None else _short(self.runs_per_month * self.hours_per_run)

    def runs_in(self, hours: Decimal) -> Decimal:
        """Runs that so many hours are enough for: the number asked for as it was asked, any other to a millionth."""
        if self.runs_per_month is not None and hours == self.asked:
            return self.runs_per_month
        return _short(hours / self.hours_per_run)


def fixed_bills(bills: Iterable[Bill]) -> tuple[Bill, ...]:
    """The bills for whole months; cheapest rate first."""
    found = (bill for bill in bills if by_month(bill.offer))
    return tuple(sorted(found, key=lambda bill: (bill.effective_hourly(NO_HOURS), term_months(bill.offer))))


def purchase_choices(
    bills: Iterable[Bill], demand: Demand, on_demand_hourly: Decimal | None
) -> tuple[PurchaseChoice, ...]:
    """The `fixed_bills` as choices, compared with the same machines at this own rate per hour."""
    return tuple(_purchase_choice(bill, demand, on_demand_hourly) for bill in fixed_bills(bills))


def owned_choice(offer: Offer, nodes: int, demand: Demand, on_demand_hourly: Decimal | None) -> PurchaseChoice:
    """So many users' own machines as a choice: `total` is what they lose in value, their electricity comes with each hour."""
    return _purchase_choice(Bill(offer, Terms(nodes)), demand, on_demand_hourly)


def _purchase_choice(bill: Bill, demand: Demand, on_demand_hourly: Decimal | None) -> PurchaseChoice:
    offer, months, schedule = bill.offer, term_months(bill.offer), payment_schedule(bill)
    even = break_even_hours(bill.tariff, on_demand_hourly, bill.factor)
    monthly_even = None if even is None else even / months
    return PurchaseChoice(
        purchase_option=offer.purchase_option,
        term=offer.term,
        payment=offer.payment,
        offering_class=offer.offering_class,
        months=months,
        hourly_rate=bill.effective_hourly(NO_HOURS),
        upfront=cents(schedule.upfront) if schedule else None,
        monthly=cents(schedule.monthly) if schedule else None,
        total=cents(bill.committed_cost),
        break_even_hours_per_term=even and _short(even),
        break_even_hours_per_month=monthly_even and _short(monthly_even),
        break_even_utilization=monthly_even and _short(monthly_even / HOURS_PER_MONTH),
        break_even_runs_per_month=monthly_even and _short(monthly_even / demand.hours_per_run),
        price=PriceSource(offer.source, offer.observed_at),
        cash_by_month=schedule.by_month if schedule else None,
        usage=tuple(_usage(bill, demand, hours, on_demand_hourly) for hours in demand.hours),
    )


def _usage(bill: Bill, demand: Demand, hours: Decimal, on_demand_hourly: Decimal | None) -> Usage:
    months = term_months(bill.offer)
    sets = max(1, int((hours / HOURS_PER_MONTH).to_integral_value(ROUND_CEILING)))
    monthly = bill.committed_cost * sets / months + bill.tariff.metered_hourly * bill.factor * hours
    on_demand = None if on_demand_hourly is None else on_demand_hourly * hours
    saving = None if on_demand is None else on_demand - monthly
    return Usage(
        utilization=_short(hours / HOURS_PER_MONTH),
        asked=hours == demand.asked,
        hours_per_month=_short(hours),
        runs_per_month=demand.runs_in(hours),
        machine_sets=sets,
        on_demand_per_month=None if on_demand is None else cents(on_demand),
        cost_per_month=cents(monthly),
        saving_per_month=None if saving is None else cents(saving),
        saving_per_term=None if saving is None else cents(saving * months),
        pays_back_in_month=pays_back(payment_schedule(bill), sets, on_demand),
    )


def _short(value: Decimal) -> Decimal:
    """At most six decimals, without trailing zeros."""
    short = value.quantize(MILLIONTH)
    return short.quantize(Decimal(1)) if short == short.to_integral_value() else short.normalize()
