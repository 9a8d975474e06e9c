"""Patterns in short, as `data/spans.csv` and `data/parts.csv` write them.

A space is any gap and ` ?` a gap or none; groups are not captured; `{name}` is a part of `data/parts.csv`, and `{name!}` the same
without the names of its groups. What a pattern finds ends where a word does, unless the pattern ends in dots.
"""

from __future__ import annotations

import re
from calendar import day_name, month_name
from functools import cache

from api.questions.amounts import ANY_MONTH, COUNTS, DATES, MONEY, NUMBER, SPAN
from api.questions.words.tables import rows_of

Match = re.Match[str]
END = r"(?=[\s,;/]|$)"
WORDS = "|".join(word for word in COUNTS if word not in ("a", "an"))
_GROUP = re.compile(r"(?<!\\)(?<!\(\?)\((?!\?)")
_PART, _NAME = re.compile(r"\{([a-z_]+)(!?)\}"), re.compile(r"\?P<\w+>")


def compiled(text: str) -> re.Pattern[str]:
    """A pattern in short, compiled."""
    whole = _in_full(text.removesuffix("...")) if text.endswith("...") else f"(?:{_in_full(text)}){END}"
    return re.compile(whole, re.IGNORECASE)


def _in_full(text: str) -> str:
    text = _GROUP.sub("(?:", text).replace(" ?", r"\s*").replace(" ", r"\s+")
    return _PART.sub(lambda part: _part(part[1], named=not part[2]), text)


def _part(name: str, named: bool) -> str:
    text = _foreign().get(name) or _in_full(_parts()[name])
    return text if named else _NAME.sub("?:", text)


@cache
def _parts() -> dict[str, str]:
    return {row["name"]: row["pattern"] for row in rows_of("parts")}


@cache
def _foreign() -> dict[str, str]:
    """Parts that other tables and modules have."""
    return {
        "end": END,
        "number": NUMBER,
        "money": MONEY,
        "span": f"(?P<span>{SPAN})",
        "word": f"(?:{WORDS})",
        "date": f"(?:{'|'.join(_NAME.sub('?:', form.pattern) for form in DATES)})",
        "any_month": ANY_MONTH,
        "month": f"(?:{'|'.join(filter(None, month_name))})",
        "weekday": f"(?:{'|'.join(day_name)})",
    }


def counted(text: str) -> int:
    """A whole number in digits or as a word."""
    return int(text) if text.isdigit() else COUNTS[text.casefold()]
