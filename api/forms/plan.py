"""`/plan`: a sheet of questions with their answers, and its sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any

from api.formats import csv_export
from api.formats.csv_export import Column
from api.formats.json import to_json
from api.formats.sheet_columns import estimate_columns, within
from api.questions.fields import Number
from api.questions.schemas.layout import Layout
from api.questions.suggestions import many
from api.reports.plan import COSTS, ROW, Answered, PlanDocument, Sum
from costcalc.money import money
from costcalc.units import HOURS_PER_MONTH, in_words

if TYPE_CHECKING:
    from api.formats.xlsx.tables import Total


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
    from api.formats.xlsx import estimates, tables

    columns = [(name, _as_number(read) if name in ROW_NUMBERS else read) for name, read in plan_columns(document.rows)]
    folded = estimates.folded(columns, {name for row in document.rows for name in row.given} | {"error"}, layout)
    columns = csv_export.chosen_columns(columns, layout)
    created, sums = document.prices.as_of if document.prices else None, document.sums
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
