"""The other reports in a terminal: lists, largest batches, models, accuracies, comparisons and commitments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from api.cli.cost import gaps
from api.cli.estimates import estimate_lines
from api.cli.grid import Column, View, paragraph, table
from api.cli.options import as_options
from api.formats import tables
from api.formats.tables import Table, batch, day, number, rate
from api.formats.words import bought, in_one_line, in_region, machine
from api.questions.suggestions import many
from api.reports.accuracy import AccuracyReport
from api.reports.commitments import CommitmentsReport
from api.reports.comparison import CompareReport
from api.reports.decision import Compared
from api.reports.models import FitReport, ModelsReport
from api.reports.small_networks import SmallReport
from api.reports.trend import TrendReport
from costcalc.answers import PriceBasis
from costcalc.evidence.largest_batch import Fit
from costcalc.hardware import counted

MOST_GRID = 8
SIGNS_OF_FITS = "~: not measured on this accelerator, with the 80 % interval. -: not even one image fits."
WAYS: tuple[Column, ...] = (
    Column("bought", bought),
    Column("an hour", lambda row: rate(row.hourly_rate), figures=True),
    Column("upfront", lambda row: number(row.upfront, ",.2f"), figures=True, leave=2),
    Column("a month", lambda row: number(row.monthly, ",.2f"), figures=True, leave=1),
    Column("total", lambda row: number(row.total, ",.2f"), figures=True),
    Column("pays from\nhours a month", lambda row: number(row.break_even_hours_per_month, ",.2f"), figures=True),
    Column("price seen", lambda row: day(row.price.observed_at), leave=3),
)


def list_lines(listed: Table, report: Any, view: View) -> Iterator[str]:
    """How many rows there are and how many are shown, then their table."""
    document, rows = report.document(), list(listed.rows(report))
    count = getattr(document, "count", len(rows))
    shown = f"{len(rows):,} of " if len(rows) < count else ""
    yield from paragraph(f"{shown}{many(count, listed.noun)} {listed.when(document)}", view.width)
    if rows:
        columns = [
            Column(each.heading.lower().replace(" ", "\n", 1), _cell(each), each.is_number, each.leave)
            for each in listed.columns
        ]
        sources = [each.source for each in listed.columns if each.source is not tables.nothing]
        yield from table([*columns, *(Column("source", source, leave=1) for source in sources)], rows, view.width)


def _cell(column: tables.Column) -> Callable[[Any], str]:
    return lambda row: "\n".join(filter(None, [column.text(row), column.small(row)]))


def accuracy_lines(report: AccuracyReport, view: View) -> Iterator[str]:
    """The accuracy that is within reach, and the estimates that reach it; what picks reach comes first."""
    found = report.document()
    yield from paragraph(f"{found.query.model}: {as_options(found.message)}", view.width)
    digits = ".6g" if report.own else ".4f"
    for higher, each in pairwise(found.confirmed or (*found.estimates[:1], *found.less)):
        if each.hours != higher.hours:
            yield from paragraph(f"{each.target:{digits}} takes {in_one_line(each, found.query.basis)}.", view.width, 4)
    if found.estimates:
        yield f"{found.accuracy:{digits}} takes:"
        yield from estimate_lines(found.estimates, found.query.basis, view)
    yield from _missing(found.prices, view)


def commitments_lines(report: CommitmentsReport, view: View) -> Iterator[str]:
    """Each machine with every way to commit to it, and from how many hours a month on that pays."""
    found = report.document()
    for sentence in found.verdict:
        yield from paragraph(as_options(sentence), view.width, 2)
    yield ""
    for compared in found.machines:
        yield from paragraph(_compared(compared), view.width, 2)
        yield from table(WAYS, compared.choices, view.width)
        for line in compared.assumptions if view.explain else ():
            yield from paragraph(f"- {line}", view.width, 2)
    for note in found.notes:
        yield from paragraph(as_options(note), view.width)
    yield from _missing(found.prices, view)


def trend_lines(report: TrendReport, view: View) -> Iterator[str]:
    """The verdict, then a row for each date."""
    for sentence in report.document().verdict:
        yield from paragraph(sentence, view.width, 2)
    yield from list_lines(tables.TREND, report, view)


def compare_lines(report: CompareReport, view: View) -> Iterator[str]:
    """Both estimates, and what the comparison says."""
    found = report.document()
    a, b = (replace(one, frontier=False) for one in (found.a, found.b))  # the other may be all that it beats
    yield from estimate_lines((a, b), "effective", view, number=lambda each: "a" if each is a else "b")
    yield ""
    for sentence in found.verdict:
        yield from paragraph(sentence, view.width, 2)
    yield from _missing(found.prices, view)


def fit_lines(report: FitReport, view: View) -> Iterator[str]:
    """A table of accelerators and a few networks, or a row for each pair of many."""
    fits, models = report.rows(), tuple(dict.fromkeys(each.model for each in report.rows()))
    if report.rest or len(models) > MOST_GRID:
        yield from list_lines(tables.FITS, report, view)
    else:
        yield from paragraph(f"Largest batches that fit, as known on {day(report.as_of)}:", view.width)
        grid: dict[tuple[float, str], dict[str, Fit]] = {}
        for each in fits:
            grid.setdefault((each.memory_gib, each.accelerator), {})[each.model] = each
        yield from table(
            [Column("accelerator", _memory), *map(_of_network, models)], [grid[key] for key in sorted(grid)], view.width
        )
        yield from paragraph(SIGNS_OF_FITS, view.width)
    if report.nearest:
        none = [each.accelerator for each in fits if each.model == report.nearest.model and not each.fits]
        held = f"{report.nearest.accelerator} ({report.nearest.memory_gib:g} GiB)"
        yield from paragraph(
            f"{report.nearest.model} does not fit {', '.join(none)}; the smallest that holds it is {held}.", view.width
        )


def _of_network(model: str) -> Column:
    return Column(model, lambda row: batch(row[model]) if model in row else "", figures=True)


def _memory(row: dict[str, Fit]) -> str:
    first = next(iter(row.values()))
    return f"{first.accelerator}, {first.memory_gib:g} GiB"


def models_lines(report: ModelsReport, view: View) -> Iterator[str]:
    """Every model, or a single one with its recipes and its measured speeds."""
    yield from list_lines(tables.MODELS, report, view)
    for listed in (tables.RECIPES, tables.MEASURED) if report.model else ():
        yield from list_lines(listed, report, view)


def _missing(prices: PriceBasis, view: View) -> Iterator[str]:
    for line in gaps(prices, view.explain):
        yield from paragraph(line, view.width, 4)


def _compared(each: Compared) -> str:
    on_demand = f"on demand {each.on_demand.hourly_rate:,.2f} an hour" if each.on_demand else "not sold on demand"
    return (
        f"{in_region(machine(each), each.region)}, {counted(each.accelerators, each.accelerator)}: "
        f"{each.hours_per_run:,.2f} h a run, {on_demand}, in {each.currency}"
    )


def small_lines(report: SmallReport, view: View) -> Iterator[str]:
    """How long a small network trains on this machine and on others, and where the answer turns."""
    found = report.document()
    yield (
        f"{many(found.layers, 'layer')}, {found.parameters:,} parameters, {found.multiply_adds:,} multiply-adds a sample; "
        f"{found.steps:,} steps of {found.batch_size}"
    )
    yield from table(SMALL_COLUMNS, found.devices, view.width)
    yield f"Worth up to: the hourly rate at which it costs as much as {found.reference} at {found.hourly_rate}."


SMALL_COLUMNS = (
    Column("device", lambda each: each.device),
    Column("step", lambda each: f"{each.step_seconds * 1e6:,.4g} µs", figures=True),
    Column("limited by", lambda each: each.limited_by),
    Column("training", lambda each: f"{each.train_seconds:,.4g} s", figures=True),
    Column("known to\na factor", lambda each: f"{each.factor_80:g}", figures=True),
    Column("worth up to\nan hour", lambda each: f"{each.worth_up_to_hourly:,.3g}", figures=True),
    Column(
        "turns at\nhidden units", lambda each: " ".join(f"{units:,}" for units in each.turns_at or ()), figures=True
    ),
    Column("evidence", lambda each: each.evidence, leave=1),
)
