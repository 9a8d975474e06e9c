"""`/accuracy`: the highest accuracy that a budget or a time limit allows, and the machines that reach it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from functools import cached_property
from itertools import groupby
from typing import Annotated, Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from api.formats import words
from api.formats.blocks import Block, Chart, Part, Rows, Say
from api.formats.charts.figure import Figure, Place, Scale, across, line, nothing, sign, stepped, told_apart, up
from api.formats.charts.frame import Axis, short
from api.formats.column import Column
from api.formats.estimates import missing_prices, rests_on
from api.formats.figures import of_an_estimate
from api.formats.sheet import Sheet
from api.formats.sheet_columns import constant, estimate_columns, shared_columns, within
from api.formats.tables import Table
from api.forms.code import Code
from api.questions.asked import query_of, with_moment
from api.questions.schemas.training import TrainingSchema, schema
from api.questions.values import Values, taken
from api.reports.left_out import left_out
from api.reports.paging import OfQuery
from api.reports.within_reach import LEAST, Accuracies, Passed, fits_any, fits_picks, highest
from api.service import Service
from costcalc.answers import Answer, Estimate, PriceBasis
from costcalc.catalogue.catalogue import Catalogue
from costcalc.convergence.eligibility import BestReached
from costcalc.estimate import Asked
from costcalc.evidence import normalised
from costcalc.fields import filled
from costcalc.hardware import counted
from costcalc.money import CENT, ExchangeRate
from costcalc.offer import PurchaseOption
from costcalc.parameters import Param
from costcalc.query import EstimateQuery, parameters_of
from costcalc.tasks.goals import value_in_words
from costcalc.training import Crossing
from costcalc.units import in_words
from pricing.packaged.providers import provider

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


AccuracySchema = schema(
    TrainingSchema,
    AccuracyParameters,
    without=(*parameters_of("described", "language", "pick"), "target", "max_cost", "frontier", "recipes", "offset"),
)
"""The accuracy is the answer, the budget the limit of cost; the estimates are the frontier."""


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
    """Looks for the highest accuracy within the cost and time limits of one question, whose own target is the least of all."""

    own: tuple[float, ...] = ()
    """The values that a user's own run passed, the worst first."""

    @property
    def name(self) -> str:
        return f"accuracy-{self.query.model}"

    def document(self) -> AccuracyDocument:
        accuracy = self.scale.highest(lambda target: fits_any(self._at(target)))
        if accuracy is None:
            return self._document(self._least, None, message=self._nothing())
        answer = self._at(accuracy, limit=self.query.limit, frontier=True)
        confirmed = tuple(self._confirmed(accuracy))
        return self._document(
            answer,
            accuracy,
            message=self._something(accuracy, answer.estimates[0], confirmed),
            estimates=answer.estimates,
            less=self._estimates(self.scale.below(accuracy)),
            confirmed=confirmed,
        )

    def _document(self, answer: Answer, accuracy: float | None, **found: Any) -> AccuracyDocument:
        query = AccuracyQuery.of(with_moment(answer.query, answer.prices.as_of), accuracy)
        limits = {"budget": self.query.max_cost, "max_hours": self.query.max_hours}
        known: dict[str, Any] = {"estimates": (), "less": (), "confirmed": (), **limits, **found}
        return filled(AccuracyDocument, answer, accuracy=accuracy, query=query, **known)

    def ladder(self) -> tuple[Estimate, ...]:
        """The cheapest estimate of each of some accuracies, from far below the highest that is known up to it."""
        return self._estimates(self.scale.rungs(), sort="cost") if self._least.best_reached else ()

    @cached_property
    def scale(self) -> Accuracies | Passed:
        """The accuracies that are looked at."""
        best = self._least.best_reached
        return Passed(self.own) if self.own else Accuracies(best.accuracy if best else 0.0)

    @cached_property
    def _least(self) -> Answer:
        return self._at(self.query.target)

    def _at(self, target: float, **changes: Any) -> Answer:
        """The first estimate of this accuracy."""
        return self.ask(**{"target": target, "limit": 1, **changes})

    def _estimates(self, targets: Iterable[float], **changes: Any) -> tuple[Estimate, ...]:
        swept = self.sweep("target", targets, **{"limit": 1, **changes})
        return tuple(estimate for _, answer in swept for estimate in answer.estimates)

    def _something(self, accuracy: float, best: Estimate, confirmed: Sequence[Estimate]) -> str:
        sentence = self._told(accuracy, best)
        if confirmed and confirmed[0].target != accuracy:
            sure = self._told(confirmed[0].reached, confirmed[0])
            only = "only with spot, a commitment, an unconfirmed rate or code nobody has run there"
            sentence = f"{sure} Higher {only}: {sentence}"
        return f"{sentence}{self._highest(accuracy)}"

    def _highest(self, accuracy: float) -> str:
        """That nothing reaches a higher accuracy at any price, where that is so."""
        if self.own:
            return " The run reached no better value." if accuracy == self.own[-1] else ""
        if self._at(accuracy + LEAST, max_cost=None, max_hours=None).count:
            return ""
        return " No known recipe reaches a higher accuracy with the required confidence, at any price."

    def _told(self, accuracy: float, best: Estimate) -> str:
        value = f"{accuracy:{self.scale.digits}}"
        value = value_in_words(self.query.metric, float(value)) if self.own else value
        several = f"{best.nodes} x " if best.nodes > 1 else ""
        chips = counted(best.accelerators, best.accelerator)
        return f"{value} with {chips} at {provider(best.provider).name} ({several}{best.instance_type}): {self._costs(best)}."

    def _confirmed(self, accuracy: float) -> Iterator[Estimate]:
        """The cheapest picks of the highest accuracy that they reach within the limits, and of lower ones that take less."""
        sure: float | None = accuracy
        if self._at(accuracy).missed and not self.own:
            sure = highest(lambda target: fits_picks(self._at(target)), accuracy)
        targets = () if sure is None else (sure, *self.scale.below(sure))
        picked = [
            answer.picked["cheapest"] for _, answer in self.sweep("target", targets, limit=1) if fits_picks(answer)
        ]
        yield from (next(alike) for _, alike in groupby(picked, key=lambda each: each.hours))

    def _nothing(self) -> str:
        """Why nothing fits, and the smallest limit that would."""
        if self._least.count:
            return "No estimate reaches any accuracy."
        at_any_cost = self._asked(max_cost=None)
        if len(at_any_cost.overview().cost):
            least = f"{self._least_cost(at_any_cost):f} {self.query.currency}"
            text = f"No estimate fits the budget. The cheapest that reaches any accuracy costs {least}"
            return f"{text}: raise budget= to at least that."
        every = self._asked(max_cost=None, max_hours=None).overview().hours
        if len(every):
            hours = Decimal(repr(float(every.min()))).quantize(SHORT, ROUND_CEILING)
            return f"No estimate is fast enough. The fastest takes {hours:f} h: raise max_hours= to at least that."
        reasons = left_out(self._least)
        return f"No estimate answers this question; {f'left out: {reasons}' if reasons else 'there are no offers'}."

    def _asked(self, **changes: Any) -> Asked:
        return self.service.asked(replace(self.query, limit=1, **changes), self.catalogue)

    def _least_cost(self, asked: Asked) -> Decimal:
        figures = asked.overview()
        at = int(figures.cost.argmin())
        [bill] = asked.bills([int(figures.row[at])], int(figures.nodes[at]))
        hours = Decimal(repr(float(figures.hours[at])))
        cost = bill.billed(hours) if self.query.basis == "billed" else bill.effective(hours)
        return cost.quantize(CENT, ROUND_CEILING)

    def _costs(self, estimate: Estimate) -> str:
        waits = estimate.calendar_hours > estimate.hours
        waiting = f" ({in_words(estimate.calendar_hours)} with waiting)" if waits else ""
        return f"{estimate.price(self.query.basis)} in {in_words(estimate.hours)}{waiting}"


