"""`/plan`: a sheet of questions with their answers, and its sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any

from api.formats import csv_export
from api.formats.csv_export import Column
from api.formats.sheet_columns import estimate_columns, within
from api.questions.fields import Number
from api.questions.schemas.layout import Layout
from api.reports.plan import ROW, Answered, PlanDocument, Sum, sums_of

if TYPE_CHECKING:
    from api.formats.xlsx.tables import Total


SUMMED = {
    "billed_cost": "to pay",
    "billed_cost_low": "at least",
    "billed_cost_high": "at most",
    "calendar_hours": "hours",
}
ROW_NUMBERS = frozenset(name for name, field in ROW.fields.items() if isinstance(field, Number))


def csv(document: PlanDocument, layout: Layout) -> Iterator[bytes]:
    """One line per row in the order given."""
    return csv_export.chunks(plan_columns(document.rows), document.rows, layout)


def xlsx(document: PlanDocument, layout: Layout) -> bytes:
    """The rows as a workbook, in which numbers that were given as text are numbers, and what few need is folded away; in front
    stand the sums."""
    from api.formats.xlsx import estimates, tables

    columns = [(name, _as_number(read) if name in ROW_NUMBERS else read) for name, read in plan_columns(document.rows)]
    folded = estimates.folded(columns, {name for row in document.rows for name in row.given} | {"error"}, layout)
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
        own, text = places.get(each.column), each.value.replace('"', '""')
        if own or not each.column:
            formulas = {
                heading: (
                    getattr(each, name),
                    f'=SUMIF({own},"{text}",{places[name]})' if own else f"=SUM({places[name]})",
                )
                for name, heading in SUMMED.items()
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
