"""What people type after `/cost`, read as the HTTP parameters it stands for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from api.questions.spellings import term
from api.slack.vocabulary import FILLERS, Vocabulary

LONGEST_TEXT = 2000
MOST_UNKNOWN = 3
AMOUNT = r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?|\.\d+"  # 1,200.50 or, with a decimal comma, 4,5
MOST = r"(?:within|in|under|below|less than|at most|max(?:imum)?|up to|for|<=?)"
END = r"(?=[\s,;]|$)"
HOURS_IN = {"m": Decimal(1) / 60, "h": Decimal(1), "d": Decimal(24), "w": Decimal(168)}
SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
FRACTIONS = frozenset({"target", "confidence", "utilization"})
_QUOTES = str.maketrans("“”„«»‘’", '"""""' + "''")


class Misread(ValueError):
    """Words that mean nothing to us; each message says what to type."""

    def __init__(self, messages: list[str]) -> None:
        super().__init__("; ".join(messages))
        self.messages = messages


@dataclass
class Reading:
    """What has been understood so far."""

    arguments: dict[str, list[str]] = field(default_factory=dict)
    shared: bool = False
    unknown: list[str] = field(default_factory=list)

    def add(self, name: str, value: str) -> None:
        """One more value of a parameter; the same value again says nothing new."""
        values = self.arguments.setdefault(name, [])
        if value not in values:
            values.append(value)


def read(text: str, words: Vocabulary) -> Reading:
    """The parameters in a text. Raises Misread naming the nearest word for what is not understood."""
    if len(text) > LONGEST_TEXT:
        raise Misread([f"that is {len(text)} characters: write at most {LONGEST_TEXT}"])
    reading, place = Reading(), 0
    plain = _plain(text)
    while place < len(plain):
        place = _step(plain, place, words, reading)
    if reading.unknown and "model" not in reading.arguments:
        reading.add("model", reading.unknown.pop(0))
    if reading.unknown:
        raise Misread([words.complaint(word) for word in reading.unknown[:MOST_UNKNOWN]])
    return reading


