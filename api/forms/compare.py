"""`/compare`: two machines beside each other for the same training, and at which rate the answer turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Annotated, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from api.formats import csv_export, words
from api.formats.blocks import Block, Rows, Say
from api.formats.charts.cost_and_time import card
from api.formats.charts.frame import Axis, Frame
from api.formats.column import Column
from api.formats.estimates import missing_prices, rests_on
from api.formats.figures import of_an_estimate
from api.formats.page import Page
from api.formats.sheet import Sheet
from api.formats.sheet_columns import constant, estimate_columns, within
from api.formats.tables import Table
from api.forms.code import Code
from api.questions.asked import query_of, with_moment
from api.questions.errors import BadParameters
from api.questions.resolving import Side
from api.questions.schemas.training import TrainingSchema, schema
from api.questions.values import Values, taken
from api.reports.left_out import left_out
from api.reports.paging import OfQuery
from api.reports.unused import unused
from api.service import Service
from costcalc.answers import Answer, Estimate, OwnedMachine, PriceBasis
from costcalc.catalogue.catalogue import Catalogue
from costcalc.comparison import ALL, HALF, Comparison, comparison, owned_machines
from costcalc.costing.owning import PROVIDER as OWN
from costcalc.fields import filled
from costcalc.money import ExchangeRate
from costcalc.parameters import Param
from costcalc.query import Basis, EstimateQuery, parameters_of
from costcalc.tasks.goals import training_in_words
from costcalc.units import HOURS_PER_MONTH

APART = "They share neither recipe nor accelerator, so the errors of their times are assumed to be unrelated."
SHARED = {
    ALL: "Both use the same recipe and accelerators, so their times are assumed to be off by the same factor.",
    HALF: "They share the recipe or the accelerator, so half of the error of their times is assumed to be shared.",
}


class CompareParameters(Struct):
    """The two machines. They stand for all filters of offers, and their effective costs are compared."""

    # fmt: off
    a: Annotated[Side, Param(
        "a machine: provider:instance_type, then :machines and :purchase if not one on demand; own:1x RTX 4090; or an "
        "accelerator such as H100, for the best that has it",
        "machine", "aws:p4d.24xlarge", "text", use="everyday")]
    b: Annotated[Side, Param(
        "the machine to compare it with, written the same way",
        "machine", "aws:p4d.24xlarge:2", "text", use="everyday")]
    # fmt: on


class SidesSchema(TrainingSchema):
    """The parameters of a training on two machines, of which one may be the user's own."""

    own_example = "a=own:1xRTX4090"

    def _names_own_machines(self, values: Mapping[str, object]) -> bool:
        return any(str(values.get(side, "")).casefold().startswith("own") for side in ("a", "b"))


CompareSchema = schema(
    SidesSchema,
    CompareParameters,
    without=(*parameters_of("machine", "purchase", "count", "own", "limit", "order", "pick", "page"), "basis"),
)


@dataclass(frozen=True, slots=True)
class CompareDocument:
    """The JSON answer: a `Comparison`, and what it says in sentences. `owned` has each machine that you own, with the hours
    of use in its life above which it costs less than the other one."""

    query: EstimateQuery
    prices: PriceBasis
    exchange: ExchangeRate | None
    a: Estimate
    b: Estimate
    price_ratio: float | None
    speed_ratio: float
    cheaper: str
    probability: float
    correlation: float
    break_even_hourly_rate: float
    cost_per_hour_saved: float | None
    owned: tuple[OwnedMachine, ...]
    verdict: tuple[str, ...]


@dataclass(frozen=True)
class CompareReport(OfQuery):
    """One question asked of two machines, and the answers compared."""

    sides: tuple[Side, Side]

    @property
    def name(self) -> str:
        return f"compare-{self.query.model}-{self.query.target:g}"

    def _answers(self, query: EstimateQuery) -> list[Answer]:
        """The answers about both sides. Costs are always the effective ones."""
        asked = (asked_of(side, replace(query, basis="effective")) for side in self.sides)
        return [self.service.answer(each, self.catalogue) for each in asked]

    def in_vain(self) -> Iterator[str]:
        """What the question states that changes neither answer."""
        return unused(replace(self.query, basis="billed"), self._answers)

    def document(self) -> CompareDocument:
        """Both estimates, what they come to, and the verdict. Raises BadParameters where a machine cannot be had so, or does not
        train to the target."""
        answers = self._answers(self.query)
        for name, side, answer in zip("ab", self.sides, answers, strict=True):
            if not answer.estimates:
                raise BadParameters({name: [f"no estimate for {side.text}: left out are {left_out(answer)}"]})
        sides = [answer.estimates[0] for answer in answers]
        compared = comparison(*sides)
        owned = owned_machines([side for side in sides if side.provider == OWN], sides)
        hourly, saved = compared.break_even_hourly_rate, compared.cost_per_hour_saved
        return filled(
            CompareDocument,
            compared,
            answers[0],
            query=with_moment(self.query, answers[0].prices.as_of),
            break_even_hourly_rate=float(round(hourly, 6)),
            cost_per_hour_saved=None if saved is None else float(round(saved, 6)),
            owned=owned,
            verdict=(*verdict(compared), *map(pays, owned), *self.in_vain()),
        )


def compare_report(service: Service, catalogue: Catalogue, values: Values) -> CompareReport:
    """The report that parsed parameters of `/compare` ask for."""
    sides = taken(CompareParameters, values)
    return CompareReport(service, catalogue, query_of({"basis": "effective", **values}), (sides.a, sides.b))


