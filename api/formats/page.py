"""A page of an answer, before anything of HTTP is known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

LONG_HEADLINE = 110  # characters
RANGES = re.compile(r"( \([^()]*\)(?:, )?)")


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
        """The headline of a verdict, which may be empty; sentences that are `notes` are left out of it."""
        without = (_without(line, notes) for line in verdict)
        opening, *lines = [line for line in without if line] or ["No estimate answers this question."]
        sentences = opening.split(". ")
        at = next((n for n, sentence in enumerate(sentences) if any(map(str.isdigit, sentence))), 0)
        first, rest = sentences[at].removesuffix("."), ". ".join(sentences[at + 1 :])
        if len(first) > LONG_HEADLINE:
            first, _, second = first.partition("; ")
            rest = " ".join(filter(None, [second and f"{second[:1].upper()}{second[1:]}.", rest]))
        warning = "".join(f"{sentence}." for sentence in [". ".join(sentences[:at])] if sentence)
        return cls(first, [line for line in (rest, *lines) if line], warning, tuple(notes))

    @property
    def what(self) -> str:
        """What the figures of the first sentence are of: `Rent 1 L40S at AWS on demand`; empty where it has no such half."""
        return self.first.rpartition(": ")[0]

    @property
    def figures(self) -> list[tuple[str, bool]]:
        """Its other half in parts, each with whether it is a figure to be read first: no range, and none of the words behind."""
        parts = RANGES.split(self.first.rpartition(": ")[2])
        return [(part, part not in (*parts[1::2], parts[-1]) or len(parts) == 1) for part in parts if part]


def _without(line: str, notes: Sequence[str]) -> str:
    for note in notes:
        line = line.replace(note, "").strip()
    return line
