"""Whether to commit to a machine for runs in every month, against renting on demand: the verdict of `/commitments`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import NamedTuple

from api.reports.verdict import in_short
from costcalc.answers import Estimate
from costcalc.costing.commitments import PurchaseChoice, Usage
from costcalc.hardware import counted
from costcalc.money import ExchangeRate, money
from costcalc.offer import PriceSource
from costcalc.units import HOURS_PER_MONTH
from pricing.packaged.providers import provider

DEFAULT_SHARE = Decimal(1)
WORTH_COMMITTING = Decimal("0.1")
"""The least share of the cost on demand that a commitment must save: less does not pay for being bound to one machine."""


@dataclass(frozen=True, slots=True)
class OnDemand:
    """The on-demand offer that commitments are compared with. `hourly_rate` is for all machines, discounts included;
    `same_machine` is false if it is another machine with the same accelerators."""

    provider: str
    region: str
    instance_type: str
    hourly_rate: Decimal
    same_machine: bool
    price: PriceSource


@dataclass(frozen=True, slots=True)
class Compared:
    """One set of machines in one region, the run on them, and every way to commit to them. `owned` are as many machines of
    your own with the same accelerators, None where their price is not known."""

    provider: str
    region: str
    instance_type: str
    nodes: int
    accelerator: str
    accelerators: int
    recipe: str
    hours_per_run: float
    hours_low: float
    hours_high: float
    currency: str
    on_demand: OnDemand | None
    ways: tuple[PurchaseChoice, ...]
    owned: PurchaseChoice | None
    quoted_exchange: tuple[ExchangeRate, ...]
    assumptions: tuple[str, ...]

    @property
    def choices(self) -> tuple[PurchaseChoice, ...]:
        """Everything that on demand is compared with: all ways to commit, and owning."""
        return (*self.ways, self.owned) if self.owned else self.ways


class Commitment(NamedTuple):
    """One way to commit to a machine, and what it costs a month for the use that is asked about, or for every hour."""

    machine: Compared
    way: PurchaseChoice
    usage: Usage

    @property
    def runs_from(self) -> Decimal:
        """Runs that one set of the machines can do in a month."""
        return Decimal(HOURS_PER_MONTH) / Decimal(repr(self.machine.hours_per_run))

    def cost(self, runs: Decimal) -> Decimal:
        """The cost of these runs a month, in as many sets of machines as they need."""
        sets = max(1, int((runs / self.runs_from).to_integral_value(ROUND_CEILING)))
        return self.usage.cost_per_month / self.usage.machine_sets * sets

    def pays_from(self, rental: Estimate) -> int | None:
        """The runs a month from which it costs less than the rental; None where that is more than it can do."""
        least = self.least_runs(rental)
        return least if least is not None and least <= int(self.runs_from) else None

    def least_runs(self, rental: Estimate) -> int | None:
        """The runs a month that cost as much with the rental; None where that is free."""
        if not rental.billed_cost:
            return None
        return int((self.cost(Decimal(1)) / rental.billed_cost).to_integral_value(ROUND_CEILING))


def considered(machines: Sequence[Compared], runs: Decimal | None) -> list[Commitment]:
    """Every way to commit to these machines for the use that is asked about, the least a month first."""
    commitments = (
        Commitment(machine, way, usage)
        for machine in machines
        for way in machine.ways
        for usage in way.usage
        if (usage.asked if runs is not None else usage.utilization == DEFAULT_SHARE)
    )
    return sorted(commitments, key=lambda each: each.usage.cost_per_month)


def cheapest_first(machines: Sequence[Compared], runs: Decimal | None) -> list[Compared]:
    """The machines by their cheapest commitment for that use, so that the one that the decision names is the first."""
    place = {id(each.machine): place for place, each in reversed([*enumerate(considered(machines, runs))])}
    return sorted(machines, key=lambda machine: place.get(id(machine), len(place)))


def decision(machines: Sequence[Compared], rental: Estimate | None, runs: Decimal | None) -> Iterator[str]:
    """Sentences: what to do, from how many runs a month committing pays against the cheapest rental on demand, what it saves on
    its own machine, and what becomes of it if use halves. Nothing where there is nothing to commit to."""
    commitments = considered(machines, runs)
    if not commitments:
        return
    best = commitments[0]
    if rental is None:
        yield f"The cheapest commitment is {_named(best)}; nothing within these filters is rented on demand."
        return
    if runs is None:
        yield f"The cheapest commitment is {_named(best)}. {_pays(best, rental)}"
        yield "Whether it pays depends on your runs a month: add runs_per_month=."
        return
    yield f"{_advice(best, rental, runs)} {_pays(best, rental)}"
    saving = best.usage.saving_per_month
    if saving is not None and best.machine.on_demand and best.machine.on_demand.same_machine:
        less = "saves" if saving > 0 else "costs"
        more = "" if saving > 0 else " more"
        yield f"Against the same machine on demand it {less} {_money(abs(saving), best)} a month{more} at {runs:.12g} runs."
    half = runs / 2
    rented, committed = rental.billed_cost * half, best.cost(half)
    yield (
        f"If use halves to {half:.12g} runs a month, on demand costs {_money(rented, best)} "
        f"and the commitment {_money(committed, best)}."
    )


def _advice(best: Commitment, rental: Estimate, runs: Decimal) -> str:
    rented, committed = rental.billed_cost * runs, best.usage.cost_per_month
    on_demand = f"{_rental(rental)} on demand"
    if rented <= committed:
        return (
            f"Do not commit: {runs:.12g} runs a month cost {_money(rented, best)} with {on_demand}; "
            f"the cheapest commitment is {_named(best)}."
        )
    saved = (rented - committed) * best.way.months
    if rented - committed < WORTH_COMMITTING * rented:
        return (
            f"Do not commit: {runs:.12g} runs a month cost {_money(rented, best)} with {on_demand}; "
            f"the cheapest commitment saves only {_money(saved, best)} over its term: {_named(best)}."
        )
    return (
        f"Commit to {_named(best)}: {runs:.12g} runs a month cost {_money(rented, best)} with {on_demand}, "
        f"so it saves {_money(saved, best)} over its term."
    )


def _pays(best: Commitment, rental: Estimate) -> str:
    """Says from how many runs a month it costs less than the rental."""
    least = best.least_runs(rental)
    if least is None:
        return f"It never pays against {_rental(rental)}, which is free."
    if best.pays_from(rental) and best.usage.machine_sets > 1:
        return f"Each pays from {least:,} of the {int(best.runs_from):,} runs a month that it can do."
    if best.pays_from(rental):
        return f"It pays from {least:,} runs a month."
    return f"It never pays: it can do {int(best.runs_from):,} runs a month, and would need to do {least:,}."


def _named(best: Commitment) -> str:
    machine, way, sets = best.machine, best.way, best.usage.machine_sets
    bought = " ".join(filter(None, [way.purchase_option.replace("_", " "), way.term]))
    several = f"{sets} x " if sets > 1 else ""
    chips = counted(machine.accelerators, machine.accelerator)
    what = f"{several}{chips} at {provider(machine.provider).name} ({machine.instance_type}, {bought})"
    monthly, total = best.usage.cost_per_month, way.total * sets
    return f"{what} for {_money(monthly, best)} a month, {_money(total, best)} in all"


def _rental(rental: Estimate) -> str:
    return f"{in_short(rental)} ({rental.instance_type})"


def _money(amount: Decimal, best: Commitment) -> str:
    return money(amount, best.machine.currency)
