"""What has been understood of a sentence so far, and what to ask back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from api.questions.amounts import COUNTS
from api.questions.words.tables import Value

SHARES = ("half", "third", "quarter", "tenth", "twice", "double", "doubled", "triple", "halved", "fortnight")
MANY = frozenset([*SHARES, *(word for word, count in COUNTS.items() if count > 1)])


CURRENCIES = "about currencies"
LEAST_SHARE = Decimal("0.4")
"""Lower accuracies stay percentages until it is clear whether the network has a metric in which they mean something."""


MOST_ASKED = 10


class Asked(NamedTuple):
    """A question back: the words it is about (none if the sentence on what to type has them), and what to type. One that `stops`
    the answer is about a condition or a quantity: without it, the answer would be to another question."""

    about: str
    message: str
    stops: bool = False

    def __str__(self) -> str:
        return f'"{self.about}": {self.message}' if self.about else self.message


@dataclass
class Reading:
    """What has been understood of a sentence. `excluded` are values of which every other is meant; `asked` is what is asked back,
    `corrected` are misspelt words with those they were read as, `unclear` the parameters that have several values and may have
    one, `sides` what is compared: the values of each. `machines` are those named, with their number. `each` says that
    accelerators are those of one machine, `owned` that they stand at the user's, `other_task` that the network is of a task
    that is not estimated."""

    values: dict[str, list[str]] = field(default_factory=dict)
    excluded: dict[str, list[str]] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    corrected: list[tuple[str, str]] = field(default_factory=list)
    unclear: set[str] = field(default_factory=set)
    sides: tuple[Mapping[str, list[str]], ...] = ()
    machines: list[dict[str, list[str]]] = field(default_factory=list)
    shared: bool = False
    each: bool = False
    owned: bool = False
    other_task: bool = False

    def add(self, value: Value) -> None:
        """Adds a value; a repeated one is ignored."""
        values = (self.excluded if value.excluded else self.values).setdefault(value.parameter, [])
        values.extend(text for text in value.text.split(",") if text not in values)

    def drop(self, *names: str) -> None:
        """Takes parameters out."""
        for name in names:
            self.values.pop(name, None)

    def put(self, name: str, text: str) -> None:
        """Adds a value that may contain commas."""
        values = self.values.setdefault(name, [])
        if text not in values:
            values.append(text)

    def ask(self, text: str, message: str, stops: bool | None = None) -> None:
        """The text means something that cannot be part of the question; `message` says what to type. A number stops the answer
        unless it is said that it does not."""
        question = Asked(text.strip(), message, has_number(text) if stops is None else stops)
        if question not in self.asked:
            self.asked.append(question)

    def need_not_ask(self, needless: Callable[[Asked], bool]) -> None:
        """Drops questions back about words that other words make redundant."""
        self.ignored += [asked.about for asked in self.asked if needless(asked)]
        self.asked = [asked for asked in self.asked if not needless(asked)]


def has_number(text: str) -> bool:
    """Whether a text states a number, in digits or in words."""
    return any(sign.isdigit() for sign in text) or not MANY.isdisjoint(text.casefold().split())