def _plain(text: str) -> str:
    """Slack escapes three signs and its clients curl quotes."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").translate(_QUOTES)


def _step(text: str, place: int, words: Vocabulary, reading: Reading) -> int:
    gap = _GAP.match(text, place)
    if gap and gap.end() > place:
        return gap.end()
    for pattern, understand in RULES:
        found = pattern.match(text, place)
        if found:
            understand(reading, found)
            return found.end()
    return _counted(text, place, words, reading) or _named(text, place, words, reading)


def _counted(text: str, place: int, words: Vocabulary, reading: Reading) -> int:
    """`8 H100`, `8xH100`: a number of accelerators, then their name."""
    count = _COUNT.match(text, place)
    named = words.find(text, count.end(), ("accelerator",)) if count else None
    if not (count and named):
        return 0
    reading.add("accelerators", count[1])
    reading.add("accelerator", named.value)
    return named.end


def _named(text: str, place: int, words: Vocabulary, reading: Reading) -> int:
    """A number is the target, a known name its parameter, a filler nothing; all else is unknown."""
    word = _WORD.match(text, place)
    assert word is not None
    named = words.find(text, place)
    if _NUMBER.fullmatch(word[0]) and not (named and named.end > word.end()):
        reading.add("target", word[0])
        return word.end()
    if named:
        reading.add(named.parameter, named.value)
        return named.end
    if word[0].casefold() not in FILLERS and not _ORNAMENT.fullmatch(word[0]):
        reading.unknown.append(word[0])
    return word.end()


def _pair(reading: Reading, found: re.Match[str]) -> None:
    name, value = found[1].lower().replace("-", "_"), found[2].strip("\"'")
    if name == "share":
        reading.shared = value.lower() in ("true", "yes", "1")
        return
    percent = re.fullmatch(rf"({AMOUNT})%", value)
    reading.add(name, _fraction(percent[1]) if percent and name in FRACTIONS else _discount(name, value))


def _discount(name: str, value: str) -> str:
    """`discount=aws:12%` is 0.12 too."""
    if name != "discount":
        return value
    return re.sub(rf"({AMOUNT})%", lambda found: _fraction(found[1]), value)


def _fraction(percent: str) -> str:
    return f"{(_number(percent) / 100).normalize():f}"


def _number(amount: str) -> Decimal:
    """A comma before three digits groups thousands, unless a zero leads; any other is a decimal comma."""
    grouped = re.fullmatch(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", amount)
    return Decimal(amount.replace(",", "" if grouped else "."))


def _decimal_comma(reading: Reading, found: re.Match[str]) -> None:
    reading.add("target", found[1].replace(",", "."))


def _share(reading: Reading, _: re.Match[str]) -> None:
    reading.shared = True


def _percent(name: str) -> Callable[[Reading, re.Match[str]], None]:
    return lambda reading, found: reading.add(name, _fraction(found[1]))


def _same(name: str) -> Callable[[Reading, re.Match[str]], None]:
    return lambda reading, found: reading.add(name, found[1])


def _top(reading: Reading, found: re.Match[str]) -> None:
    reading.add("metric", f"top{found[1]}")


def _hours(reading: Reading, found: re.Match[str]) -> None:
    hours = _number(found[1]) * HOURS_IN[found[2][0].lower()]
    reading.add("max_hours", f"{float(hours):.12g}")


def _money(reading: Reading, found: re.Match[str]) -> None:
    groups = found.groupdict()
    amount = _number(groups["amount"]) * (1000 if groups["thousand"] else 1)
    reading.add("max_cost", f"{amount.normalize():f}")
    code = SIGNS.get(groups.get("sign") or "$", "USD")
    word = (groups.get("code") or code).upper()
    code = {"DOLLARS": "USD", "DOLLAR": "USD", "EUROS": "EUR", "EURO": "EUR"}.get(word, word)
    if code != "USD":
        reading.add("currency", code)


def _term(reading: Reading, found: re.Match[str]) -> None:
    reading.add("term", term(found[1]) or found[1])


def _unit_missing(reading: Reading, found: re.Match[str]) -> None:
    raise Misread([f'"{found[0]}": write under ${found[1]} or within {found[1]}h'])


def _rules() -> Iterator[tuple[re.Pattern[str], Callable[[Reading, re.Match[str]], None]]]:
    texts: Iterable[tuple[str, Any]] = (
        (r"([A-Za-z_][\w-]*)\s*=\s*(\"[^\"]*\"|'[^']*'|\S*)", _pair),
        (rf"share{END}", _share),
        (rf"top[-_ ]?([15]){END}", _top),
        (rf"{MOST}\s*({AMOUNT})\s*(h|hrs?|hours?|m|mins?|minutes?|d|days?|w|weeks?){END}", _hours),
        (rf"{MOST}?\s*(?P<sign>[$€£¥])\s*(?P<amount>{AMOUNT})(?P<thousand>k?){END}", _money),
        (rf"{MOST}\s*(?P<amount>{AMOUNT})(?P<thousand>k?)\s*(?P<code>usd|dollars?|eur|euros?|gbp|chf|jpy|cad|aud){END}", _money),
        (rf"(?:under|below|less than|at most|max(?:imum)?|up to|within|<=?)\s*({AMOUNT}){END}", _unit_missing),
        (rf"({AMOUNT})\s*%\s*(?:discount|off){END}", _percent("discount")),
        (rf"({AMOUNT})\s*%\s*(?:confidence|sure){END}", _percent("confidence")),
        (rf"({AMOUNT})\s*%\s*utili[sz](?:ation|ed){END}", _percent("utilization")),
        (rf"({AMOUNT})\s*%", _percent("target")),
        (rf"(0,\d+){END}", _decimal_comma),
        (rf"((?:\d{{1,4}}|one|two|three|five)[\s-]*(?:y|yrs?|years?|mos?|months?)){END}", _term),
        (r"(?:as of |on )?(\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?)" + END, _same("as_of")),
        (rf"(\d+)\s*(?:accelerators?|gpus?|tpus?|chips?){END}", _same("accelerators")),
        (rf"(\d+)\s*(?:nodes?|machines?|instances?|servers?){END}", _same("nodes")),
        (rf"(\d+)\s*runs?{END}", _same("runs")),
    )  # fmt: skip
    for text, understand in texts:
        yield re.compile(text, re.IGNORECASE), understand


RULES = tuple(_rules())
_GAP = re.compile(r"[\s,;]+")
_WORD = re.compile(r"[^\s,;]+")
_COUNT = re.compile(r"(\d{1,7})\s*[x×*]?\s*", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")
_ORNAMENT = re.compile(r"[^\w<>@#]+|:[\w+-]+:")  # signs and emoji, as themselves or as Slack spells them
