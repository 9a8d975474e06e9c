"""`/accuracy`: the highest accuracy that a budget or a time limit allows, and the machines that reach it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Annotated, Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from api.questions.declared import fields_of
from api.questions.schemas.training import TrainingSchema
from api.questions.values import Values, taken
from api.reports.left_out import left_out
from api.reports.paging import OfQuery
from api.reports.within_reach import LEAST, highest, last_that
from api.service import Service, query_of, with_moment
from costcalc.answers import Answer, Estimate, PriceBasis
from costcalc.catalogue.catalogue import Catalogue
from costcalc.convergence.eligibility import BestReached
from costcalc.estimate import Asked
from costcalc.evidence import normalised
from costcalc.fields import filled
from costcalc.hardware import counted
from costcalc.money import CENT, ExchangeRate, money
from costcalc.offer import PurchaseOption
from costcalc.parameters import Param
from costcalc.query import EstimateQuery, parameters_of
from costcalc.tasks.goals import value_in_words
from costcalc.training import Crossing
from costcalc.units import in_words
from pricing.packaged.providers import provider

BEYOND = 0.004
"""How far above the highest accuracy that a recipe reached another run is answered for: less than twice its seed noise."""
RUNGS, RUNG = 41, 0.0025
LESS = (0.001, 0.0025, 0.005, 0.01, 0.02)
LESS_OF_OWN = (0.9, 0.75, 0.5, 0.25)
"""How far below the best, as shares of the values that a user's own run passed."""
DEFAULT_ESTIMATES = 5
SHORT = Decimal("0.0001")
SURE = PurchaseOption.ON_DEMAND, PurchaseOption.OWNED


class AccuracyParameters(Struct):
    """What a question about an accuracy asks beside its training."""

    # fmt: off
    budget: Annotated[Decimal | None, Param(
        "maximum cost, in the currency of the answer",
        "limit", 100, "money", above=0, high=10**12, use="everyday")] = None
    limit: Annotated[int, Param(
        "maximum number of estimates at that accuracy; default 5",
        "page", 5, low=1, high=100, use="usual")] = DEFAULT_ESTIMATES
    # fmt: on


class AccuracySchema(TrainingSchema):
    """The parameters of `/accuracy`."""

    class Meta:
        """The accuracy is the answer, the budget the limit of cost; the estimates are the frontier."""

        include = fields_of(AccuracyParameters)
        exclude = (
            *parameters_of("described", "language", "pick"),
            "target",
            "max_cost",
            "frontier",
            "recipes",
            "offset",
        )


class AccuracyQuery(EstimateQuery, frozen=True):
    """A question without a target of its own: it is the accuracy that was found, and null where nothing fits."""

    target: float | None  # type: ignore[assignment]  # a question of `/cost` always has one

    @classmethod
    def of(cls, query: EstimateQuery, accuracy: float | None) -> AccuracyQuery:
        """This question with this accuracy as its target."""
        return cls(**asdict(query) | {"target": accuracy})


@dataclass(frozen=True, slots=True)
class AccuracyDocument:
    """The JSON answer. `estimates` reach `accuracy` within the budget and the time: those that no other estimate beats on
    both, best first. `less` has the best estimate for each of some lower targets. `query.target` is the
    accuracy; both are null if nothing fits. `confirmed` are the cheapest picks: of the highest accuracy that picks reach, and of
    some lower ones."""

    accuracy: float | None
    message: str
    budget: Decimal | None
    max_hours: float | None
    query: AccuracyQuery
    prices: PriceBasis
    exchange: ExchangeRate | None
    count: int
    estimates: tuple[Estimate, ...]
    less: tuple[Estimate, ...]
    rejections: dict[str, int]
    best_reached: BestReached | None
    confirmed: tuple[Estimate, ...]

    def rows(self) -> list[Estimate]:
        """All as people read them: what picks may come from before all else, the best accuracy first, then the cheapest. Of one
        training that reaches several accuracies the best alone."""
        rows = [*self.confirmed, *self.estimates, *self.less]

        def place(each: Estimate) -> tuple[bool, float, Decimal]:
            is_sure = each.confirmed and each.runs_here and each.purchase_option in SURE
            below_best = each.reached if each.better == "lower" else -each.reached
            return not is_sure, below_best, each.cost(self.query.basis).cost

        rows.sort(key=place)
        kept: dict[tuple[object, ...], Estimate] = {}
        for each in rows:
            machine = each.provider, each.region, each.instance_type, each.nodes
            training = *machine, each.recipe, each.hours, each.purchase_option, each.term, each.payment
            kept.setdefault(training, each)
        return list(kept.values())


