"""`/offers/changes`: rates that are new or different."""

from __future__ import annotations

from api.formats.column import Column
from api.formats.tables import BOUGHT, MACHINE, PRICE_FILTERS, RATE, SEEN, Table, day, rate
from api.forms.code import Code
from api.reports.prices.changes import ChangeRow, ChangesDocument, ChangesReport, ChangesSchema, changes_report

TABLE = Table(
    "Changes of rates",
    "Every rate that is new or different since a date.",
    "new or different rate",
    ChangeRow,
    (
        MACHINE,
        BOUGHT,
        Column("Before", lambda row: rate(row.previous_hourly_rate), is_number=True),
        RATE,
        Column("Change", lambda row: "new" if row.change is None else f"{row.change:+.1%}", is_number=True, leave=2),
        Column("Seen", SEEN.text, leave=3, source=SEEN.source),
    ),
    (*PRICE_FILTERS, "since", "as_of"),
    lambda document: f"from {day(document.since)} to {day(document.as_of)}",
)

CODE: Code[ChangesReport] = Code(ChangesSchema, changes_report, ChangesDocument, TABLE)
