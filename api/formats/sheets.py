"""Each report as a sheet: its rows in columns, and those of estimates also in FOCUS's columns or as a workbook."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from itertools import islice
from operator import attrgetter, itemgetter, methodcaller
from typing import TYPE_CHECKING, Any

from api.formats import commitments_sheets, csv_export, focus, price_sheet
from api.formats.csv_export import Column
from api.formats.sheet_columns import constant, estimate_columns, shared_columns, within, word_columns
from api.formats.tables import OFFERS, Table
from api.questions.errors import BadParameters
from api.questions.fields import Number
from api.questions.schemas.layout import Layout
from api.reports.accuracy import AccuracyReport
from api.reports.commitments import CommitmentsReport
from api.reports.comparison import CompareReport
from api.reports.cost import CostReport
from api.reports.plan import ROW, Answered, PlanDocument, Sum, sums_of
from api.reports.prices.offers import Converter, OfferRow, OffersReport
from costcalc.tasks.goals import goal_in_words

if TYPE_CHECKING:
    from api.formats.xlsx.tables import Total

ROW_NUMBERS = frozenset(name for name, field in ROW.fields.items() if isinstance(field, Number))
COMPARED = (
    "price_ratio", "speed_ratio", "cheaper", "probability", "correlation", "break_even_hourly_rate", "cost_per_hour_saved",
)  # fmt: skip
MOST_WORKBOOK_ROWS = 10_000
"""Takes a second to write."""


def cost_csv(report: CostReport, layout: Layout) -> Iterator[bytes]:
    """One row per estimate, or one per charge where the layout asks for FOCUS."""
    answer = report.answer
    if layout.profile == "focus":
        if layout.columns:
            raise BadParameters({"columns": ["profile=focus prescribes the columns: leave one of them out"]})
        return focus.chunks(answer, layout, report.recipes())
    columns = [*estimate_columns(), *shared_columns(answer)]
    last = report.rest or report.nothing
    return csv_export.with_last_line(csv_export.chunks(columns, answer.estimates, layout), last, layout)


def cost_xlsx(report: CostReport, layout: Layout) -> bytes:
    """The workbook, with what commitments on such machines cost."""
    from api.formats.xlsx import workbooks  # XlsxWriter is paid for by those who ask for a workbook

    return workbooks.cost(report.with_frontier(), *report.commitments(), layout)


def accuracy_csv(report: AccuracyReport, layout: Layout) -> Iterator[bytes]:
    """One row per estimate, or one that only says why there is none."""
    return csv_export.chunks(*_accuracy(report), layout)


def accuracy_xlsx(report: AccuracyReport, layout: Layout) -> bytes:
    """The same as a workbook."""
    from api.formats.xlsx import tables

    document, (columns, rows) = report.document(), _accuracy(report)
    query, moment = document.query, document.prices.as_of
    front = tables.Front(f"The accuracy of {query.model}", [document.message], layout.asked, moment, query.currency)
    folded = _needed_by_few(columns, {"accuracy"}, layout)
    return tables.workbook("Estimates", front, csv_export.chosen_columns(columns, layout), rows, folded)


def _needed_by_few(columns: Sequence[Column], kept: Container[str], layout: Layout) -> Container[str]:
    """The columns to fold away: none where the asker chose them, else all that the sheet of estimates folds away too."""
    from api.formats.xlsx import estimates

    shown = {name: name in kept or name.removeprefix("best_") in estimates.SHOWN for name, _ in columns}
    return () if layout.columns else [name for name, is_shown in shown.items() if not is_shown]


def _accuracy(report: AccuracyReport) -> tuple[list[Column], Sequence[Any]]:
    document = report.document()
    columns: list[Column] = [
        ("accuracy", lambda _: document.accuracy),
        ("message", lambda _: document.message),
        *(within(lambda estimate: estimate, column) for column in estimate_columns()),
        *shared_columns(document),
    ]
    return columns, document.estimates or (None,)


def commitments_csv(report: CommitmentsReport, layout: Layout) -> Iterator[bytes]:
    """One row per purchase choice and usage, or per month, whichever table is asked for."""
    return csv_export.chunks(*commitments_sheets.columns_and_rows(report.document(), report.table), layout)


def commitments_xlsx(report: CommitmentsReport, layout: Layout) -> bytes:
    """A workbook of both tables alone."""
    from api.formats.xlsx import workbooks

    return workbooks.commitments(*report.with_bills(), layout.root)


def list_csv(table: Table, report: Any, layout: Layout) -> Iterator[bytes]:
    """A column for each field of the rows, the asker's own words behind."""
    pieces = csv_export.chunks(_list_columns(table, report), report.rows(), layout)
    return csv_export.with_last_line(pieces, report.rest, layout)


def list_xlsx(table: Table, report: Any, layout: Layout) -> bytes:
    """The same as a workbook of `MOST_WORKBOOK_ROWS` rows at most; its summary says how many others there are."""
    shown = list(islice(report.rows(), MOST_WORKBOOK_ROWS))
    left = report.rest.total - len(shown) if report.rest else 0
    lines = [f"{left:,} rows are not in this workbook: filter them, or take all as CSV."] if left else []
    verdict = getattr(report.document(), "verdict", ())
    return _listed(table, [*verdict, *lines], _list_columns(table, report), shown, report, layout)


