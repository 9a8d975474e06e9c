"""The sheets of commitments beside on demand: machines, costs by utilization, and payments by month, as formulas.

As in `costcalc.costing.commitments`: a commitment costs the fees of its whole term for every set of machines in use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from api.formats import csv_export, words
from api.formats.commitments_sheets import PaymentRow, UsageRow, columns_and_rows, columns_of
from api.formats.xlsx.book import Book, Column, OwnRow, Sheet
from api.formats.xlsx.rates import METERED, PER_PERIOD, Rates
from api.reports.decision import Compared, ComparedMachines, MachineBills, cheapest_first
from costcalc.costing.bills import Bill
from costcalc.costing.commitments import payment_schedule
from costcalc.offer import Payment, PurchaseOption

HoursOf = Callable[[Compared], str | None]
"""The formula of the hours of a run on such machines elsewhere in the workbook; None where no other sheet has them."""

MACHINES = ("machine", "provider", "region", "instance_type", "nodes", "accelerator", "accelerators", "recipe",
            "hours_per_run", "runs_per_month", "on_demand_provider", "on_demand_region", "on_demand_instance_type",
            "on_demand_hourly_rate", "offer")  # fmt: skip
MONEY = frozenset((
    "upfront", "monthly", "total", "on_demand_per_month", "cost_per_month", "saving_per_month", "saving_per_term", "due",
    "paid_so_far", "on_demand_so_far", "committed_cost", "upfront_cost",
))  # fmt: skip
FORMS = {
    "hours_per_run": "hours",
    "price_observed_at": "day",
    "utilization": "share",
    "break_even_utilization": "share",
}
RATES = frozenset(("hourly_rate", "on_demand_hourly_rate"))
FOLDED = frozenset((
    "accelerator", "accelerators", "recipe", "offering_class", "price_source", "currency", "break_even_hours_per_term",
    "on_demand_provider", "on_demand_instance_type", "on_demand_same_machine", "label", "cost_center",
))  # fmt: skip
ON_COMMITMENTS_ALONE = frozenset((
    "accelerator", "accelerators", "recipe", "break_even_hours_per_term", "break_even_hours_per_month",
    "break_even_utilization", "break_even_runs_per_month", "on_demand_provider", "on_demand_instance_type",
    "on_demand_same_machine", "price_source",
))  # fmt: skip
WIDTHS = {"instance_type": 22, "on_demand_instance_type": 22, "provider": 10, "region": 14, "recipe": 22,
          "purchase_option": 13, "nodes": 6, "term": 5, "months": 7}  # fmt: skip
TERMS = ("machine", "offer", "committed_cost", "upfront_cost", "committed_hours", "fees")

PER_MONTH = "[committed_cost]*[machine_sets]/[months]"
ON_DEMAND = "[on_demand_hourly_rate]*[hours_per_month]"
SPLIT_OUT = '[nodes]*SUMPRODUCT((rates_offer=[offer])*(rates_unit="units")*rates_own_rate*rates_per_period)'
EVEN = "[committed_cost]/[on_demand_hourly_rate]"


def _of_machine(name: str) -> str:
    """A figure of the row's machine, from the sheet of machines."""
    return f"INDEX(machines_{name},MATCH([machine],machines_machine,0))"


def _paid_by(month: str) -> str:
    """What one set of machines has cost by the end of a month."""
    return f"ROUND([upfront_cost]+([committed_cost]-[upfront_cost])*{month}/[months],2)"


def _pays_back() -> str:
    """The month in which the upfront payment is saved."""
    gain = f"ROUND({ON_DEMAND}-([committed_cost]-[upfront_cost])*[machine_sets]/[months],9)"
    back = f"ROUNDUP(ROUND([upfront_cost]*[machine_sets]/{gain},9),0)"
    in_term = f'IF({back}<=[months],{back},"")'
    return f'IF({gain}<0,"",IF([upfront_cost]=0,1,IF({gain}=0,"",{in_term})))'


def _break_even(share: str) -> str:
    return f'IF([break_even_hours_per_term]="","",ROUND({EVEN}/[months]{share},6))'


