"""Sentences that ask another question than what a training costs: which command answers it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from msgspec import Struct, convert

from api.questions.links import written_command
from api.questions.words.plain import plain_text
from costcalc.tasks.known import find_task

MOST_NAMED = 8
RENAMED = {("accuracy", "max_cost"): "budget"}
MOST_ACCURACY = "the highest accuracy that money or time buys"


class Elsewhere(Struct, frozen=True):
    """A question of its own, as `data/elsewhere.toml` has it."""

    what: str
    command: str
    taken: tuple[str, ...]
    asked: tuple[str, ...]
    unless: tuple[str, ...] = ()


@cache
def _questions() -> tuple[tuple[Elsewhere, re.Pattern[str]], ...]:
    text = (files("api.questions.words") / "data" / "elsewhere.toml").read_text("utf-8")
    questions = convert(tomllib.loads(text)["question"], tuple[Elsewhere, ...])
    return tuple((question, re.compile("|".join(question.asked), re.IGNORECASE)) for question in questions)


def elsewhere(sentence: str, parameters: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """What the sentence asks beside, or instead of, what a training costs, each with the command that answers it."""
    sentence = plain_text(sentence)
    for question, pattern in _questions():
        given = [name for name in question.taken if parameters.get(name)]
        wanted = "model" in given or ("model" not in question.taken and given)
        if question.command == "fit" and any(map(find_task, parameters.get("model", ()))):
            continue  # a task's machines are those that hold it
        if wanted and pattern.search(sentence) and not any(map(parameters.get, question.unless)):
            written = _written(question.command, given, parameters)
            yield f"{question.what}: ask {written_command(question.command, written)}"


def _written(command: str, given: Sequence[str], parameters: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """The parameters as the command calls them; of many values, such as every accelerator but one, none."""
    few = [name for name in given if len(parameters[name]) <= MOST_NAMED]
    return [(RENAMED.get((command, name), name), ",".join(parameters[name])) for name in few]
