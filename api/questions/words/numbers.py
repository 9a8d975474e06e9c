"""Numbers without a unit: an accuracy, a year; or a number of nobody knows what."""

from __future__ import annotations

from api.questions.amounts import NUMBER, number
from api.questions.words.kinds import kinds
from api.questions.words.patterns import compiled
from api.questions.words.scan import WORD, Scan

NUMBER_OF = "a number of what? Write for example 76%, 8 GPUs, under $50 or within 8 hours"
_BARE = compiled(rf"[+-]?{NUMBER}")


def bare_number(scan: Scan) -> bool:
    """Reads a bare number as what it can be here, or asks about it."""
    bare = _BARE.match(scan.text, scan.place)
    value = number(bare[0]) if bare else None
    if not bare or value is None:
        return False
    scan.place, scan.mine = bare.end(), False
    is_next = "target" not in scan.reading.values and (value < 1 or not _counts_something(scan))
    is_year = bare[0].isdigit() and 2012 <= value <= scan.today.year
    is_own = any(map(scan.words.has_own_target, scan.reading.values.get("model", ()))) and not is_year
    if is_next and value > 0 and (value < 1 or 20 <= value < 100 or is_own):
        return scan.add("target", bare[0].replace(",", "."))
    if is_year and not _counts_something(scan):
        return scan.add("as_of", bare[0])
    return scan.ask(bare[0], NUMBER_OF)


def _counts_something(scan: Scan) -> bool:
    """Whether the number that ends here stands beside a word that nobody knows, `50 trials` or `epoch 60`: it is no accuracy."""
    asked, word = scan.reading.asked, WORD.match(scan.text, scan.place + 1)
    before = scan.text[: scan.place].rpartition(" ")[0].rstrip()
    if asked and asked[-1].about and before.endswith(asked[-1].about):
        return True
    return bool(word and word[0].isalpha()) and not _is_known(scan, scan.place + 1, word[0] if word else "")


def _is_known(scan: Scan, place: int, word: str) -> bool:
    of_a_kind = any(match.end() > place for kind in kinds() if (match := kind.pattern.match(scan.text, place)))
    return of_a_kind or bool(scan.find(place) or scan.words.corrected(word))
