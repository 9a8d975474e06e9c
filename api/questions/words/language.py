"""Sentences about language models by tokens: what is cut out of a sentence, and what remains of it for all other rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache

from msgspec import Struct

from api.questions.amounts import NUMBER, plain
from api.questions.words.of_training import amount_of
from costcalc.evidence.language import find_language_network
from costcalc.tasks.known import find_task

_AMOUNT = rf"(?P<amount>{NUMBER})\s*(?P<scale>k|thousand|m|mn|mio|million|b|bn|billion|t|trillion)?"
_TOKENS = r"\s*-?(?:training\s+)?(?:tokens?|toks?)\b"
_EXAMPLES = (
    r"(?:\s+[a-z-]+){0,2}?\s+(?:examples?|samples?|pairs?|rows?|prompts?|conversations?|instructions?|documents?|docs|records?|"
    r"questions?|dialogues?|dialogs?|chats?|messages?|completions?|tickets?|articles?)\b"
)
OF_EXAMPLES = rf"(?:,?\s*(?:of|x|with)\s+){_AMOUNT}{_TOKENS}"
QUANTITIES: Mapping[str, tuple[str, ...]] = {
    "length": (
        rf"(?:of|at|with|,|x)?\s*{_AMOUNT}{_TOKENS}\s*(?:each|long|apiece|per\s+[a-z]+)",
        OF_EXAMPLES,
        rf"(?:max(?:imum)?\s+)?(?:sequence|seq|context|ctx)[\s-]*(?:length|len|window|size)?\s*(?:of|=|:|is)?\s*{_AMOUNT}(?:{_TOKENS})?",
        rf"{_AMOUNT}(?:{_TOKENS})?\s+(?:context|ctx|sequences?|seq)(?:[\s-]*(?:length|len|window))?\b",
    ),
    "examples": (rf"(?:on|with|over|using|from)?\s*(?:my|our|about|some)?\s*{_AMOUNT}{_EXAMPLES}",),
    "tokens": (rf"(?:on|with|over|using|for|from)?\s*(?:about|some|a\s+total\s+of)?\s*{_AMOUNT}{_TOKENS}",),
    "active": (rf"{_AMOUNT}\s*(?:params?|parameters?)?\s*active(?:\s+(?:params?|parameters?))?",),
    "parameters": (
        rf"(?:an?|my|our)?\s*{_AMOUNT}[\s-]*(?:params?|parameters?)(?:\s+(?:language\s+)?(?:model|llm|transformer|network))?\b",
        rf"(?:an?|my|our)?\s*{_AMOUNT}[\s-]*(?:dense\s+)?(?:language\s+)?(?:models?|llms?|gpt|transformer)\b",
        rf"(?:an?|my|our)?\s*(?P<amount>{NUMBER})\s?(?P<scale>b|m)\b(?!\s*(?:usd|dollars?|eur))",
    ),
    "batch": (r"(?:global\s+)?batch(?:[\s-]*size)?\s*(?:of|=|:)?\s*(?P<amount>\d+)(?P<scale>)",),
    "epochs": (rf"(?:for|,|and|x)?\s*(?P<amount>{NUMBER}|one|two|three|four|five|ten)(?P<scale>)\s*(?:epochs?|passes)\b",),
}  # fmt: skip
METHODS = (
    ("qlora", r"(?:with\s+|using\s+|by\s+|via\s+|an?\s+)*(?:q-?lora|4-?bit(?:\s+lora)?)\b"),
    ("lora", r"(?:with\s+|using\s+|by\s+|via\s+|an?\s+)*lora(?:s|\s+adapters?)?\b"),
    ("full", r"(?:full(?:[\s-]param(?:eter)?s?)?\s+|all\s+weights\s+)(?:fine-?\s?tun\w*|sft|training)"),
    ("full", r"(?:and|or|vs\.?|versus|/)\s*full\b|full(?=\s*(?:and|or|vs\.?|versus|/)\s)"),
    ("pretrain", r"(?:continued?\s+|continual\s+)?pre-?train\w*|from\s+scratch"),
)
FINE_TUNE = r"(?:instruction[\s-])?(?:fine-?\s?tun\w*|\bsft\b|\btun(?:e|ing)\b)"
_PLAIN = r"transformers|peft|torchtune|axolotl|trl|llama-?factory|hugging\s?face"
STACKS = (
    ("tuned", r"(?:with|using|in|on)\s+(?:megatron(?:-lm)?|nemo|maxtext)\b"),
    ("plain", rf"(?:with|using|in|on)\s+(?:(?:hugging\s?face|hf)\s+)?(?:{_PLAIN})\b"),
)  # fmt: skip
PACKING = (("false", r"(?:un|not\s+|without\s+|no\s+)pack(?:ed|ing)\b"), ("true", r"(?:with\s+)?pack(?:ed|ing)\b"))
TRAIN = r"\b(?:re)?train(?:ing|ed)?\b"
OWN_TEXT = (
    r"(?:on|with|using|over|for)\s+(?:my|our)\s+(?:own\s+)?(?:data(?:\s?sets?)?|texts?|documents?|docs|corpus|domain)\b"
)
REWARDED = re.compile(r"\b(?:grpo|ppo|dpo|rlhf|orpo|kto|rl)\b", re.IGNORECASE)
ASKED = re.compile(r"(?<!\S)(?:method|tokens|examples)=", re.IGNORECASE)
WRITTEN = (
    r"(?P<name>model|method|tokens|examples|length|batch|packed|stack|layers|active|parameters|epochs)="
    r"(?P<value>\"[^\"]*\"|[^\s,;]+)"
)
"""What a sentence may say as a query string does."""
_WORD = re.compile(r"[^\s,;]+")
MOST_WORDS_OF_A_NAME = 4
ONE_METHOD = "{} or {}? Ask for one of them at a time."
ASSUMED = "Fine-tuning counts as LoRA here: method=full trains all weights, method=qlora adapters beside 4-bit weights."


class LanguageWords(Struct, frozen=True):
    """What a sentence says of a language model, nothing where that is no such training, what is `chosen` where it leaves the
    method open, what is `asked` of it, and the `rest` of it."""

    parameters: Mapping[str, list[str]]
    chosen: Mapping[str, list[str]]
    rest: str
    asked: tuple[str, ...] = ()


class _Cut:
    """A sentence from which patterns are cut out, one after another."""

    def __init__(self, text: str) -> None:
        self.text = text

    def take(self, pattern: str) -> re.Match[str] | None:
        match = _compiled(pattern).search(self.text)
        if match:
            self.text = f"{self.text[: match.start()]} , {self.text[match.end() :]}"
        return match

    def choice(self, kinds: tuple[tuple[str, str], ...]) -> str | None:
        return next((name for name, pattern in kinds if self.take(pattern)), None)


def language_words(text: str) -> LanguageWords | None:
    """What a plain text says of a language model by tokens; None where it is about another training."""
    if ASKED.search(text):
        return _as_written(_Cut(text))
    cut = _Cut(text)
    name = _name(cut)
    if name and REWARDED.search(text):
        return LanguageWords({}, {}, cut.text)
    found = dict(_quantities(cut, name is not None))
    has_quantity = not found.keys().isdisjoint({"tokens", "examples"})
    method, other = cut.choice(METHODS), cut.choice(METHODS)
    tunes = cut.take(FINE_TUNE) is not None
    is_own = cut.take(OWN_TEXT) is not None
    if not (name or "parameters" in found) or not (has_quantity or method or tunes or is_own):
        return None
    if not (has_quantity or is_own) and (_is_task(text) or (method in (None, "pretrain") and not tunes)):
        return None
    cut.take(TRAIN)
    chosen: dict[str, list[str]] = {}
    if method is None and tunes:
        chosen["method"] = ["lora"]
    found |= {"method": method} if method else {}
    found |= {each: value for each, kinds in (("stack", STACKS), ("packed", PACKING)) if (value := cut.choice(kinds))}
    found["model"] = name or "any"
    asked = (ONE_METHOD.format(method, other),) if other not in (None, method) else ()
    return LanguageWords({each: [value] for each, value in found.items()}, chosen, cut.text, asked)


def _as_written(cut: _Cut) -> LanguageWords | None:
    """Parameters by name and value, beside the model's name; None where that is no language model's."""
    found = dict[str, str]()
    while match := cut.take(WRITTEN):
        found[match["name"].casefold()] = match["value"].strip('"')
    name = found.pop("model", None) or _name(cut) or ("any" if "parameters" in found else None)
    if name is None or not (name == "any" or find_language_network(name)):
        return None
    found["model"] = name
    return LanguageWords({name: [value] for name, value in found.items()}, {}, cut.text)


def _name(cut: _Cut) -> str | None:
    """The longest name of a language model, which is cut out."""
    words = list(_WORD.finditer(cut.text))
    for many in range(MOST_WORDS_OF_A_NAME, 0, -1):
        for first, last in zip(words, words[many - 1 :], strict=False):
            found = find_language_network(cut.text[first.start() : last.end()].strip("\"'().?!:"))
            if found:
                cut.text = f"{cut.text[: first.start()]} , {cut.text[last.end() :]}"
                return found.name
    return None


def _quantities(cut: _Cut, is_named: bool) -> Iterator[tuple[str, str]]:
    """The numbers of what is counted; the size of a model that has a name is its own."""
    has_examples = any(_compiled(pattern).search(cut.text) for pattern in QUANTITIES["examples"])
    for name, patterns in QUANTITIES.items():
        if name in ("parameters", "active") and is_named:
            continue
        for pattern in patterns:
            if pattern == OF_EXAMPLES and not has_examples:
                continue
            if match := cut.take(pattern):
                amount = amount_of(match["amount"], match["scale"])
                yield (
                    name,
                    plain(amount / 10**6 if name in ("parameters", "active") and match["scale"] else Decimal(amount)),
                )
                break


def _is_task(text: str) -> bool:
    """Whether some words are a published task's name, such as `llama2 70b lora`."""
    words = text.split()
    spans = (words[at : at + many] for many in (4, 3, 2, 1) for at in range(len(words)))
    return any(find_task("-".join(span).strip(".,?!")) for span in spans if "lora" in " ".join(span).casefold())


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.]){pattern}", re.IGNORECASE)
