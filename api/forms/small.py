"""`/small`: a network that is given by its layers, on a processor and on GPUs."""

from __future__ import annotations

from api.formats import words
from api.formats.column import Column
from api.formats.tables import Table
from api.forms.code import Code
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
        Column("A step", lambda row: f"{row.step_seconds * 1e6:,.4g} µs", is_number=True),
        Column("Limited by", lambda row: row.limited_by),
        Column("Worth an hour up to", lambda row: f"${row.worth_up_to_hourly:,.3g}", is_number=True),
        Column("Turns at", lambda row: " ".join(f"{units:,}" for units in row.turns_at or ()), is_number=True, leave=3,
               meaning="the units of each hidden layer with which it is as fast as the processor."),
        Column("Known", lambda row: row.evidence, source=lambda row: row.source, leave=2),
    ),
    ("model", "samples", "batch_size", "epochs", "hourly_rate"),
)  # fmt: skip

CODE: Code[SmallReport] = Code(SmallSchema, small_report, SmallDocument, TABLE)
