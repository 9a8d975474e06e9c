"""What is asked back of a sentence: what was not understood, and what is missing."""

from __future__ import annotations

import re
from collections.abc import Mapping

from api.questions.suggestions import either
from api.questions.words.reading import MOST_ASKED, Reading
from api.questions.words.vocabulary import Vocabulary
from costcalc.tasks.known import of_benchmark

WHICH_NETWORK, WHICH_ACCURACY = "Which network?", "Which accuracy? Write for example 75.7%"
OTHER_NETWORKS = (
    "Write its name, such as resnet50; costcalc models lists them; for another, costcalc recipes add reads your log, and "
    "costcalc measure your speed"
)
ALONE, SHORT = 'Each question stands alone: write the whole of it, as in "resnet50 76%, {}"', 60
FOLLOWS = re.compile(
    r"(?:and|or|same|the\s+same|what\s+(?:about|if)|how\s+about|ok|now|also|then|but|make\s+it|cheaper|faster|instead)\b",
    re.IGNORECASE,
)
"""How sentences begin that go on from an earlier one."""


def asked_back(reading: Reading, parameters: Mapping[str, list[str]], words: Vocabulary, text: str) -> tuple[str, ...]:
    """What to ask back: the first of many questions, then what is missing."""
    more = len(reading.asked) - MOST_ASKED
    rest = [f"{more} more words or numbers are not understood"] if more > 0 else []
    return (*map(str, reading.asked[:MOST_ASKED]), *rest, *_missing(reading, parameters, words, text.strip()))


def _missing(reading: Reading, parameters: Mapping[str, list[str]], words: Vocabulary, text: str) -> list[str]:
    is_named = "on" in parameters or any(asked.stops for asked in reading.asked)
    if not (is_named or "model" in {*parameters, *reading.unclear}):
        several = of_benchmark(parameters.get("recipe", [""])[0].removesuffix("-*"))
        named = f"Its tasks are {either(several)}" if several else OTHER_NETWORKS
        return [f"{WHICH_NETWORK} {ALONE.format(text) if FOLLOWS.match(text) and len(text) <= SHORT else named}"]
    lacks = "model" in parameters and not reading.other_task and not is_whole(parameters, words)
    return [WHICH_ACCURACY] * lacks


def is_whole(parameters: Mapping[str, list[str]], words: Vocabulary) -> bool:
    """Whether there is a network, or the hours of one; the target of a user's own run, which has no usual one, too."""
    models = parameters.get("model", ())
    is_usual = "target" in parameters or not any(model in words.own for model in models)
    return "on" in parameters or (bool(models) and is_usual)
