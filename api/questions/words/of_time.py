"""Readers of spans of time: limits and days to come, by which a run must end; dates of prices; how often somebody trains."""

from __future__ import annotations

import re
from calendar import day_name, month_name
from datetime import date, timedelta
from decimal import Decimal

from api.questions import amounts
from api.questions.amounts import plain
from api.questions.spellings import term as spelt_term
from api.questions.words.patterns import Match, counted
from api.questions.words.reading import RUNS_A_MONTH
from api.questions.words.scan import Scan

_END_OF = re.compile(r"\bend\s+of\b", re.IGNORECASE)
MOST_HOURS, NO_LIMIT = 20_000, "a time limit is a number of hours or days, as in within 8 hours"
HOURS_OF = {"month": Decimal(730), "year": Decimal(8760)}
SOON, FAR = {"today": 12, "tonight": 12, "tomorrow": 24}, 90  # hours until then; days
DAYS_OF = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}
MONTHS_OF = {"month": 1, "quarter": 3, "year": 12}
PARTS = {"early": 3, "mid": 6, "late": 12}
TIMES = {"once": "1", "twice": "2", "thrice": "3", "every other": "0.5"}
_EVERY_DAY = dict.fromkeys(("d", "n", "mor", "eve"), "30.42")
A_MONTH = {"month": "1", "quarter": "0.3333", "y": "0.08333", "a": "0.08333", "h": "730", **_EVERY_DAY}
"""How often in a month a period comes whose name begins so; weekends and weekdays as weeks do."""
A_WEEK = "4.348"


def max_hours(scan: Scan, match: Match) -> bool:
    """A time limit; of a number that no limit has, such as that of a 4090D, what to write."""
    limit = _hours(match.groupdict())
    return scan.ask(match[0], NO_LIMIT) if limit > MOST_HOURS else scan.add("max_hours", plain(limit))


def _hours(parts: dict[str, str]) -> Decimal:
    if parts.get("hours"):
        minutes = parts.get("minutes") or parts.get("after") or 0
        return (amounts.number(parts["hours"]) or Decimal()) + Decimal(minutes) / 60
    if "span" not in parts:
        return counted(parts["n"]) * HOURS_OF[parts["unit"].lower()]
    half = amounts.hours(f"half a {parts['span'].split()[-1]}") if parts.get("more") else None
    return (amounts.hours(parts["span"]) or Decimal()) + (half or 0)


def max_price_age(scan: Scan, match: Match) -> bool:
    """The age of prices, in days."""
    if "span" not in match.groupdict():
        return scan.add("max_price_age", f"{counted(match['n']) * DAYS_OF[match['unit'].lower()]}")
    hours = amounts.hours(match["span"]) or Decimal()
    return hours >= 24 and scan.add("max_price_age", plain(hours / 24))


def term(scan: Scan, match: Match) -> bool:
    """The term of a commitment."""
    written = spelt_term(f"{counted(match['n'])} {match['unit']}")
    return bool(written) and scan.add("term", written or "")


def often(scan: Scan, match: Match) -> bool:
    """How often somebody trains: `twice a week`, `4 runs a month`, `every three months`."""
    parts = match.groupdict()
    words = " ".join((parts.get("times") or "").casefold().split())
    times = Decimal(counted(parts["n"]) if parts.get("n") else TIMES.get(words, 1))
    return scan.add(
        RUNS_A_MONTH, plain(a_month(match["every"]) * (1 / max(Decimal(1), times) if parts.get("apart") else times))
    )


def a_month(period: str) -> Decimal:
    """How often a period comes in a month."""
    return Decimal(next((many for start, many in A_MONTH.items() if period.casefold().startswith(start)), A_WEEK))


def as_of(scan: Scan, match: Match) -> bool:
    """The date of prices. A year alone needs a word before it."""
    written = amounts.written(match["date"])
    if written is None or (not match["when"] and written[1] is None):
        return False
    return _as_of(scan, match[0], *written, time=(match["time"] or "").upper())


def _as_of(scan: Scan, text: str, year: int, month: int | None, day: int | None = None, time: str = "") -> bool:
    try:
        first = date(year, 1 if month is None else month, 1 if day is None else day)
    except ValueError:
        return scan.ask(text, "there is no such day; write for example as of 2018-04-26")
    if first > scan.today:
        return scan.ask(text, "future prices are not known; a time limit is a number of hours, as in within 8 hours")
    written = "-".join([f"{year}", *(f"{part:02}" for part in (month, day) if part is not None)])
    return scan.add("as_of", written + time)


