"""List rates of object storage and of data that leaves the cloud: a small packaged table, each with source and date."""

from __future__ import annotations

from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from costcalc.costing.storage_and_egress import UNITS, ExtraRate, ExtraRates
from costcalc.evidence.tables import Row, rows
from pricing.packaged.offers import packaged_folder

TABLE = "extras.csv"


@lru_cache(maxsize=1)
def extra_rates() -> ExtraRates:
    """Every packaged rate. Raises TableError, naming file and line, on anything that cannot be trusted."""
    text = (packaged_folder() / TABLE).read_text("utf-8")
    return parse(text)


def parse(text: str) -> ExtraRates:
    """The rates of a table's text. Raises TableError."""
    known: dict[tuple[str, str], ExtraRate] = {}

    def add(row: Row) -> None:
        rate = _rate(row)
        if (rate.provider, rate.item) in known:
            raise ValueError(f"{rate.provider} {rate.item} stands here twice")
        known[rate.provider, rate.item] = rate

    for _ in rows(f"pricing/packaged/data/{TABLE}", text, add):
        pass
    return ExtraRates(known)


def _rate(row: Row) -> ExtraRate:
    item, dollars = row.text("item"), _decimal(row.text("usd_per_unit"))
    if UNITS.get(item) != row.text("unit"):
        raise ValueError(f"{item} by {row.text('unit')}: write one of {UNITS}")
    if not dollars.is_finite() or dollars <= 0:
        raise ValueError(f"usd_per_unit must be positive, not {dollars}")
    day = date.fromisoformat(row.text("observed_on"))
    return ExtraRate(row.text("provider"), item, dollars, row.text("what"), row.text("source"), day)


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{text!r} is no number") from None
