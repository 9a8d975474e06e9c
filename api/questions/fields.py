"""Marshmallow fields for query parameters: each parses the texts of one parameter and describes it for OpenAPI."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any, ClassVar

from marshmallow import ValidationError, fields

from api.questions import amounts
from api.questions.spellings import Spellings, between_commas, term
from api.questions.suggestions import clip, either, unknown
from costcalc.parameters import Param
from costcalc.query import Discount, OwnRate
from costcalc.small_networks import SmallNetwork, WrongLayers, small_network
from costcalc.text import UNSEEN, is_line
from costcalc.training import OwnSpeed

LONGEST_VALUE = 100
MOST_VALUES = 200
FAR = 10**9
LAST_SECOND = time(23, 59, 59, tzinfo=UTC)
"""The last second of the day that a date means."""
TERMS = ("1mo", "3mo", "6mo", "1y", "2y", "3y", "5y")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_OWN_SPEED = re.compile(r"([^@]+)@\s*(\d{1,6})\s*[x×]\s*(\S.*)")
SCALES = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_SCALED = re.compile(r"(?P<count>[\d.,]+)\s*(?P<scale>[kmbt])(?:n|illion|rillion|housand)?", re.IGNORECASE | re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[ +-]\d\d:\d\d)?", re.ASCII)
_YEAR, _MONTH, _HOUR = r"(19|20)\d\d", "(0[1-9]|1[0-2])", r"([01]\d|2[0-3]):[0-5]\d"
_LEAP = "((19|20)([02468][48]|[13579][26]|[2468]0)|2000)"
_DAY = rf"({_YEAR}-({_MONTH}-(0[1-9]|1\d|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|{_LEAP}-02-29)"
_SHARE = r"(0?\.\d{1,9}|0|\d{1,2}(\.\d{1,9})?%)"
_POSITIVE = r"([1-9]\d{0,7}(\.\d{1,9})?|0\.\d{0,8}[1-9])"
_CODE = "[A-Za-z]{3}"
SHORT_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,47}")
_MOST = re.compile(r"(?:within|in|under|below|less than|at most|max(?:imum)?|up to|<=?)\s*", re.IGNORECASE)

JsonSchema = dict[str, Any]


def _spelt(*words: str) -> str:
    """A pattern of these words in any case, with the usual signs between their parts, or none."""
    return "|".join("".join(map(_sign, word)) if any(map(str.isalnum, word)) else re.escape(word) for word in words)


def _sign(sign: str) -> str:
    """A pattern of a sign of a word, in either case."""
    return f"[{sign.lower()}{sign.upper()}]" if sign.isalpha() else sign if sign.isalnum() else "[ _-]?"


class Parameter(fields.Field[Any]):
    """One parameter. `load` gets the list of its non-empty texts; subclasses parse a single one."""

    listed: ClassVar[bool] = False
    longest: ClassVar[int] = LONGEST_VALUE
    breaks: ClassVar[str] = ""  # that its text may have between lines
    choices: Collection[str] = ()  # the words that it takes, if these are few
    param: Param

    def __init__(self, meaning: str, example: object = None, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.meaning = meaning
        self.example = example

    def parse(self, text: str) -> Any:
        """The value of one text. Raises ValidationError saying what to type."""
        return text

    def schema(self) -> JsonSchema:
        seen = f"([^{UNSEEN}]|[{self.breaks}])" if self.breaks else f"[^{UNSEEN}]"
        text = {"type": "string", "pattern": f"^{seen}*$"}
        return text if self.listed else text | {"maxLength": self.longest}

    def _text_of(self, pattern: str) -> JsonSchema:
        """A text of this pattern, with blanks around it; where it is `listed`, several with commas between."""
        more = f"( *, *({pattern}))*" if self.listed else ""
        least = "" if self.required else "?"  # without a value it counts as not given
        return {"type": "string", "pattern": f"^ *(({pattern}){more} *){least}$"}

    def _deserialize(self, value: list[str], attr: str | None, data: Mapping[str, object] | None, **_: object) -> Any:
        if self.listed:
            return self._list(value)
        if len(value) > 1:
            raise ValidationError(f"given {len(value)} times: give it once")
        return self._one(value[0])

    def _list(self, texts: list[str]) -> tuple[Any, ...]:
        parts = between_commas(*texts)
        if len(parts) > MOST_VALUES:
            raise ValidationError(f"{len(parts)} values: give at most {MOST_VALUES}")
        return tuple(dict.fromkeys(self._one(part) for part in parts))

    def _one(self, text: str) -> Any:
        if len(text) > self.longest:
            raise ValidationError(f"{clip(text)} is too long: at most {self.longest:,} characters")
        if not is_line(text.translate(dict.fromkeys(map(ord, self.breaks)))):
            raise ValidationError(f"must be one line without invisible characters; got {clip(text)}")
        return self.parse(text)


class Text(Parameter):
    """Free text."""


class Word(Text):
    """A name of letters, digits and - . _ alone."""

    def parse(self, text: str) -> str:
        if not SHORT_WORD.fullmatch(text):
            raise ValidationError(
                f"must have at most 48 letters, digits and - . _, a letter or digit first; got {clip(text)}"
            )
        return text


class Sentence(Text):
    """A question in a sentence."""

    longest = 2000


class Layers(Text):
    """A small network by its layers."""

    longest = 1000

    def parse(self, text: str) -> SmallNetwork:
        try:
            return small_network(text)
        except WrongLayers as error:
            raise ValidationError(str(error)) from None


class Command(Text):
    """A line or a few for a shell."""

    longest = 2000
    breaks = "\t\n\r"


class Names(Parameter):
    """Several names. They are split later, because only the known names tell whether a comma is part of a name."""

    listed = True

    def _list(self, texts: list[str]) -> tuple[str, ...]:
        super()._list(texts)
        return tuple(texts)


class Choice(Parameter):
    """One of a few words; case and signs are ignored. `also` has other words for them."""

    choices: Mapping[str, Any]

    def __init__(self, choices: Iterable[Any], meaning: str, **keywords: Any) -> None:
        also: Mapping[str, str] = keywords.pop("also", {})
        super().__init__(meaning, **keywords)
        self.choices = {str(choice): choice for choice in choices}
        self.words = {choice: choice for choice in self.choices} | {
            word: choice for word, choice in also.items() if choice in self.choices
        }
        self._spellings = Spellings(self.words.items())

    def parse(self, text: str) -> Any:
        places = self._spellings.find(text)
        if len(places) != 1:
            raise ValidationError(unknown("value", text, self.choices, f"write {either(self.choices)}"))
        return self.choices[places[0]]

    def schema(self) -> JsonSchema:
        return {"anyOf": [{"type": "string", "enum": list(self.choices)}, self._text_of(_spelt(*self.words))]}


class Choices(Choice):
    """Several of a few words."""

    listed = True


LEAST = {True: "above {:g}", False: "of at least {:g}"}
BETWEEN = {
    (False, False): "from {:g} to {:.15g}",
    (False, True): "from {:g} below {:.15g}",
    (True, False): "above {:g} and up to {:.15g}",
    (True, True): "above {:g} and below {:.15g}",
}
"""Bounds in words, by whether the lower and the upper one are open."""
NOUNS: Mapping[type, str] = {int: "a whole number"}
TYPES: Mapping[type, str] = {int: "integer"}
MINIMUM = {True: "exclusiveMinimum", False: "minimum"}
MAXIMUM = {True: "exclusiveMaximum", False: "maximum"}


class Number(Parameter):
    """A number between two bounds, each open or closed; `kind` is int, float or Decimal. A share may be a percentage."""

    def __init__(self, kind: type, low: float, high: float, meaning: str, **keywords: Any) -> None:
        self.open_low = keywords.pop("open_low", False)
        self.open_high = keywords.pop("open_high", False)
        self.is_share = keywords.pop("is_share", False)
        super().__init__(meaning, **keywords)
        self.kind, self.low, self.high = kind, low, high

    def parse(self, text: str) -> Any:
        exact = self._read(text)
        if exact is None or not self._inside(float(exact)) or (self.kind is int and exact != exact.to_integral_value()):
            raise ValidationError(self._complaint(text))
        return self.kind(exact)

    def _read(self, text: str) -> Decimal | None:
        if _NUMBER.fullmatch(text):
            return Decimal(text)
        return amounts.share(text) if self.is_share and text.endswith("%") else amounts.number(text)

    def _inside(self, number: float) -> bool:
        on_edge = (self.open_low and number == self.low) or (self.open_high and number == self.high)
        return math.isfinite(number) and self.low <= number <= self.high and not on_edge

    def _complaint(self, text: str) -> str:
        """What it must be; nobody is told of a bound that is far away, and not exceeded."""
        exact, bounds = self._read(text), BETWEEN[self.open_low, self.open_high]
        if self.high >= FAR and not (exact and exact > FAR):
            bounds = LEAST[self.open_low]
        example = f", for example {self.example}" if self.example else ""
        wanted = f"{NOUNS.get(self.kind, 'a number')} {bounds.format(self.low, self.high)}"
        return f"must be {wanted}{example}; got {clip(text)}"

    def schema(self) -> JsonSchema:
        low, high = MINIMUM[self.open_low], MAXIMUM[self.open_high]
        number = {"type": TYPES.get(self.kind, "number"), low: self.low, high: self.high}
        return {"anyOf": [number, {"type": "string"}]} if self.listed else number


class NumberOrWord(Number):
    """A number, or a word that stands for one."""

    def __init__(self, words: Iterable[str], low: float, high: float, meaning: str, **keywords: Any) -> None:
        super().__init__(float, low, high, meaning, **keywords)
        self.words = tuple(words)

    def parse(self, text: str) -> Any:
        word = text.lower().replace("-", "_").replace("centre", "center")
        return word if word in self.words else super().parse(text)

    def _complaint(self, text: str) -> str:
        return f"{super()._complaint(text)}; {either(self.words)} stand for usual ones"

    def schema(self) -> JsonSchema:
        return {"anyOf": [super().schema(), {"type": "string", "enum": list(self.words)}, {"type": "string"}]}


class Cost(Number):
    """An amount of money, with or without its currency, which is then that of the answer."""

    def _read(self, text: str) -> Decimal | None:
        money = amounts.money(text)
        return money.amount if money else super()._read(text)


class Hours(Number):
    """A length of time: a number of hours, or one with its unit such as `2 days`."""

    def _read(self, text: str) -> Decimal | None:
        span = _MOST.sub("", text, count=1)
        hours = amounts.hours(span)
        return super()._read(span) if hours is None else hours


class Scaled(Number):
    """A count, with or without its scale: `50M` is fifty million."""

    unit: ClassVar[int] = 1

    def _read(self, text: str) -> Decimal | None:
        match = _SCALED.fullmatch(text)
        count = amounts.number(match["count"]) if match else None
        if match and count is not None:
            return count * SCALES[match["scale"].casefold()] / self.unit
        return super()._read(text)


class Millions(Scaled):
    """A count in millions, or with its own scale: `8B` is 8,000."""

    unit = 10**6


class Target(Number):
    """An accuracy: a fraction, or a percentage, with its sign or above 1."""

    def __init__(self, meaning: str, **keywords: Any) -> None:
        super().__init__(float, 0, 1, meaning, open_low=True, is_share=True, **keywords)

    def schema(self) -> JsonSchema:
        """A fraction or a percentage; a user's own run is asked about in its own metric, which may have any value."""
        share = {"type": "number", "exclusiveMinimum": 0, "maximum": 100}
        return {
            "anyOf": [share, {"type": "string"}] if self.listed else [share, {"type": "number"}, {"type": "string"}]
        }

    def _read(self, text: str) -> Decimal | None:
        exact = super()._read(text)
        return exact / 100 if exact and 1 < exact <= 100 and not text.endswith("%") else exact

    def _complaint(self, text: str) -> str:
        return f"must be a fraction above 0 and at most 1 or a percentage, such as 0.757 or 75.7%; got {clip(text)}"