@dataclass(frozen=True)
class AccuracyReport(OfQuery):
    """Looks for the highest accuracy within the cost and time limits of one question; the question's own target is ignored."""

    own: tuple[float, ...] = ()
    """The values that a user's own run passed, the worst first: they stand for accuracies."""

    @property
    def name(self) -> str:
        return f"accuracy-{self.query.model}"

    def document(self) -> AccuracyDocument:
        least = self._ask(self._least)
        limit = least.best_reached.accuracy + BEYOND if least.best_reached else 0.0
        accuracy = last_that(self._fits, self.own) if self.own else highest(self._fits, limit)
        answer = least if accuracy is None else self._ask(accuracy, limit=self.query.limit, frontier=True)
        confirmed = () if accuracy is None else tuple(self._confirmed(accuracy))
        lower = [] if accuracy is None else self._below(accuracy)
        return filled(
            AccuracyDocument,
            answer,
            accuracy=accuracy,
            message=self._nothing(least) if accuracy is None else self._something(accuracy, answer, confirmed),
            budget=self.query.max_cost,
            max_hours=self.query.max_hours,
            query=AccuracyQuery.of(with_moment(answer.query, answer.prices.as_of), accuracy),
            estimates=answer.estimates if accuracy is not None else (),
            less=tuple(each for target in lower for each in self._ask(target).estimates),
            confirmed=confirmed,
        )

    def ladder(self) -> tuple[Estimate, ...]:
        """The cheapest estimate of each of some accuracies, from far below the highest that is known up to it."""
        best = self._ask(self._least).best_reached
        if best is None:
            return ()
        targets = self.own[:: -(-len(self.own) // RUNGS)] if self.own else self._rungs(best)
        answers = (self._ask(target, sort="cost") for target in targets)
        return tuple(estimate for answer in answers for estimate in answer.estimates)

    @property
    def _least(self) -> float:
        return self.own[0] if self.own else LEAST

    def _rungs(self, best: BestReached) -> Iterator[float]:
        targets = (round(best.accuracy - (RUNGS - 1 - rung) * RUNG, 4) for rung in range(RUNGS))
        return (target for target in targets if target >= LEAST)

    def _ask(self, target: float, **changes: Any) -> Answer:
        return self.service.answered(self._asked(target, **changes))

    def _asked(self, target: float, **changes: Any) -> Asked:
        return self.service.asked(replace(self.query, **{"target": target, "limit": 1, **changes}), self.catalogue)

    def _fits(self, target: float) -> bool:
        return self._ask(target).count > 0

    def _below(self, accuracy: float) -> list[float]:
        if not self.own:
            return [round(accuracy - less, 4) for less in LESS if accuracy - less > LEAST]
        passed = self.own.index(accuracy)
        return [self.own[int(share * passed)] for share in LESS_OF_OWN] if passed else []

    def _something(self, accuracy: float, answer: Answer, confirmed: Sequence[Estimate]) -> str:
        sentence = self._told(accuracy, answer.estimates[0])
        if confirmed and confirmed[0].target != accuracy:
            sure = self._told(confirmed[0].reached, confirmed[0])
            sentence = f"{sure} Higher only with spot, a commitment, an unconfirmed rate or untried code: {sentence}"
        if self.own:
            return f"{sentence} The run reached no better value." if accuracy == self.own[-1] else sentence
        if self._ask(accuracy + LEAST, max_cost=None, max_hours=None).count:
            return sentence
        return f"{sentence} No known recipe reaches a higher accuracy with the required confidence, at any price."

    def _told(self, accuracy: float, best: Estimate) -> str:
        value = value_in_words(self.query.metric, float(f"{accuracy:.6g}")) if self.own else f"{accuracy:.4f}"
        several = f"{best.nodes} x " if best.nodes > 1 else ""
        chips = counted(best.accelerators, best.accelerator)
        return f"{value} with {chips} at {provider(best.provider).name} ({several}{best.instance_type}): {self._costs(best)}."

    def _confirmed(self, accuracy: float) -> Iterator[Estimate]:
        """The cheapest picks of the highest accuracy that they reach within the limits, and of lower ones that take less."""
        sure = highest(self._picks_fit, accuracy) if self._ask(accuracy).missed and not self.own else accuracy
        hours = 0.0
        for target in (sure, *self._below(sure)) if sure is not None else ():
            answer = self._ask(target)
            for pick in () if answer.missed else answer.picks[:1]:
                if pick.estimate.hours != hours:
                    yield pick.estimate
                hours = pick.estimate.hours

    def _picks_fit(self, target: float) -> bool:
        answer = self._ask(target)
        return bool(answer.picks) and not answer.missed

    def _nothing(self, nothing: Answer) -> str:
        """Why nothing fits, and the smallest limit that would."""
        if nothing.count:
            return "No estimate reaches any accuracy."
        asked = self._asked(self._least, max_cost=None)
        figures = asked.overview()
        if len(figures.cost):
            at = int(figures.cost.argmin())
            [bill], hours = (
                asked.bills([int(figures.row[at])], int(figures.nodes[at])),
                Decimal(repr(float(figures.hours[at]))),
            )
            cost = bill.billed(hours) if self.query.basis == "billed" else bill.effective(hours)
            least = f"{cost.quantize(CENT, ROUND_CEILING):f} {self.query.currency}"
            text = f"No estimate fits the budget. The cheapest that reaches any accuracy costs {least}"
            return f"{text}: raise budget= to at least that."
        every = self._asked(self._least, max_cost=None, max_hours=None).overview().hours
        if len(every):
            hours = Decimal(repr(float(every.min()))).quantize(SHORT, ROUND_CEILING)
            return f"No estimate is fast enough. The fastest takes {hours:f} h: raise max_hours= to at least that."
        text = left_out(nothing)
        return f"No estimate answers this question; {f'left out: {text}' if text else 'there are no offers'}."

    def _costs(self, estimate: Estimate) -> str:
        cost = estimate.cost(self.query.basis).cost
        waits = estimate.calendar_hours > estimate.hours
        waiting = f" ({in_words(estimate.calendar_hours)} with waiting)" if waits else ""
        return f"{money(cost, estimate.currency)} in {in_words(estimate.hours)}{waiting}"


def accuracy_report(service: Service, catalogue: Catalogue, values: Values) -> AccuracyReport:
    """The report that parsed parameters of `/accuracy` ask for; the budget is the limit of cost."""
    own = service.own.get(normalised(values["model"].name)) if service.own else None
    passed = own.values(values.get("crossing", Crossing.ISOTONIC)) if own else ()
    limits, least = taken(AccuracyParameters, values), passed[0] if own else LEAST
    query = query_of(values, max_cost=limits.budget, limit=limits.limit, target=least)
    return AccuracyReport(service, catalogue, query, passed)
