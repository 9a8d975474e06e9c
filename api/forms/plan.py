"""`/plan`: many questions at once; each row comes back with its best estimate, or with what is wrong; and the sums of all."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import chain, product
from operator import attrgetter, methodcaller
from time import monotonic, thread_time
from typing import Annotated, Any

from msgspec import Struct
from msgspec.structs import replace

from api.budget import budget
from api.formats import csv_export
from api.formats.csv_export import Column
from api.formats.json import to_json
from api.formats.sheet import Sheet, Total
from api.formats.sheet_columns import estimate_columns, within
from api.questions.asked import query_of
from api.questions.currencies import exchange_rates
from api.questions.errors import BadParameters, Refused
from api.questions.fields import Discounts, Number, OwnRates
from api.questions.parsing import Arguments
from api.questions.schemas.layout import Layout
from api.questions.schemas.training import LayoutSchema, TrainingSchema, schema
from api.questions.spellings import between_commas
from api.questions.suggestions import Guesses, clip, many
from api.reports.left_out import nothing
from api.reports.rows import NAMELESS, Given, check_size
from api.service import Service
from costcalc.answers import Answer, Estimate, PriceBasis
from costcalc.catalogue.catalogue import Catalogue
from costcalc.money import ExchangeRate, money
from costcalc.parameters import Param
from costcalc.query import EstimateQuery, parameters_of
from costcalc.units import HOURS_PER_MONTH, in_words

MOST_SECONDS = 20  # of processor
LONGEST_SECONDS = 45  # by the clock, while the rows of other plans come between; proxies wait for a minute
MOST_VALUES_SUMMED = 50
DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
COSTS = ("billed_cost", "billed_cost_low", "billed_cost_high")

Turn = Callable[[], AbstractContextManager[None]]


class PlanDefaults(Struct):
    """What may stand in the rows instead."""

    # fmt: off
    model: Annotated[str, Param("model to train, for rows that name none", "goal", "resnet50", settled=True, use="everyday")]
    target: Annotated[float, Param(
        "accuracy to reach, for rows that name none",
        "goal", 0.757, "accuracy", settled=True, use="everyday")]
    # fmt: on


class PlanParameters(Struct):
    """Every model to every target."""

    # fmt: off
    model: Annotated[tuple[str, ...], Param("models to train, one or more", "goal", "resnet50,resnet18", use="everyday")]
    target: Annotated[tuple[float, ...], Param(
        "accuracies to reach, as fractions or percentages, one or more",
        "goal", "0.757,0.76", "accuracies", use="everyday")]
    # fmt: on


class SharedSchema(TrainingSchema):
    """The parameters of a training that hold for all rows of a plan."""

    def _names_own_machines(self, values: Mapping[str, object]) -> bool:
        return True  # a row may


LISTED = (*parameters_of("page"), "frontier")
"""A row has one answer, the best."""
PlanSchema = schema(SharedSchema, PlanParameters, without=LISTED)
DEFAULTS = schema(SharedSchema, PlanDefaults, without=LISTED)()
ROW = schema(TrainingSchema, EstimateQuery, without=(*LayoutSchema().fields, *LISTED))()


class Answered(Struct, frozen=True):
    """One question as it was given, numbered from 1, with its best estimate or the reason why there is none."""

    row: int
    given: Given
    error: str | None
    count: int
    estimate: Estimate | None
    exchange: ExchangeRate | None


@dataclass(frozen=True, slots=True)
class Sum:
    """What some rows cost together, and how long they take one after another: all of them, or those with this value in one of the
    user's own columns. The range is that of rows whose costs are all low or all high together."""

    column: str
    value: str
    rows: int
    billed_cost: Decimal
    billed_cost_low: Decimal
    billed_cost_high: Decimal
    calendar_hours: float
    currency: str

    @classmethod
    def of(cls, column: str, value: str, estimates: Sequence[Estimate]) -> Sum:
        """The sum of estimates in one currency."""
        paid, low, high = (sum((getattr(each, name) for each in estimates), Decimal(0)) for name in COSTS)
        hours = sum(float(f"{each.calendar_hours:.6g}") for each in estimates)  # the sum of a sheet's cells
        return cls(column, value, len(estimates), paid, low, high, hours, estimates[0].currency)


@dataclass(frozen=True, slots=True)
class PlanDocument:
    """The JSON answer: every row in the order given, and their sums. `prices` is null where no row could be answered."""

    rows: tuple[Answered, ...]
    answered: int
    prices: PriceBasis | None
    sums: tuple[Sum, ...]


