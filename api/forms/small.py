"""`/small`: a network that is given by its layers, on a processor and on GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from api.formats import words
from api.formats.column import Column
from api.formats.tables import Table, number
from api.formats.terminal import grid
from api.formats.terminal.grid import View
from api.forms.code import Code
from api.questions.suggestions import many
from api.reports.small import SmallDocument, SmallReport, SmallSchema, SmallTraining, small_report
from costcalc.units import in_words

TABLE = Table(
    "A small network",
    "How long a network given by its layers trains on a processor and on GPUs, the fastest first.",
    "device",
    SmallTraining,
    (
        Column("Device", lambda row: row.device),
        Column("Time", lambda row: in_words(row.train_seconds / 3600), is_number=True, bar=lambda row: row.train_seconds,
               small=lambda row: words.span(row.train_seconds_low / 3600, row.train_seconds_high / 3600)),
        Column("Milliseconds a step", lambda row: number(row.step_seconds * 1000, ",.3g"), is_number=True),
        Column("Limited by", lambda row: row.limited_by),
        Column("Worth an hour up to", lambda row: f"${row.worth_up_to_hourly:,.2f}", is_number=True),
        Column("Known", lambda row: row.evidence, source=lambda row: row.source),
    ),
    ("model", "samples", "batch_size", "epochs", "hourly_rate"),
)  # fmt: skip
SMALL_COLUMNS = (
    Column("device", lambda each: each.device),
    Column("step", lambda each: f"{each.step_seconds * 1e6:,.4g} µs", is_number=True),
    Column("limited by", lambda each: each.limited_by),
    Column("training", lambda each: f"{each.train_seconds:,.4g} s", is_number=True),
    Column("known to\na factor", lambda each: f"{each.factor_80:g}", is_number=True),
    Column("worth up to\nan hour", lambda each: f"{each.worth_up_to_hourly:,.3g}", is_number=True),
    Column(
        "turns at\nhidden units", lambda each: " ".join(f"{units:,}" for units in each.turns_at or ()), is_number=True
    ),
    Column("evidence", lambda each: each.evidence, leave=1),
)


def terminal(report: SmallReport, view: View) -> Iterator[str]:
    """How long a small network trains on this machine and others, and where they break even."""
    document = report.document()
    yield (
        f"{many(document.layers, 'layer')}, {document.parameters:,} parameters, {document.multiply_adds:,} multiply-adds a "
        f"sample; {document.steps:,} steps of {document.batch_size}"
    )
    yield from grid.table(SMALL_COLUMNS, document.devices, view.width)
    yield f"Worth up to: the hourly rate at which it costs as much as {document.reference} at {document.hourly_rate}."


CODE: Code[SmallReport] = Code(SmallSchema, small_report, SmallDocument, TABLE, terminal=terminal)
