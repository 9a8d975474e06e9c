"""The other reports in a terminal: models, prices, their history and changes, speeds, accuracies and commitments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

from api.cli.cost import gaps
from api.cli.estimates import estimate_lines
from api.cli.grid import Column, View, paragraph, table
from api.cli.options import as_options
from api.formats.words import bought, in_one_line, in_region, machine
from api.questions.suggestions import many
from api.reports.accuracy import AccuracyReport
from api.reports.commitments import CommitmentsReport, Compared
from api.reports.comparison import CompareReport
from api.reports.models import FitReport, ModelsDocument, ModelsReport
from api.reports.prices.changes import ChangesReport
from api.reports.prices.history import HistoryReport
from api.reports.prices.offers import OffersReport
from api.reports.throughput import ThroughputReport, ThroughputRow
from costcalc.answers import PriceBasis
from costcalc.evidence.largest_batch import Fit
from costcalc.hardware import counted
from costcalc.training import Metric, Tier


def accuracy_lines(report: AccuracyReport, view: View) -> Iterator[str]:
    """The accuracy that is within reach, and the estimates that reach it."""
    found = report.document()
    yield from paragraph(f"{found.query.model}: {as_options(found.message)}", view.width)
    if found.estimates:
        yield from estimate_lines(found.estimates, found.query.basis, view)
        yield ""
    for higher, each in pairwise((*found.estimates[:1], *found.less)):
        if each.hours != higher.hours:
            yield from paragraph(
                f"{each.target:{'.6g' if report.own else '.4f'}} takes {in_one_line(each, found.query.basis)}.",
                view.width,
                4,
            )
    yield from _missing(found.prices, view)


def commitments_lines(report: CommitmentsReport, view: View) -> Iterator[str]:
    """Each machine with every way to commit to it, and from how many hours a month on that pays."""
    found = report.document()
    for compared in found.machines:
        yield from paragraph(_compared(compared), view.width, 2)
        yield from table(WAYS, compared.choices, view.width)
        for line in compared.assumptions if view.explain else ():
            yield from paragraph(f"- {line}", view.width, 2)
    for note in found.notes:
        yield from paragraph(as_options(note), view.width)
    yield from _missing(found.prices, view)


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
    found = report.document()
    models = tuple(dict.fromkeys(each.model for each in found.fits))
    if found.count > len(found.fits) or len(models) > MOST_GRID:
        yield from _headed("largest batch size", "", found.count, FITS, found.fits, view)
    else:
        yield from paragraph(f"Largest batches that fit, as known on {_day(found.as_of)}:", view.width)
        yield from table([ACCELERATOR, *map(_of_network, models)], _by_accelerator(found.fits), view.width)
        yield from paragraph(SIGNS_OF_FITS, view.width)
    if found.nearest:
        yield from paragraph(_holding(found.fits, found.nearest), view.width)


def _holding(rows: Sequence[Fit], holds: Fit) -> str:
    """Which accelerators do not hold a network, and the smallest that does."""
    none = [each.accelerator for each in rows if each.model == holds.model and not each.fits]
    held = f"{holds.accelerator} ({holds.memory_gib:g} GiB)"
    return f"{holds.model} does not fit {', '.join(none)}; the smallest that holds it is {held}."


def _by_accelerator(rows: Sequence[Fit]) -> list[dict[str, Fit]]:
    """By accelerator, in order of memory, what fits it by network."""
    found: dict[tuple[float, str], dict[str, Fit]] = {}
    for each in rows:
        found.setdefault((each.memory_gib, each.accelerator), {})[each.model] = each
    return [found[key] for key in sorted(found)]


def _of_network(model: str) -> Column:
    return Column(model, lambda row: _batch(row.get(model)), figures=True)


def _batch(each: Fit | None) -> str:
    if each is None or not each.fits:
        return "" if each is None else "-"
    if each.evidence is Tier.MEASURED:
        return f"{each.largest_batch:,}"
    return f"~{each.largest_batch:,} ({each.largest_batch_low:,}-{each.largest_batch_high:,})"


def _memory(row: dict[str, Fit]) -> str:
    one = next(iter(row.values()))
    return f"{one.accelerator}, {one.memory_gib:g} GiB"


def models_lines(report: ModelsReport, view: View) -> Iterator[str]:
    """Every model; of a single one also its recipes and its measured speeds."""
    found = report.document()
    if isinstance(found, ModelsDocument):
        yield from _headed("model", "", len(found.models), MODELS, found.models, view)
        return
    recipes, speeds, of_it = found.recipes, found.throughputs, f"of {found.model.model}"
    yield from table(MODELS, [found.model], view.width)
    yield from _headed("recipe", of_it, len(recipes), RECIPES, recipes, view)
    yield from _headed("measured speed", of_it, len(speeds), SPEEDS, speeds, view)


def offers_lines(report: OffersReport, view: View) -> Iterator[str]:
    """The price sheet."""
    found = report.document()
    yield from _headed("rate", f"at prices of {_day(found.as_of)}", found.count, OFFERS, found.offers, view)


def history_lines(report: HistoryReport, view: View) -> Iterator[str]:
    """Every rate of a machine and how long it held."""
    found = report.document()
    yield from _headed("rate", f"until {_day(found.until)}", found.count, HISTORY, found.history, view)


def changes_lines(report: ChangesReport, view: View) -> Iterator[str]:
    """What each rate was and is."""
    found = report.document()
    period = f"from {_day(found.since)} to {_day(found.as_of)}"
    yield from _headed("new or different rate", period, found.count, CHANGES, found.changes, view)


def throughput_lines(report: ThroughputReport, view: View) -> Iterator[str]:
    """Measured speeds, most images for the money first."""
    found = report.document()
    order = f"on offers, most images for the money first, at prices of {_day(found.as_of)}"
    yield from _headed("measured speed", order, found.count, THROUGHPUTS, found.throughputs, view)


def _missing(prices: PriceBasis, view: View) -> Iterator[str]:
    for line in gaps(prices, view.explain):
        yield from paragraph(line, view.width, 4)


def _headed(
    noun: str, which: str, count: int, columns: Sequence[Column], rows: Sequence[Any], view: View
) -> Iterator[str]:
    """The table under a line that says how many there are, and how many of them are shown."""
    shown = f"{len(rows):,} of " if len(rows) < count else ""
    yield from paragraph(f"{shown}{many(count, noun)} {which}", view.width)
    if rows:
        yield from table(columns, rows, view.width)


def _compared(each: Compared) -> str:
    on_demand = f"on demand {each.on_demand.hourly_rate:,.2f} an hour" if each.on_demand else "not sold on demand"
    return (
        f"{in_region(machine(each), each.region)}, {counted(each.accelerators, each.accelerator)}: "
        f"{each.hours_per_run:,.2f} h a run, {on_demand}, in {each.currency}"
    )


def _offered(row: Any) -> str:
    return f"{row.provider} {row.instance_type}\n{_accelerators(row)}"


def _free(available: bool | None, since: datetime | None) -> str:
    """From when one was free, where the provider says it."""
    if available is None:
        return ""
    return _day(since) if available and since else "none"


def _measured(row: ThroughputRow) -> str:
    return f"{machine(row)}\n{_accelerators(row)}"


def _accelerators(row: Any) -> str:
    return in_region(counted(row.accelerators, row.accelerator), row.region)


def _software(row: ThroughputRow) -> str:
    return f"{row.framework}\n{row.precision or 'precision unknown'}, {row.throughput_year}"


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d}" if moment else ""


def _number(value: Decimal | float | None, digits: int = 2) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def _rate(value: Decimal | None) -> str:
    """A rate in cents, and in hundredths of a cent where it has them."""
    text = _number(value, 4)
    return text.removesuffix("00")


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:+.1%}"


def _best(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


MACHINE = Column("machine\nand region", _offered)
BOUGHT = Column("bought", bought)
AN_HOUR = Column("an hour", lambda row: _rate(row.hourly_rate), figures=True)
CURRENCY = Column("", lambda row: row.currency)
SOURCE = Column("source", lambda row: row.source, leave=1)
MOST_GRID = 8
SIGNS_OF_FITS = "~: not measured on this accelerator, with the 80 % interval. -: not even one image fits."
ACCELERATOR = Column("accelerator", _memory)
FITS: tuple[Column, ...] = (
    Column("model", lambda row: row.model),
    Column("accelerator", lambda row: f"{row.accelerator}, {row.memory_gib:g} GiB"),
    Column("largest batch", _batch, figures=True),
    Column("image\nsize", lambda row: str(row.image_size or ""), figures=True),
    Column("precision", lambda row: row.precision or "", leave=2),
    SOURCE,
)
MODELS: tuple[Column, ...] = (
    Column("model", lambda row: row.model),
    Column("top1\nbest", lambda row: _best(row.best_top1), figures=True),
    Column("top5\nbest", lambda row: _best(row.best_top5), figures=True),
    Column("recipes", lambda row: str(len(row.recipes)), figures=True),
    Column("speeds", lambda row: f"{row.throughputs:,}", figures=True),
    Column("million\nparameters", lambda row: _number(row.parameters_millions, 1), figures=True, leave=3),
    Column("image\nsize", lambda row: str(row.image_size or ""), figures=True, leave=2),
    Column("also called", lambda row: ", ".join(row.aliases), leave=1),
)
RECIPES: tuple[Column, ...] = (
    Column("recipe", lambda row: row.name),
    Column("top1\nbest", lambda recipe: _best(recipe.best(Metric.TOP1)), figures=True),
    SOURCE,
)
SPEEDS: tuple[Column, ...] = (
    Column("accelerators", lambda row: counted(row.accelerators, row.accelerator)),
    Column("images/s", lambda row: _number(row.images_per_second, 1), figures=True),
    Column("precision", lambda row: row.precision or "", leave=3),
    Column("framework", lambda row: row.framework, leave=2),
    Column("year", lambda row: str(row.year), figures=True),
    SOURCE,
)
OFFERS: tuple[Column, ...] = (
    MACHINE,
    BOUGHT,
    AN_HOUR,
    CURRENCY,
    Column("upfront", lambda row: _number(row.upfront), figures=True, leave=2),
    Column("seen", lambda row: _day(row.observed_at)),
    Column("free to\nrent", lambda row: _free(row.available, row.available_at), leave=3),
    SOURCE,
)
HISTORY: tuple[Column, ...] = (
    MACHINE,
    BOUGHT,
    AN_HOUR,
    CURRENCY,
    Column("first seen\nlast seen", lambda row: f"{_day(row.observed_at)}\n{_day(row.last_seen_at)}"),
    SOURCE,
)
CHANGES: tuple[Column, ...] = (
    MACHINE,
    BOUGHT,
    Column("before", lambda row: _rate(row.previous_hourly_rate) or row.kind, figures=True),
    Column("now", lambda row: _rate(row.hourly_rate), figures=True),
    CURRENCY,
    Column("change", lambda row: _percent(row.change), figures=True, leave=2),
    SOURCE,
)
THROUGHPUTS: tuple[Column, ...] = (
    Column("model", lambda row: row.model),
    Column("machine\nand region", _measured),
    BOUGHT,
    Column("images/s", lambda row: _number(row.images_per_second, 1), figures=True),
    Column("per $/h", lambda row: _number(row.images_per_second_per_dollar_hour, 1), figures=True),
    Column("an hour", lambda row: _rate(row.hourly_rate), figures=True, leave=2),
    Column("price seen", lambda row: _day(row.price_observed_at), leave=3),
    Column("framework\nprecision, year", _software, leave=1),
)
WAYS: tuple[Column, ...] = (
    BOUGHT,
    AN_HOUR,
    Column("upfront", lambda row: _number(row.upfront), figures=True, leave=2),
    Column("a month", lambda row: _number(row.monthly), figures=True, leave=1),
    Column("total", lambda row: _number(row.total), figures=True),
    Column("pays from\nhours a month", lambda row: _number(row.break_even_hours_per_month), figures=True),
    Column("price seen", lambda row: _day(row.price.observed_at), leave=3),
)
