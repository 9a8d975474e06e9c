"""Readers of spans that tell of a training and its network: accuracies, hours it took; of any parameter by name; of amounts."""

from __future__ import annotations

import re
from decimal import Decimal

from api.questions import amounts
from api.questions.amounts import COUNTS, plain
from api.questions.schemas.training import CostSchema
from api.questions.suggestions import Guesses, called
from api.questions.words.patterns import Match, compiled
from api.questions.words.reading import LEAST_SHARE
from api.questions.words.scan import MACHINE, Scan

SCALES = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
PARAMETERS = CostSchema().fields
_THOUSANDS = compiled(r"[1-9]\d{0,2}(\.\d{3})+")
_MACHINE = compiled(r"({n}{dash}[x×*]? ?|(an?|one|single|the|my|our|some) |(?=[a-z]))...")
_PERCENT = re.compile(r"%|\bpercent\b", re.IGNORECASE)
_PAST = re.compile(
    r"\b(i|we|they|it|who|authors|team)( was| were| just| already)? ((pre)?trained|ran|fine-?tuned)\b", re.IGNORECASE
)


def put(name: str, scan: Scan, match: Match) -> bool:
    """The amount of a span as this parameter."""
    return scan.add(name, plain(_amount(match)))


def nothing(scan: Scan, match: Match) -> bool:
    """Words that say nothing more than what follows them."""
    scan.reading.ignored.append(match[0].strip())
    return True


def pair(scan: Scan, match: Match) -> bool:
    """Any parameter as name=value; names that people use for one of ours are that one."""
    name, value = match["name"].lower().replace("-", "_"), match["value"].rstrip(",;").strip("\"'")
    if name == "share":
        scan.reading.shared = value.lower() in ("true", "yes", "1")
        return True
    meant = [name] if name in PARAMETERS else [ours for ours in called(name) if ours in PARAMETERS]
    if len(meant) == 1:
        return scan.add(meant[0], value)
    message = Guesses().unknown_parameter("parameter", name, PARAMETERS, "the reference lists all of them")
    return scan.ask(match[0], message)


def target(scan: Scan, match: Match) -> bool:
    """An accuracy. A low one stays a percentage until it is clear whether the network has a metric in which it means more."""
    least = share(match)
    if not 0 < least <= 1:
        return scan.ask(match[0], "an accuracy must be above 0 and at most 100%")
    return scan.add("target", plain(least) if least >= LEAST_SHARE else f"{match['percent']}%")


def error(scan: Scan, match: Match) -> bool:
    """An error, of a metric where it is named."""
    return (not match["top"] or top(scan, match)) and scan.add("target", plain(abs(1 - share(match))))


def top(scan: Scan, match: Match) -> bool:
    """The metric."""
    return scan.add("metric", f"top{ {'one': '1', 'five': '5'}.get(match['top'].lower(), match['top']) }")


def took(scan: Scan, match: Match) -> bool:
    """Hours that a training took, which limit none."""
    return put("took", scan, match)


def took_there(scan: Scan, match: Match) -> bool:
    """`3 days on 8 A100` says what a training took where no accuracy tells of one to come."""
    count = _MACHINE.match(scan.text, match.end())
    is_to_come = "target" in scan.reading.values or _PERCENT.search(scan.text)
    return bool(count and scan.words.find(scan.text, count.end(), MACHINE)) and not is_to_come and took(scan, match)


def was_trained(scan: Scan, match: Match) -> bool:
    """`we trained it on 8 A100 for 3 days` says what that training took."""
    return bool(_PAST.search(scan.text[: match.start()])) and took(scan, match)


def share(match: Match) -> Decimal:
    """The fraction that a percentage is."""
    return (amounts.number(match["percent"]) or Decimal()) / 100


def amount_of(text: str, scale: str | None) -> Decimal:
    """A number of things: 50.000 are fifty thousand."""
    if text.casefold() in COUNTS:
        return Decimal(COUNTS[text.casefold()])
    amount = amounts.number(text.replace(".", "") if not scale and _THOUSANDS.match(text) else text)
    assert amount is not None
    letter = (scale or " ").casefold().replace("thousand", "k")[0]
    return amount * SCALES.get(letter, 1)


def _amount(match: Match) -> Decimal:
    """The amount of a span: a share, hours, or a number."""
    parts = match.groupdict()
    if parts.get("percent"):
        return share(match)
    if parts.get("span"):
        return amounts.hours(parts["span"]) or Decimal()
    if parts.get("amount"):
        return amount_of(parts["amount"], parts["scale"])
    return amounts.number(parts["n"]) or Decimal()
