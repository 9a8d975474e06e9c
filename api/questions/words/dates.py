"""Dates as people say them: of a year, a month or a day, or counted back from today, of prices; and days to come, by which a run
must end."""

from __future__ import annotations

import re
from calendar import day_name, month_name
from datetime import date, timedelta

from api.questions import amounts
from api.questions.amounts import ANY_MONTH, DATES
from api.questions.words.patterns import COUNT_WORDS, END, SHORT_DAYS, WEEKDAYS, Match, counted
from api.questions.words.scan import Scan, Understand

WHEN = r"(?:(?:as\s+of|at|in|on|of|from|back\s+in|during|by\s+the\s+end\s+of|in\s+the\s+year|prices?\s+of|year)\s+)"
MONTHS = "|".join(name for name in month_name if name)
THAN = (
    r"(?:since(?!\s+(?:last|yesterday))|(?:(?:less|more|cheaper|faster)\s+)?than|compared\s+(?:with|to)|relative\s+to)\s+"
    r"(?:(?:it|they|that)\s+(?:was|were|did|cost)\s+)?"
)
SOON = 90  # days
AGES = {"week": 7, "month": 31, "quarter": 92, "year": 366}
PARTS = {"early": 3, "mid": 6, "late": 12}
AGO = rf"(?P<n>\d{{1,3}}|an?|{COUNT_WORDS})\s+(?P<unit>day|week|month|year)s?\s+(?:ago|back|earlier)"


def _date(scan: Scan, match: Match) -> bool:
    """A year alone needs a word before it; days and months are written in ISO's order."""
    parts = {"name": "", "month": "", "day": "", "time": "", **match.groupdict(default="")}
    if parts["name"] and not _is_month(match):
        return False
    month = _number_of(parts["name"]) if parts["name"] else int(parts["month"] or 0)
    if int(parts["day"] or 0) > 31 or (not month and not match["when"]):
        return False
    return _as_of(scan, match[0], int(parts["year"]), month, int(parts["day"] or 0), parts["time"].upper())


def _is_month(match: Match) -> bool:
    """`mar`, `march`, but no other word that begins so."""
    written = re.search(r"[a-z]+", match[0][match.start("name") - match.start() :], re.IGNORECASE)
    word = written[0].casefold() if written else ""
    return len(word) in (3, 4) or word in (name.casefold() for name in month_name)


def _number_of(name: str) -> int:
    return next(
        number for number, full in enumerate(month_name) if full and full.casefold().startswith(name.casefold()[:3])
    )


def _as_of(scan: Scan, text: str, year: int, month: int = 0, day: int = 0, time: str = "") -> bool:
    try:
        first = date(year, month or 1, day or 1)
    except ValueError:
        return scan.ask(text, "there is no such day; write for example as of 2018-04-26")
    if first > scan.today:
        return scan.ask(text, "future prices are not known; a time limit is a number of hours, as in within 8 hours")
    written = (f"{year}", f"{year}-{month:02}", f"{year}-{month:02}-{day:02}")
    return scan.add("as_of", written[bool(month) + bool(day)] + time)


def _slashed(scan: Scan, match: Match) -> bool:
    """Read where only one order gives a date; 04/05/2019 is two."""
    first, second, year = map(int, match.groups())
    if first <= 12 and second <= 12 and first != second:
        dates = f"{year}-{first:02}-{second:02} or {year}-{second:02}-{first:02}"
        return scan.ask(match[0], f"the day or the month first? Write {dates}")
    return _as_of(scan, match[0], year, *((second, first) if first > 12 else (first, second)))


def _named_month(scan: Scan, match: Match) -> bool:
    """The last month of that name."""
    month = _number_of(match["month"])
    last = bool(match["last"]) and month == scan.today.month
    return _as_of(scan, match[0], scan.today.year - (month > scan.today.month or last), month)


def _last(scan: Scan, match: Match) -> bool:
    unit, today = match["unit"].lower(), scan.today
    if match["age"]:
        return scan.add("max_price_age", f"{AGES[unit]}")
    if unit == "week":
        return scan.add("as_of", f"{today - timedelta(7)}")
    if unit == "year":
        return scan.add("as_of", f"{today.year - 1}")
    before = _months_back(today, 3 if unit == "quarter" else 1)
    return scan.add("as_of", f"{before:%Y-%m}")


