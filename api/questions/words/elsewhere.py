"""Sentences that ask another question than what a training costs: which command answers it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple


class Elsewhere(NamedTuple):
    """A question of its own: what is asked, the words that ask it, the command and the parameters that it takes. It is not
    meant where a parameter of `unless` is given."""

    what: str
    asked: re.Pattern[str]
    command: str
    taken: tuple[str, ...]
    unless: tuple[str, ...] = ()


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


MACHINES = ("provider", "region", "accelerator")
POSITIONAL = ("model", "target")
RENAMED = {("accuracy", "max_cost"): "budget"}
MOST_ACCURACY = "the highest accuracy that money or time buys"
QUESTIONS = (
    Elsewhere(
        MOST_ACCURACY,
        _words(r"\b(?:which|what|how (?:high|good)|best|highest|max(?:imum)?|most)\b[\w\s'-]{0,20}\b(?:accuracy|top[- ]?[15])\b"
            r"|\bhow (?:good|high) (?:can|could|does|will)\b|\bas accurate as (?:possible|it gets|i can get)\b|\bmost accurate\b"
            r"|\bhow accurate\b(?! (?:is|are) (?:this|the|that|these|those|your?)\b)"),
        "accuracy",
        ("model", "max_cost", "max_hours", *MACHINES),
        unless=("target",),
    ),
    Elsewhere(
        "whether to commit",
        _words(r"^(?=.*\b(?:worth|should|pays?|better|cheaper|or rent|rent or|saves?|or not|or(?: \w+)? on[- ]demand)\b)"
            r".*\b(?:reserv(?:e|ing|ation)|commit|savings? plan)"),
        "commitments",
        (*POSITIONAL, *MACHINES),
    ),
    Elsewhere(
        "how the price of training has changed",
        _words(r"\b(?:changed?|trend|history|over (?:the )?(?:years|time)|since (?:19|20)\d\d|black friday|wait(?:ing)?)\b"
            r"|\b(?:will|going to)\b.*\b(?:cheaper|drop|fall|next (?:year|quarter|month))\b"
            r"|\b(?:than|compared (?:with|to)|relative to)\b.*\b(?:20\d\d|ago|last (?:week|month|quarter|year))\b"
            r"|\b(?:now|today|20\d\d)\b(?:'s)?\s+(?:vs\.?|versus|against)\s+(?:in\s+)?(?:now|today|20\d\d)\b"),
        "trend",
        POSITIONAL,
    ),
    Elsewhere(
        "what machines do for their price",
        _words(r"\bwhy\b.*\b(?:expensive|pricey|dear|cheap|price|cost|charge)"),
        "throughput",
        MACHINES,
    ),
    Elsewhere(
        "which batch fits",
        _words(r"\b(?:batch(?: size)? fits?|fit (?:a )?batch|fits? (?:in|on|into)|(?:largest|biggest|max(?:imum)?) batch)\b"),
        "fit",
        ("model", "accelerator"),
    ),
    Elsewhere(
        "the rates of machines alone",
        _words(r"\b(?:price|cost|rate|cheapest|rent|how much)"),
        "offers",
        MACHINES,
        unless=("model",),
    ),
)  # fmt: skip


def elsewhere(sentence: str, parameters: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """What the sentence asks beside, or instead of, what a training costs, each with the command that answers it."""
    for each in QUESTIONS:
        given = [name for name in each.taken if parameters.get(name)]
        wanted = "model" in given or ("model" not in each.taken and given)
        if wanted and each.asked.search(sentence) and not any(map(parameters.get, each.unless)):
            yield f"{each.what}: ask {_command(each.command, given, parameters)}"


def _command(name: str, given: Sequence[str], parameters: Mapping[str, Sequence[str]]) -> str:
    words = ["costcalc", name]
    for parameter in given:
        value = ",".join(parameters[parameter])
        option = RENAMED.get((name, parameter), parameter).replace("_", "-")
        words += [value] if parameter in POSITIONAL else [f"--{option}", value]
    return shlex.join(words)