def sums_of(rows: Sequence[Answered]) -> list[Sum]:
    """The sum of all rows, then by each value of the user's own columns that sort rows into a few; none where the rows
    have different currencies."""
    answered = [(row.given, row.estimate) for row in rows if row.estimate]
    if len({each.currency for _, each in answered}) != 1:
        return []
    sums, names = (
        [Sum.of("", "all", [each for _, each in answered])],
        dict.fromkeys(chain(*(given for given, _ in answered))),
    )
    for column in (name for name in names if name.startswith("_") or name in parameters_of("words")):
        by_value: dict[str, list[Estimate]] = defaultdict(list)
        for given, each in answered:
            by_value[given.get(column, "")].append(each)
        if len(by_value) < len(answered) and len(by_value) <= MOST_VALUES_SUMMED:
            sums += [Sum.of(column, value, some) for value, some in by_value.items() if value]
    return sums


@dataclass(frozen=True, slots=True)
class Planner:
    """Answers rows from one snapshot; `shared` has the parameters of all rows, which a row may override.

    Where `decimal` is a comma, that of cells that hold numbers is read as a point.
    """

    service: Service
    catalogue: Catalogue
    shared: Mapping[str, list[str]]
    decimal: str = "."
    guesses: Guesses = field(default_factory=Guesses)
    best: dict[EstimateQuery, tuple[Answered, PriceBasis]] = field(default_factory=dict)
    started: tuple[float, float] = field(default_factory=lambda: (thread_time(), monotonic()))

    def document(self, rows: Sequence[Given], turn: Turn = nullcontext) -> PlanDocument:
        """All rows, each answered within a turn. Raises BadParameters for a column that no row may have."""
        check_columns(rows)
        words = {name: self.shared[name][0] for name in parameters_of("words") if name in self.shared}
        pairs = []
        with budget(MOST_SECONDS + 1):  # its own bounds end it before
            for number, given in enumerate(rows, 1):
                with turn():
                    common = {name: text for name, text in words.items() if not given.get(name)}
                    pairs.append(self._row(number, {**given, **common}))
        prices = next((prices for _, prices in pairs if prices), None)
        answered = tuple(row for row, _ in pairs)
        count = sum(row.estimate is not None for row in answered)
        return PlanDocument(answered, count, prices, tuple(sums_of(answered)))

    def _row(self, number: int, given: Given) -> tuple[Answered, PriceBasis | None]:
        if NAMELESS in given:
            cells = clip(given[NAMELESS])
            return Answered(number, given, f"more cells than columns: {cells} has no column", 0, None, None), None
        own = {name: [self._plain(name, text)] for name, text in given.items() if text and not name.startswith("_")}
        try:
            values, _ = self.service.parse(ROW, {**self.shared, **own}, self.catalogue, self.guesses)
            query = replace(query_of(values, limit=1), label=None, cost_center=None)
            if query not in self.best:
                self._check_time()
                self.best[query] = best_of(self.service.answer(query, self.catalogue))
            best, prices = self.best[query]
        except Refused as refused:
            return Answered(number, given, refused.detail, 0, None, None), None
        return replace(best, row=number, given=given), prices

    def _plain(self, name: str, text: str) -> str:
        if self.decimal != "," or not isinstance(ROW.fields.get(name), (Number, Discounts, OwnRates)):
            return text
        return text.replace(",", ".") if text.count(",") == 1 else DECIMAL_COMMA.sub(".", text)

    def _check_time(self) -> None:
        worked, began = self.started
        if thread_time() - worked > MOST_SECONDS or monotonic() - began > LONGEST_SECONDS:
            raise Refused(
                503,
                f"not answered: the rows above took the time of a plan, {MOST_SECONDS} s of processor time or "
                f"{LONGEST_SECONDS} s by the clock; send this row again",
            )


def planner(service: Service, catalogue: Catalogue, arguments: Arguments) -> tuple[Planner, Layout]:
    """What answers rows with these parameters for all of them, and the layout of the answer. Raises BadParameters."""
    values, layout = service.parse(DEFAULTS, arguments, catalogue)
    day = (values.get("as_of") or service.clock()).date()
    exchange_rates(values.get("currency", "USD"), (), day, values.get("fx", ()))
    shared = {
        name: list(texts) for name, texts in arguments.items() if name in ROW.fields and any(map(str.strip, texts))
    }
    return Planner(service, catalogue, shared, layout.decimal), layout


def every_pair(service: Service, values: Mapping[str, Any]) -> list[Given]:
    """A row for each of the models and each of the targets of `GET /plan`. Raises NotFound for an unknown model."""
    models = dict.fromkeys(service.model(name).name for name in between_commas(*values["model"]))
    return [{"model": name, "target": str(target)} for name, target in product(models, values["target"])]


def best_of(answer: Answer) -> tuple[Answered, PriceBasis]:
    """What a plan keeps of an answer, which is five times as large: the first estimate in its order."""
    if not answer.estimates:
        return Answered(0, {}, nothing(answer), 0, None, answer.exchange), answer.prices
    best = answer.first if answer.picks else answer.estimates[0]
    return Answered(0, {}, None, answer.count, best, answer.exchange), answer.prices