def accuracy_report(service: Service, catalogue: Catalogue, values: Values) -> AccuracyReport:
    """The report that parsed parameters of `/accuracy` ask for; the budget is the limit of cost."""
    own = service.own.get(normalised(values["model"].name)) if service.own else None
    passed = own.values(values.get("crossing", Crossing.ISOTONIC)) if own else ()
    limits, least = taken(AccuracyParameters, values), passed[0] if own else LEAST
    query = query_of(values, max_cost=limits.budget, limit=limits.limit, target=least)
    return AccuracyReport(service, catalogue, query, passed)


LENGTH = re.compile(r"-([0-9]+)ep$")
TABLE = Table(
    "Which accuracy for how much",
    "The highest accuracy that a budget or a time limit buys.",
    "estimate",
    None,
    (Column("Accuracy", lambda row: f"{row.target:.4g}", is_number=True),),
    ("model", "budget", "max_hours"),
)


def blocks(report: AccuracyReport) -> Iterator[Block]:
    """The highest accuracy within budget and time, the least cost of each accuracy, and what these take."""
    document = report.document()
    rows, basis = document.rows(), document.query.basis
    yield Say([f"{document.query.model}: {document.message}"], leads=True)
    yield Chart()
    if rows:
        table = replace(TABLE, columns=(*TABLE.columns, *of_an_estimate(basis)))
        yield Part("What it takes", [Rows(table, rows), Say([" ".join(words.marks_explained(rows))], small=True)])
        yield rests_on({f"{row.target:.4g}": row for row in rows})
    yield from missing_prices(document.prices)


