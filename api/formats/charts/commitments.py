"""What a month of use costs on demand, by each commitment and on a machine of one's own, with the break-even points."""

from __future__ import annotations

from api.formats import words
from api.formats.charts.figure import Figure, Place, Scale, line, nothing, sign, told_apart
from api.reports.commitments import CommitmentsReport
from api.reports.decision import cheapest_first
from costcalc.costing.commitments import PurchaseChoice
from costcalc.offers import PurchaseOption
from costcalc.units import HOURS_PER_MONTH

ON_DEMAND, OWNED = "on demand", PurchaseOption.OWNED


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
            told = f"{words.bought(way)}: {hours:,.0f} h a month, {cost:,.2f} {machine.currency}"
            rings.append(sign(Place.of(x.at(hours), y.at(cost)), "ring", "ink", told))
    return Figure(
        f"{words.machine(machine)}, {machine.region}: what a month costs",
        "rings: above this it costs less than on demand",
        [(Place.of(x.at(tick.value), 0).x, tick.label) for tick in x.ticks()],
        [(Place.of(0, y.at(tick.value)).y, tick.label) for tick in y.ticks()],
        f"hours of use in a month of {HOURS_PER_MONTH}",
        f"{machine.currency} per month",
        "".join(lines) + "".join(rings),
        list(entries.values()),
    )


def _flat_and_hourly(way: PurchaseChoice) -> tuple[float, float]:
    """What a month costs unused, and what each hour of use adds, which is nothing but for a machine of one's own."""
    flat = way.total / way.months
    return float(flat), float(way.hourly_rate - flat / HOURS_PER_MONTH) if way.purchase_option is OWNED else 0.0