def check_columns(rows: Sequence[Given]) -> None:
    """Raises BadParameters where there are too many rows or columns, none, or a column that is no parameter."""
    names = dict.fromkeys(name for row in rows for name in row)
    check_size(len(rows), len(names))
    wrong = [name for name in names if name not in ROW.fields and name[:1] not in ("_", NAMELESS)]
    if wrong:
        lists = "/docs lists them"
        why = ((name, Guesses().unknown_parameter("column", name, ROW.fields, lists)) for name in wrong[:9])
        raise BadParameters(
            {name[:60]: [f"{message}; names of your own columns start with _"] for name, message in why}
        )


SUMMED = {
    "to pay": ("billed_cost", 1),
    "at least": ("billed_cost_low", 1),
    "at most": ("billed_cost_high", 1),
    "hours": ("calendar_hours", 1),
    "months": ("calendar_hours", HOURS_PER_MONTH),
}
"""What the workbook adds up: by heading the column, and what the sum is divided by."""
ROW_NUMBERS = frozenset(name for name, field in ROW.fields.items() if isinstance(field, Number))


def in_all(total: Sum) -> str:
    """What rows of a plan cost and take together: `all: $210.00 ($140.00 to $290.00) for 3 rows, 62 days (2.0 months) one after
    another`."""
    paid, low, high = (money(getattr(total, name), total.currency) for name in COSTS)
    span = f" ({low} to {high})" if low != high else ""
    months = f" ({total.calendar_hours / HOURS_PER_MONTH:.1f} months)" if total.calendar_hours > HOURS_PER_MONTH else ""
    name = f"{total.column.lstrip('_')} {total.value}".strip()
    return f"{name}: {paid}{span} for {many(total.rows, 'row')}, {in_words(total.calendar_hours)}{months} one after another"


def csv(document: PlanDocument, layout: Layout) -> bytes:
    """One line per row in the order given."""
    return csv_export.document(plan_columns(document.rows), document.rows, layout)


def xlsx(document: PlanDocument, layout: Layout) -> bytes:
    """The rows as a workbook, in which numbers that were given as text are numbers, and what few need is folded away; in front
    stand the sums."""
    from api.formats.xlsx.tables import workbook

    columns = [(name, _as_number(read) if name in ROW_NUMBERS else read) for name, read in plan_columns(document.rows)]
    kept = {name for row in document.rows for name in row.given} | {"error"}
    created, sums = document.prices.as_of if document.prices else None, document.sums
    lines = [f"{document.answered:,} of {len(document.rows):,} rows answered, each with its cheapest estimate."]
    currency, totals = sums[0].currency if sums else "", partial(_totals, sums)
    table = Sheet("Plan", "Plan", lines, columns, document.rows, created, currency, kept, totals=totals)
    return workbook(table, layout)


def _totals(sums: Sequence[Sum], names: Sequence[str]) -> Iterator[Total]:
    """The sums as formulas over the columns of the plan, which must have them."""
    from xlsxwriter.utility import xl_col_to_name

    columns = {name: xl_col_to_name(position) for position, name in enumerate(names)}
    places = {name: f"'Plan'!${column}$2:${column}$1001" for name, column in columns.items()}
    for each in sums:
        own, text = places.get(each.column), each.value.replace('"', '""')
        if own or not each.column:
            which = f'SUMIF({own},"{text}",{{}})' if own else "SUM({})"
            formulas = {
                heading: (getattr(each, name) / parts, f"={which.format(places[name])}/{parts}".removesuffix("/1"))
                for heading, (name, parts) in SUMMED.items()
                if name in places
            }
            yield Total(f"{each.column.lstrip('_')} {each.value}".strip(), each.rows, formulas)


def _as_number(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def number(row: Any) -> Any:
        value = read(row)
        try:
            return Decimal(value) if isinstance(value, str) and Decimal(value).is_finite() else value
        except InvalidOperation:
            return value

    return number


def plan_columns(rows: Sequence[Answered]) -> list[Column]:
    """What was given, then the error, then the best estimate's columns; those whose name was given already start with best_."""
    names = list(dict.fromkeys(name for row in rows for name in row.given))
    exchanged = ("per_usd", "date", "source") if any(row.exchange for row in rows) else ()
    return [
        *(within(attrgetter("given"), (name, methodcaller("get", name))) for name in names),
        csv_export.attribute("error"),
        *(
            within(attrgetter("estimate"), (f"best_{name}" if name in names else name, read))
            for name, read in estimate_columns()
        ),
        *(within(attrgetter("exchange"), (f"exchange_rate_{name}", attrgetter(name))) for name in exchanged),
    ]


FORMS: dict[str, Callable[[PlanDocument, Layout], bytes]] = {
    "json": lambda document, _: to_json(document),
    "csv": csv,
    "xlsx": xlsx,
}
"""What writes each form of the answers."""
