"""Rules for what tells of a training beside its network: tokens, examples, images, its size, the time that it took."""

from __future__ import annotations

import re
from decimal import Decimal

from api.questions import amounts
from api.questions.amounts import NUMBER, SPAN, plain
from api.questions.words.patterns import ABOUT, END, MOST, Match, N, asks
from api.questions.words.scan import MACHINE, Scan, Understand

UNITS = {"k": 10**3, "thousand": 10**3, "m": 10**6, "mn": 10**6, "mio": 10**6, "million": 10**6, "millions": 10**6,
         "b": 10**9, "bn": 10**9, "mrd": 10**9, "billion": 10**9, "billions": 10**9, "t": 10**12, "trillion": 10**12}  # fmt: skip
TOOK = (
    "hours taken are no limit: what so long a training costs today or elsewhere is not estimated; "
    "name its network and its accuracy, or write within and the hours for a limit"
)
BY_TOKENS = (
    "trainings are not estimated by tokens; costcalc tasks lists the language models, each with the target of its task"
)
BY_EXAMPLES = "trainings are not estimated by examples of text; costcalc tasks lists the language models"
CHIP_TIME = (
    "time of accelerators cannot be a limit; write dollars, or hours on a number of them, as in 8 A100 within 60 hours"
)
WATTS = "own_watts= says what a machine of your own draws"
LENGTH = "the length of sequences is that of each task"
MINUTES = "minutes or millions? Write 30 minutes, or what there are a million of"
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+")
_MACHINE = re.compile(rf"{N}[\s-]*[x×*]?\s*|(?:an?|one|single|the|my|our|some)\s+|(?=[a-z])", re.IGNORECASE)
_TARGET = re.compile(r"%|\bpercent\b", re.IGNORECASE)


def counted_in_units(text: str, unit: str | None) -> Decimal:
    """A number of things: 50.000 are fifty thousand."""
    amount = amounts.number(text.replace(".", "") if not unit and _THOUSANDS.fullmatch(text) else text)
    assert amount is not None
    return amount * UNITS.get((unit or "").casefold().rstrip("."), 1)


def _quantity(name: str, message: str = "", per: int = 1) -> Understand:
    """A quantity by the name of its parameter; where nothing takes it, `message` says what to type."""

    def understand(scan: Scan, match: Match) -> bool:
        scan.add(name, plain(counted_in_units(match["amount"], match["unit"]) / per))
        return not message or scan.ask(match[0], message)

    return understand


def _examples(scan: Scan, match: Match) -> bool:
    if match["length"]:
        scan.add("length", plain(counted_in_units(match["length"], match["long"])))
    return _quantity("examples", BY_EXAMPLES)(scan, match)


def _took(scan: Scan, match: Match) -> bool:
    """Hours that a training took, which limit none."""
    hours = amounts.hours(match["span"])
    return hours is not None and scan.add("took", plain(hours)) and scan.ask(match[0], TOOK)


def _on_machines(scan: Scan, match: Match) -> bool:
    """`3 days on 8 A100` says what a training took where no accuracy tells of one to come."""
    count = _MACHINE.match(scan.text, match.end())
    named = count and scan.words.find(scan.text, count.end(), MACHINE)
    is_to_come = "target" in scan.reading.values or _TARGET.search(scan.text)
    return bool(named) and not is_to_come and _took(scan, match)


