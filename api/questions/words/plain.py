"""A sentence as it is read: without escapes, curly quotes and the marks that end clauses."""

from __future__ import annotations

import re
from html import unescape

_QUOTES = str.maketrans("“”„«»‘’–—", '"""""' + "''--")
_MARKS = re.compile(
    r"(?<=\S)[?!:.…]+(?=\s|[,;]|$)|(?<!\S)[-(\[*_~`]+(?=[A-Za-z(])|[()\[\]{}`]+(?=[\s,;?!.:]|$)|(?<=\s)-+(?=\s)"
)
_QUOTED = re.compile(r"(?<![=\w])[\"']([^\"'=]+)[\"'](?!\w)")
_POSSESSIVE = re.compile(r"(?<=\w)'s\b(?=\s+\w)")
_SPELT = (
    (re.compile(r"\bswiss franc", re.IGNORECASE), "franc"),
    (re.compile(r"\b(?:us|american) dollar", re.IGNORECASE), "dollar"),
    (re.compile(r"\bu\.\s?s\.(?:\s?a\.)?", re.IGNORECASE), "US"),
    (re.compile(r"\bu\.\s?k\.", re.IGNORECASE), "UK"),
    (re.compile(r"\be\.\s?u\.", re.IGNORECASE), "EU"),
)


def plain_text(text: str) -> str:
    """The text of a sentence. Slack escapes three signs and its clients curl quotes."""
    plain = unescape(text).translate(_QUOTES)
    for pattern, word in _SPELT:
        plain = pattern.sub(word, plain)
    plain = _QUOTED.sub(r"\1", plain)
    return _MARKS.sub("", plain).strip()
