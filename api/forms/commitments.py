"""`/commitments`: reserving, committing, renting by the month and owning beside renting on demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

from api.formats import commitments_sheets, words
from api.formats.charts.figure import Figure, Place, Scale, across, line, nothing, sign, told_apart, up
from api.formats.column import Column
from api.formats.page import Headline, Page
from api.formats.sheet import Sheet
from api.formats.tables import day, number, rate
from api.formats.terminal.estimates import missing_prices
from api.formats.terminal.grid import View, paragraph, table
from api.forms.code import Code
from api.questions.links import text_of
from api.questions.themes import as_options
from api.reports.commitments import CommitmentsDocument, CommitmentsReport, CommitmentsSchema, commitments_report
from api.reports.decision import Commitment, Compared, cheapest_first, considered
from costcalc.costing.commitments import PurchaseChoice
from costcalc.hardware import counted
from costcalc.offer import PurchaseOption
from costcalc.tasks.goals import goal_in_words
from costcalc.units import HOURS_PER_MONTH

MOST_LINES = 24
MACHINE = ("provider", "region", "instance_type", "nodes")
"""The parameters that ask about one machine alone."""
ON_DEMAND, OWNED = "on demand", PurchaseOption.OWNED

WAYS: tuple[Column, ...] = (
    Column("bought", words.bought),
    Column("an hour", lambda row: rate(row.hourly_rate), is_number=True),
    Column("upfront", lambda row: number(row.upfront, ",.2f"), is_number=True, leave=2),
    Column("a month", lambda row: number(row.monthly, ",.2f"), is_number=True, leave=1),
    Column("total", lambda row: number(row.total, ",.2f"), is_number=True),
    Column("pays from\nhours a month", lambda row: number(row.break_even_hours_per_month, ",.2f"), is_number=True),
    Column("price seen", lambda row: day(row.price.observed_at), leave=3),
)


def terminal(report: CommitmentsReport, view: View) -> Iterator[str]:
    """Each machine with every way to commit to it, and the hours a month above which that pays."""
    document = report.document()
    for sentence in document.verdict:
        yield from paragraph(as_options(sentence), view.width, 2)
    yield ""
    for compared in document.machines:
        yield from paragraph(_compared(compared), view.width, 2)
        yield from table(WAYS, compared.choices, view.width)
        for assumption in compared.assumptions if view.explain else ():
            yield from paragraph(f"- {assumption}", view.width, 2)
    for note in document.notes:
        yield from paragraph(as_options(note), view.width)
    yield from missing_prices(document.prices, view)


def _compared(each: Compared) -> str:
    on_demand = f"on demand {each.on_demand.hourly_rate:,.2f} an hour" if each.on_demand else "not sold on demand"
    return (
        f"{words.in_region(words.machine(each), each.region)}, {counted(each.accelerators, each.accelerator)}: "
        f"{each.hours_per_run:,.2f} h a run, {on_demand}, in {each.currency}"
    )


def sheet(report: CommitmentsReport) -> Sheet:
    """One row per purchase choice and usage, or per month, whichever table is asked for, behind the verdict."""
    document = report.document()
    columns, rows = commitments_sheets.columns_and_rows(report.compared, report.table)
    title = f"Rent or commit: {document.query.model} to {goal_in_words(document.query)}"
    lines = [*document.verdict, *document.notes]
    return Sheet("Commitments", title, lines, columns, rows, document.prices.as_of, document.query.currency)


class CommitmentLine(NamedTuple):
    """A commitment with its monthly saving over the cheapest rental on demand, and the runs a month from which it pays."""

    best: Commitment
    saves: Decimal | None
    pays_from: int | None


def _lines(report: CommitmentsReport, machines: Sequence[Compared]) -> Iterator[CommitmentLine]:
    """The cheapest payment of each kind and term on each machine, lowest monthly cost first."""
    rental, runs, seen = report.rental, report.runs_per_month, set()
    for each in considered(machines, runs):
        kind = id(each.machine), each.way.purchase_option, each.way.term
        if kind not in seen:
            seen.add(kind)
            saves = rental.billed_cost * runs - each.usage.cost_per_month if rental and runs is not None else None
            yield CommitmentLine(each, saves, each.pays_from(rental) if rental else None)


def html(report: CommitmentsReport) -> Page:
    """All commitments beside renting on demand; each machine with its ways to commit and a picture of a month by hours of use."""
    document = report.document()
    shown = {
        "document": document,
        "lines": list(islice(_lines(report, document.machines), MOST_LINES)),
        "machines": cheapest_first(document.machines, document.runs_per_month),
        "only": lambda machine: {name: text_of(getattr(machine, name)) for name in MACHINE},
        "headline": Headline.of(document.verdict),
    }
    return Page("commitments.html", shown)


def figure(report: CommitmentsReport) -> Figure:
    """The picture of the machine with the cheapest commitment: a month costs a flat amount and an amount per hour of use."""
    document = report.document()
    machines = cheapest_first(document.machines, document.runs_per_month)
    if not machines:
        return nothing("No reserved, committed or monthly offer matches.")
    machine = machines[0]
    ways = {words.bought(way): _flat_and_hourly(way) for way in machine.choices}
    if machine.on_demand:
        ways = {ON_DEMAND: (0.0, float(machine.on_demand.hourly_rate)), **ways}
    x, y = (
        Scale(0.0, float(HOURS_PER_MONTH)),
        Scale.around([flat + rate * HOURS_PER_MONTH for flat, rate in ways.values()], 0.0),
    )
    entries = told_apart(ways)
    lines = (
        line(
            [Place.of(x.at(hours), y.at(flat + rate * hours)) for hours in (0, HOURS_PER_MONTH)],
            f"p{entries[way].colour}",
        )
        for way, (flat, rate) in ways.items()
    )
    rings = []
    for way in machine.choices:
        if way.break_even_hours_per_month is not None:
            (flat, rate), hours = _flat_and_hourly(way), float(way.break_even_hours_per_month)
            cost = flat + rate * hours
            title = f"{words.bought(way)}: {hours:,.0f} h a month, {cost:,.2f} {machine.currency}"
            rings.append(sign(Place.of(x.at(hours), y.at(cost)), "ring", "ink", title))
    return Figure(
        f"{words.machine(machine)}, {machine.region}: what a month costs",
        "rings: above this it costs less than on demand",
        across(x.at, x.ticks()),
        up(y.at, y.ticks()),
        f"hours of use in a month of {HOURS_PER_MONTH}",
        f"{machine.currency} per month",
        "".join(lines) + "".join(rings),
        list(entries.values()),
    )


def _flat_and_hourly(way: PurchaseChoice) -> tuple[float, float]:
    """What a month costs unused, and what each hour of use adds: nothing, except on a user's own machine."""
    flat = way.total / way.months
    return float(flat), float(way.hourly_rate - flat / HOURS_PER_MONTH) if way.purchase_option is OWNED else 0.0


CODE: Code[CommitmentsReport] = Code(
    CommitmentsSchema,
    commitments_report,
    CommitmentsDocument,
    terminal=terminal,
    html=html,
    sheet=sheet,
    figure=figure,
)
