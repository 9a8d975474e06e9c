"""List rates of object storage and of egress, data that leaves the cloud: a packaged table, each rate with source and date."""

from __future__ import annotations

from datetime import date
from functools import cache
from importlib.resources.abc import Traversable

from costcalc.costing.storage_and_egress import UNITS, StorageAndEgressRates, StorageOrEgressRate
from pricing.packaged.tables import Row, Table, amount

STORAGE_AND_EGRESS = Table("storage_and_egress.csv", "provider item above", "unit usd_per_unit what source observed_on")


@cache
def storage_and_egress_rates(folder: Traversable | None = None) -> StorageAndEgressRates:
    """Every packaged rate. Raises TableError, naming file and line."""
    return StorageAndEgressRates.of(STORAGE_AND_EGRESS.read(_rate, folder).values())


def _rate(row: Row) -> StorageOrEgressRate:
    item, dollars = row.text("item"), amount(row, "usd_per_unit")
    if UNITS.get(item) != row.text("unit"):
        raise ValueError(f"{item} by {row.text('unit')}: write one of {UNITS}")
    if not dollars:
        raise ValueError(f"usd_per_unit must be positive, not {dollars}")
    day = date.fromisoformat(row.text("observed_on"))
    above = amount(row, "above")
    return StorageOrEgressRate(row.text("provider"), item, above, dollars, row.text("what"), row.text("source"), day)
