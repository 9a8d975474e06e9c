"""The words that mean a parameter's value: names of one snapshot, and the phrases people use for options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from api.questions.fields import TERMS
from api.questions.names import Known
from api.questions.schemas import CostSchema
from api.questions.suggestions import squeeze, unknown
from costcalc.offers import Payment, PurchaseOption
from costcalc.training import Model

LONGEST_NAME_WORDS = 5
FILLERS = frozenset({
    "a", "accuracy", "an", "and", "at", "best", "by", "cost", "do", "does", "for", "from", "gpu", "gpus", "how", "imagenet",
    "in", "is", "it", "long", "me", "much", "of", "on", "or", "please", "reach", "reaching", "region", "run", "running",
    "takes", "the", "to", "train", "training", "using", "via", "what", "will", "with",
})  # fmt: skip
PHRASES = {
    "preemptible": ("purchase", "spot"),
    "savings plans": ("purchase", "savings_plan"),
    "commitment": ("purchase", "committed_use"),
    "cud": ("purchase", "committed_use"),
    "amazon": ("provider", "aws"),
    "google": ("provider", "gcp"),
    "google cloud": ("provider", "gcp"),
    "microsoft": ("provider", "azure"),
    "oracle": ("provider", "oci"),
    "lambda labs": ("provider", "lambda"),
    "1 month": ("term", "1mo"),
    "1 year": ("term", "1y"),
    "3 years": ("term", "3y"),
    "3 year": ("term", "3y"),
    "fastest": ("sort", "time"),
    "cheapest": ("sort", "cost"),
    "frontier": ("frontier", "true"),
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
    """Every word that stands for a parameter's value. Spaces, case, `-`, `_` and `.` do not count."""

    def __init__(self, names: Known, models: Iterable[Model], currencies: Iterable[str]) -> None:
        self._names = names
        self._index: dict[str, tuple[str, str]] = {}
        self._shown: dict[str, None] = dict.fromkeys(COMMANDS)
        for word, parameter, value in _words(names, models, currencies):
            if parameter != "provider" or value in names.provider:
                self._index.setdefault(squeeze(word), (parameter, value))
                self._shown[word] = None
        self._shown.update(dict.fromkeys(CostSchema().fields))

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
        form = squeeze(words)
        for spelt in (form, form.removesuffix("s")):
            named = self._index.get(spelt)
            if named and (not only or named[0] in only):
                return named
        return None

    def complaint(self, word: str) -> str:
        """What to type instead of a word that means nothing."""
        hint = self._names.no_name(word)
        return hint or unknown("word", word, self._shown, "write name=value, or help to see examples")


def _words(names: Known, models: Iterable[Model], currencies: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Earlier ones win where two words look alike."""
    for model in models:
        yield from ((alias, "model", model.name) for alias in (model.name, *model.aliases))
    yield from ((option.value, "purchase", option.value) for option in PurchaseOption)
    yield from ((payment.value, "payment", payment.value) for payment in Payment)
    yield from ((term, "term", term) for term in TERMS)
    yield from ((phrase, *meaning) for phrase, meaning in PHRASES.items())
    for kind in ("provider", "accelerator", "region", "recipe", "instance_type"):
        yield from ((name, kind, name) for name in getattr(names, kind))
    yield from ((code, "currency", code) for code in currencies)