class Targets(Target):
    """Several accuracies."""

    listed = True


class Flag(Parameter):
    """Yes or no."""

    words: ClassVar[dict[str, bool]] = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}

    def parse(self, text: str) -> bool:
        if text.lower() not in self.words:
            raise ValidationError(f"must be true or false; got {clip(text)}")
        return self.words[text.lower()]

    def schema(self) -> JsonSchema:
        return {"anyOf": [{"type": "boolean"}, self._text_of(_spelt(*self.words))]}


class Separator(Parameter):
    """The sign between cells."""

    choices = (",", ";", "|", "tab")

    def parse(self, text: str) -> str:
        if text.lower() not in self.choices:
            raise ValidationError(f"must be one of {' '.join(self.choices)}; got {clip(text)}")
        return "\t" if text.lower() == "tab" else text

    def schema(self) -> JsonSchema:
        return {"anyOf": [{"type": "string", "enum": list(self.choices)}, self._text_of(_spelt(*self.choices))]}


class Moment(Parameter):
    """A date, which means its last second in UTC, or a date-time, in UTC unless it names an offset. A month or a year means its
    last day, or the first where it `begins` a time."""

    def __init__(self, meaning: str, begins: bool = False, **keywords: Any) -> None:
        super().__init__(meaning, **keywords)
        self.begins = begins

    def parse(self, text: str) -> datetime:
        day = amounts.day(text, self.begins)
        if day:
            return datetime.combine(day, LAST_SECOND)
        try:
            if not _TIME.fullmatch(text):
                raise ValueError
            moment = datetime.fromisoformat(f"{text[:10]}T{text[11:].replace(' ', '+')}")
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            raise ValidationError(
                "must be a date such as 2018-04-26, a month such as 2018-04, a year, or a time such as 2018-04-26T12:00:00Z; "
                f"got {clip(text)}"
            ) from None

    def schema(self) -> JsonSchema:
        return self._text_of(rf"{_DAY}([T ]{_HOUR}(:[0-5]\d(\.\d{{1,6}})?)?(Z|[ +-]{_HOUR})?)?|{_YEAR}(-{_MONTH})?")


