"""Sentences about language models by tokens: what is cut out of a sentence, and what remains of it for all other rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from msgspec import Struct

from api.questions.amounts import plain
from api.questions.language import REINFORCEMENT
from api.questions.suggestions import squeeze
from api.questions.words.of_training import amount_of
from api.questions.words.patterns import compiled
from api.questions.words.tables import rows_of
from costcalc.evidence.language import find_language_network
from costcalc.query import ANY
from costcalc.tasks.known import find_task

REWARDED = re.compile(r"\b(?:grpo|ppo|dpo|rlhf|orpo|kto|rl)\b", re.IGNORECASE)
WRITTEN = re.compile(
    r"(?<![\w.])(?P<name>model|method|tokens|examples|length|batch|packed|stack|layers|active|parameters|epochs)="
    r"(?P<value>\"[^\"]*\"|[^\s,;]+)",
    re.IGNORECASE,
)
"""What a sentence may say as a query string does."""
_WORD = re.compile(r"[^\s,;]+")
MOST_WORDS_OF_A_NAME = 4
SIZES, OF_EXAMPLES = ("parameters", "active"), "length of examples"
MARKS = ("tunes", "own text", "trains")
ONE_METHOD = "{} or {}? Ask for one of them at a time."
ASSUMED = "Fine-tuning counts as LoRA here: method=full trains all weights, method=qlora adapters beside 4-bit weights."


class LanguageWords(Struct, frozen=True):
    """What a sentence says of a language model, nothing where that is no such training, what is `chosen` where it leaves the
    method open, what is `asked` of it, and the `rest` of it."""

    parameters: Mapping[str, list[str]]
    chosen: Mapping[str, list[str]]
    rest: str
    asked: tuple[str, ...] = ()

    @property
    def is_counted(self) -> bool:
        """Whether it is said on how many tokens or examples."""
        return not self.parameters.keys().isdisjoint({"tokens", "examples"})

    @property
    def has_method(self) -> bool:
        """Whether it is said how the model is trained, or that was chosen."""
        return "method" in {*self.parameters, *self.chosen}


class _Cut:
    """A sentence from which patterns are cut out, one after another."""

    def __init__(self, text: str) -> None:
        self.text = text

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.search(self.text)
        if match:
            self.take_out(match.start(), match.end())
        return match

    def take_out(self, begin: int, end: int) -> None:
        self.text = f"{self.text[:begin]} , {self.text[end:]}"


def language_words(text: str) -> LanguageWords | None:
    """What a plain text says of a language model by tokens; None where it is about another training."""
    cut = _Cut(text)
    written = _written(cut)
    named = written.pop("model", "")
    name = named if squeeze(named) == ANY or find_language_network(named) else _name(cut)
    if name and cut.take(REWARDED):
        return LanguageWords({"model": [name]}, {}, cut.text, (f"{REINFORCEMENT}.",))
    found = {**_found(cut, bool(name)), **{parameter: [value] for parameter, value in written.items()}}
    tunes, is_own, _ = (found.pop(mark, None) for mark in MARKS)
    methods, is_counted = found.pop("method", []), not found.keys().isdisjoint({"tokens", "examples"})
    if not (name or "parameters" in found) or (named and not name) or not (is_counted or methods or tunes or is_own):
        return None
    is_clear = is_counted or is_own or "method" in written
    if not is_clear and (_is_task(text) or (methods in ([], ["pretrain"]) and not tunes)):
        return None
    chosen = {"method": ["lora"]} if tunes and not methods else {}
    said = {"method": methods[:1]} if methods else {}
    asked = (ONE_METHOD.format(*methods),) if methods[1:] else ()
    return LanguageWords({**found, **said, "model": [name or ANY]}, chosen, cut.text, asked)


def _written(cut: _Cut) -> dict[str, str]:
    """What is written as name=value, which is cut out."""
    written = {}
    while match := cut.take(WRITTEN):
        written[match["name"].casefold()] = match["value"].strip('"')
    return written


def _name(cut: _Cut) -> str | None:
    """The longest name of a language model, which is cut out."""
    words = list(_WORD.finditer(cut.text))
    for many in range(MOST_WORDS_OF_A_NAME, 0, -1):
        for first, last in zip(words, words[many - 1 :], strict=False):
            network = find_language_network(cut.text[first.start() : last.end()].strip("\"'().?!:"))
            if network:
                cut.take_out(first.start(), last.end())
                return network.name
    return None


def _found(cut: _Cut, is_named: bool) -> dict[str, list[str]]:
    """What the spans say that `data/language.csv` lists: one value each, but of several methods all. The size of a model that has
    a name is its own."""
    found: dict[str, list[str]] = {}
    has_examples = any(span.pattern.search(cut.text) for span in _spans() if span.reads == "examples")
    for span in _spans():
        name = "length" if span.reads == OF_EXAMPLES and has_examples else span.reads
        if name == OF_EXAMPLES or (is_named and name in SIZES) or (name in found and name != "method"):
            continue
        while match := cut.take(span.pattern):
            values = found.setdefault(name, [])
            values += {span.value or _amount(name, match)} - {*values}
            if name != "method":
                break
    return found


def _amount(name: str, match: re.Match[str]) -> str:
    amount = amount_of(match["amount"], match["scale"])
    return plain(amount / 10**6 if name in SIZES and match["scale"] else amount)


class _Span(NamedTuple):
    """A kind of spans: the parameter that it says, the value, if the pattern has no amount, and the pattern."""

    reads: str
    value: str
    pattern: re.Pattern[str]


@cache
def _spans() -> tuple[_Span, ...]:
    rows = rows_of("language")
    return tuple(_Span(row["reads"], row["value"], compiled(rf"(?<![\w.])({row['pattern']})...")) for row in rows)


def _is_task(text: str) -> bool:
    """Whether some words are a published task's name, such as `llama2 70b lora`."""
    words = text.split()
    spans = (words[at : at + many] for many in (4, 3, 2, 1) for at in range(len(words)))
    return any(find_task("-".join(span).strip(".,?!")) for span in spans if "lora" in " ".join(span).casefold())