_UNIT = r"(?P<unit>k|thousand|m|mn|mio\.?|millions?|b|bn|mrd\.?|billions?|t|trillion)?"
_AMOUNT = rf"(?P<amount>{NUMBER})\s*{_UNIT}"
_LONG = _AMOUNT.replace("?P<amount>", "?P<length>").replace("?P<unit>", "?P<long>")
_TOKENS = r"(?:training\s+|text\s+)?(?:tokens?|toks?)"
_TEXTS = (
    r"(?:[a-z][\w/-]*\s+)?(?:pairs|examples|prompts|documents|docs|conversations|dialogues?|dialogs|instructions|sequences|"
    r"sentences|rows|records|questions|preferences|completions|rollouts|demonstrations|articles|pages|chats|messages)"
)
_IMAGES = r"(?:images|imgs|samples|pictures|photos|pics|scans|slices|frames)"
_OWN = r"(?:(?:of\s+)?(?:my|our|your|the|own|training|labell?ed|train|jpeg|medical|x-ray|new|such|different)\s+)*"
_SPAN = rf"(?P<span>{SPAN})"
_TAKES = (
    r"(?:took|takes|taking|needed|needs|lasted|lasts|required|ran|running|trained(?:\s+(?:it|this|that|for|in|over))*|spent|after|used)"
    r"(?:\s+(?:me|us|them|it|this|that|about|around|roughly|some|for|over|a|total|of|up|almost|nearly|exactly))*"
)
_NO_LIMIT = r"(?!\s*(?:max|tops|at\s+most|or\s+(?:less|faster|sooner)))"
QUANTITIES = (
    (rf"{NUMBER}\s*(?:k?(?-i:W)|watts?|kilowatts?){END}", asks(WATTS)),
    (rf"{SPAN}\s+of\s+(?:\w+[\s-]+)?(?:(?:gpu|tpu|chip|card|accelerator|machine)s?[\s-]*)?(?:time|compute|usage|use){END}",
     asks(CHIP_TIME)),
    (rf"(?:storage|store|storing)\s+(?:of\s+)?(?P<amount>{NUMBER})\s*(?P<unit>)gi?b{END}", _quantity("storage_gb")),
    (rf"(?P<amount>{NUMBER})\s*(?P<unit>)gi?b\s+(?:of\s+)?storage{END}", _quantity("storage_gb")),
    (rf"(?:may|can|could|should|must|to)\s+(?:only\s+)?(?:take|run|last)\s+(?:for\s+)?(?={SPAN})".replace("?P<", "?P<to_"),
     lambda scan, match: True),
    (rf"{_TAKES}\s+(?!{MOST}){_SPAN}{END}{_NO_LIMIT}", _took),
    (rf"{_TAKES}\s+(?:an?|{N})[\s-]*(?:months?|years?){END}", asks(TOOK, stops=True)),
    (rf"{_SPAN}(?:[\s-]+(?:long|of|training|run|job))*\s+(?:on|with|using)\s+", _on_machines),
    (rf"{_AMOUNT}\s*{_OWN}{_TEXTS}(?:\s+(?:of|with|at|x)\s+{_LONG}[\s-]*{_TOKENS})?{END}", _examples),
    (rf"{_AMOUNT}[\s-]*{_TOKENS}\s+(?:each|long|apiece|per\s+[a-z]+){END}", _quantity("length", LENGTH)),
    (rf"(?:sequence|seq|context|ctx)[\s-]*(?:length|len|window|size)?\s*(?:of|=|:|is)?\s*{_AMOUNT}(?:\s*{_TOKENS})?{END}",
     _quantity("length", LENGTH)),
    (rf"{_AMOUNT}[\s-]*(?:{_TOKENS}\s+)?(?:context|ctx|sequences?|seq)[\s-]*(?:length|len|window)?{END}",
     _quantity("length", LENGTH)),
    (rf"(?!(?:per|/|each|every)\b)(?:for\s+|on\s+|over\s+)?{_AMOUNT}\s*(?:of\s+)?{_TOKENS}{END}", _quantity("tokens", BY_TOKENS)),
    (rf"{_AMOUNT}\s*{_OWN}{_IMAGES}(?!\s*(?:/|per|a|an|each)\b){END}", _quantity(f"{ABOUT}samples_per_epoch")),
    (rf"(?P<amount>{NUMBER})\s*(?P<unit>b|bn|billion)[\s-]*(?:param(?:eter)?s?(?:\s+(?:model|network))?|model|network|llm){END}",
     _quantity(f"{ABOUT}parameters", per=10**6)),
    (rf"(?P<amount>{NUMBER})\s*(?P<unit>b|bn|billion){END}(?!\s*(?:dollars?|usd|euros?|eur|pounds?)\b)",
     _quantity(f"{ABOUT}parameters", per=10**6)),
    (rf"{NUMBER}\s*(?-i:M)(?!\w)(?!\s*(?:param|dollar|usd|eur))", asks(MINUTES)),
    (rf"{NUMBER}\s*m\s+(?!on\b|in\b|at\b|with\b|using\b|and\b|or\b|for\b|to\b|under\b|within\b|budget\b|max\b|top|param|old\b|long\b|by\b|from\b|"
     r"without\b|no\b|not\b|ago\b|dollar|usd|eur|spot\b|cheap)[a-z]{2,}", asks(MINUTES)),
)  # fmt: skip