ALWAYS = {
    "hours_per_run": _of_machine("hours_per_run"),
    "committed_cost": f"[fees]*{PER_PERIOD}",
    "hourly_rate": "[committed_cost]/[committed_hours]",
    "total": "ROUND([committed_cost],2)",
    "machine_sets": "MAX(1,ROUNDUP([hours_per_month]/730,0))",
    "utilization": "ROUND([hours_per_month]/730,6)",
    "runs_per_month": "ROUND([hours_per_month]/[hours_per_run],6)",
    "cost_per_month": f"ROUND({PER_MONTH},2)",
}
ASKED = {
    "runs_per_month": _of_machine("runs_per_month"),
    "hours_per_month": f"ROUND({_of_machine('runs_per_month')}*[hours_per_run],6)",
}
WHERE_SPLIT = {
    "upfront": "ROUND([upfront_cost],2)",
    "monthly": "ROUND(([committed_cost]-[upfront_cost])/[months],2)",
    "paid_so_far": f"[machine_sets]*{_paid_by('[month]')}",
    "due": f"[machine_sets]*({_paid_by('[month]')}-IF([month]=1,0,{_paid_by('([month]-1)')}))",
}
BESIDE_ON_DEMAND = {
    "on_demand_hourly_rate": _of_machine("on_demand_hourly_rate"),
    "break_even_hours_per_term": f'IF({EVEN}<=[committed_hours],ROUND({EVEN},6),"")',
    "break_even_hours_per_month": _break_even(""),
    "break_even_utilization": _break_even("/730"),
    "break_even_runs_per_month": _break_even("/[hours_per_run]"),
    "on_demand_per_month": f"ROUND({ON_DEMAND},2)",
    "saving_per_month": f"ROUND({ON_DEMAND}-{PER_MONTH},2)",
    "saving_per_term": f"ROUND([months]*({ON_DEMAND}-{PER_MONTH}),2)",
    "on_demand_so_far": f"ROUND({ON_DEMAND}*[month],2)",
}
PAYS_BACK = _pays_back()


