"""One exact estimate from one candidate: the bill in decimals, the sources named, the assumptions said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple
from weakref import ref

from costcalc import spot_rates
from costcalc.answers import Estimate, Shown, Sources
from costcalc.assumptions import NETWORK_OF_TASK, fed, of_hours, of_recipe, own_noise, rewritten
from costcalc.costing.bills import Bill, as_written, break_even_hours
from costcalc.costing.owning import owning_pays_from
from costcalc.duration.training_matrix import TrainingMatrix
from costcalc.duration.training_times import TrainingTime
from costcalc.grounds import Grounds, grounds
from costcalc.memory import Few
from costcalc.offers import Offer, PurchaseOption
from costcalc.query import Basis, EstimateQuery
from costcalc.rented import Rented, Renting, free_tier, spot_rate_moves
from costcalc.throughput import WIDE_BY_RULE
from costcalc.training import Recipe
from costcalc.units import HOURS_PER_DAY, SECONDS_PER_HOUR, in_words

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


class UsualRange(NamedTuple):
    """What the same training takes and costs with other people's code, in 8 of 10 cases; None where nobody knows."""

    hours_low: float | None = None
    hours_high: float | None = None
    cost_low: Decimal | None = None
    cost_high: Decimal | None = None


class _Exactly(NamedTuple):
    """A candidate and what its estimate is made of; `moved` is how far the rate of a spot machine moves until the end."""

    candidate: RankedCandidate
    rented: Rented
    known: Grounds
    usual: UsualRange
    moved: spot_rates.Width | None


@dataclass(frozen=True)
class EstimateDetails:
    """Turns ranked candidates into exact estimates of one question.

    `cheapest_rental` finds what the training costs where it costs least on demand, to compare owned machines with.
    """

    query: EstimateQuery
    matrix: TrainingMatrix
    renting: Renting
    sayings: Few[Any, Any]
    cheapest_rental: Callable[[], Decimal | None]

    def shown(self, candidate: RankedCandidate) -> Shown:
        """A candidate made exact."""
        time, query = candidate.time, self.query
        rented = self.renting.rented(candidate.row, candidate.offer, self.matrix.clusters[time.cluster].nodes)
        known = self._grounds(time)
        moved = rented.spot_moves and rented.spot_moves.after_days(rented.age_days + time.hours / HOURS_PER_DAY)
        usual = _usual(known.usual, time, rented.bill, query.basis)
        estimate = self._estimate(_Exactly(candidate, rented, known, usual, moved))
        return Shown(estimate, rented.bill, candidate.on_demand)

    def _estimate(self, exactly: _Exactly) -> Estimate:
        (candidate, rented, known, usual, moved), query = exactly, self.query
        offer, time, power = candidate.offer, candidate.time, rented.power
        recipe, nodes = self.matrix.recipes.recipes[time.recipe], rented.bill.terms.nodes
        paid = rented.bill.paid(time, moved)
        energy = power.kilowatts and power.kilowatts * time.hours
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
            assumptions=self._assumptions(exactly),
            vcpus=offer.machine.vcpus and offer.machine.vcpus * nodes,
            limited_by=known.limited_by,
            price_age_days=rented.age_days,
            price_first_hand=rented.first_hand,
            available=rented.available,
            available_at=rented.available_at,
            evidence_notes=known.notes,
            code=known.code,
            usual_hours_low=usual.hours_low,
            usual_hours_high=usual.hours_high,
            usual_cost_low=usual.cost_low,
            usual_cost_high=usual.cost_high,
            energy_kwh=energy,
            carbon_kg=energy and power.kg_per_kwh and energy * power.kg_per_kwh,
            recipe_kind=known.recipe_kind,
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

    def _break_even_hours(self, candidate: RankedCandidate, bill: Bill) -> float | None:
        if candidate.offer.purchase_option is PurchaseOption.OWNED:
            even = owning_pays_from(bill, self.cheapest_rental(), as_written(candidate.time.hours))
        else:
            even = break_even_hours(bill.tariff, candidate.on_demand.hourly_rate if candidate.on_demand else None)
        return None if even is None else float(even)

    def _assumptions(self, exactly: _Exactly) -> tuple[str, ...]:
        candidate, rented, known, usual, moved = exactly
        offer, time = candidate.offer, candidate.time
        recipe = self.matrix.recipes.recipes[time.recipe]
        is_free = offer.purchase_option is PurchaseOption.FREE
        said = (
            *known.assumptions,
            *_said_of_others(usual),
            rented.power.said,
            *self._of_recipe(recipe, time, known.overhead),
            *rented.price,
            *((spot_rate_moves(offer, moved),) if moved else ()),
            *self._network(offer, time),
            *rented.number,
            *self._fed(offer, time),
            *self._own_noise(time),
            *self._ends_below(time),
            *self._wide_by_rule(time, recipe),
            *(free_tier(offer, time.hours, candidate.calendar_hours) if is_free else ()),
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

    def _fed(self, offer: Offer, time: TrainingTime) -> Iterator[str]:
        """How the data set is written, and what the processors can prepare of a speed that was not logged on these machines."""
        matrix = self.matrix
        feed, rewriting_hours = matrix.feeds[matrix.speed_row[time.recipe]], float(matrix.rewriting_hours[time.recipe])
        if feed and rewriting_hours and self.query.overheads == "typical":
            yield rewritten(feed, rewriting_hours)
        if time.logged:
            return
        kind, nodes = (offer.provider, offer.instance_type, offer.machine), matrix.clusters[time.cluster].nodes
        yield from self.sayings.recall((feed, kind, nodes), fed, matrix.limit_tables, feed, kind, nodes)

    def _own_noise(self, time: TrainingTime) -> Iterator[str]:
        """Where another run of the asker's own is taken to end."""
        recipes, metric = self.matrix.recipes, self.query.metric
        if recipes.is_own and not recipes.is_by_word:
            end, shift = recipes.curves(metric).end_accuracy[time.recipe], recipes.target_shift(metric)[time.recipe]
            yield own_noise(metric, *sorted(recipes.oriented(float(end + side * shift)) for side in (-1, 1)))

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


def _usual(times_as_long: tuple[float, float] | None, time: TrainingTime, bill: Bill, basis: Basis) -> UsualRange:
    if times_as_long is None:
        return UsualRange()
    low, high = (times * time.train_hours + time.overhead_hours for times in times_as_long)
    return UsualRange(low, high, *bill.rounded(basis, low, high))


def _said_of_others(usual: UsualRange) -> Iterator[str]:
    if usual.hours_low is not None and usual.hours_high is not None:
        low, high = in_words(usual.hours_low), in_words(usual.hours_high)
        yield f"Other people's code takes between {low} and {high} for the same training in 8 of 10 cases."