def _listed(
    table: Table, lines: Sequence[str], columns: list[Column], rows: Sequence[Any], report: Any, layout: Layout
) -> bytes:
    from api.formats.xlsx import tables

    quoted = {getattr(row[1] if isinstance(row, tuple) else row, "currency", "") for row in rows}
    currency = quoted.pop() if len(quoted) == 1 else ""
    front = tables.Front(table.title, [table.intro, *lines], layout.asked, getattr(report, "as_of", None), currency)
    folded = () if layout.columns else None
    return tables.workbook(table.title, front, csv_export.chosen_columns(columns, layout), rows, folded)


def _list_columns(table: Table, report: Any) -> list[Column]:
    return [*csv_export.columns_of(table.row), *word_columns(getattr(report, "words", {}))] if table.row else []


def offers_csv(report: OffersReport, layout: Layout) -> Iterator[bytes]:
    """One row per offer; where another currency is asked for, with what it was quoted in and the rate."""
    if report.converter.currency is None:
        pieces = price_sheet.chunks(report, tuple(OfferRow.__dataclass_fields__), layout)
    else:
        pieces = csv_export.chunks(*_offer_columns_and_rows(report), layout)
    return csv_export.with_last_line(pieces, report.rest, layout)


def offers_xlsx(report: OffersReport, layout: Layout) -> bytes:
    """The same as a workbook of `MOST_WORKBOOK_ROWS` rows at most; its summary says how many others there are."""
    columns, rows = _offer_columns_and_rows(report)
    shown = list(islice(rows, MOST_WORKBOOK_ROWS))
    left = report.count - len(shown)
    note = f"{left} of {report.count} offers are not in this workbook: filter them, or take all as /offers.csv."
    return _listed(OFFERS, [note] if left else [], columns, shown, report, layout)


def _offer_columns_and_rows(report: OffersReport) -> tuple[list[Column], Iterator[Any]]:
    if report.converter.currency is None:
        return [*csv_export.columns_of(OfferRow), *word_columns(report.words)], report.rows()
    return [*_converted(report.converter), *word_columns(report.words)], report.quoted()


def compare_csv(report: CompareReport, layout: Layout) -> Iterator[bytes]:
    """Two rows, one for each machine, and what the comparison says behind each."""
    return csv_export.chunks(*_compared(report), layout)


def compare_xlsx(report: CompareReport, layout: Layout) -> bytes:
    """The same as a workbook."""
    from api.formats.xlsx import tables

    found, (columns, rows) = report.document(), _compared(report)
    title = f"Two machines for {found.query.model} to {goal_in_words(found.query)}"
    front = tables.Front(title, found.verdict, layout.asked, found.prices.as_of, found.query.currency)
    folded = _needed_by_few(columns, {"side", *COMPARED}, layout)
    return tables.workbook("Compared", front, csv_export.chosen_columns(columns, layout), rows, folded)


def _compared(report: CompareReport) -> tuple[list[Column], Sequence[Any]]:
    found = report.document()
    columns: list[Column] = [
        ("side", itemgetter(0)),
        *(within(itemgetter(1), column) for column in estimate_columns()),
        *(constant(name, getattr(found, name)) for name in COMPARED),
    ]
    return columns, (("a", found.a), ("b", found.b))


def plan_csv(document: PlanDocument, layout: Layout) -> Iterator[bytes]:
    """One line per row in the order given."""
    return csv_export.chunks(plan_columns(document.rows), document.rows, layout)


def plan_xlsx(document: PlanDocument, layout: Layout) -> bytes:
    """The same as a workbook, in which numbers that were given as text are numbers, and what few need is folded away; in front
    stand the sums."""
    from api.formats.xlsx import tables

    columns = [(name, _as_number(read) if name in ROW_NUMBERS else read) for name, read in plan_columns(document.rows)]
    folded = _needed_by_few(columns, {name for row in document.rows for name in row.given} | {"error"}, layout)
    columns = csv_export.chosen_columns(columns, layout)
    created, sums = document.prices.as_of if document.prices else None, sums_of(document)
    lines = [f"{document.answered:,} of {len(document.rows):,} rows answered, each with its cheapest estimate."]
    currency = sums[0].currency if sums else ""
    front = tables.Front("Plan", lines, "", created, currency, list(_totals(sums, [name for name, _ in columns])))
    return tables.workbook("Plan", front, columns, document.rows, folded)


def _totals(sums: Sequence[Sum], names: Sequence[str]) -> Iterator[Total]:
    """The sums as formulas over the columns of the plan, which must have them."""
    from xlsxwriter.utility import xl_col_to_name

    from api.formats.xlsx.tables import Total

    columns = {name: xl_col_to_name(position) for position, name in enumerate(names)}
    places = {name: f"'Plan'!${column}$2:${column}$1001" for name, column in columns.items()}
    for each in sums:
        paid, own = places.get("billed_cost"), places.get(each.column)
        if paid and (own or not each.column):
            text = each.value.replace('"', '""')
            formula = f'=SUMIF({own},"{text}",{paid})' if own else f"=SUM({paid})"
            yield Total(f"{each.column.lstrip('_')} {each.value}".strip(), each.rows, each.cost, formula)


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


def _converted(into: Converter) -> Iterator[Column]:
    """The columns of (quoted offer, row in the currency asked for): the row's, what the offer was quoted in, and the rate."""
    for name in OfferRow.__dataclass_fields__:
        yield within(itemgetter(1), (name, attrgetter(name)))
    yield "quoted_currency", lambda pair: pair[0].currency
    yield "exchange_rate", lambda pair: into.factor(pair[0])
    yield "exchange_rate_date", lambda pair: (rate := into.rate(pair[0])) and rate.date
    yield "exchange_rate_source", lambda pair: (rate := into.rate(pair[0])) and rate.source