class Terms(Parameter):
    """Lengths of commitments."""

    listed = True
    choices = TERMS

    def parse(self, text: str) -> str:
        length = term(text) or ""
        if length in TERMS or (length.endswith("d") and 0 < int(length[:-1]) <= 3660):
            return length
        raise ValidationError(f"unknown term {clip(text)}: write {', '.join(TERMS)} or a number of days such as 14d")

    def schema(self) -> JsonSchema:
        return self._text_of(r"[1235] ?[yY](([eE][aA])?[rR][sS]?)?|[1-9]\d{0,2} ?[dD]|[136] ?[mM][oO]")


class Discounts(Parameter):
    """Discounts, each a fraction or `provider:fraction`; of several for the same offers the largest applies."""

    listed = True

    def _list(self, texts: list[str]) -> tuple[Discount, ...]:
        ascending = sorted(super()._list(texts), key=lambda discount: discount.fraction)
        largest = {discount.provider: discount for discount in ascending}
        return tuple(largest[provider] for provider in sorted(largest, key=lambda provider: provider or ""))

    def parse(self, text: str) -> Discount:
        provider, colon, fraction = text.rpartition(":")
        number = Number(Decimal, 0, 1, self.meaning, open_high=True, is_share=True, example="0.12 or aws:0.12")
        if colon and not provider.strip():
            raise ValidationError(f"must be a fraction such as 0.12, or aws:0.12; got {clip(text)}")
        return Discount(number.parse(fraction.strip()), provider.strip().lower() or None)

    def schema(self) -> JsonSchema:
        return self._text_of(rf"([\w.() -]*\w *: *)?{_SHARE}")


