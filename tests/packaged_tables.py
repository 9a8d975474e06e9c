"""The packaged price tables as plain rows, for tests that look at the files themselves."""

import csv
from decimal import Decimal
from functools import cache
from importlib.resources import files

TABLES = files("pricing.packaged") / "data"
FACTS = files("costcalc.evidence") / "data"
SCIENCE = files("science") / "data"


@cache
def table(name):
    """The rows, read once: they are not to be changed."""
    return list(csv.DictReader((TABLES / name).read_text(encoding="utf-8").splitlines()))


def canonical_accelerators():
    """The names of accelerators, and of the processors that train without any."""
    return {name for kind in ("accelerator", "processor") for name in _names(kind)}


def _names(kind):
    text = (FACTS / f"{kind}s.csv").read_text(encoding="utf-8")
    return [row[kind] for row in csv.DictReader(text.splitlines())]


def fact_text(name):
    """The text of a table of facts: one that estimates rest on, or one that they are only scored against."""
    tables = (folder / f"{name}.csv" for folder in (FACTS, SCIENCE))
    return next(table for table in tables if table.is_file()).read_text("utf-8")


def rate(row):
    return Decimal(row["hourly_rate"])


def matching(rows, **wanted):
    """The rows that have these cells."""
    return [row for row in rows if all(row[cell] == text for cell, text in wanted.items())]


def rates(offers, **wanted):
    """Rates by date of the offers that have these cells."""
    return {row["observed_at"]: rate(row) for row in matching(offers, **wanted)}
