"""The words that mean a parameter's value: names of one snapshot, and the phrases people use for options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from api.questions.fields import TERMS
from api.questions.names import Known
from api.questions.schemas import CostSchema
from api.questions.spellings import PURCHASES, Spellings
from api.questions.suggestions import unknown
from costcalc.offers import Payment, PurchaseOption
from costcalc.training import Model

LONGEST_NAME_WORDS = 5
FILLERS = frozenset({
    "a", "accuracy", "an", "and", "at", "best", "by", "cost", "do", "does", "for", "from", "gpu", "gpus", "how", "imagenet",
    "in", "is", "it", "long", "me", "much", "of", "on", "or", "please", "reach", "reaching", "region", "run", "running",
    "takes", "the", "to", "train", "training", "using", "via", "what", "will", "with",
})  # fmt: skip
PHRASES = {
    "fastest": ("sort", "time"),
    "cheapest": ("sort", "cost"),
    "frontier": ("frontier", "true"),
    "cpu": ("accelerator", "CPU"),
    "measured": ("evidence", "measured"),
    "effective": ("basis", "effective"),
    "billed": ("basis", "billed"),
    "all regions": ("regions", "all"),
    "all recipes": ("recipes", "all"),
    "no overheads": ("overheads", "none"),
}
COMMANDS = ("help", "models", "recipes", "share")
_PIECE = re.compile(r"[^\s,;]+")
_PATTERN = re.compile(r"[\w.-]+\*")


@dataclass(frozen=True, slots=True)
class Named:
    """A value found in a text, which ends at `end`."""

    parameter: str
    value: str
    end: int


class Vocabulary:
    """Every word that stands for a parameter's value. Spaces, case, `-`, `_` and `.` do not count where one meaning remains."""

    def __init__(self, names: Known, models: Iterable[Model], currencies: Iterable[str]) -> None:
        words: dict[str, list[tuple[str, str]]] = {}
        for word, parameter, value in _words(names, models, currencies):
            words.setdefault(parameter, []).append((word, value))
        self._values = {parameter: Spellings(pairs) for parameter, pairs in words.items()}
        told = (word for pairs in words.values() for word, _ in pairs)
        self._shown = dict.fromkeys((*COMMANDS, *told, *CostSchema().fields))

    def find(self, text: str, place: int, only: tuple[str, ...] = ()) -> Named | None:
        """The longest name that begins at `place`, of these parameters alone where some are given."""
        ends = [piece.end() for _, piece in zip(range(LONGEST_NAME_WORDS), _PIECE.finditer(text, place), strict=False)]
        for end in reversed(ends):
            named = self._meaning(text[place:end], only)
            if named:
                return Named(*named, end)
        return None

    def _meaning(self, words: str, only: tuple[str, ...]) -> tuple[str, str] | None:
        if _PATTERN.fullmatch(words) and (not only or "recipe" in only):
            return ("recipe", words)
        for spelt in (words, words.removesuffix("s")):
            for parameter in only or self._values:
                values = self._values[parameter].find(spelt)
                if len(values) == 1:
                    return parameter, values[0]
        return None

    def complaint(self, word: str) -> str:
        """What to type instead of a word that means nothing."""
        if word.lower() in CostSchema().fields:
            return f"{word} needs a value: write {word.lower()}=value"
        return unknown("word", word, self._shown, "write name=value, or help to see examples")


def _words(names: Known, models: Iterable[Model], currencies: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Of two parameters with a value of one spelling the earlier is meant."""
    for model in models:
        yield from ((alias, "model", model.name) for alias in (model.name, *model.aliases))
    purchases = ((option.value, option.value) for option in PurchaseOption)
    yield from ((word, "purchase", option) for word, option in (*purchases, *PURCHASES.items()))
    yield from ((payment.value, "payment", payment.value) for payment in Payment)
    yield from ((term, "term", term) for term in TERMS)
    yield from ((phrase, *meaning) for phrase, meaning in PHRASES.items())
    yield from ((word, "provider", name) for word, name in names.words("provider"))
    for kind in ("accelerator", "region", "recipe", "instance_type"):
        yield from ((word, kind, word) for word in names.spoken(kind))
    yield from ((code, "currency", code) for code in currencies)
