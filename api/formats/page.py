"""A page of an answer, before anything of HTTP is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

LIST = "list.html"
"""The template of lists."""
LONG_HEADLINE = 110  # characters


class Page(NamedTuple):
    """A template, and what it shows beside the address of its question."""

    template: str
    shown: dict[str, Any]


class Headline(NamedTuple):
    """A verdict: its first sentence with a figure, of a long one its first half; the warning before it, what follows in
    lines, and notes on how the question was understood."""

    first: str
    further: list[str]
    warning: str = ""
    notes: Sequence[str] = ()

    @classmethod
    def of(cls, verdict: Sequence[str], notes: Sequence[str] = ()) -> Headline:
        """The headline of a verdict, which may be empty; lines that are `notes` are left out of it."""
        opening, *lines = [line for line in verdict if line not in notes] or ["No estimate answers this question."]
        sentences = opening.split(". ")
        at = next((n for n, sentence in enumerate(sentences) if any(map(str.isdigit, sentence))), 0)
        first, rest = sentences[at].removesuffix("."), ". ".join(sentences[at + 1 :])
        if len(first) > LONG_HEADLINE:
            first, _, second = first.partition("; ")
            rest = " ".join(filter(None, [second and f"{second[:1].upper()}{second[1:]}.", rest]))
        warning = "".join(f"{sentence}." for sentence in [". ".join(sentences[:at])] if sentence)
        return cls(first, [line for line in (rest, *lines) if line], warning, tuple(notes))