class OwnRates(Parameter):
    """Exchange rates, each `currency:units per US dollar`; of several for one currency the last applies."""

    listed = True

    def _list(self, texts: list[str]) -> tuple[OwnRate, ...]:
        by_currency = {rate.currency: rate for rate in super()._list(texts)}
        return tuple(by_currency[code] for code in sorted(by_currency))

    def parse(self, text: str) -> OwnRate:
        code, colon, units = (part.strip() for part in text.partition(":"))
        if not colon or code.upper() == "USD":
            raise ValidationError(f"must be a currency and its units per US dollar, such as EUR:0.92; got {clip(text)}")
        number = Number(Decimal, 0, 10**9, self.meaning, open_low=True, example="EUR:0.92")
        return OwnRate(Currency(self.meaning).parse(code), number.parse(units))

    def schema(self) -> JsonSchema:
        return self._text_of(rf"(?![uU][sS][dD]){_CODE} *: *{_POSITIVE}")


class OwnSpeeds(Parameter):
    """Training speeds and the machines that they were measured on: `1450@1xA100-80GB`. The accelerators are resolved later."""

    listed = True

    def parse(self, text: str) -> OwnSpeed:
        match = _OWN_SPEED.fullmatch(text)
        if not match:
            raise ValidationError(
                f"must be images per second @ count x accelerator, such as {self.example}; got {clip(text)}"
            )
        speed, count, accelerator = (part.strip() for part in match.groups())
        images_per_second = Number(float, 0, 10**9, self.meaning, open_low=True, example=self.example).parse(speed)
        return OwnSpeed(images_per_second, Number(int, 1, 1024, self.meaning).parse(count), accelerator)


class Currency(Parameter):
    """An ISO 4217 code."""

    def parse(self, text: str) -> str:
        code = text.upper()
        if not (len(code) == 3 and code.isascii() and code.isalpha()):
            raise ValidationError(f"must be an ISO 4217 code such as USD or EUR; got {clip(text)}")
        return code

    def schema(self) -> JsonSchema:
        return self._text_of(_CODE)
