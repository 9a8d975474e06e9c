"""`/cost`: every estimate that answers the question; what to do, and the picks with a few others beside them, or the list of all
where that is asked for, and as sheets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from api.formats import csv_export
from api.formats.blocks import Block, Part, Rows, Say
from api.formats.estimates import missing_prices, rests_on
from api.formats.figures import listed
from api.formats.json import to_json
from api.formats.sheet_columns import estimate_columns, shared_columns
from api.formats.tables import Table
from api.formats.terminal.blocks import printed
from api.formats.terminal.first_answer import first_answer, shown_first
from api.formats.terminal.grid import View
from api.formats.words import highest_accuracy, how_fresh, machine, marks_explained, owned, waiting
from api.forms.code import Code
from api.questions.asked import query_of, with_moment
from api.questions.errors import BadParameters
from api.questions.schemas.layout import Layout
from api.questions.schemas.training import CostSchema
from api.questions.suggestions import many
from api.questions.values import Values
from api.reports.advice import Advice
from api.reports.by_tokens import ApiPrice, api_prices, needed_gib_of
from api.reports.left_out import left_out
from api.reports.paging import Rest
from api.service import Service
from costcalc.answers import Answer, Estimate, Folded, Hint, OwnedMachine, Pick, PriceBasis, Step
from costcalc.catalogue.catalogue import Catalogue
from costcalc.catalogue.freshness import Freshness
from costcalc.convergence.eligibility import BestReached
from costcalc.fields import filled
from costcalc.flat import flat
from costcalc.money import ExchangeRate
from costcalc.picks import Requirement
from costcalc.programs import NOBODYS
from costcalc.query import DEFAULT_LIMIT, LAST_OFFSET, EstimateQuery
from costcalc.recipes import Recipe
from costcalc.tasks.goals import training_in_words


class Beside(Struct, frozen=True):
    """What the lead's machine takes with another script."""

    recipe: str
    hours: float
    hours_low: float
    hours_high: float
    billed_cost: Decimal
    billed_cost_low: Decimal
    billed_cost_high: Decimal
    command: str | None

    @classmethod
    def of(cls, each: Estimate | None) -> Beside | None:
        """The figures of an estimate."""
        return filled(cls, each, command=each.recipe_command) if each else None


class CostDocument(Struct, frozen=True):
    """The JSON answer. `query` is the question as it was understood; `exchange` is null for dollars; `quoted_exchange` has the
    rates of further currencies that offers here are quoted in; `notes` are to be read before the figures. Of a language model by
    tokens `api_prices` are what APIs charge, and `needed_gib` is the memory that each of so many accelerators needs."""

    query: EstimateQuery
    prices: PriceBasis
    picks: tuple[Pick, ...]
    missed: tuple[Requirement, ...]
    count: int
    verdict: tuple[str, ...]
    unconfirmed: Estimate | None
    folded: Folded
    freshness: Freshness
    estimates: tuple[Estimate, ...]
    free: tuple[Estimate, ...]
    rejections: dict[str, int]
    rejection_units: dict[str, str]
    best_reached: BestReached | None
    exchange: ExchangeRate | None
    quoted_exchange: tuple[ExchangeRate, ...]
    hints: tuple[Hint, ...]
    owned: tuple[OwnedMachine, ...]
    notes: tuple[str, ...] = ()
    next: Step | None = None
    ordinary: Beside | None = None
    as_published: Beside | None = None
    api_prices: tuple[ApiPrice, ...] = ()
    needed_gib: dict[str, float] = field(default_factory=dict)


class CostReport(Advice):
    """Every estimate that answers a question."""

    @property
    def name(self) -> str:
        return f"cost-{self.query.model}-{self.query.target:g}"

    def with_frontier(self) -> Answer:
        """The answer with the frontier's estimates among the best, for sheets."""
        return replace(self.answer, best_at=self._asked.best(with_frontier=True))

    def document(self) -> CostDocument:
        """The estimates in the order of the document's keys."""
        return filled(
            CostDocument,
            self.answer,
            query=_as_told(with_moment(self.answer.query, self.answer.prices.as_of)),
            notes=self.notes,
            ordinary=Beside.of(self.answer.ordinary),
            as_published=Beside.of(self.answer.as_published),
            api_prices=api_prices(self.query, self.answer.prices.as_of),
            needed_gib=needed_gib_of(self.query),
        )

    @property
    def rest(self) -> Rest | None:
        end = self.query.offset + self.query.limit
        return Rest(end, self.answer.count) if end < self.answer.count and end <= LAST_OFFSET else None

    def recipes(self) -> tuple[Recipe, ...]:
        """The recipes that the estimates may rest on."""
        return self._asked.evidence.recipes_of(self.query.model)


def _as_told(query: EstimateQuery) -> EstimateQuery:
    """The question without the goal that its tokens or its hours settle, which nobody named."""
    is_settled = query.method is not None or query.took is not None
    return replace(query, target=None, metric=None) if is_settled else query


