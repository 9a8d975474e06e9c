"""Where the reading of a sentence stands: its text, what was read so far, and what a word before says of what follows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

from api.questions.words.patterns import Match
from api.questions.words.reading import Reading
from api.questions.words.vocabulary import Named, Vocabulary

MACHINE = ("accelerator", "instance_type")
LEAVES_OUT = "what it leaves out is not understood; write for example not aws, or no spot"
WORD = re.compile(r"[^\s,;/]+")


@dataclass
class Scan:
    """Where the pass stands in a text. `negated` holds from a word such as `not` to what it excludes, `mine` from one such as
    `my` to the accelerators that it is said of, `at_most` from words such as these to the number that they are said of."""

    text: str
    words: Vocabulary
    today: date
    reading: Reading = field(default_factory=Reading)
    place: int = 0
    negated: str = ""
    mine: bool = False
    at_most: bool = False

    def add(self, name: str, text: str) -> bool:
        """Adds a parameter's value."""
        self.reading.put(name, text)
        return True

    def ask(self, text: str, message: str, stops: bool | None = None) -> bool:
        """Asks back about words that cannot be answered."""
        self.reading.ask(text, message, stops)
        return True

    def count(self, name: str, many: int) -> bool:
        """Adds a number of accelerators or machines, or the maximum."""
        limited, self.at_most = self.at_most, False
        return self.add(f"max_{name}" if limited else name, str(many))

    def find(self, place: int, *only: str) -> Named | None:
        """What is named there, of these kinds alone where some are given."""
        return self.words.find(self.text, place, only)

    def is_of(self, place: int, *kinds: str) -> Named | None:
        """What is named there, if it is of one of these kinds before any other."""
        named = self.words.find(self.text, place)
        return named if named and named.values[0].parameter in kinds else None

    def put_in_place(self, end: int, text: str) -> None:
        """Reads another text in place of what stands from here to there."""
        self.text = f"{self.text[: self.place]}{text}{self.text[end:]}"

    def take_negation(self) -> str:
        """The word that negates what stands here, which negates no more."""
        negated, self.negated = self.negated, ""
        return negated

    def end_negation(self) -> None:
        """Asks what a negation leaves out before which there is nothing; of `no, I mean 8` nothing."""
        if self.negated.casefold() == "no" and self.place < len(self.text):
            self.reading.ignored.append(self.negated)
        elif self.negated:
            self.ask(self.negated, LEAVES_OUT, stops=True)
        self.negated = ""

    def end_clause(self) -> None:
        """What holds for a clause ends with it."""
        self.end_negation()
        self.mine = False


Understand = Callable[[Scan, Match], bool]
