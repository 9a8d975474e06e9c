"""`/fit`: the largest batches; as a grid of memories and a few networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from api.formats.column import Column
from api.formats.lists import list_lines
from api.formats.page import LIST, Page
from api.formats.tables import Table, day, gibibytes
from api.formats.terminal import grid
from api.formats.terminal.grid import View, paragraph
from api.forms.code import Code
from api.reports.fit import FitDocument, FitReport, FitSchema, fit_report
from costcalc.evidence.largest_batch import Fit
from costcalc.training import Tier

MOST_IN_TERMINAL, MOST_ON_PAGE = 8, 12
"""Networks of a grid."""
SIGNS_OF_FITS = "~: not measured on this accelerator, with the 80 % interval. -: not even one image fits."
MEMORY = attrgetter("memory_gib")


def batch(fit: Fit) -> str:
    """The largest batch as measured, with its range where it is modelled; `-` where nothing fits."""
    if not fit.fits:
        return "-"
    if fit.evidence is Tier.MEASURED:
        return f"{fit.largest_batch:,}"
    return f"~{fit.largest_batch:,} ({fit.largest_batch_low:,}-{fit.largest_batch_high:,})"


TABLE = Table(
    "What fits",
    "The largest batch of each network that fits the memory of each accelerator.",
    "largest batch size",
    Fit,
    (
        Column("Network", lambda row: row.model,
               lambda row: " ".join(filter(None, [row.precision, row.image_size and f"{row.image_size} px"]))),
        Column("Accelerator", lambda row: row.accelerator, lambda row: gibibytes(row.memory_gib)),
        Column("Largest batch", batch, is_number=True, bar=lambda row: row.largest_batch),
        Column("Known", lambda row: row.evidence.value, source=lambda row: row.source, leave=1),
    ),
    ("model", "accelerator", "precision", "image_size", "as_of"),
)  # fmt: skip


def terminal(report: FitReport, view: View) -> Iterator[str]:
    """A table of accelerators and a few networks, or a row for each pair of many."""
    fits, models = report.rows(), tuple(dict.fromkeys(each.model for each in report.rows()))
    if report.rest or len(models) > MOST_IN_TERMINAL:
        yield from list_lines(TABLE, report, view)
    else:
        yield from paragraph(f"Largest batches that fit, as known on {day(report.as_of)}:", view.width)
        rows: dict[tuple[float, str], dict[str, Fit]] = {}
        for each in fits:
            rows.setdefault((each.memory_gib, each.accelerator), {})[each.model] = each
        columns = [Column("accelerator", _memory), *map(_of_network, models)]
        yield from grid.table(columns, [rows[key] for key in sorted(rows)], view.width)
        yield from paragraph(SIGNS_OF_FITS, view.width)
    if report.nearest:
        none = [each.accelerator for each in fits if each.model == report.nearest.model and not each.fits]
        held = f"{report.nearest.accelerator} ({report.nearest.memory_gib:g} GiB)"
        yield from paragraph(
            f"{report.nearest.model} does not fit {', '.join(none)}; the smallest that holds it is {held}.", view.width
        )


def _of_network(model: str) -> Column:
    return Column(model, lambda row: batch(row[model]) if model in row else "", is_number=True)


def _memory(row: dict[str, Fit]) -> str:
    first = next(iter(row.values()))
    return f"{first.accelerator}, {first.memory_gib:g} GiB"


class GridRow(NamedTuple):
    """Accelerators of equal memory, and by network the largest batch on them: as measured where anybody did."""

    memory_gib: float
    accelerators: tuple[str, ...]
    batches: dict[str, Fit]


def html(report: FitReport) -> Page:
    """The list; if no accelerator is named, below a grid of the batches that each memory size holds."""
    if report.of_some:
        return Page(LIST, {})
    first = list(report.found.of_the_first(MOST_ON_PAGE))
    networks = list(dict.fromkeys(each.model for each in first))
    by_memory = groupby(sorted(first, key=MEMORY), key=MEMORY)
    rows = [GridRow(memory, *_together(list(some))) for memory, some in by_memory]
    return Page(LIST, {"networks": networks, "grid": rows, "batch": batch})


def _together(some: Sequence[Fit]) -> tuple[tuple[str, ...], dict[str, Fit]]:
    """The accelerators; by network, the batch that was measured, else any, since what is modelled follows from the memory."""
    by_evidence = sorted(some, key=lambda each: each.evidence is Tier.MEASURED)
    return tuple(dict.fromkeys(each.accelerator for each in some)), {each.model: each for each in by_evidence}


CODE: Code[FitReport] = Code(FitSchema, fit_report, FitDocument, TABLE, terminal=terminal, html=html)
