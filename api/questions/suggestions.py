"""Text for messages: the nearest known names, lists of words, counts, and short echoes of input."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from costcalc.query import DECLARED

LONGEST_ECHO = 60
LONGEST_GUESS = 100
LEAST_ALIKE = 50  # percent
MOST_SEARCHES = 20
LAYERS = ("mlp:", "cnn:")  # how networks begin that are given by their layers
CALLED = {name: each.param.called for name, each in DECLARED.items() if each.param.called} | {
    "budget": "price cost maxprice maxcost maxbudget money dollars",
    "format": "json csv output xlsx",
}
"""Other words that people use for our parameters."""
_NUMBERED = re.compile(r"(.*?)([0-9]+)([^0-9]*)", re.DOTALL)


def called(name: str) -> list[str]:
    """The parameters that people call so."""
    form = squeeze(name)
    return [field for field, words in CALLED.items() if form in words.split()]


def clip(text: str) -> str:
    """The text in quotes, printable and no longer than a line."""
    plain = "".join(sign if sign.isprintable() else "?" for sign in text[: LONGEST_ECHO + 1])
    if len(text) <= LONGEST_ECHO:
        return f'"{plain}"'
    return f'"{plain[:LONGEST_ECHO]}..." ({len(text)} characters)'


def not_by_its_layers(model: str) -> str | None:
    """What to do with a network that is given by its layers where only names are known; None for a name."""
    if not model.casefold().startswith(LAYERS):
        return None
    from costcalc.small_networks import WrongLayers, small_network

    try:
        small_network(model)
    except WrongLayers as wrong:
        return str(wrong)
    return f"{clip(model)} describes a network by its layers: ask /small?model=, in the terminal `costcalc small`"


def squeeze(text: str) -> str:
    """The form in which names are compared: lower case, without spaces, `-`, `_` and `.`."""
    return re.sub(r"[\s\-_.]", "", text.casefold())


def nearest(text: str, names: Iterable[str], most: int = 3, least_alike: int = LEAST_ALIKE) -> list[str]:
    """Known names that look like the text, best first; empty when none does or the text is too long to be a slip."""
    if len(text) > LONGEST_GUESS:
        return []
    from rapidfuzz import fuzz, process  # only who mistypes waits for its import

    by_form: dict[str, str] = {}
    for name in names:
        by_form.setdefault(squeeze(name), name)
    wanted = squeeze(text)
    starts = sorted(
        (form for form in by_form if wanted and form.startswith(wanted)), key=lambda form: (len(form), form)
    )[:most]
    close = process.extract(wanted, sorted(by_form), scorer=fuzz.ratio, limit=most, score_cutoff=least_alike)
    similar = [by_form[form] for form in starts] + _of_other_number(text, by_form.values())
    return list(dict.fromkeys([*similar, *(by_form[form] for form, _, _ in close)]))[:most]


def _of_other_number(text: str, names: Iterable[str]) -> list[str]:
    """Known names that differ from the text in their last number alone, the nearest number first."""
    wanted = _NUMBERED.fullmatch(text.casefold())
    if wanted is None:
        return []
    split = ((name, _NUMBERED.fullmatch(name.casefold())) for name in names)
    same = {name: int(match[2]) for name, match in split if match and match.group(1, 3) == wanted.group(1, 3)}
    return sorted(sorted(same), key=lambda name: abs(same[name] - int(wanted[2])))


def either(names: Iterable[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def many(count: int, noun: str) -> str:
    """`1 rate`, `1,234 rates`; a noun of several words ends in the one that is counted."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


class Guesses:
    """Says of unknown names which known ones are meant: nearest names are looked for a few times, then no more.

    One for all the names of a request keeps a request that is full of wrong names as cheap as one with a slip.
    """

    def __init__(self) -> None:
        self._searches = MOST_SEARCHES
        self._messages: dict[tuple[str, str], str] = {}

    def unknown(
        self, what: str, text: str, names: Iterable[str], where: str, instead: Mapping[str, str] | None = None
    ) -> str:
        """Says that a name is unknown and which known ones come nearest, or else where to find them all.

        `instead` has a better name to suggest for some of the known ones.
        """
        if (what, text) not in self._messages:
            near = list(dict.fromkeys((instead or {}).get(name, name) for name in self.nearest(text, names)))
            hint = f"did you mean {either(near)}?" if near else where
            self._messages[what, text] = f"unknown {what} {clip(text)}: {hint}"
        return self._messages[what, text]

    def unknown_parameter(self, what: str, name: str, fields: Collection[str], where: str) -> str:
        """Says that a parameter (or column) is unknown, and which of these fields is meant, looks like it, or where they are."""
        named = called(name)
        if not named:
            return self.unknown(what, name, fields, where)
        meant = [field for field in named if field in fields]
        return f"unknown {what} {clip(name)}: " + (f"did you mean {either(meant)}?" if meant else where)

    def nearest(self, text: str, names: Iterable[str]) -> list[str]:
        """The nearest known names; none once enough has been looked for."""
        self._searches -= 1
        return nearest(text, names) if self._searches >= 0 else []


def unknown(what: str, text: str, names: Iterable[str], where: str) -> str:
    """The message about a single unknown name."""
    return Guesses().unknown(what, text, names, where)
