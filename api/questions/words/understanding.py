"""A sentence as the parameters of a question, and the parts not understood."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from msgspec import Struct, field
from msgspec.structs import replace

from api.questions.errors import BadParameters
from api.questions.suggestions import either
from api.questions.words.asking_back import WHICH_NETWORK, asked_back, is_whole
from api.questions.words.elsewhere import elsewhere
from api.questions.words.in_words import in_short, side_in_words
from api.questions.words.language import ASSUMED, LanguageWords, language_words
from api.questions.words.on_what import COMPARES
from api.questions.words.others import others
from api.questions.words.plain import UNSPACED, plain_text
from api.questions.words.reading import Reading
from api.questions.words.settling import settle
from api.questions.words.spans import read
from api.questions.words.tables import is_language_model, not_asked
from api.questions.words.vocabulary import Vocabulary

LONGEST, MOST_WORDS, LONGEST_WORD = 2000, 60, 100
_PIECE = re.compile(rf"\w+=\S*|[{UNSPACED}]{{1,6}}|[^\s,;/{UNSPACED}]+")
WHICH_METHOD = "How? Write LoRA, QLoRA, full fine-tuning or pretraining"
HOW_MANY_TOKENS = "How many tokens? Write for example 50M tokens, or 10k examples of 512 tokens, 3 epochs"
OF_RATES = frozenset(["accelerator", "instance_type", "provider", "region", "purchase"])
MACHINES = frozenset(["accelerator", "instance_type"])
BESIDE_RATES = frozenset(
    ["accelerators", "nodes", "term", "payment", "available", "as_of", "currency", "rates", "sort"]
)
PRICES = re.compile(
    r"\b(?:prices?|pricing|costs?|rates?|rent(?:al|als|ing)?|charges?|how (?:much|expensive|cheap)|cheap(?:est)?|hourly|"
    r"(?:per|an) hour)\b",
    re.IGNORECASE,
)
TRAINING = re.compile(r"\b(?:(?:re|pre)?-?train(?:s|ed|ing)?|epochs?|accuracy|model|network|imagenet)\b", re.IGNORECASE)


class Understanding(Struct, frozen=True):
    """What a sentence asks. `parameters` are those of `/cost`, `summary` the same in words: exclusions as such. `ignored` are
    words without a meaning of their own, `corrected` misspelt ones by the word that they were read as, and `asked` says of
    everything else that was written, or is missing, what to type. `is_question` is true where there is what can be asked, and
    `asks_rates` where it is what machines cost an hour.
    `several` are the values of each side of a comparison. `chosen` are parameters
    that the answer chooses, as the sentence does not; `choice` says which, and why."""

    parameters: Mapping[str, list[str]]
    summary: tuple[str, ...]
    ignored: tuple[str, ...]
    corrected: Mapping[str, str]
    asked: tuple[str, ...]
    is_question: bool
    asks_rates: bool = False
    shared: bool = False
    lacks_only_network: bool = False
    several: tuple[Mapping[str, list[str]], ...] = ()
    chosen: Mapping[str, list[str]] = field(default_factory=dict)
    choice: tuple[str, ...] = ()

    @property
    def answered(self) -> Mapping[str, list[str]]:
        """The parameters that are answered."""
        return {**self.parameters, **self.chosen}

    @property
    def lines(self) -> tuple[str, ...]:
        """How the sentence was understood, then the parts that were not."""
        read = "".join(f', reading "{word}" as {correction}' for word, correction in self.corrected.items())
        left_out = "Not in the answer: " if self.is_question else ""
        return (
            f"Understood: {' '.join(self.summary) or 'nothing'}{read}",
            *self.choice,
            *(f"{left_out}{line}" for line in self.asked),
        )


def understand(text: str, words: Vocabulary, today: date) -> Understanding:
    """The question in a sentence, asked on a day. Raises BadParameters for one that is too long."""
    if too_long := _too_long(text):
        raise BadParameters({"q": [too_long]})
    text = plain_text(text)
    language = language_words(text)
    if language and language.is_counted:
        return _by_tokens(language, _understood(language.rest, words, today))
    whole = _understood(text, words, today)
    if language and (whole.asked or not whole.is_question):  # of a task's network there is an answer without tokens
        return _by_tokens(language, _understood(language.rest, words, today))
    return whole


def _by_tokens(language: LanguageWords, rest: Understanding) -> Understanding:
    """What a sentence says of a language model, with what the rest of it says of machines, money and time."""
    if others := [name for name in rest.parameters.get("model", ()) if not is_language_model(name)]:
        asked = rest.asked or (f"{either(others)} is no language model: ask about one network at a time",)
        return replace(rest, asked=asked, is_question=False, lacks_only_network=False)
    of_rest = {name: values for name, values in rest.parameters.items() if name not in ("model", "target_of")}
    asked = tuple(line for line in rest.asked if not line.startswith(WHICH_NETWORK))
    summary = tuple(in_short(name, values) for name, values in language.parameters.items())
    missing = [] if language.is_counted or language.asked else [HOW_MANY_TOKENS]
    missing += [WHICH_METHOD] * (bool(missing) and not language.has_method)
    return replace(
        rest,
        parameters={**language.parameters, **of_rest},
        summary=(*summary, *rest.summary),
        asked=(*language.asked, *asked, *missing),
        is_question=language.is_counted and not language.asked,
        asks_rates=False,
        lacks_only_network=False,
        several=rest.several if language.is_counted else (),
        chosen=language.chosen,
        choice=(ASSUMED,) if language.chosen else (),
    )


def _too_long(text: str) -> str | None:
    """What to do with a text that is no one question; None for one that may be."""
    if len(text) > LONGEST:
        return f"that is {len(text)} characters: write at most {LONGEST}"
    pieces = _PIECE.findall(text)
    if len(pieces) > MOST_WORDS:
        return (
            f"that is {len(pieces)} words: write one question in at most {MOST_WORDS}; costcalc plan asks many at once"
        )
    is_long = any(len(piece) > LONGEST_WORD and "=" not in piece for piece in pieces)
    return "one of its words is too long to be one" if is_long else None


def _understood(text: str, words: Vocabulary, today: date) -> Understanding:
    reading = read(text, words, today)
    settle(reading, words)
    parameters = {name: values for name, values in reading.values.items() if values}
    excluded = {name: values for name, values in reading.excluded.items() if values}
    if asks_rates := _asks_rates(text, reading, parameters):
        parameters.pop("sort", None)  # the least is told in any order
        reading.asked.clear()
    summary = [in_short(name, values) for name, values in parameters.items()]
    for kind, values in excluded.items():
        name = "region" if kind == "place" else kind
        parameters[name] = others(name, parameters.get(name, ()), values, words.names)
        summary.append(f"{name} not {either(values)}")
    stops = [asked for asked in reading.asked if asked.stops]
    reading.asked = stops or reading.asked
    summary += [" against ".join(map(side_in_words, reading.sides))] * bool(reading.sides)
    beside = () if stops or "on" in parameters else elsewhere(text, parameters)
    return Understanding(
        parameters, tuple(summary), _once(reading.ignored), dict(reading.corrected),
        () if asks_rates else (*beside, *asked_back(reading, parameters, words, text)),
        is_question=is_whole(parameters, words) and not reading.other_task and not stops, shared=reading.shared,
        lacks_only_network=not reading.asked and not {"model", "on"} & {*parameters, *reading.unclear},
        several=() if stops else reading.sides,
        asks_rates=asks_rates,
    )  # fmt: skip


def _asks_rates(text: str, reading: Reading, parameters: Mapping[str, list[str]]) -> bool:
    """Whether a sentence asks what machines cost an hour, or names machines alone, and nothing that has to do with a training."""
    hourly = not_asked()["hourly"].message
    named, told = {*parameters, *reading.unclear}, [asked for asked in reading.asked if asked.message != hourly]
    is_machine = bool(named & MACHINES) and "sort" not in named and not {*map(str.casefold, reading.ignored)} - COMPARES
    is_priced = bool(PRICES.search(text)) or (len(named & OF_RATES) > 1 and "purchase" in named)
    return (
        bool(named & OF_RATES) and named <= OF_RATES | BESIDE_RATES and not (told or reading.sides)
        and (is_machine or is_priced) and not TRAINING.search(text)
    )  # fmt: skip


def _once(words: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.casefold() for word in words))
