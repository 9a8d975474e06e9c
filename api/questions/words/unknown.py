"""Words that nobody knows: misspelt ones are read as the known word, of all others it is asked what is meant."""

from __future__ import annotations

import re

from api.questions.amounts import COUNTS
from api.questions.suggestions import either
from api.questions.words.leaving_out import go_on
from api.questions.words.reading import MOST_ASKED
from api.questions.words.scan import WORD, Scan
from costcalc.evidence.published_runs import published_as
from pricing.packaged.providers import known_provider

_WHERE = re.compile(
    r"\b(?:on|in|near|from|around|at|region|location|inside|outside)\s+(?:(?:the|new|san|los|st)\s+)?$", re.IGNORECASE
)
_WHEN = re.compile(r"\b(?:by|before|until|till|since|after|in)\s+(?:an?\s+|the\s+)?$", re.IGNORECASE)
_PERCENT_OF = re.compile(r"%\s*(?:of\s+)?$")  # something else than an accuracy
_ORNAMENT = re.compile(r"[^\w<>@#]+|:[\w+-]+:")  # signs and emoji, as themselves or as Slack spells them


def unknown(scan: Scan) -> bool:
    """Reads the word here as a known one, or asks about it."""
    match = WORD.match(scan.text, scan.place)
    assert match is not None
    word, end = match[0], match.end()
    if _ORNAMENT.fullmatch(word):
        scan.place = end
    elif not scan.negated and not scan.words.family(word) and (recipes := scan.words.recipes_of(word)):
        scan.add("recipe", recipes)
        scan.place, scan.mine = end, False
    elif correction := _corrected(scan, word):
        scan.put_in_place(end, correction)
        scan.reading.corrected.append((word, correction))
    else:
        _ask(scan, word)
        scan.place, scan.mine = end, False
        go_on(scan) if scan.negated else None
    return True


def _ask(scan: Scan, word: str) -> None:
    """Asks about a word; it stops the answer where it is a condition."""
    before = any(pattern.search(scan.text, 0, scan.place) for pattern in (_WHERE, _WHEN, _PERCENT_OF))
    named = known_provider(word) or scan.words.family(word)
    is_condition = scan.negated or before or named or not word.isascii()
    scan.ask(f"{scan.negated} {word}", _hint(scan, word), bool(is_condition) or None)


def _corrected(scan: Scan, word: str) -> str | None:
    """The known word meant; none if another word was already read as it, or after too many unknown words."""
    reading = scan.reading
    corrections = {correction for _, correction in reading.corrected}
    if len(reading.asked) >= MOST_ASKED or word.casefold() in COUNTS or word in corrections:
        return None
    return scan.words.corrected(word, bool(_WHERE.search(scan.text, 0, scan.place)))


def _hint(scan: Scan, word: str) -> str:
    if len(scan.reading.asked) >= MOST_ASKED:
        return "not understood"
    if family := scan.words.family(word):
        return f"which one? Write {', '.join(family[:3])}" + " or another of that name" * (len(family) > 3)
    if provider := known_provider(word):
        return f"no rate of {provider.name} is stored" + f"; {provider.page} has today's" * bool(provider.page)
    if run := published_as(word):
        return f"a published run has this name; ask what it cost with model={run.name}"
    near = scan.words.nearest(word)
    return f"not understood; did you mean {either(near)}?" if near else "not understood"