def asked_of(side: Side, query: EstimateQuery) -> EstimateQuery:
    """The question limited to one of the two machines."""
    limited = replace(query, nodes=side.nodes, purchase=(side.purchase,), limit=1)
    if side.accelerator:
        return replace(limited, accelerator=side.accelerator, accelerators=side.accelerators)
    if side.own:
        return replace(limited, provider=(OWN,), own=(side.own,))
    return replace(limited, provider=(side.provider,), instance_type=(side.instance_type,))


def verdict(compared: Comparison) -> Iterator[str]:
    """What a comparison says, in sentences."""
    a, b, currency = compared.a, compared.b, compared.a.currency
    yield (
        f"{_named('a', a)}; {_named('b', b)}: {compared.cheaper} costs less, with a probability of {compared.probability:.2f}."
    )
    if compared.price_ratio is not None:
        yield (
            f"b has {compared.price_ratio:.2f} times the rate of a and is {compared.speed_ratio:.2f} times as fast, with "
            f"start-up and other overheads; they break even when b costs {compared.break_even_hourly_rate:,.4f} "
            f"{currency} an hour."
        )
    yield SHARED.get(compared.correlation, APART)
    if compared.cost_per_hour_saved is not None:
        faster = "b" if b.calendar_hours < a.calendar_hours else "a"
        worth = f"{compared.cost_per_hour_saved:,.2f} {currency}"
        yield f"{faster} finishes earlier, which pays if an hour of waiting is worth more than {worth}."
    yield f"Each hour left running costs {a.hourly_rate:,.2f} {currency} for a and {b.hourly_rate:,.2f} for b."


def pays(each: OwnedMachine) -> str:
    """Says above how much use the user's machine beats the other one."""
    own = f"Your {each.estimate.instance_type}"
    if not each.break_even:
        return f"{own} is not compared with the other machine, which is also yours."
    hours = each.break_even[0].break_even_hours
    if hours is None:
        return f"{own} never pays off: its electricity alone costs as much as the other machine."
    if hours == 0:
        return f"{own} pays off from its first hour: the same work costs more on the other machine."
    months = hours / HOURS_PER_MONTH
    return f"{own} pays off above {hours:,.0f} hours of use in its life, or {months:,.1f} months without a pause."


def _named(side: str, each: Estimate) -> str:
    machines = f"{each.nodes} x " if each.nodes > 1 else ""
    cost = f"{each.effective_cost:,.2f} {each.currency} in {each.hours:,.2f} h"
    return f"{side}, {each.provider} {machines}{each.instance_type}, costs {cost}"


COMPARED = (
    "price_ratio", "speed_ratio", "cheaper", "probability", "correlation", "break_even_hourly_rate", "cost_per_hour_saved",
)  # fmt: skip
ROOM = 1.25
BASIS: Basis = "effective"
TABLE = Table("Two machines for the same training", "", "machine", None, ())


def blocks(report: CompareReport) -> Iterator[Block]:
    """The verdict and both estimates."""
    document = report.document()
    sides = {"a": document.a, "b": document.b}
    side = Column("#", lambda row: next(name for name, each in sides.items() if each is row))
    yield Say(document.verdict, leads=True)
    yield Rows(replace(TABLE, columns=(side, *of_an_estimate(BASIS))), [*sides.values()])
    yield Say([" ".join(words.marks_explained(sides.values()))], small=True)
    yield rests_on(sides)
    yield from missing_prices(document.prices)


def sheet(report: CompareReport) -> Sheet:
    """Two rows, one per machine, each followed by the figures of the comparison."""
    document = report.document()
    columns: list[csv_export.Column] = [
        ("side", itemgetter(0)),
        *(within(itemgetter(1), column) for column in estimate_columns()),
        *(constant(name, getattr(document, name)) for name in COMPARED),
    ]
    rows, kept = (("a", document.a), ("b", document.b)), {"side", *COMPARED}
    title, as_of = f"Two machines for {training_in_words(document.query)}", document.prices.as_of
    return Sheet("Compared", title, document.verdict, columns, rows, as_of, document.query.currency, kept)


class Turn(NamedTuple):
    """A line of hourly rates of machine `b`, in percent: where it stands today, and up to where it costs less than `a`."""

    now: str
    even: str
    most: float


def html(report: CompareReport) -> Page:
    """Both machines as cards, which costs less and how surely, and the break-even rate."""
    document = report.document()
    both = document.a, document.b
    frame = Frame(
        Axis.around([hours for each in both for hours in (each.calendar_hours, each.hours_low, each.hours_high)]),
        Axis.around([float(cost) for each in both for cost in each.cost(BASIS)]),
        tuple(dict.fromkeys(each.provider for each in both)),
    )
    sentences = document.verdict
    shown = {
        "document": document,
        "notes": (
            *sentences[1 : 2 + (document.price_ratio is not None)],
            *sentences[len(sentences) - len(document.owned) :],
        ),
        "sides": [
            (name, each, each.cost(BASIS), card(frame, each, BASIS), asked_of(side, report.query))
            for name, each, side in zip("ab", both, report.sides, strict=True)
        ],
        "turn": _turn(document),
        "chance_of_a": document.probability if document.cheaper == "a" else 1 - document.probability,
    }
    return Page("compare.html", shown)


def _turn(document: CompareDocument) -> Turn | None:
    """Where the answer turns; None if `b` costs more even at no hourly rate."""
    now, even = float(document.b.hourly_rate), document.break_even_hourly_rate
    if even <= 0:
        return None
    most = ROOM * max(now, even)
    return Turn(f"{100 * now / most:.2f}%", f"{100 * even / most:.2f}%", most)


CODE: Code[CompareReport] = Code(CompareSchema, compare_report, CompareDocument, blocks=blocks, html=html, sheet=sheet)