def _ago(scan: Scan, match: Match) -> bool:
    word, unit = match["n"].lower(), match["unit"].lower()
    many = counted(word)
    if unit in ("day", "week"):
        return scan.add("as_of", f"{scan.today - timedelta(many * (7 if unit == 'week' else 1))}")
    back = _months_back(scan.today, many * (12 if unit == "year" else 1))
    return scan.add("as_of", f"{back}") if back.year >= 2012 else scan.ask(match[0], "no price is that old")


def _months_back(day: date, many: int) -> date:
    """This day in an earlier month, or its 28th."""
    months = day.year * 12 + day.month - 1 - many
    return date(max(1, months // 12), months % 12 + 1, min(day.day, 28))


def _compared(scan: Scan, match: Match) -> bool:
    """No date of prices to answer for, `elsewhere` tells what compares them; unless another year was named before."""
    year = re.search(r"(?:19|20)\d\d", match[0])
    if year and "as_of" in scan.reading.values:
        return scan.add("as_of", year[0])
    scan.reading.ignored.append(match[0])
    return True


def _now(scan: Scan, match: Match) -> bool:
    """Today, beside another year: `2021 vs now`."""
    beside = "as_of" in scan.reading.values or match.groupdict().get("year")
    return bool(beside) and scan.add("as_of", f"{scan.today}")


def _bought(scan: Scan, match: Match) -> bool:
    """When the user's own machine was bought dates no price."""
    scan.reading.owned = True
    return True


def _unnamed(form: re.Pattern[str]) -> str:
    return re.sub(r"\?P<\w+>", "?:", form.pattern)


def _deadline(scan: Scan, match: Match) -> bool:
    """The days from today to a day to come, as a time limit; of a longer time that ends on no one day, what to write."""
    names = [name.casefold() for name in day_name]
    day = (match["day"] or "").casefold()
    if day in ("tonight", "tomorrow"):
        return _within(scan, match, 12 if day == "tonight" else 24)
    if at := [number for number, name in enumerate(names) if name.startswith(day.rstrip("."))]:
        return _within(scan, match, 24 * ((at[0] - scan.today.weekday() - 1) % 7 + 1))
    return scan.ask(match[0], "a time limit is a length of time, as in within 3 days")


def _until(scan: Scan, match: Match) -> bool:
    """A date to come, of the next year that has it where none is said; the first of a month. Declined for one that is past."""
    years = ("", scan.today.year, scan.today.year + 1)
    ends = filter(None, (amounts.day(f"{match['end']} {year}".strip(), first=True) for year in years))
    days = next((left for end in ends if (left := (end - scan.today).days) > 0), 0)
    return _within(scan, match, 24 * days) if days else False


def _on_day(scan: Scan, match: Match) -> bool:
    """A day without its year is one to come, by which a run must end; where it is far ahead, the year is asked for."""
    soon = any(
        0 < (end - scan.today).days <= SOON
        for year in (scan.today.year, scan.today.year + 1)
        if (end := amounts.day(f"{match['end']} {year}", first=True))
    )
    return _until(scan, match) if soon else scan.ask(match[0], "of which year? Write it as 2020-12-31")


def _part_of_year(scan: Scan, match: Match) -> bool:
    """`Q3 2024`, `mid 2020`: the prices of the end of that quarter or half."""
    part = match["part"].lower()
    return _as_of(scan, match[0], int(match["year"]), PARTS.get(part) or 3 * int(part[1]))


def _within(scan: Scan, match: Match, hours: int) -> bool:
    limit = f"within {hours} hours" if hours < 48 else f"within {hours // 24} days"
    scan.reading.corrected.append((match[0], limit))
    return scan.add("max_hours", f"{hours}")


_DAY_AND_MONTH = rf"(?:\d\d?(?:st|nd|rd|th|\.)?\s+(?:of\s+)?)?{ANY_MONTH}|{ANY_MONTH}\s+\d\d?(?:st|nd|rd|th)?"
_CLOCK = r"\d{1,2}(?::\d\d)?\s?(?:am|pm|h|uhr|o'clock)"
_AT = rf"(?:\s+(?:at\s+)?(?:morning|evening|noon|midday|night|afternoon|eod|{_CLOCK}))*"
_BY = r"(?:(?:by|before|until|till|due|deadline)(?:\s+(?:is|are|on|of|the|early|end\s+of))*\s+)"
_TEXTS: tuple[tuple[str, Understand], ...] = (
    (rf"{_BY}(?P<end>{'|'.join((*map(_unnamed, DATES), _DAY_AND_MONTH))})", _until),
    (rf"on\s+(?:the\s+)?(?P<end>{_DAY_AND_MONTH})(?!\s*,?\s*(?:19|20)\d\d)", _on_day),
    (rf"{WHEN}?(?:the\s+)?(?P<part>q[1-4]|early|mid|late)[\s-]+(?:of\s+)?(?P<year>(?:19|20)\d\d)", _part_of_year),
    (rf"{THAN}(?:{WHEN}|the\s+)*(?:(?:19|20)\d\d|{AGO}|last\s+(?:week|month|quarter|year))", _compared),
    (rf"(?:start|begin)(?:n?ing|s)?(?:\s+on)?\s+(?:now|today|tomorrow|tonight|(?:next\s+)?(?:{WEEKDAYS}|week|month))",
     lambda scan, match: True),  # only the end limits
    (r"(?:vs\.?|versus|against|or|and|to|with)\s+(?:(?:what|how|much|does|do|would|will|is|it|costs?|price|take)\s+)*"
     r"(?:now|today|this\s+year|nowadays)", _now),
    (r"(?:now|today|this\s+year)(?=\s+(?:vs\.?|versus|against|or|and|compared)(?:\s+\w+){0,2}\s+(?P<year>(?:19|20)\d\d))", _now),
    (rf"{WHEN}?(\d\d?)/(\d\d?)/((?:19|20)\d\d)", _slashed),
    (rf"(?P<when>{WHEN})?(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)-(?P<day>\d\d)"
     r"(?P<time>[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)", _date),
    *((rf"(?P<when>{WHEN})?(?:the\s+)?{form.pattern}", _date) for form in DATES),
    (rf"(?:(?:which|that)\s+)?(?:i|we)\s+(?:just\s+)?(?:bought|purchased)(?:\s+(?:it|them))?(?!\s+(?:it\s+|them\s+)?for\b)"
     rf"(?:\s+(?:in\s+)?(?:the\s+)?(?:(?:19|20)\d\d|{AGO}|last\s+\w+))?", _bought),
    (rf"(?:{WHEN}|since\s+|(?P<last>last\s+))(?P<month>{MONTHS})", _named_month),
    (r"(?P<age>within|during|over|in(?=\s+the\s))?\s*(?:since|from|as\s+of|of|in)?\s*(?:the\s+)?(?:last|previous|past)\s+"
     r"(?P<unit>week|month|quarter|year)(?:'s)?", _last),
    (rf"(?:{WHEN}|since\s+)?{AGO}", _ago),
    (rf"(?:{WHEN}|since\s+)?yesterday(?:'s)?", lambda scan, _: scan.add("as_of", f"{scan.today - timedelta(1)}")),
    (rf"(?!by\s+the\s+month{END})(?:by|before|until|till|due)\s+(?:{_CLOCK}\s+(?:on\s+)?)?(?:the\s+)?(?:next\s+|this\s+)?(?P<day>{WEEKDAYS}|{SHORT_DAYS}|tomorrow|"
     rf"tonight|weekend|(?:end\s+of\s+)?(?:the\s+)?(?:day|week|month|quarter|year)|noon|midnight|morning|evening|eod|{MONTHS}){_AT}",
     _deadline),
    (rf"(?:(?:next|this|on)\s+)?(?P<day>{WEEKDAYS}|tomorrow|tonight){_AT}", _deadline),
)  # fmt: skip
DATE_RULES = tuple((text + END, understand) for text, understand in _TEXTS)
