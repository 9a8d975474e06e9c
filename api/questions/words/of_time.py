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

MOST_HOURS, NO_LIMIT = 20_000, "a time limit is a number of hours or days, as in within 8 hours"
HOURS_OF = {"month": Decimal(730), "year": Decimal(8760)}
SOON = 90  # days
DAYS_OF = {"week": 7, "month": 31, "quarter": 92, "year": 366}
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
    hours = amounts.hours(match["span"]) or Decimal()
    return hours >= 24 and scan.add("max_price_age", plain(hours / 24))


def term(scan: Scan, match: Match) -> bool:
    """The term of a commitment."""
    written = spelt_term(f"{counted(match['n'])} {match['unit']}")
    return bool(written) and scan.add("term", written or "")


def often(scan: Scan, match: Match) -> bool:
    """How often somebody trains: `twice a week`, `every three months`."""
    parts = match.groupdict(default="")
    words = " ".join(parts.get("times", "").casefold().split())
    times = counted(parts["n"]) if parts.get("n") else Decimal(TIMES.get(words, 1))
    return scan.add(RUNS_A_MONTH, plain(times * a_month(match["every"])))


def seldom(scan: Scan, match: Match) -> bool:
    """`every three months`."""
    return scan.add(RUNS_A_MONTH, plain(a_month(match["every"]) / max(1, counted(match["n"]))))


def of_runs(scan: Scan, _: Match) -> bool:
    """The period of a number of runs that was said before."""
    return "runs" in scan.reading.values


def a_month(period: str) -> Decimal:
    """How often a period comes in a month."""
    return Decimal(next((many for start, many in A_MONTH.items() if period.casefold().startswith(start)), A_WEEK))


def as_of(scan: Scan, match: Match) -> bool:
    """The date of prices. A year alone needs a word before it."""
    written = amounts.written(match["date"])
    if written is None or (not match["when"] and not written[1]):
        return False
    return _as_of(scan, match[0], *written, time=(match["time"] or "").upper())


def _as_of(scan: Scan, text: str, year: int, month: int = 0, day: int = 0, time: str = "") -> bool:
    try:
        first = date(year, month or 1, day or 1)
    except ValueError:
        return scan.ask(text, "there is no such day; write for example as of 2018-04-26")
    if first > scan.today:
        return scan.ask(text, "future prices are not known; a time limit is a number of hours, as in within 8 hours")
    written = (f"{year}", f"{year}-{month:02}", f"{year}-{month:02}-{day:02}")
    return scan.add("as_of", written[bool(month) + bool(day)] + time)


def slashed(scan: Scan, match: Match) -> bool:
    """Read where only one order gives a date; 04/05/2019 is two."""
    first, second, year = (int(match[name]) for name in ("first", "second", "year"))
    if first <= 12 and second <= 12 and first != second:
        dates = f"{year}-{first:02}-{second:02} or {year}-{second:02}-{first:02}"
        return scan.ask(match[0], f"the day or the month first? Write {dates}")
    return _as_of(scan, match[0], year, *((second, first) if first > 12 else (first, second)))


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
    unit, today = match["unit"].lower(), scan.today
    if match["age"]:
        return scan.add("max_price_age", f"{DAYS_OF[unit]}")
    if unit == "week":
        return scan.add("as_of", f"{today - timedelta(7)}")
    if unit == "year":
        return scan.add("as_of", f"{today.year - 1}")
    return scan.add("as_of", f"{_months_back(today, MONTHS_OF[unit]):%Y-%m}")


def ago(scan: Scan, match: Match) -> bool:
    """`two years ago`."""
    many, unit = counted(match["n"]), match["unit"].lower()
    if unit in ("day", "week"):
        return scan.add("as_of", f"{scan.today - timedelta(many * DAYS_OF.get(unit, 1))}")
    back = _months_back(scan.today, many * MONTHS_OF[unit])
    return scan.add("as_of", f"{back}") if back.year >= 2012 else scan.ask(match[0], "no price is that old")


def yesterday(scan: Scan, _: Match) -> bool:
    """The prices of the day before."""
    return scan.add("as_of", f"{scan.today - timedelta(1)}")


def _months_back(day: date, many: int) -> date:
    """This day in an earlier month, or its 28th."""
    months = day.year * 12 + day.month - 1 - many
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
    if day in ("tonight", "tomorrow"):
        return _within(scan, match, 12 if day == "tonight" else 24)
    at = next((number for number, name in enumerate(day_name) if name.casefold().startswith(day.rstrip("."))), None)
    if at is None:
        return scan.ask(match[0], "a time limit is a length of time, as in within 3 days")
    return _within(scan, match, 24 * ((at - scan.today.weekday() - 1) % 7 + 1))


def until(scan: Scan, match: Match) -> bool:
    """A date to come, of the next year that has it where none is said; the first of a month. Declined for one that is past."""
    days = next((left for left in _days_until(scan, match["end"]) if left > 0), 0)
    return bool(days) and _within(scan, match, 24 * days)


def on_day(scan: Scan, match: Match) -> bool:
    """A day without its year is one to come, by which a run must end; where it is far ahead, the year is asked for."""
    soon = any(0 < left <= SOON for left in _days_until(scan, match["end"]))
    return until(scan, match) if soon else scan.ask(match[0], "of which year? Write it as 2020-12-31")


def _days_until(scan: Scan, end: str) -> list[int]:
    """The days from today to a date, as it is written, of this year and of the next."""
    written = (f"{end} {year}".strip() for year in ("", scan.today.year, scan.today.year + 1))
    return [(day - scan.today).days for text in written if (day := amounts.day(text, first=True))]


def _within(scan: Scan, match: Match, hours: int) -> bool:
    limit = f"within {hours} hours" if hours < 48 else f"within {hours // 24} days"
    scan.reading.corrected.append((match[0], limit))
    return scan.add("max_hours", f"{hours}")
