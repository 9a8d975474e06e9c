"""Exact estimates from candidates: bills in decimals, sources and assumptions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple
from weakref import ref

from msgspec import Struct, convert

from costcalc import rate_moves
from costcalc.answers import Estimate
from costcalc.assumptions import as_it_ran, of_hours, of_recipe, own_noise
from costcalc.costing.bills import break_even_hours
from costcalc.costing.owning import PRICE_UNKNOWN, owning_pays_from
from costcalc.duration.offered_clusters import NOWHERE
from costcalc.duration.training_matrix import TrainingMatrix
from costcalc.duration.training_times import TrainingTime
from costcalc.grounds import grounds
from costcalc.memory import Few
from costcalc.money import Money
from costcalc.offer import PurchaseOption
from costcalc.parts import Energy, Grounds, Parts, RankedCandidate, Sources, Training, UsualHours
from costcalc.query import EstimateQuery
from costcalc.recipes import Recipe
from costcalc.rented import Rented, Renting, free_tier, of_moves
from costcalc.throughput import WIDE_BY_RULE
from costcalc.units import HOURS_PER_DAY, SECONDS_PER_HOUR, in_words

AS_WRITTEN = list[tuple[Decimal, ...]]  # figures digit by digit, in a third of the time that `Decimal(repr(...))` takes
STEADY = Decimal(1), Decimal(1)
OTHERS_TAKE = "Other people's code takes {} to {} for the same training in 8 of 10 cases."
JUST_BELOW, FAR_FEWER = 0.01, 0.5
"""How far below the target a recipe ends, and in what share of the epochs, to explain a jump of the cost."""


class _Subject(NamedTuple):
    """A candidate, and what its estimate says of it; `moved` is how far its rate moves until the end."""

    candidate: RankedCandidate
    rented: Rented
    known: Grounds
    usual: UsualHours
    moved: rate_moves.Width


class EstimateDetails(Struct, frozen=True, dict=True):
    """Turns ranked candidates into exact estimates of one question.

    `cheapest_rental` finds what the training costs where it costs least on demand, to compare owned machines with.
    """

    query: EstimateQuery
    matrix: TrainingMatrix
    renting: Renting
    sayings: Few[Any, Any]
    cheapest_rental: Callable[[], Decimal | None]

    def estimates(self, candidates: Sequence[RankedCandidate]) -> list[Estimate]:
        """The candidates as exact estimates; each step handles all of them before the next."""
        times, offers = [candidate.time for candidate in candidates], [candidate.offer for candidate in candidates]
        nodes = [self.matrix.clusters[time.cluster].nodes for time in times]
        rented = self.renting.rented([candidate.row for candidate in candidates], offers, nodes)
        known = self._grounds(candidates)
        moved = [
            of.bill.terms.moves.after_days(of.age_days + time.hours / HOURS_PER_DAY)
            for of, time in zip(rented, times, strict=True)
        ]
        usual = [
            UsualHours(*[longer * time.train_hours + time.overhead_hours for longer in of.usual])
            for of, time in zip(known, times, strict=True)
        ]
        hours = [
            (time.hours, time.hours_low, time.hours_high, *(of if of.low else ()))
            for time, of in zip(times, usual, strict=True)
        ]
        factors = [rate_moves.factors(by, *of[:3]) if any(by) else () for by, of in zip(moved, hours, strict=True)]
        as_written = zip(rented, convert(hours, AS_WRITTEN), convert(factors, AS_WRITTEN), strict=True)
        paid = [of.bill.paid(spent, by or STEADY, self.query.basis) for of, spent, by in as_written]
        trainings = {time: self._training(time) for time in {*times}}
        subjects = list(map(_Subject, candidates, rented, known, usual, moved))
        trained = map(trainings.__getitem__, times)
        parts = list(map(self._parts, subjects, trained, paid, self._assumptions(subjects)))
        return list(map(Estimate, parts))

    def _parts(self, subject: _Subject, training: Training, money: Money, assumptions: tuple[str, ...]) -> Parts:
        candidate, rented, known, usual, _ = subject
        break_even, power = self._break_even_hours(candidate, rented), rented.power
        kwh = power.kilowatts and power.kilowatts * candidate.time.hours
        return Parts(
            query=self.query,
            candidate=candidate,
            machines=rented,
            recipe=self.matrix.recipes.recipes[candidate.time.recipe],
            training=training,
            usual=usual,
            money=money,
            break_even_hours=None if break_even is None else float(break_even),
            energy=Energy(kwh, kwh and power.kg_per_kwh and kwh * power.kg_per_kwh),
            grounds=known,
            sources=Sources(rented.stated, known.throughput, known.convergence),
            assumptions=assumptions,
        )

    def _training(self, time: TrainingTime) -> Training:
        """What is trained in this time."""
        query, recipes = self.query, self.matrix.recipes
        recipe = recipes.recipes[time.recipe]
        rate = query.runs * time.epochs * recipe.samples_per_epoch / (time.train_hours * SECONDS_PER_HOUR)
        by_tokens, by_hours = query.method is not None, query.took is not None
        has_target = not (by_tokens or by_hours)
        return Training(
            metric=query.metric if has_target else None,
            target=query.target if has_target else None,
            better="lower" if recipe.lower_is_better else "higher",
            success_probability=None if recipes.is_by_word else time.success_probability,
            images_per_second=None if by_tokens or by_hours else rate,
            tokens_per_second=rate if by_tokens else None,
        )

    def _grounds(self, candidates: Sequence[RankedCandidate]) -> list[Grounds]:
        matrix = self.matrix
        name, with_overheads = ref(matrix), self.query.overheads == "typical"  # a matrix knows one machine of each name
        pairs = [(candidate.offer, candidate.time) for candidate in candidates]
        named = [
            (
                (name, time.recipe, time.cluster, time.logged, of.provider, of.instance_type, with_overheads),
                (matrix, time, (of.provider, of.instance_type, of.machine), with_overheads),
            )
            for of, time in pairs
        ]
        return self.sayings.recall_all(grounds, named)

    def _break_even_hours(self, candidate: RankedCandidate, rented: Rented) -> Decimal | None:
        bill, on_demand = rented.bill, candidate.on_demand
        if candidate.offer.purchase_option is PurchaseOption.OWNED:
            if candidate.offer.source == PRICE_UNKNOWN:
                return None
            return owning_pays_from(bill, self.cheapest_rental(), Decimal(repr(candidate.time.hours)))
        return break_even_hours(bill.tariff, on_demand.hourly_rate) if bill.tariff.fee and on_demand else None

    def _assumptions(self, subjects: Sequence[_Subject]) -> list[tuple[str, ...]]:
        """What each estimate takes for granted, every sentence once."""
        recipes, is_asked_otherwise = self.matrix.recipes.recipes, any(self.query.running)
        runs = {candidate.time.recipe: (candidate.time, known.overhead) for candidate, _, known, *_ in subjects}
        of_recipes = {
            at: (
                *(as_it_ran(self.query, recipes[at]) if is_asked_otherwise else ()),
                *of_recipe(recipes[at], time),
                *of_hours(self.query, recipes[at], overhead),
            )
            for at, (time, overhead) in runs.items()
        }
        known_usual = {each.usual for each in subjects if each.usual.low}
        others = {of: OTHERS_TAKE.format(*map(in_words, filter(None, of))) for of in known_usual}
        moves = [of_moves(each.rented, each.moved) if any(each.moved) else () for each in subjects]
        said = [
            (
                *known.assumptions,
                *((others[usual],) if usual.low else ()),
                rented.power.note,
                *of_recipes[candidate.time.recipe],
                *rented.price,
                *moved,
                *known.network,
                *rented.number,
                *known.fed,
                *self._of_run(candidate, recipes[candidate.time.recipe]),
                *rented.exchange,
            )
            for (candidate, rented, known, usual, _), moved in zip(subjects, moves, strict=True)
        ]
        return [tuple(dict.fromkeys(each)) for each in said]

    def _of_run(self, candidate: RankedCandidate, recipe: Recipe) -> Iterator[str]:
        """The assumptions about one recipe on these machines to this target."""
        time, widths = candidate.time, self.matrix.fitted.widths
        if self.matrix.recipes.is_own:
            yield from self._own_noise(time)
        if self._ending_just_below:
            yield from self._ends_below(time)
        if (time.logged and widths["own"].by_rule) or (recipe.is_interpolated and widths["length"].by_rule):
            yield WIDE_BY_RULE  # of a replayed log or a schedule that nobody ran; a speed's own sentence says it of a speed
        if candidate.offer.purchase_option is PurchaseOption.FREE:
            yield from free_tier(candidate.offer, time.hours, candidate.calendar_hours)

    def _own_noise(self, time: TrainingTime) -> Iterator[str]:
        """Where another run of the user's own is taken to end."""
        recipes, metric = self.matrix.recipes, self.query.metric
        if not recipes.is_by_word:
            end, apart = recipes.curves(metric).end_accuracy[time.recipe], recipes.ends_within(metric)[time.recipe]
            yield own_noise(metric, *sorted(recipes.oriented(float(end + side * apart)) for side in (-1, 1)))

    def _ends_below(self, time: TrainingTime) -> Iterator[str]:
        """The recipe that ends just below the target after far fewer epochs: where the target begins to cost more at once."""
        matrix = self.matrix
        for recipe, epochs in self._ending_just_below:
            row = matrix.speed_row[recipe]
            if epochs < FAR_FEWER * time.epochs and isfinite(matrix.seconds_per_epoch[0][row, time.cluster]):
                end = matrix.recipes.curves(self.query.metric).end_accuracy[recipe]
                yield (
                    f"{matrix.recipes.recipes[recipe].name} ends at {end:.4f}, just below the target, after {epochs:g} epochs; "
                    "only longer recipes are known to go further."
                )
                return

    @cached_property
    def _ending_just_below(self) -> list[tuple[int, float]]:
        """The recipes of no more care that somebody ran and that end just below the target, best first, and their epochs."""
        recipes, target = self.matrix.recipes, self.matrix.recipes.oriented(self.query.target)
        curves = recipes.curves(self.query.metric)
        near = curves.ending_between(target - JUST_BELOW, target)[::-1]
        near = near[~recipes.is_interpolated[near] & (self.matrix.speed_row[near] != NOWHERE)]
        return list(zip(near.tolist(), curves.end_epochs[near].tolist(), strict=True))