def slashed(scan: Scan, match: Match) -> bool:
    """Read where only one order gives a date; 04/05/2019 is two."""
    first, second, year = (int(match[name]) for name in ("first", "second", "year"))
    if first <= 12 and second <= 12 and first != second:
        dates = f"{year}-{first:02}-{second:02} or {year}-{second:02}-{first:02}"
        return scan.ask(match[0], f"the day or the month first? Write {dates}")
    return _as_of(scan, match[0], year, min(first, second) if first > 12 else first, max(first, second))


def part_of_year(scan: Scan, match: Match) -> bool:
    """`Q3 2024`, `mid 2020`: the prices of the end of that quarter or half."""
    part = match["part"].lower()
    return _as_of(scan, match[0], int(match["year"]), PARTS.get(part) or 3 * int(part[1]))


def named_month(scan: Scan, match: Match) -> bool:
    """The last month of that name."""
    month = [*month_name].index(match["month"].capitalize())
    is_last_year = month > scan.today.month or (match["last"] and month == scan.today.month)
    return _as_of(scan, match[0], scan.today.year - bool(is_last_year), month)


def last(scan: Scan, match: Match) -> bool:
    """`last year`; `within the last year` says how old prices may be."""
    unit = match["unit"].lower()
    if match["age"]:
        return scan.add("max_price_age", f"{DAYS_OF[unit]}")
    back = _back(scan.today, 1, unit)
    return scan.add("as_of", f"{back:{ {'week': '%Y-%m-%d', 'year': '%Y'}.get(unit, '%Y-%m') }}")


def ago(scan: Scan, match: Match) -> bool:
    """`yesterday`, `two years ago`."""
    parts = match.groupdict()
    back = _back(scan.today, counted(parts.get("n") or "1"), (parts.get("unit") or "day").lower())
    return scan.add("as_of", f"{back}") if back.year >= 2012 else scan.ask(match[0], "no price is that old")


def _back(day: date, many: int, unit: str) -> date:
    """The day so many units before; of months this day in an earlier one, or its 28th."""
    if unit not in MONTHS_OF:
        return day - timedelta(many * DAYS_OF[unit])
    months = day.year * 12 + day.month - 1 - many * MONTHS_OF[unit]
    return date(max(1, months // 12), months % 12 + 1, min(day.day, 28))


def compared(scan: Scan, match: Match) -> bool:
    """No date of prices to answer for, `elsewhere` tells what compares them; unless another year was named before."""
    year = re.search(r"(?:19|20)\d\d", match[0])
    if year and "as_of" in scan.reading.values:
        return scan.add("as_of", year[0])
    scan.reading.ignored.append(match[0])
    return True


def now(scan: Scan, match: Match) -> bool:
    """Today, beside another year: `2021 vs now`."""
    beside = "as_of" in scan.reading.values or match.groupdict().get("year")
    return bool(beside) and scan.add("as_of", f"{scan.today}")


def deadline(scan: Scan, match: Match) -> bool:
    """The days from today to a day to come, as a time limit; of a longer time that ends on no one day, what to write."""
    day = match["day"].casefold()
    at = next((number for number, name in enumerate(day_name) if name.casefold().startswith(day.rstrip("."))), None)
    if at is not None:
        return _within(scan, match, 24 * ((at - scan.today.weekday() - 1) % 7 + 1))
    if day in SOON:
        return _within(scan, match, SOON[day])
    return scan.ask(match[0], "a time limit is a length of time, as in within 3 days")


def until(scan: Scan, match: Match) -> bool:
    """A date to come, of the next year that has it where none is said; of a month the first, or its end. Declined for a past one.
    Of a day that is far ahead, and no end of a time, the year is asked for."""
    years = ("", scan.today.year, scan.today.year + 1)
    first = not _END_OF.search(match[0])
    ends = (amounts.day(f"{match['end']} {year}".strip(), first) for year in years)
    days = [left for end in ends if end and (left := (end - scan.today).days) > 0]
    if "on" in match.groupdict() and not (days and days[0] <= FAR):
        return scan.ask(match[0], "of which year? Write it as 2020-12-31")
    return bool(days) and _within(scan, match, 24 * days[0])


def _within(scan: Scan, match: Match, hours: int) -> bool:
    limit = f"within {hours} hours" if hours < 48 else f"within {hours // 24} days"
    scan.reading.corrected.append((match[0], limit))
    return scan.add("max_hours", f"{hours}")