def cost_report(service: Service, catalogue: Catalogue, values: Values) -> CostReport:
    """The report that parsed parameters of `/cost` ask for."""
    return CostReport(service, catalogue, query_of(values))


if TYPE_CHECKING:
    from api.formats.charts.figure import Figure


FRONTIER = "*: no other estimate is both faster and cheaper."


def terminal(report: CostReport, view: View) -> Iterator[str]:
    """What to do and the picks, set by hand; as blocks the list if the question asks for it, and the rest with --explain."""
    answer = report.answer
    if is_list(answer):
        yield from printed(blocks(report), view)
    else:
        yield from first_answer(answer, view)
        yield from printed([_behind(shown_first(answer)), *_beside(answer)], view) if view.explain else ()


def blocks(report: CostReport) -> Iterator[Block]:
    """The list of all estimates, and what must be known of it."""
    yield from _list(report.answer)
    yield from _beside(report.answer)


def _list(answer: Answer) -> Iterator[Block]:
    when = f"at prices of {answer.prices.as_of:%Y-%m-%d} ({how_fresh(answer.freshness)})"
    yield Say([*answer.verdict, f"{training_in_words(answer.query)}, {when}, in {answer.query.currency}"])
    table = Table("Estimates", "", "estimate", None, tuple(listed(answer.query.basis)))
    legend = " ".join([FRONTIER, *marks_explained(answer.estimates)])
    shown: list[Block] = [Rows(table, answer.estimates), Say([legend], small=True), _behind(answer.estimates)]
    yield Part(_how_many(answer), shown if answer.estimates else [])


def _behind(estimates: Iterable[Estimate]) -> Part:
    return rests_on({str(each.rank): each for each in estimates})


def _beside(answer: Answer) -> Iterator[Block]:
    """The user's own machines, what is free, and what must be known of all of it."""
    if answer.owned:
        yield Part("Your own:", [Say([f"{owned(each)}." for each in answer.owned])])
    if answer.free:
        yield Part("Free, if you can wait:", [Say([f"{machine(each)}: {waiting(each)}" for each in answer.free])])
    left = [f"Left out: {left_out(answer)}"] if answer.rejections else []
    yield Say([*_converted(answer), highest_accuracy(answer), *left], small=True)
    yield from missing_prices(answer.prices)


def is_list(answer: Answer) -> bool:
    """Whether a question asks for the list of all estimates, not only for what to do. A run of one's own is its only recipe."""
    query, is_own = answer.query, any(each.recipe_kind in NOBODYS for each in answer.estimates)
    wants_all = "all" in (query.regions, query.regions if is_own else query.recipes)
    return query.offset > 0 or query.limit > DEFAULT_LIMIT or wants_all


def _how_many(answer: Answer) -> str:
    query, shown = answer.query, len(answer.estimates)
    if not shown:
        return f"None of {many(answer.count, 'estimate')}." if answer.count else "No estimate answers this question."
    if answer.count == 1:
        return "The only estimate:"
    which = f"The first {shown:,} of" if not query.offset else f"{query.offset + 1:,} to {query.offset + shown:,} of"
    order = "time" if query.sort == "time" else "cost"
    how = f"the picks, then what they come from by {order}, then the rest"
    return f"{'All' if shown == answer.count else which} {answer.count:,} estimates: {how}."


def _converted(answer: Answer) -> Iterator[str]:
    if rate := answer.exchange:
        yield f"1 USD = {rate.per_usd:.6f} {rate.currency} on {rate.date} ({rate.source})"


def json(report: CostReport, layout: Layout) -> bytes:
    """The whole document, or what a bot needs of it."""
    if layout.fields == "all":
        return to_json(report.document())
    from api.reports.brief import brief  # which few ask for

    return to_json(brief(report))


def csv(report: CostReport, layout: Layout) -> Iterator[bytes]:
    """One row per estimate, or one per charge where the layout asks for FOCUS."""
    answer = report.answer
    if layout.profile == "focus":
        if layout.columns:
            raise BadParameters({"columns": ["profile=focus prescribes the columns: leave one of them out"]})
        from api.formats import focus  # a table does not wait for it

        return focus.chunks(answer, layout, report.recipes())
    columns = [*estimate_columns(), *shared_columns(answer)]
    last = report.rest or report.nothing
    return csv_export.with_last_line(csv_export.chunks(columns, map(flat, answer.estimates), layout), last, layout)


def xlsx(report: CostReport, layout: Layout) -> bytes:
    """The workbook, with what commitments on such machines cost."""
    from api.formats.xlsx import summary  # XlsxWriter is paid for by those who ask for a workbook

    return summary.workbook(report.with_frontier(), layout)


def figure(report: CostReport) -> Figure:
    """The picture of the estimates by cost and time."""
    from api.formats.charts import cost_and_time  # a table does not wait for it

    return cost_and_time.figure(report.answer, report.points)


CODE: Code[CostReport] = Code(
    CostSchema,
    cost_report,
    CostDocument,
    blocks=blocks,
    terminal=terminal,
    json=json,
    csv=csv,
    xlsx=xlsx,
    figure=figure,
)
