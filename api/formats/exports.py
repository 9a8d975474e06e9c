"""The answer to a question about cost as a file: a sheet, its estimates flat or in FOCUS's columns, or a workbook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from api.formats import csv as csv_export
from api.formats import focus
from api.formats.sheet_columns import estimate_columns, shared_columns
from api.questions.schemas import Layout
from costcalc.answers import Answer
from costcalc.evidence import Evidence

if TYPE_CHECKING:
    from api.formats.workbook import Book


def cost_csv(answer: Answer, layout: Layout, evidence: Evidence) -> Iterator[bytes]:
    """The sheet of the profile asked for, piece by piece; `evidence` is what the answer rests on."""
    if layout.profile == "focus":
        return focus.chunks(answer, layout, evidence.recipes_of(answer.query.model))
    return csv_export.chunks([*estimate_columns(), *shared_columns(answer)], answer.estimates, layout)


def cost_xlsx(answer: Answer, extras: Iterable[Callable[[Book], None]] = ()) -> bytes:
    """The workbook, with the sheets that `extras` add."""
    from api.formats import xlsx

    return xlsx.build(answer, extras)
