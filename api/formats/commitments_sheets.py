"""Commitments beside on demand as sheets: costs by utilization, and payments by month."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import Any, NamedTuple

from api.formats import csv_export
from api.formats.csv_export import Column
from api.formats.sheet_columns import shared_columns, within
from api.reports.commitments import CommitmentsDocument
from api.reports.decision import Compared
from costcalc.costing.commitments import PurchaseChoice, Usage
from costcalc.fields import names_of
from costcalc.money import cents

MACHINE = ("provider", "region", "instance_type", "nodes", "accelerator", "accelerators", "recipe", "hours_per_run")
CHOICE = ("purchase_option", "term", "payment", "offering_class", "months", "hourly_rate", "upfront", "monthly", "total",
       "break_even_hours_per_term", "break_even_hours_per_month", "break_even_utilization",
       "break_even_runs_per_month")  # fmt: skip


class UsageRow(NamedTuple):
    """One row of the sheet: a purchase choice at one usage."""

    machine: Compared
    choice: PurchaseChoice
    usage: Usage


class PaymentRow(NamedTuple):
    """One row of the sheet of payments: what is due in a month of a term, beside paying on demand for the usage."""

    machine: Compared
    choice: PurchaseChoice
    usage: Usage
    month: int
    due: Any
    paid_so_far: Any

    @property
    def on_demand_so_far(self) -> Any:
        on_demand = self.machine.on_demand
        return on_demand and cents(on_demand.hourly_rate * self.usage.hours_per_month * self.month)


def columns_and_rows(document: CommitmentsDocument, table: str) -> tuple[list[Column], Iterator[Any]]:
    """The flat table: costs by utilization, or payments by month."""
    is_by_month = table == "cash"
    by_month = map(csv_export.attribute, ("month", "due", "paid_so_far", "on_demand_so_far"))
    columns = [
        *columns_of("machine", MACHINE),
        *columns_of("choice", CHOICE),
        *(by_month if is_by_month else ()),
        *columns_of("usage", ("utilization",) if is_by_month else names_of(Usage)),
        *_origins(),
        *shared_columns(document),
    ]
    return columns, (_months if is_by_month else _usages)(document.machines)


def columns_of(part: str, names: Iterable[str]) -> Iterator[Column]:
    """These fields of a part of each row."""
    return ((name, attrgetter(f"{part}.{name}")) for name in names)


def _usages(machines: Sequence[Compared]) -> Iterator[UsageRow]:
    return (UsageRow(*choice, usage) for choice in _choices(machines) for usage in choice[-1].usage)


def _months(machines: Sequence[Compared]) -> Iterator[PaymentRow]:
    """At the asked usage, or at full use."""
    for machine, choice in _choices(machines):
        usage = next((usage for usage in choice.usage if usage.asked), choice.usage[-1])
        due = [amount * usage.machine_sets for amount in choice.cash_by_month or ()]
        for month, (amount, total) in enumerate(zip(due, accumulate(due), strict=True), 1):
            yield PaymentRow(machine, choice, usage, month, amount, total)


def _choices(machines: Sequence[Compared]) -> Iterator[tuple[Compared, PurchaseChoice]]:
    return ((machine, choice) for machine in machines for choice in machine.ways)


def _origins() -> Iterator[Column]:
    yield from columns_of("machine", ["currency"])
    for name in ("provider", "instance_type", "hourly_rate", "same_machine"):
        yield within(attrgetter("machine.on_demand"), (f"on_demand_{name}", attrgetter(name)))
    yield "price_source", lambda row: row.choice.price.source
    yield "price_observed_at", lambda row: row.choice.price.observed_at
