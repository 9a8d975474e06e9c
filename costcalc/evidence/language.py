"""The packaged language models and their published rates, each with its source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from costcalc.evidence.collection import normalised
from costcalc.evidence.tables import packaged
from costcalc.throughput.language.law import TokenRate
from costcalc.throughput.language.networks import LanguageNetwork

_ADDED = re.compile(
    r"-?(?:hf|instruct|it|chat|base|pt|meta|v[0-9.]+|thinking|deduped|unsloth|bnb|4bit|int4|gptq|awq|gguf|fp8|bf16|[0-9]{4})$"
)
_MAKER = re.compile(r"^[\w.-]+/|^meta-(?=llama)")


@cache
def language_rates() -> tuple[TokenRate, ...]:
    """All published rates. Raises TableError."""
    return tuple(packaged("language_speeds.csv", TokenRate))


@cache
def language_networks() -> Mapping[str, LanguageNetwork]:
    """By name. Raises TableError."""
    return {each.name: each for each in packaged("language_models.csv", LanguageNetwork)}


def find_language_network(text: str) -> LanguageNetwork | None:
    """The language model of that name, with or without its maker, however it is spelt and whatever it was trained for after."""
    return next((_by_word()[form] for form in _forms(text) if form in _by_word()), None)


def _forms(text: str) -> Iterator[str]:
    """The name, then what remains of it without its maker and without what kinds of its weights add."""
    whole = text.strip().casefold()
    yield normalised(whole)
    bare = _MAKER.sub("", _MAKER.sub("", whole, count=1), count=1).replace(" ", "-")
    while bare:
        yield normalised(bare)
        shorter = _ADDED.sub("", bare)
        if shorter == bare:
            return
        bare = shorter


@cache
def _by_word() -> Mapping[str, LanguageNetwork]:
    named = [
        (word, each)
        for each in language_networks().values()
        for word in (each.name, (each.hub or each.name).rpartition("/")[2], *(each.also or "").split())
    ]
    words = {normalised(word): each for word, each in reversed(named)}
    for word, each in named:
        for form in _forms(word):
            words.setdefault(form, each)
    return words
