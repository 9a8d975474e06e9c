"""Commonplace words of other languages, in English. A word that several languages have, such as `de`, is only read as one's where
another word of the sentence tells the language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from api.questions.words.tables import rows_of, words_of


class Language(NamedTuple):
    """The English of its words, a pattern of them all, and one of those that tell it."""

    english: Mapping[str, str]
    all: re.Pattern[str]
    telling: re.Pattern[str]


def in_english(text: str) -> str:
    """The sentence with the known words of its languages in English."""
    for language in _languages():
        if language.telling.search(text):
            text = language.all.sub(lambda found, into=language.english: into[found[0].casefold()], text)  # type: ignore[misc]
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
