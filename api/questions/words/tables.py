"""The packaged tables of words: phrases with what they mean, what cannot be asked in words, and networks of other tasks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple, TypeVar

from api.questions.suggestions import squeeze
from costcalc.evidence.language import find_language_network
from costcalc.evidence.tables import cells

T = TypeVar("T")
COVERED = "costcalc estimates networks on ImageNet, language models by tokens, and the tasks that costcalc tasks lists"
LANGUAGE_MODEL = "llm"
_BILLIONS = re.compile(r"[a-z].*[-_]\d+(?:\.\d+)?b(?![a-z])")
OWN_RUN = "for your own run, add its log with costcalc recipes add"


class Value(NamedTuple):
    """One value of a parameter; of an `excluded` one every other value is meant."""

    parameter: str
    text: str
    excluded: bool = False


class OtherNetwork(NamedTuple):
    """A network of another task: its name as a parameter has it, and what it is."""

    name: str
    kind: str


class NotAsked(NamedTuple):
    """What to type instead of a phrase, whether an answer without it would be to another question, and the parameter that makes
    it redundant."""

    message: str
    stops: bool
    unless: str


@cache
def phrases() -> dict[str, tuple[Value, ...]]:
    """By phrase the values it stands for; words that mark what follows (not, mine) and those without a meaning (filler) are a
    parameter of that name."""
    return _by_word("phrases", lambda row: tuple(map(_value, row["meaning"].split(" & "))))


@cache
def not_asked() -> dict[str, NotAsked]:
    """What to type instead of each phrase."""
    return _by_word("not_asked", lambda row: NotAsked(row["answer"], bool(row["stops"]), row["unless"]))


@cache
def other_networks() -> dict[str, OtherNetwork]:
    """The network of another task that each phrase names; without a name of its own, by that phrase."""
    rows = _by_word("other_networks", lambda row: OtherNetwork(row["name"], row["kind"]))
    return {word: network._replace(name=network.name or word) for word, network in rows.items()}


def other_network(name: str) -> OtherNetwork | None:
    """The network of another task that has this name, or one that begins with it; None for any other name."""
    form = squeeze(name)
    exact = (word for word in other_networks() if squeeze(word) == form)
    word = next(exact, None) or kind_of_network(name)
    return other_networks()[word] if word else None


def is_language_model(name: str) -> bool:
    """Whether a name is one of a language model, or of language models as such."""
    other = other_network(name)
    return bool(find_language_network(name)) or (
        other is not None and other.kind == other_networks()[LANGUAGE_MODEL].kind
    )


def kind_of_network(name: str) -> str | None:
    """The known network of another task that a longer name begins with: `qwen` of Qwen/Qwen2.5-7B. One of so many billions of
    parameters is a language model."""
    bare = name.casefold().rpartition("/")[2]
    start = re.match(r"[a-z]{2,}", bare)
    begun = [word for word in (start[0], bare) if word in other_networks()] if start else []
    return begun[0] if begun else LANGUAGE_MODEL if _BILLIONS.search(bare) else None


def rows_of(name: str) -> Iterator[dict[str, str]]:
    """The rows of a packaged table of words."""
    text = (files("api.questions.words") / "data" / f"{name}.csv").read_text("utf-8")
    yield from ({column: str(cell or "") for column, cell in row.items()} for row in cells(f"{name}.csv", text))


def words_of(row: dict[str, str]) -> list[str]:
    """The words of a row, which mean the same."""
    return row["words"].split(";")


def _by_word(table: str, of: Callable[[dict[str, str]], T]) -> dict[str, T]:
    return {word: value for row in rows_of(table) for value in [of(row)] for word in words_of(row)}


def _value(meaning: str) -> Value:
    name, sign, text = meaning.partition("=")
    return Value(name.rstrip("!"), text if sign else "", name.endswith("!"))
