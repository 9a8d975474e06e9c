"""Amounts as people write them: numbers with either comma, percentages, money, lengths of time and dates."""

from __future__ import annotations

import re
from calendar import month_abbr, month_name, monthrange
from datetime import date
from decimal import Decimal
from typing import NamedTuple

GROUPED = r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?"
NUMBER = rf"(?:(?:{GROUPED})(?![\d.,]*\d)|\d+(?:[.,]\d+)?|[.,]\d+)"
"""1,200.50 and 1.200,50; with a decimal comma, 4,5."""
COUNTS = {
    **{
        "a": 1,
        "an": 1,
        "single": 1,
        "one": 1,
        "couple": 2,
        "two": 2,
        "three": 3,
        "four": 4,
        "five": 5,
        "six": 6,
        "seven": 7,
    },
    **{"eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "dozen": 12, "fifteen": 15, "sixteen": 16},
    **{"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90},
    **{"thirty-two": 32, "sixty-four": 64, "hundred": 100},
}
HALF = {"half a": Decimal("0.5"), "half an": Decimal("0.5")}
_HOURS = {"s": Decimal(1) / 3600, "m": Decimal(1) / 60, "h": Decimal(1), "d": Decimal(24), "w": Decimal(168)}
UNITS_OF_TIME = r"(?:seconds?|secs?|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|wks?|w)"
CURRENCIES = {
    "USD": "$ us$ usd dollar dollars buck bucks",
    "EUR": "€ eur euro euros",
    "GBP": "£ gbp pound pounds quid sterling",
    "JPY": "¥ jpy yen",
    "CHF": "chf franc francs sfr",
    "INR": "₹ inr rupee rupees",
    "CNY": "cny rmb yuan",
    "CAD": "cad c$",
    "AUD": "aud a$",
}
"""What people call the currencies that they write beside amounts, or in their place; other codes are read in capitals."""
CODE_OF = {word: code for code, words in CURRENCIES.items() for word in words.split()}
_SIGN = "|".join(sorted((re.escape(word) for word in CODE_OF), key=len, reverse=True))
_SCALES = {"k": 1000, "thousand": 1000, "grand": 1000, "million": 10**6, "billion": 10**9, "bn": 10**9, "": 1}
MONEY = rf"(?:(?P<before>{_SIGN})\s*)?(?P<amount>{NUMBER})\s*(?P<scale>{'|'.join(_SCALES)})?\s*(?P<after>{_SIGN})?"
SPAN = (
    rf"(?:(?P<half>half an?)|(?P<word>{'|'.join(COUNTS)})(?=[\s-])|(?P<count>{NUMBER}))[\s-]*(?P<unit>{UNITS_OF_TIME})"
    r"(?:(?P<more>\s+and\s+a\s+half)\b|(?:(?<=\dh)(?P<after>[0-5]\d)m?|(?:\s+and)?\s*(?P<minutes>[0-5]?\d)\s*min(?:ute)?s?)\b)?"
)
MONTHS = {name.casefold(): number for number, name in enumerate(month_abbr) if name}
ANY_MONTH = rf"(?:{'|'.join(name for name in month_name if name)}|(?:{'|'.join(MONTHS)})[a-z]?)\.?"
_DATES = (
    r"(?P<year>(?:19|20)\d\d)(?:-(?P<month>\d\d?)(?:-(?P<day>\d\d?))?)?",
    r"(?P<day>\d\d?)\.\s?(?P<month>\d\d?)\.\s?(?P<year>(?:19|20)\d\d)",
    r"(?P<month>\d\d?)[./](?P<year>(?:19|20)\d\d)",
    rf"(?:(?P<day>\d\d?)(?:st|nd|rd|th|\.)?\s+(?:of\s+)?)?(?P<name>{ANY_MONTH})\s*,?\s*(?P<year>(?:19|20)\d\d)",
    rf"(?P<name>{ANY_MONTH})\s+(?P<day>\d\d?)(?:st|nd|rd|th)?\s*,?\s+(?P<year>(?:19|20)\d\d)",
)
DATES = tuple(re.compile(text, re.IGNORECASE | re.ASCII) for text in _DATES)


class Money(NamedTuple):
    """An amount, and the currency that was written with it."""

    amount: Decimal
    code: str | None


def number(text: str) -> Decimal | None:
    """The number in a text: of 1,200.50 and 1.200,50 the sign that comes last is the decimal one; 1,200 is grouped, as is
    1,200,000, and any other comma is decimal. 1.200 is not grouped: see `money`."""
    text = text.strip()
    if not re.fullmatch(rf"[+-]?{NUMBER}", text, re.ASCII):
        return None
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?", text, re.ASCII):
        return Decimal(text.replace(",", ""))
    if text.count(".") + text.count(",") > 1:
        return Decimal(text.replace(".", "").replace(",", "."))
    return Decimal(text.replace(",", "."))


def share(text: str) -> Decimal | None:
    """The fraction that a percentage means."""
    percent = number(text.strip().removesuffix("%")) if text.strip().endswith("%") else None
    return None if percent is None else percent / 100


def money(text: str) -> Money | None:
    """An amount with or without its currency. Nobody writes three decimals of a currency: 1.200 € is grouped."""
    match = re.fullmatch(MONEY, text.strip(), re.IGNORECASE | re.ASCII)
    if match is None:
        return None
    codes = {CODE_OF[sign.casefold()] for sign in match.group("before", "after") if sign}
    grouped = codes and re.fullmatch(r"[1-9]\d{0,2}(\.\d{3})+", match["amount"], re.ASCII)
    amount = Decimal(match["amount"].replace(".", "")) if grouped else number(match["amount"])
    if amount is None or len(codes) > 1:
        return None
    return Money(amount * _SCALES[(match["scale"] or "").casefold()], next(iter(codes), None))


def hours(text: str) -> Decimal | None:
    """A length of time in hours: 2 days, 90min, half a day, a week, 1h30, an hour and a half."""
    match = re.fullmatch(SPAN, text.strip(), re.IGNORECASE | re.ASCII)
    if match is None:
        return None
    count = HALF.get(match["half"].casefold()) if match["half"] else number(match["count"]) if match["count"] else None
    if count is None:
        count = Decimal(COUNTS[match["word"].casefold()])
    count += Decimal("0.5") if match["more"] else 0
    return count * _HOURS[match["unit"][0].casefold()] + Decimal(match["after"] or match["minutes"] or 0) / 60


def plain(amount: Decimal) -> str:
    """The amount as a parameter has it, at most twelve digits long."""
    return f"{float(amount):.12g}"


def written(text: str) -> tuple[int, int | None, int | None] | None:
    """The year, month and day of a date: 2018-04-26, 26.04.2018 (day first), 26 April 2018; None where none is written."""
    match = next((match for form in DATES if (match := form.fullmatch(text.strip()))), None)
    if match is None:
        return None
    parts = {"name": "", "month": "", "day": "", **match.groupdict(default="")}
    month, of_month = (int(parts[name]) if parts[name] else None for name in ("month", "day"))
    return int(parts["year"]), MONTHS[parts["name"].casefold()[:3]] if parts["name"] else month, of_month


def day(text: str, first: bool = False) -> date | None:
    """The day that a date means; of a month (2018-04) or a year its last day, or its first."""
    parts = written(text)
    if parts is None:
        return None
    year, month, of_month = parts
    try:
        month = (1 if first else 12) if month is None else month
        return date(year, month, (1 if first else monthrange(year, month)[1]) if of_month is None else of_month)
    except ValueError:  # a thirteenth month, a 31st of April, a day 0
        return None
