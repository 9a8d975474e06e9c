"""One exact estimate from one candidate: the bill in decimals, the sources named, the assumptions said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple
from weakref import ref

from costcalc import spot_rates
from costcalc.answers import CostRange, Estimate, Shown, Sources
from costcalc.assumptions import (
    INTERRUPTIONS_LEFT_OUT,
    NETWORK_OF_TASK,
    OWN_ENERGY,
    converted,
    fed,
    free_tier,
    interruptions,
    of_hours,
    of_price,
    of_recipe,
    own_noise,
    rewritten,
    spot_rate_moves,
    whose_code,
)
from costcalc.costing.bills import ZERO, Bill, Terms, break_even_hours
from costcalc.costing.owning import WATTS_PER_KILOWATT, owning_pays_from
from costcalc.costing.rentals import discount_fraction
from costcalc.costing.storage_and_egress import Market
from costcalc.duration.training_matrix import TrainingMatrix
from costcalc.duration.training_times import TrainingTime
from costcalc.grounds import Grounds, Power, grounds, power
from costcalc.hardware import EnergyTables
from costcalc.interruptions import ObservedInterruptions, Place
from costcalc.memory import Few
from costcalc.money import Component, cents
from costcalc.offers import Offer, PriceSource, PurchaseOption, drawn_watts
from costcalc.query import Basis, EstimateQuery
from costcalc.throughput import WIDE_BY_RULE
from costcalc.training import Recipe
from costcalc.units import SECONDS_PER_HOUR

JUST_BELOW, FAR_FEWER = 0.01, 0.5
"""How far below the target a recipe ends, and in what share of the epochs, to explain a jump of the cost."""


class RankedCandidate(NamedTuple):
    """One offer with one training time on it, and where it stands in the whole answer.

    `row` is the offer's in the catalogue. `calendar_hours` are those of the training time with the waiting that the offer
    imposes. `on_demand` is the same machine on demand, in the same region and currency, None where it can't be had.
    """

    row: int
    offer: Offer
    time: TrainingTime
    calendar_hours: float
    rank: int
    on_frontier: bool
    on_demand: Offer | None
    confirmed: bool
    runs_here: bool | None


class Rented(NamedTuple):
    """So many machines of an offer as a customer rents them at some age of its rate, whatever is trained there and for how long.

    `kilowatts` are those of all of them. Of what is said, `price` is about the rate, `interruptions` about those of spot
    machines, `number` about how many there are, and `exchange` about currencies, storage and egress.
    """

    bill: Bill
    source: PriceSource
    power: Power
    kilowatts: float | None
    price: tuple[str, ...]
    interruptions: tuple[str, ...]
    number: tuple[str, ...]
    exchange: tuple[str, ...]


@dataclass(frozen=True)
class EstimateDetails:
    """Turns ranked candidates into exact estimates of one question.

    `rented` are by row, number of machines and age of the rate in days what questions of equal terms share. `cheapest_rental`
    finds what the training costs where it costs least on demand, to compare owned machines with.
    """

    query: EstimateQuery
    matrix: TrainingMatrix
    market: Market
    as_of: datetime
    interruptions: Mapping[Place, ObservedInterruptions]
    energy: EnergyTables
    sayings: Few[Any, Any]
    rented: Few[tuple[int, int, int], Rented]
    cheapest_rental: Callable[[], Decimal | None]

    def shown(self, candidate: RankedCandidate) -> Shown:
        """A candidate made exact."""
        offer, nodes = candidate.offer, self.matrix.clusters[candidate.time.cluster].nodes
        age = (self.as_of - offer.observed_at).days
        rented = self.rented.recall((candidate.row, nodes, age), self._rented, offer, nodes)
        return Shown(self._estimate(candidate, rented, age), rented.bill, candidate.on_demand)

    def _rented(self, offer: Offer, nodes: int) -> Rented:
        market, query, power = self.market, self.query, self._power(offer)
        return Rented(
            bill=Bill(offer, self._terms(offer, nodes), market.storage_and_egress(query, offer.provider)),
            source=PriceSource(offer.source, offer.observed_at),
            power=power,
            kilowatts=power.kilowatts and power.kilowatts * nodes,
            price=tuple(of_price(query, offer, self.as_of)),
            interruptions=tuple(self._interruptions(offer)),
            number=tuple(self._why_so_many(offer, nodes)),
            exchange=(
                *converted(query.currency, offer, market.exchange),
                *market.rates.notes(query, offer.provider),
            ),
        )

    def _estimate(self, candidate: RankedCandidate, rented: Rented, age: int) -> Estimate:
        offer, time, query = candidate.offer, candidate.time, self.query
        recipe, nodes = self.matrix.recipes.recipes[time.recipe], rented.bill.terms.nodes
        moved = spot_rates.width(offer, age, time.hours)
        known = self._grounds(time)
        paid = _paid(rented.bill, time, moved)
        usual = _usual(known.usual, time, rented.bill, query.basis)
        energy = rented.kilowatts and rented.kilowatts * time.hours
        return Estimate(
            rank=candidate.rank,
            frontier=candidate.on_frontier,
            provider=offer.provider,
            region=offer.region,
            instance_type=offer.instance_type,
            nodes=nodes,
            accelerator=offer.machine.accelerator,
            accelerators=offer.machine.accelerators * nodes,
            accelerator_memory_gib=offer.machine.accelerator_memory_gib,
            purchase_option=offer.purchase_option,
            term=offer.term,
            payment=offer.payment,
            model=query.model,
            dataset=query.dataset,
            metric=query.metric,
            target=query.target,
            recipe=recipe.name,
            epochs=time.epochs,
            global_batch_size=recipe.global_batch_size,
            precision=recipe.precision,
            images_per_second=query.runs
            * time.epochs
            * recipe.samples_per_epoch
            / (time.train_hours * SECONDS_PER_HOUR),
            train_hours=time.train_hours,
            overhead_hours=time.overhead_hours,
            hours=time.hours,
            hours_low=time.hours_low,
            hours_high=time.hours_high,
            retry_hours=time.retry_hours,
            calendar_hours=candidate.calendar_hours,
            success_probability=None if self.matrix.recipes.is_by_word else time.success_probability,
            hourly_rate=paid.hourly,
            effective_cost=paid.effective.cost,
            effective_cost_low=paid.effective.low,
            effective_cost_high=paid.effective.high,
            billed_cost=paid.billed.cost,
            billed_cost_low=paid.billed.low,
            billed_cost_high=paid.billed.high,
            break_even_hours=self._break_even_hours(candidate, rented.bill),
            currency=query.currency,
            evidence=known.tiers,
            components=paid.components,
            sources=Sources(rented.source, known.throughput, known.convergence),
            assumptions=self._assumptions(candidate, known, rented, (usual, moved)),
            vcpus=offer.machine.vcpus and offer.machine.vcpus * nodes,
            limited_by=known.limited_by,
            price_age_days=age,
            price_first_hand=offer.first_hand,
            available=offer.available,
            available_at=offer.available_at,
            evidence_notes=known.notes,
            code=known.code,
            usual_hours_low=usual.hours_low,
            usual_hours_high=usual.hours_high,
            usual_cost_low=usual.cost_low,
            usual_cost_high=usual.cost_high,
            energy_kwh=energy,
            carbon_kg=energy and rented.power.kg_per_kwh and energy * rented.power.kg_per_kwh,
            recipe_kind=recipe.kind,
            recipe_command=known.command,
            runs_here=candidate.runs_here,
            confirmed=candidate.confirmed,
            task=recipe.title,
            better="lower" if recipe.lower_is_better else "higher",
            epochs_are=recipe.pass_name,
        )

    def _grounds(self, time: TrainingTime) -> Grounds:
        of = time.recipe, time.cluster, time.logged
        known: Grounds = self.sayings.recall((self._matrix, *of), grounds, self.matrix, *of)
        return known

    @cached_property
    def _matrix(self) -> ref[TrainingMatrix]:
        return ref(self.matrix)

    def _power(self, offer: Offer) -> Power:
        if (watts := drawn_watts(offer.flags)) is not None:
            return Power(watts / WATTS_PER_KILOWATT, None, OWN_ENERGY)
        of = offer.provider, offer.region, offer.machine, self.as_of.year
        drawn: Power = self.sayings.recall(of, power, self.energy, *of)
        return drawn

    def _break_even_hours(self, candidate: RankedCandidate, bill: Bill) -> float | None:
        if candidate.offer.purchase_option is PurchaseOption.OWNED:
            even = owning_pays_from(bill, self.cheapest_rental(), _exactly(candidate.time.hours))
        else:
            even = break_even_hours(bill.tariff, candidate.on_demand.hourly_rate if candidate.on_demand else None)
        return None if even is None else float(even)

    def _terms(self, offer: Offer, nodes: int) -> Terms:
        query, exchange = self.query, self.market.exchange
        own = 1 - discount_fraction(query, offer.provider, offer.purchase_option)
        into = exchange[query.currency].per_usd / exchange[offer.currency].per_usd
        return Terms(nodes, own, self._utilization, into)

    @cached_property
    def _utilization(self) -> Decimal:
        return _exactly(self.query.utilization)

    def _assumptions(
        self, candidate: RankedCandidate, known: Grounds, rented: Rented, ranges: tuple[UsualRange, spot_rates.Width]
    ) -> tuple[str, ...]:
        offer, time, (usual, moved) = candidate.offer, candidate.time, ranges
        recipe = self.matrix.recipes.recipes[time.recipe]
        said = (
            *known.assumptions,
            *whose_code(known.code, usual.hours_low, usual.hours_high),
            rented.power.said,
            *self._of_recipe(recipe, time, known.overhead),
            *rented.price,
            *rented.interruptions,
            *spot_rate_moves(offer, moved),
            *self._network(offer, time),
            *rented.number,
            *self._fed(offer, time),
            *self._own_noise(time),
            *self._ends_below(time),
            *self._wide_by_rule(time, recipe),
            *free_tier(offer, time.hours, candidate.calendar_hours),
            *rented.exchange,
        )
        return tuple(dict.fromkeys(said))

    def _of_recipe(self, recipe: Recipe, time: TrainingTime, overhead: str) -> tuple[str, ...]:
        """What its curve, schedule and hours take for granted, which is the same on all machines."""
        said = self._said_of_recipes.get(time.recipe)
        if said is None:
            said = *of_recipe(recipe, time), *of_hours(self.query, recipe, overhead)
            self._said_of_recipes[time.recipe] = said
        return said

    @cached_property
    def _said_of_recipes(self) -> dict[int, tuple[str, ...]]:
        return {}

    def _interruptions(self, offer: Offer) -> Iterator[str]:
        if offer.purchase_option is PurchaseOption.SPOT:
            known = self.interruptions.get((offer.provider, offer.instance_type, offer.region))
            yield INTERRUPTIONS_LEFT_OUT if self.query.overheads == "none" else interruptions(offer, known)

    def _network(self, offer: Offer, time: TrainingTime) -> Iterator[str]:
        """Over what several machines work together, of a run that was not logged on them."""
        if time.logged or self.matrix.clusters[time.cluster].nodes == 1:
            return
        rate, overlap = offer.machine.network_gbits_per_second, self.matrix.fitted.overlap
        if self.matrix.recipes.recipes[time.recipe].is_closed:
            yield NETWORK_OF_TASK
        elif rate is None:
            yield "How fast these machines' network is was not published: it is assumed to be of InfiniBand class."
        else:
            yield (
                f"The machines exchange gradients at {overlap.reached:.0%} of {rate:,g} Gb/s each, {overlap.hidden:.0%} of it "
                "behind the backward pass, as published clusters did; the range reaches from all to none of it."
            )

    def _why_so_many(self, offer: Offer, nodes: int) -> Iterator[str]:
        """Where nobody asked for this number of machines: why it is offered."""
        if nodes == 1 or self.query.nodes or self.query.accelerators:
            return
        if offer.purchase_option is PurchaseOption.CAPACITY_BLOCK:
            most, which = offer.machine.most_in_block, "one capacity block has"
        else:
            most, which = offer.machine.most_machines, "anybody can rent together without a capacity block"
        if nodes <= most:
            yield (
                f"{nodes} machines: these are offered in powers of two up to {most}, the most that {which}; "
                "nodes= asks for another number."
            )
        else:
            yield f"{nodes} machines: as many as in a published run on this very type."

    def _fed(self, offer: Offer, time: TrainingTime) -> Iterator[str]:
        """How the data set is written, and what the processors can prepare of a speed that was not logged on these machines."""
        matrix = self.matrix
        feed = matrix.feeds[matrix.speed_row[time.recipe]]
        if self.query.overheads == "typical":
            yield from rewritten(feed, float(matrix.rewriting_hours[time.recipe]))
        if time.logged:
            return
        kind, nodes = (offer.provider, offer.instance_type, offer.machine), matrix.clusters[time.cluster].nodes
        yield from self.sayings.recall((feed, kind, nodes), fed, matrix.limit_tables, feed, kind, nodes)

    def _own_noise(self, time: TrainingTime) -> Iterator[str]:
        """How far runs of the asker's own are taken to differ."""
        recipes, metric = self.matrix.recipes, self.query.metric
        if recipes.is_own and not recipes.is_by_word:
            yield own_noise(metric, float(recipes.sigma(metric)[time.recipe]))

    def _ends_below(self, time: TrainingTime) -> Iterator[str]:
        """The recipe that ends just below the target after far fewer epochs: where the target begins to cost more at once."""
        matrix = self.matrix
        for recipe, epochs in self._ending_just_below:
            row = matrix.speed_row[recipe]
            if epochs < FAR_FEWER * time.epochs and isfinite(matrix.seconds_per_epoch[0][row, time.cluster]):
                end = matrix.recipes.curves(self.query.metric).end_accuracy[recipe]
                yield (
                    f"{matrix.recipes.recipes[recipe].name} ends at {end:.4f}, below the target, after {epochs:g} epochs; "
                    "beyond it only longer recipes are known."
                )
                return

    @cached_property
    def _ending_just_below(self) -> list[tuple[int, float]]:
        """The recipes that somebody ran and that end just below the target, best first, and their epochs."""
        recipes, target = self.matrix.recipes, self.matrix.recipes.oriented(self.query.target)
        curves = recipes.curves(self.query.metric)
        near = curves.ending_between(target - JUST_BELOW, target)[::-1]
        near = near[~recipes.is_interpolated[near]]
        return list(zip(near.tolist(), curves.end_epochs[near].tolist(), strict=True))

    def _wide_by_rule(self, time: TrainingTime, recipe: Recipe) -> tuple[str, ...]:
        """Said of a replayed log or of a schedule that nobody ran; a speed's own sentence says it of a speed."""
        widths = self.matrix.fitted.widths
        wide = (time.logged and widths["own"].by_rule) or (recipe.is_interpolated and widths["length"].by_rule)
        return (WIDE_BY_RULE,) if wide else ()


