"""`/throughput`: measured speeds, also per dollar."""

from __future__ import annotations

from api.formats import words
from api.formats.column import Column
from api.formats.tables import PRICE_FILTERS, RATE, Table, day, number, offered_accelerators
from api.forms.code import Code
from api.reports.throughput import (
    ThroughputDocument,
    ThroughputReport,
    ThroughputRow,
    ThroughputSchema,
    throughput_report,
)

TABLE = Table(
    "Speeds",
    "Measured training speeds on machines for rent in dollars, most images per dollar first.",
    "measured speed",
    ThroughputRow,
    (
        Column("Model", lambda row: row.model, lambda row: f"{row.image_size} px, {row.precision or 'unknown precision'}"),
        Column("Machine", words.machine, offered_accelerators),
        Column("Images/s", lambda row: number(row.images_per_second, ",.1f"), is_number=True,
               bar=lambda row: row.images_per_second),
        Column("Per $ an hour", lambda row: number(row.images_per_second_per_dollar_hour, ",.1f"), is_number=True,
               bar=lambda row: row.images_per_second_per_dollar_hour),
        Column("Rate per hour", RATE.text, words.bought, is_number=True, leave=2),
        Column("Rate seen", lambda row: day(row.price_observed_at), lambda row: "" if row.confirmed else "not confirmed",
               leave=3),
        Column("Measured with", lambda row: row.framework, lambda row: f"{row.measured_on}, {row.throughput_year}",
               leave=1, source=lambda row: row.throughput_source),
    ),
    ("model", "recipe", "image_size", "year", "nodes", *PRICE_FILTERS, "rates", "speeds"),
    lambda document: f"on offers, most images per dollar first, at prices of {day(document.as_of)}",
)  # fmt: skip

CODE: Code[ThroughputReport] = Code(ThroughputSchema, throughput_report, ThroughputDocument, TABLE)
