"""Rules for what tells of a training beside its network: tokens, examples, images, its size, the time that it took."""

from __future__ import annotations

import re
from decimal import Decimal

from api.questions import amounts
from api.questions.amounts import COUNTS, NUMBER, SPAN, plain
from api.questions.words.patterns import ABOUT, COUNT_WORDS, END, MOST, Match, N
from api.questions.words.scan import MACHINE, Scan, asks
from api.questions.words.tables import units

SCALES = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
TOOK = (
    "hours taken are no limit; what they cost, and what such a training takes elsewhere, is answered of a machine and without a "
    "network: 3 days on 8 A100-80GB; for a limit write within {}"
)
CHIP_TIME = (
    "time of accelerators cannot be a limit; write dollars, or hours on a number of them, as in 8 A100 within 60 hours"
)
LENGTH = "the length of sequences is that of each task"
MINUTES = "minutes or millions? Write 30 minutes, or what there are a million of"
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+")
_MACHINE = re.compile(rf"{N}[\s-]*[x×*]?\s*|(?:an?|one|single|the|my|our|some)\s+|(?=[a-z])", re.IGNORECASE)
_TARGET = re.compile(r"%|\bpercent\b", re.IGNORECASE)


def amount_of(text: str, scale: str | None) -> Decimal:
    """A number of things: 50.000 are fifty thousand."""
    if text.casefold() in COUNTS:
        return Decimal(COUNTS[text.casefold()])
    amount = amounts.number(text.replace(".", "") if not scale and _THOUSANDS.fullmatch(text) else text)
    assert amount is not None
    letter = (scale or " ").casefold().replace("thousand", "k")[0]
    return amount * SCALES.get(letter, 1)


def _quantity(scan: Scan, match: Match) -> bool:
    """A number of what a unit counts, by the parameter that takes it; where none does, the unit says what to type."""
    unit = units()[" ".join(match["unit"].casefold().split())]
    amount = amount_of(match["amount"], match["scale"])
    if unit.parameter:
        scan.add(unit.parameter, plain(amount / unit.per if match["scale"] else amount))
    return not unit.message or scan.ask(match[0], unit.message)


def _length(scan: Scan, match: Match) -> bool:
    return scan.add("length", plain(amount_of(match["amount"], match["scale"]))) and scan.ask(match[0], LENGTH)


def _billions(scan: Scan, match: Match) -> bool:
    """`7B`, of a language model, in millions."""
    return scan.add(f"{ABOUT}parameters", plain(amount_of(match["amount"], match["scale"]) / 10**6))


def _took(scan: Scan, match: Match) -> bool:
    """Hours that a training took, which limit none."""
    hours = amounts.hours(match["span"])
    return hours is not None and scan.add("took", plain(hours)) and scan.ask(match["span"], TOOK.format(match["span"]))


def _on_machines(scan: Scan, match: Match) -> bool:
    """`3 days on 8 A100` says what a training took where no accuracy tells of one to come."""
    count = _MACHINE.match(scan.text, match.end())
    named = count and scan.words.find(scan.text, count.end(), MACHINE)
    is_to_come = "target" in scan.reading.values or _TARGET.search(scan.text)
    return bool(named) and not is_to_come and _took(scan, match)


_AMOUNT = (
    rf"(?P<amount>{NUMBER}|{COUNT_WORDS})\s*(?P<scale>k|thousand|mn?|mio\.?|millions?|bn?|billions?|t|trillions?)?"
)
_OF = (
    r"(?:(?:of\s+)?(?:my|our|your|the|own|training|text|labell?ed|train|jpeg|medical|x-ray|new|such|different|"
    r"(?:[a-z][\w/-]*\s+(?=pairs|examples|prompts)))\s+)*"
)
_UNIT = "|".join(sorted((re.escape(word).replace("\\ ", r"\s+") for word in units()), key=len, reverse=True))
_NO_PIECE = (
    r"(?!\s*(?:/|(?:per|each|an?\s+(?:s|sec|second|minute|hour|day|night|week|month)|max(?:imum)?|tops|at\s+most)\b))"
)
_TOKENS = r"(?:tokens?|toks?)"
_SPAN = rf"(?P<span>{SPAN})"
_TAKES = (
    r"(?:took|takes|taking|needed|needs|lasted|lasts|required|ran|running|trained(?:\s+(?:it|this|that|for|in|over))*|spent|after|used)"
    r"(?:\s+(?:me|us|them|it|this|that|about|around|roughly|some|for|over|a|total|of|up|almost|nearly|exactly))*"
)
_NO_LIMIT = r"(?!\s*(?:max|tops|at\s+most|or\s+(?:less|faster|sooner)))"
QUANTITIES = (
    (rf"{SPAN}\s+of\s+(?:\w+[\s-]+)?(?:(?:gpu|tpu|chip|card|accelerator|machine)s?[\s-]*)?(?:time|compute|usage|use){END}",
     asks(CHIP_TIME)),
    (rf"(?:storage|store|storing)\s+(?:of\s+)?(?P<gb>{NUMBER})\s*gi?b{END}",
     lambda scan, match: scan.add("storage_gb", match["gb"])),
    (rf"(?:may|can|could|should|must|to)\s+(?:only\s+)?(?:take|run|last)\s+(?:for\s+)?(?={SPAN})".replace("?P<", "?P<to_"),
     lambda scan, match: True),
    (rf"{_TAKES}\s+(?!{MOST}){_SPAN}{END}{_NO_LIMIT}", _took),
    (rf"{_TAKES}\s+(?:an?|{N})[\s-]*(?:months?|years?){END}", asks(TOOK.format("3 days"), stops=True)),
    (rf"{_SPAN}(?:[\s-]+(?:long|of|training|run|job))*\s+(?:on|with|using)\s+", _on_machines),
    (rf"(?:of\s+)?{_AMOUNT}[\s-]*{_TOKENS}\s+(?:each|long|apiece|per\s+[a-z]+){END}", _length),
    (rf"(?:sequence|seq|context|ctx)[\s-]*(?:length|len|window|size)?\s*(?:of|=|:|is)?\s*{_AMOUNT}(?:\s*{_TOKENS})?{END}",
     _length),
    (rf"{_AMOUNT}[\s-]*(?:{_TOKENS}\s+)?(?:(?:context|ctx|sequences?|seq)[\s-]*(?:length|len|window)|context|ctx){END}", _length),
    (rf"(?:for\s+|on\s+|over\s+)?{_AMOUNT}[\s-]*{_OF}(?P<unit>{_UNIT}){END}{_NO_PIECE}", _quantity),
    (rf"(?P<amount>{NUMBER})\s*(?P<scale>bn?|billion)(?:[\s-]*(?:model|network|llm))?{END}(?!\s*(?:dollars?|usd|euros?|eur)\b)",
     _billions),
    (rf"{NUMBER}\s*k?(?-i:W){END}", asks(units()["watts"].message)),
    (rf"{NUMBER}\s*(?-i:M)(?!\w)(?!\s*(?:param|dollar|usd|eur))", asks(MINUTES)),
    (rf"{NUMBER}\s*m\s+(?!on\b|in\b|at\b|with\b|using\b|and\b|or\b|for\b|to\b|under\b|within\b|budget\b|max\b|top|param|old\b|long\b|by\b|from\b|"
     r"without\b|no\b|not\b|ago\b|dollar|usd|eur|spot\b|cheap)[a-z]{2,}", asks(MINUTES)),
)  # fmt: skip