def sheet(report: AccuracyReport) -> Sheet:
    """One row per estimate, or one row that says why there is none."""
    document = report.document()
    columns = [
        constant("accuracy", document.accuracy),
        constant("message", document.message),
        *(within(lambda estimate: estimate, column) for column in estimate_columns()),
        *shared_columns(document),
    ]
    title, rows, query = f"The accuracy of {document.query.model}", document.estimates or (None,), document.query
    kept, as_of = {"accuracy"}, document.prices.as_of
    return Sheet("Estimates", title, [document.message], columns, rows, as_of, query.currency, kept)


def figure(report: AccuracyReport) -> Figure:
    """The picture of a model's accuracies."""
    ladder, query = report.ladder(), report.query
    if not ladder:
        return nothing("No estimate reaches any accuracy.")
    costs = [float(each.cost(query.basis).cost) for each in ladder]
    x = Scale.around([each.reached for each in ladder])
    y = Axis.around(costs) if min(costs) > 0 else Scale.around(costs, 0.0)
    ticks = y.amounts(query.currency) if isinstance(y, Axis) else y.ticks()
    places = [Place.of(x.at(each.reached), y.at(cost)) for each, cost in zip(ladder, costs, strict=True)]
    kinds = _kinds(each.recipe for each in ladder)
    recipes = told_apart(kinds.values())
    signs = (
        sign(
            place,
            recipes[kinds[each.recipe]].sign,
            f"p{recipes[kinds[each.recipe]].colour}",
            f"{each.target:g}: {short(cost, query.currency)}, {words.hours(each.hours)} h, {words.machine(each)}, {each.recipe}",
        )
        for place, each, cost in zip(places, ladder, costs, strict=True)
    )
    return Figure(
        f"{query.model}: the least cost of each accuracy",
        "each point is the cheapest estimate that reaches it",
        across(x.at, x.ticks()),
        up(y.at, ticks),
        words.measure(query.metric),
        query.currency,
        line(stepped(places[::-1])[::-1], "ink faint") + "".join(signs),
        list(recipes.values()),
    )


def _kinds(recipes: Iterable[str]) -> dict[str, str]:
    """What the legend calls each recipe: those that differ in their length alone are one, `ffcv-rn50, 16 to 88 epochs`."""
    lengths: dict[str, list[str]] = defaultdict(list)
    for recipe in dict.fromkeys(recipes):
        lengths[LENGTH.sub("", recipe)].append(recipe)
    kinds: dict[str, str] = {}
    for kind, alike in lengths.items():
        epochs = sorted(int(match[1]) for match in map(LENGTH.search, alike) if match)
        name = f"{kind}, {epochs[0]} to {epochs[-1]} epochs" if len(epochs) == len(alike) > 1 else ""
        kinds |= {recipe: name or recipe for recipe in alike}
    return kinds


CODE: Code[AccuracyReport] = Code(
    AccuracySchema, accuracy_report, AccuracyDocument, TABLE, blocks, sheet=sheet, figure=figure
)