@dataclass(frozen=True, slots=True)
class CommitmentSheets:
    """Both tables as sheets, with the machines that they are about."""

    compared: ComparedMachines
    rates: Rates

    def add(self, book: Book, hours_of: HoursOf) -> None:
        self._add_machines(book.sheet("Machines"), hours_of)
        for name, table in (("Commitments", "break_even"), ("Commitment payments", "cash")):
            columns, rows = columns_and_rows(self.compared, table)
            if table == "cash":
                columns = [column for column in columns if column[0] not in ON_COMMITMENTS_ALONE]
                columns += columns_of("usage", ("hours_per_month", "machine_sets"))
            self._add(book.sheet(name), columns, rows)

    def draw(self, book: Book, sheet: Sheet, top: int) -> None:
        """Puts a chart of what a month on the machine with the cheapest commitment costs by hours of use there, from the sheet of
        commitments."""
        columns, rows = columns_and_rows(self.compared)
        machines = self.compared.machines
        shown = [machines.index(each) for each in cheapest_first(machines, self.compared.runs_per_month)[:1]]
        place = {name: number for number, (name, _) in enumerate(columns)}
        ways: dict[int, list[int]] = {}
        for number, row in enumerate(rows, 1):
            if row.place[0] in shown:
                ways.setdefault(row.place[1], []).append(number)
        if not ways:
            return

        def series(name: str, column: str, rows: list[int]) -> dict[str, Any]:
            spans = ((place[each], rows[0], rows[-1]) for each in ("hours_per_month", column))
            x, y = (["Commitments", first, at, last, at] for at, first, last in spans)
            return {"name": name, "categories": x, "values": y}

        machine = machines[shown[0]]
        chart = book.plain.add_chart({"type": "scatter", "subtype": "straight"})
        if machine.on_demand:
            chart.add_series(series("on demand", "on_demand_per_month", ways[0]))
        by_rate = sorted(enumerate(machine.ways), key=lambda each: each[1].hourly_rate)
        for way in list({(way.purchase_option, way.term): at for at, way in reversed(by_rate)}.values()):
            choice = machine.ways[way]
            name = " ".join(filter(None, [choice.purchase_option.replace("_", " "), choice.term]))
            chart.add_series(series(name, "cost_per_month", ways[way]))
        chart.set_title({"name": f"A month on {words.machine(machine)} by hours of use", "name_font": {"size": 11}})
        chart.set_x_axis({"name": "hours of use in a month", "min": 0})
        chart.set_y_axis({"name": f"{self.compared.query.currency} per month", "min": 0})
        chart.set_legend({"position": "bottom"})
        chart.set_size({"width": 720, "height": 380})
        sheet.plain.insert_chart(top, 0, chart, {"object_position": 3})

    def _add_machines(self, sheet: Sheet, hours_of: HoursOf) -> None:
        inputs = {"hours_per_run"} | ({"runs_per_month"} if self.compared.runs_per_month is not None else set())
        columns = [replace(self._column(name, ""), detail=False) for name in MACHINES]
        columns = [replace(each, form="input_hours" if each.name in inputs else each.form) for each in columns]
        rows = zip(self.compared.machines, self.compared.bills, strict=True)
        own = OwnRow(MACHINES)
        cells = (self._machine(own, number, hours_of, *each) for number, each in enumerate(rows, 1))
        last = sheet.table(columns, cells, frozen=4)
        sheet.name_columns(columns, ("machine", "hours_per_run", "runs_per_month", "on_demand_hourly_rate"), last)

    def _machine(
        self, own: OwnRow, number: int, hours_of: HoursOf, machine: Compared, bills: MachineBills
    ) -> tuple[Any, ...]:
        """One row; hours of a run can be changed here if no other sheet has them."""
        elsewhere = hours_of(machine)
        hours = own.formula(elsewhere, number, machine.hours_per_run) if elsewhere else machine.hours_per_run
        place = (machine.provider, machine.region, machine.instance_type, machine.nodes)
        what = (machine.accelerator, machine.accelerators, machine.recipe, hours, self.compared.runs_per_month)
        on_demand, bill = machine.on_demand, bills.on_demand
        if on_demand is None or bill is None:
            return (number, *place, *what, *[None] * 5)
        rate = own.formula(METERED, number, on_demand.hourly_rate)
        rented = (on_demand.provider, on_demand.region, on_demand.instance_type, rate, self.rates.number(bill))
        return (number, *place, *what, *rented)

    def _add(self, sheet: Sheet, columns: list[csv_export.Column], rows: Iterable[UsageRow | PaymentRow]) -> None:
        names = [*(name for name, _ in columns), *TERMS]
        own = OwnRow(names)
        cells = (self._cells(own, number, columns, row) for number, row in enumerate(rows, 1))
        sheet.table([self._column(name, name in TERMS) for name in names], cells, frozen=3)

    def _cells(
        self, own: OwnRow, number: int, columns: list[csv_export.Column], row: UsageRow | PaymentRow
    ) -> list[Any]:
        machine, way = row.place
        bill = self.compared.bills[machine].ways[way]
        formulas = _formulas(bill, row)
        schedule, tariff = payment_schedule(bill), bill.tariff
        upfront = None if schedule is None else schedule.upfront
        fees = max(tariff.minimum_periods, 1)
        values = (machine + 1, self.rates.number(bill), bill.committed_cost, upfront, tariff.committed_hours, fees)
        cells = {name: read(row) for name, read in columns} | dict(zip(TERMS, values, strict=True))
        return [
            own.formula(formulas[name], number, value) if name in formulas else value for name, value in cells.items()
        ]

    def _column(self, name: str, is_term: object) -> Column:
        currency = self.compared.query.currency
        unit = currency if name in MONEY else f"{currency} per hour" if name in RATES else ""
        form = "money" if name in MONEY else "rate" if name in RATES else FORMS.get(name)
        unit = "UTC" if name == "price_observed_at" else unit
        return Column(name, form, WIDTHS.get(name, 10.5), unit, bool(is_term) or name in FOLDED)


def _formulas(bill: Bill, row: UsageRow | PaymentRow) -> dict[str, str]:
    """The formulas of a row, by column; a column without one holds a plain figure."""
    formulas = dict(ALWAYS)
    upfront, is_compared = _upfront(bill), row.machine.on_demand is not None
    if row.usage.asked:
        formulas |= ASKED
    if is_compared:
        formulas |= BESIDE_ON_DEMAND
    if upfront is not None:
        formulas |= WHERE_SPLIT | {"upfront_cost": upfront}
        if is_compared:
            formulas["pays_back_in_month"] = PAYS_BACK
    return formulas


def _upfront(bill: Bill) -> str | None:
    """The upfront payment, as in `costcalc.costing.commitments.payment_schedule`; None if unknown."""
    offer = bill.offer
    if offer.purchase_option is PurchaseOption.MONTHLY:
        return "0"
    if offer.upfront is not None and offer.recurring_hourly is not None:
        return SPLIT_OUT
    if offer.payment is Payment.PARTIAL_UPFRONT:
        return None
    return "[committed_cost]" if offer.payment is Payment.ALL_UPFRONT else "0"
