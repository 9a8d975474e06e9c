"""`/commitments`: reserving, committing, renting by the month and owning beside renting on demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

from api.formats import commitments_sheets, words
from api.formats.blocks import Block, Chart, Part, Rows, Say, anchor
from api.formats.charts.figure import Figure, Place, Scale, across, line, nothing, sign, told_apart, up
from api.formats.column import Column
from api.formats.estimates import missing_prices
from api.formats.sheet import Sheet
from api.formats.tables import Table, offered_accelerators, rate
from api.forms.code import Code
from api.questions.links import text_of
from api.reports.commitments import CommitmentsDocument, CommitmentsReport, CommitmentsSchema, commitments_report
from api.reports.decision import Commitment, Compared, cheapest_first, considered
from costcalc.costing.commitments import PurchaseChoice, Usage
from costcalc.money import money
from costcalc.offer import PurchaseOption
from costcalc.tasks.goals import goal_in_words
from costcalc.units import HOURS_PER_MONTH

MOST_LINES = 12
ON_DEMAND, OWNED = "on demand", PurchaseOption.OWNED
NOTHING = "On demand, reserved, by the month or owned: from how much use on does it pay?"
OWN_TERM = "The whole term of an owned machine is its loss in value: {}."
COMPARED = "Compared with the cheapest machine on demand. Only the cheapest payment is listed here; each machine has the others."


class CommitmentLine(NamedTuple):
    """A commitment with its monthly saving over the cheapest rental on demand, and the runs a month from which it pays."""

    best: Commitment
    saves: Decimal | None
    pays_from: int | None

    def money(self, amount: Decimal) -> str:
        return money(amount, self.best.machine.currency)


def _titled(machine: Compared) -> str:
    return f"{words.machine(machine)}, {offered_accelerators(machine)}"


def _bought(row: CommitmentLine) -> str:
    sets = row.best.usage.machine_sets
    return f"{words.bought(row.best.way)}{f', {sets} times' if sets > 1 else ''}"


def _saves(row: CommitmentLine) -> str:
    if row.saves is None:
        return ""
    return row.money(row.saves) if row.saves >= 0 else f"costs {row.money(-row.saves)} more"


TABLE = Table(
    "Rent or commit",
    "Reserved, committed and monthly offers compared with on demand.",
    "commitment",
    None,
    (
        Column("Commit to", lambda row: words.machine(row.best.machine), lambda row: offered_accelerators(row.best.machine),
               link=lambda row: anchor(_titled(row.best.machine))),
        Column("Bought", _bought, lambda row: f"rate of {row.best.way.price.observed_at.date()}"),
        Column("A month", lambda row: row.money(row.best.usage.cost_per_month), is_number=True,
               bar=lambda row: row.best.usage.cost_per_month),
        Column("In all", lambda row: row.money(row.best.way.total * row.best.usage.machine_sets), is_number=True, leave=1),
        Column("Pays from", lambda row: f"{row.pays_from:,} runs a month" if row.pays_from else "never", is_number=True),
        Column("Saves a month", _saves, is_number=True, leave=2),
    ),
    ("model", "target", "provider", "accelerator", "runs_per_month", "own_price"),
)  # fmt: skip


def blocks(report: CommitmentsReport) -> Iterator[Block]:
    """All commitments beside renting on demand; each machine with its ways to commit and a picture of a month by hours of use."""
    document, runs = report.document(), report.runs_per_month
    yield Say(document.verdict or [NOTHING], leads=True)
    lines = list(islice(_lines(report, document.machines), MOST_LINES))
    if lines:
        use = f"{runs:,f} runs a month" if runs else "Every hour used"
        yield Part(f"{use}: all commitments, the cheapest first", [Rows(TABLE, lines), Say([COMPARED], small=True)])
    for place, machine in enumerate(cheapest_first(document.machines, runs)):
        ways = [*_ways_of(machine)]
        shown = [Part("Ways to buy it, and when they pay", ways, folded=True)] if place else ways
        run = f"A run takes {words.hours(machine.hours_per_run)} h with {machine.recipe}. {_on_demand(machine)}"
        by_hours = Part("What a month costs by hours of use", [_by_hours(machine)], folded=True)
        assumed = Part("Assumptions", [Say(machine.assumptions)], folded=True)
        yield Part(_titled(machine), [Say([run]), *shown, by_hours, assumed])
    yield Say(document.notes, small=True)
    yield from missing_prices(document.prices)


def _lines(report: CommitmentsReport, machines: Sequence[Compared]) -> Iterator[CommitmentLine]:
    """The cheapest payment of each kind and term on each machine, lowest monthly cost first."""
    rental, runs, seen = report.rental, report.runs_per_month, set()
    for each in considered(machines, runs):
        kind = id(each.machine), each.way.purchase_option, each.way.term
        if kind not in seen:
            seen.add(kind)
            saves = rental.billed_cost * runs - each.usage.cost_per_month if rental and runs is not None else None
            yield CommitmentLine(each, saves, each.pays_from(rental) if rental else None)


def _ways_of(machine: Compared) -> Iterator[Block]:
    """Each way to commit to a machine, with the picture of a month by hours of use."""
    only = {name: text_of(getattr(machine, name)) for name in ("provider", "region", "instance_type", "nodes")}
    shows = f"What a month on {words.machine(machine)} costs by hours of use; the table has the break-even points"
    yield Chart({"accelerator": None, "limit": 1, **only}, shows)
    yield Rows(_ways(machine), machine.choices)
    if machine.owned:
        yield Say([OWN_TERM.format(machine.owned.price.source)], small=True)


def _on_demand(machine: Compared) -> str:
    beside = machine.on_demand
    if beside is None:
        return "It is not sold on demand."
    other = "" if beside.same_machine else f" ({beside.provider} {beside.instance_type})"
    return f"On demand{other}: {rate(beside.hourly_rate)} {machine.currency} per hour."


def _pays(row: PurchaseChoice) -> str:
    hours = row.break_even_hours_per_month
    return "never" if hours is None else f"{hours:,.0f} h a month"


def _share(row: PurchaseChoice) -> str:
    share, runs = row.break_even_utilization, row.break_even_runs_per_month
    return "" if share is None or runs is None else f"{share:.0%} of the time, {runs:,.1f} runs"


def _ways(machine: Compared) -> Table:
    def amount(value: Decimal | None) -> str:
        return "" if value is None else money(value, machine.currency)

    columns = (
        Column("Bought", lambda row: " ".join(filter(None, [words.bought(row), row.offering_class])),
               lambda row: f"{'price' if row.purchase_option is OWNED else 'rate'} of {row.price.observed_at.date()}"),
        Column("Rate per hour", lambda row: rate(row.hourly_rate), is_number=True),
        Column("Upfront", lambda row: amount(row.upfront), is_number=True, leave=2),
        Column("Per month", lambda row: amount(row.monthly), is_number=True, leave=1),
        Column("Whole term", lambda row: amount(row.total), is_number=True),
        Column("Pays from", _pays, _share, is_number=True),
    )  # fmt: skip
    return Table(f"Ways to buy {_titled(machine)}", "", "way", None, columns)


def _by_hours(machine: Compared) -> Rows:
    """What a month costs on demand and in each way, a column for each number of hours."""
    usage = machine.ways[0].usage
    rows: list[tuple[str, list[Decimal | None]]]
    rows = [(words.bought(way), [use.cost_per_month for use in way.usage]) for way in machine.choices]
    if machine.on_demand:
        rows.insert(0, (ON_DEMAND, [use.on_demand_per_month for use in usage]))

    def at(place: int, use: Usage) -> Column:
        heading = f"{use.hours_per_month:,.0f} h"
        return Column(heading, lambda row: money(row[1][place], machine.currency), is_number=True, leave=place + 1)

    columns = (Column("Bought", lambda row: row[0]), *(at(place, use) for place, use in enumerate(usage)))
    return Rows(Table(f"A month on {_titled(machine)} by hours of use", "", "way", None, columns), rows)


def sheet(report: CommitmentsReport) -> Sheet:
    """One row per purchase choice and usage, or per month, whichever table is asked for, behind the verdict."""
    document = report.document()
    columns, rows = commitments_sheets.columns_and_rows(document, report.table)
    title = f"Rent or commit: {document.query.model} to {goal_in_words(document.query)}"
    lines = [*document.verdict, *document.notes]
    return Sheet("Commitments", title, lines, columns, rows, document.prices.as_of, document.query.currency)


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
    CommitmentsSchema, commitments_report, CommitmentsDocument, TABLE, blocks, sheet=sheet, figure=figure
)
