"""Numbers without a unit: an accuracy, a year, accelerators once more; or a number of nobody knows what."""

from __future__ import annotations

import re
from decimal import Decimal

from api.questions.amounts import NUMBER, number
from api.questions.words.kinds import kinds
from api.questions.words.patterns import Match, compiled
from api.questions.words.scan import WORD, Scan

NUMBER_OF = "a number of what? Write for example 76%, 8 GPUs, under $50 or within 8 hours"
LEAST_SECOND = 50
BETWEEN_TARGETS = frozenset(["to", "or", "and", "then", "than", "vs", "versus", "against"])
USUAL_COUNTS = frozenset(["1", "2", "3", "4", "6", "8", "16"])
LAST_WORD = re.compile(r"([\w']+)\s*$")
_AGAIN = re.compile(r"\b(?:or|vs\.?|versus|and)(?:\s+(?:are|is|with|on|do|would|will|just|only))*\s+$", re.IGNORECASE)
_BARE = compiled(rf"[+-]?{NUMBER}")


def bare_number(scan: Scan) -> bool:
    """Reads a bare number as what it can be here, or asks about it."""
    bare = _BARE.match(scan.text, scan.place)
    value = number(bare[0]) if bare else None
    if not bare or value is None:
        return False
    scan.place, scan.mine = bare.end(), False
    if value >= 1 and _counts_something(scan, bare, value):
        return scan.ask(bare[0], NUMBER_OF)
    if _may_be_target(scan, bare[0], value):
        return scan.add("target", bare[0].replace(",", "."))
    if _is_year(scan, bare[0]):
        return scan.add("as_of", bare[0])
    if bare[0] in USUAL_COUNTS and _counts_again(scan, bare):
        return scan.count("accelerators", int(bare[0]))
    return scan.ask(bare[0], NUMBER_OF)


def _counts_something(scan: Scan, bare: Match, value: Decimal) -> bool:
    """Whether a number stands beside a word that nobody knows, `50 trials` or `epoch 60`: it is no accuracy."""
    before, asked = scan.text[: bare.start()].rstrip(), scan.reading.asked
    if not _may_be_percent(scan, value) and scan.is_of(bare.end() + 1, "unasked"):
        return True
    word = WORD.match(scan.text, bare.end() + 1)
    return bool(asked and before.endswith(asked[-1].about)) or bool(
        word and word[0].isalpha() and not _is_known(scan, word)
    )


def _is_known(scan: Scan, word: Match) -> bool:
    place = word.start()
    of_a_kind = any(match.end() > place for kind in kinds() if (match := kind.pattern.match(scan.text, place)))
    return of_a_kind or bool(scan.find(place) or scan.words.corrected(word[0], may_be_place=False))


def _may_be_target(scan: Scan, text: str, value: Decimal) -> bool:
    is_next = "target" not in scan.reading.values or _continues(scan, value)
    is_own = any(map(scan.words.has_own_target, scan.reading.values.get("model", ()))) and not _is_year(scan, text)
    return (0 < value < 1 and is_next) or _may_be_percent(scan, value) or is_own


def _may_be_percent(scan: Scan, value: Decimal) -> bool:
    """An accuracy, or another one: `to 76 and then to 78`."""
    is_next = "target" not in scan.reading.values or (value >= LEAST_SECOND and _continues(scan, value))
    return 20 <= value < 100 and is_next


def _continues(scan: Scan, value: Decimal) -> bool:
    before = LAST_WORD.search(scan.text, 0, scan.text.rfind(f"{value}", 0, scan.place))
    return before is not None and before[1].casefold() in BETWEEN_TARGETS


def _is_year(scan: Scan, text: str) -> bool:
    return text.isdigit() and 2012 <= int(text) <= scan.today.year


def _counts_again(scan: Scan, bare: Match) -> bool:
    """Whether a bare number is another one of the accelerators before: `do I need 8 GPUs or are 4 enough`."""
    last = scan.reading.machines[-1] if scan.reading.machines else {}
    again = "accelerators" in last and _AGAIN.search(scan.text, 0, bare.start())
    if again:
        scan.reading.machines.append({**last, "accelerators": [bare[0]]})
    return bool(again)
