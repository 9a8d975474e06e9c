"""A sentence as it is read: in English, numbers in digits, without escapes, curly quotes, and the marks of Slack and Markdown.

A word that several languages have, such as `de`, is only read as one's where another word of the sentence tells the language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from html import unescape
from typing import NamedTuple

from api.questions.amounts import COUNTS
from api.questions.words.tables import rows_of, words_of

_WIDE = {sign + 0xFEE0: sign for sign in range(0x21, 0x7F)} | {ord("，"): ", "}  # as Chinese and Japanese are typed
_SIGNS = str.maketrans("“”„«»‘’–—「」『』、。　・", '"""""' + "''--" + '"""",. ,') | _WIDE
UNSPACED = "\u3040-\u30ff\u3400-\u9fff"
_UNSPACED = re.compile(rf"[{UNSPACED}]")
_EDGE = re.compile(rf"(?<=[{UNSPACED}])(?=[^{UNSPACED}\s])|(?<=[^{UNSPACED}\s])(?=[{UNSPACED}])")
_MYRIADS = re.compile(r"(\d+(?:\.\d+)?)\s*([万萬亿億])")
_ONES = "|".join(word for word, count in COUNTS.items() if count < 10 and word not in ("an", "single", "couple"))
_TENS = "|".join(word for word, count in COUNTS.items() if count in range(20, 100, 10))
_IN_TENS = re.compile(rf"\b({_TENS})(?:[\s-](?!a\b)({_ONES}))?\b(?!-)", re.IGNORECASE)
_DOLLARS = re.compile(rf"\b(?:{_ONES})\b(?=\s+(?:dollars?|bucks?|euros?|pounds?|francs?|yen)\b)", re.IGNORECASE)
_HUNDREDS = re.compile(rf"\b(?:({_ONES})\s+|(?<!\d\s))(hundred|thousand|grand)\b", re.IGNORECASE)


def plain_text(text: str) -> str:
    """The text of a sentence. Slack escapes three signs and its clients curl quotes."""
    plain = " ".join(unescape(text).translate(_SIGNS).split())
    if _UNSPACED.search(plain):
        plain = _with_blanks(plain)
    plain = _in_digits(plain)
    for pattern, word in _patterns("spelt"):
        plain = pattern.sub(word, plain)
    return _in_english(plain).strip()


@cache
def _patterns(table: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """A packaged table of patterns with the words for them: `spelt` unifies spellings (clauses end with sentences, T4x2 is T4 x2,
    eu-west-1a a region) and takes marks out, `without_blanks` has the words of Chinese and Japanese."""
    return tuple((re.compile(row["pattern"], re.IGNORECASE), row["word"]) for row in rows_of(table))


def _with_blanks(text: str) -> str:
    """A Chinese or Japanese sentence, its known words in English, with blanks between words."""
    text = _MYRIADS.sub(lambda match: f"{Decimal(match[1]) * (10**4 if match[2] in '万萬' else 10**8):.0f}", text)
    for pattern, word in _patterns("without_blanks"):
        text = pattern.sub(f" {word} ", text)
    return " ".join(_EDGE.sub(" ", text).split())


def _in_digits(text: str) -> str:
    """Tens and hundreds in digits: `seventy-six percent`, `two hundred dollars`, `a grand`."""
    text = _HUNDREDS.sub(_hundreds, text)
    text = _DOLLARS.sub(lambda match: str(COUNTS[match[0].lower()]), text)
    return _IN_TENS.sub(lambda match: str(COUNTS[match[1].lower()] + COUNTS.get((match[2] or "").lower(), 0)), text)


def _hundreds(match: re.Match[str]) -> str:
    many = COUNTS[(match[1] or "one").lower()] * (100 if match[2].lower() == "hundred" else 1000)
    return f"${many}" if match[2].lower() == "grand" else str(many)


class Language(NamedTuple):
    """The English of its words, a pattern of them all, and one of those that tell it."""

    english: Mapping[str, str]
    all: re.Pattern[str]
    telling: re.Pattern[str]


def _in_english(text: str) -> str:
    """The sentence with the known words of its languages in English."""
    for language in _languages():
        if language.telling.search(text):
            text = language.all.sub(lambda match, into=language.english: into[match[0].casefold()], text)  # type: ignore[misc]
    return text


@cache
def _languages() -> tuple[Language, ...]:
    rows = list(rows_of("translations"))
    return tuple(_language([row for row in rows if row["language"] == code]) for code in ("de", "fr", "es"))


def _language(rows: list[dict[str, str]]) -> Language:
    english = {word: row["english"] for row in rows for word in words_of(row)}
    telling = [word for row in rows if row["tells"] == "alone" for word in words_of(row)]
    return Language(english, _any_of(english), _any_of(telling))


def _any_of(words: Mapping[str, str] | list[str]) -> re.Pattern[str]:
    longest = sorted(words, key=len, reverse=True)
    return re.compile(rf"(?<![\w.=-])(?:{'|'.join(map(re.escape, longest))})(?![\w=-])", re.IGNORECASE)
