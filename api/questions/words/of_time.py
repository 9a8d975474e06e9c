"""Readers of spans of time: days by which a run must end, terms, and dates of prices."""

from __future__ import annotations

from calendar import day_name
from datetime import date
from decimal import Decimal

from api.questions import amounts
from api.questions.amounts import plain
from api.questions.spellings import term as spelt_term
from api.questions.words.patterns import Match, counted
from api.questions.words.scan import Scan
from costcalc.units import HOURS_PER_MONTH, HOURS_PER_YEAR

SOON = {"today": 12, "tonight": 12, "tomorrow": 24}  # hours until then


def months(scan: Scan, match: Match) -> bool:
    """A time limit in months or years."""
    hours = HOURS_PER_MONTH if match["unit"].lower() == "month" else HOURS_PER_YEAR
    return scan.add("max_hours", plain(Decimal(counted(match["n"]) * hours)))


def term(scan: Scan, match: Match) -> bool:
    """The term of a commitment; a user's own machine has none."""
    if scan.reading.owned or "own" in scan.reading.values:
        return scan.ask(match[0], "the years of use of a machine of your own are written own_years=4", stops=True)
    written = spelt_term(f"{counted(match['n'])} {match['unit']}")
    return bool(written) and scan.add("term", written or "")


def as_of(scan: Scan, match: Match) -> bool:
    """The date of prices. A year alone needs a word before it."""
    written = amounts.written(match["date"])
    if written is None or (not match["when"] and written[1] is None):
        return False
    year, month, day = written
    try:
        first = date(year, 1 if month is None else month, 1 if day is None else day)
    except ValueError:
        return scan.ask(match[0], "there is no such day; write for example as of 2018-04-26")
    if first > scan.today:
        return scan.ask(match[0], "future prices are not known; a time limit is a length of time, as in within 8 hours")
    text = "-".join([f"{year}", *(f"{part:02}" for part in (month, day) if part is not None)])
    return scan.add("as_of", text + (match["time"] or "").upper())


def deadline(scan: Scan, match: Match) -> bool:
    """The days from today to a day to come, as a time limit; of a longer time that ends on no one day, what to write."""
    day = match["day"].casefold()
    at = next((number for number, name in enumerate(day_name) if name.casefold().startswith(day.rstrip("."))), None)
    hours = SOON.get(day) if at is None else 24 * ((at - scan.today.weekday() - 1) % 7 + 1)
    if hours is None:
        return scan.ask(match[0], "a time limit is a length of time, as in within 3 days")
    limit = f"within {hours} hours" if hours < 48 else f"within {hours // 24} days"
    scan.reading.corrected.append((match[0], limit))
    return scan.add("max_hours", f"{hours}")