class Paid(NamedTuple):
    """What a training costs by each basis, with its range; the effective rate per hour, not rounded; the lines of its bill."""

    effective: CostRange
    billed: CostRange
    hourly: Decimal
    components: tuple[Component, ...]


def _paid(bill: Bill, time: TrainingTime, moved: spot_rates.Width) -> Paid:
    """What is paid for a training whose rate moves so until it ends."""
    point, low, high = _exactly(time.hours), _exactly(time.hours_low), _exactly(time.hours_high)
    cheaper, dearer = spot_rates.factors(moved, low, point, high)
    components = bill.components(point)
    effective = bill.effective(point), bill.effective(low, cheaper), bill.effective(high, dearer)
    billed = bill.billed(low, cheaper), bill.billed(high, dearer)
    total = sum((line.amount for line in components), ZERO)
    hourly = bill.effective_hourly(point)
    return Paid(CostRange._make(map(cents, effective)), CostRange(total, *map(cents, billed)), hourly, components)


class UsualRange(NamedTuple):
    """What the same training takes and costs with other people's code, in 8 of 10 cases; None where nobody knows."""

    hours_low: float | None = None
    hours_high: float | None = None
    cost_low: Decimal | None = None
    cost_high: Decimal | None = None


def _usual(times_as_long: tuple[float, float] | None, time: TrainingTime, bill: Bill, basis: Basis) -> UsualRange:
    if times_as_long is None:
        return UsualRange()
    low, high = (times * time.train_hours + time.overhead_hours for times in times_as_long)
    cost = bill.billed if basis == "billed" else bill.effective
    costs = cost(_exactly(low)), cost(_exactly(high))
    return UsualRange(low, high, *map(cents, costs))


def _exactly(figure: float) -> Decimal:
    """The figure as it is written."""
    return Decimal(repr(figure))
