"""Names as people write them: an index that finds a name however it is spelt, and other words for what we have a name for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Generic, TypeVar

from api.questions.suggestions import squeeze
from costcalc.evidence import normalised

M = TypeVar("M")
FORMS: tuple[Callable[[str], str], ...] = (str.casefold, normalised, squeeze)
"""From the strictest to the loosest: as written but for case; without signs, but with dots between digits; without any."""

PURCHASES = {
    "on-demand": "on_demand",
    "ondemand": "on_demand",
    "preemptible": "spot",
    "low-priority": "spot",
    "interruptible": "spot",
    "pay as you go": "on_demand",
    "payg": "on_demand",
    "commitment": "committed_use",
    "committed": "committed_use",
    "cud": "committed_use",
    "savings plans": "savings_plan",
    "capacity blocks": "capacity_block",
}
FAMILIES = ("A100", "H100", "V100")
"""Each means every accelerator whose name is the word, or starts with it and a hyphen."""
MAKERS = {"GPU": ("NVIDIA", "AMD"), "NVIDIA": ("NVIDIA",), "AMD": ("AMD",), "TPU": ("Google",), "IPU": ("Graphcore",)}
"""Words that mean all accelerators of these makers."""
MAKER = re.compile(
    r"(?:(?:nvidia|geforce|tesla|amd|instinct|google|cloud|intel|habana|graphcore)[\s-]+)+", re.IGNORECASE
)
MEMORY = re.compile(r"[\s-]*(\d+)\s*gi?b", re.IGNORECASE | re.ASCII)
SERIES = re.compile(r"(?:RTX|GTX) ")
"""What people leave out before the number of a card, write before any name, and write behind it."""
ACCELERATORS = {
    "V100-16GB": "V100",
    "V100-SXM2-16GB": "V100",
    "V100-SXM2-32GB": "V100-32GB",
    "A100-SXM4-40GB": "A100-40GB",
    "A100-SXM4-80GB": "A100-80GB",
    "A100-40GB-SXM": "A100-40GB",
    "A100-80GB-SXM": "A100-80GB",
    "H100-SXM": "H100",
    "H100-SXM5": "H100",
    "H100-80GB-HBM3": "H100",
}
ALONE = {"V100": "V100-16GB", "H100": "H100-SXM"}
"""How a question asks for one accelerator whose name is also that of a family."""


class Meant(tuple[str, ...]):
    """The names that a filter allows; `words` are those that they were asked by, which links repeat."""

    words: tuple[str, ...]

    def __new__(cls, names: Iterable[str] = (), words: Iterable[str] = ()) -> Meant:
        """Each name and each word once."""
        meant = super().__new__(cls, dict.fromkeys(names))
        meant.words = tuple(dict.fromkeys(words))
        return meant


_NUMBERS = {"one": 1, "two": 2, "three": 3, "five": 5}
_TERM = re.compile(r"(\d{1,4}|one|two|three|five)[\s-]*(d|days?|mos?|months?|y|yrs?|years?)", re.IGNORECASE | re.ASCII)


class Spellings(Generic[M]):
    """What names mean, found by the strictest form in which any name is spelt like the text."""

    def __init__(self, meanings: Iterable[tuple[str, M]]) -> None:
        self._by_form: list[dict[str, dict[M, None]]] = [{} for _ in FORMS]
        for name, meaning in meanings:
            for spelt, index in zip(_forms(name), self._by_form, strict=True):
                index.setdefault(spelt, {})[meaning] = None

    def find(self, text: str) -> list[M]:
        """What the text may mean, in the order given; several things where names look alike, none where none does."""
        for spelt, index in zip(_forms(text), self._by_form, strict=True):
            if spelt and spelt in index:
                return list(index[spelt])
        return []


@lru_cache(4096)
def _forms(text: str) -> tuple[str, ...]:
    return tuple(form(text) for form in FORMS)


def between_commas(*texts: str) -> list[str]:
    """What stands between the commas of these texts, where that is not blank."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def family(text: str, accelerators: Iterable[str]) -> list[str]:
    """The accelerators that a family's name stands for; none where the text is no such name."""
    word = text.strip().upper()
    if word not in FAMILIES:
        return []
    return [name for name in accelerators if name == word or name.startswith(f"{word}-")]


def term(text: str) -> str | None:
    """A length of time as terms are written: `3 years`, `3yr` and `36 months` are `3y`. None where it is none."""
    match = _TERM.fullmatch(text.strip())
    if match is None:
        return None
    word, unit = match[1].lower(), match[2].lower()
    number = _NUMBERS.get(word) or int(word)
    if unit.startswith("d"):
        return f"{number}d"
    if unit.startswith("y"):
        return f"{number}y"
    return f"{number // 12}y" if number and number % 12 == 0 else f"{number}mo"
