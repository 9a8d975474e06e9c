"""Marshmallow fields for query parameters: each reads the raw texts of one parameter and describes itself for OpenAPI."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, ClassVar

from marshmallow import ValidationError, fields

from api.questions.suggestions import clip, either, unknown

LONGEST_VALUE = 100
MOST_VALUES = 200
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")

JsonSchema = dict[str, Any]


class Parameter(fields.Field):
    """One parameter. `load` gets the list of its non-empty texts; subclasses parse a single one."""

    listed: ClassVar[bool] = False

    def __init__(self, meaning: str, example: object = None, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.meaning = meaning
        self.example = example

    def parse(self, text: str) -> Any:
        """The value of one text. Raises ValidationError saying what to type."""
        return text

    def schema(self) -> JsonSchema:
        """JSON Schema of one text."""
        return {"type": "string", "minLength": 1, "maxLength": LONGEST_VALUE}

    def _deserialize(self, value: list[str], attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> Any:
        if self.listed:
            return self._list(value)
        if len(value) > 1:
            raise ValidationError(f"given {len(value)} times: give it once")
        return self._one(value[0])

    def _list(self, texts: list[str]) -> tuple[Any, ...]:
        parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
        if len(parts) > MOST_VALUES:
            raise ValidationError(f"{len(parts)} values: give at most {MOST_VALUES}")
        return tuple(dict.fromkeys(self._one(part) for part in parts))

    def _one(self, text: str) -> Any:
        if len(text) > LONGEST_VALUE:
            raise ValidationError(f"{clip(text)} is too long: at most {LONGEST_VALUE} characters")
        return self.parse(text)


class Text(Parameter):
    """Free text."""


class Names(Parameter):
    """Several names, compared with the known ones later: only those tell whether a comma separates or belongs to a name."""

    listed = True

    def _list(self, texts: list[str]) -> tuple[str, ...]:
        super()._list(texts)
        return tuple(texts)


class Choice(Parameter):
    """One of a few words; case is ignored."""

    def __init__(self, choices: Iterable[Any], meaning: str, **keywords: Any) -> None:
        super().__init__(meaning, **keywords)
        self.choices = {str(choice): choice for choice in choices}

    def parse(self, text: str) -> Any:
        """The choice itself."""
        wanted = text.lower().replace("-", "_")
        if wanted not in self.choices:
            raise ValidationError(unknown("value", text, self.choices, f"write {either(self.choices)}"))
        return self.choices[wanted]

    def schema(self) -> JsonSchema:
        """The words."""
        return {"type": "string", "enum": list(self.choices)}


class Choices(Choice):
    """Several of a few words."""

    listed = True


class Number(Parameter):
    """A number between two bounds, each open or closed; `kind` is int, float or Decimal."""

    def __init__(self, kind: type, low: float, high: float, meaning: str, **keywords: Any) -> None:
        self.open_low = keywords.pop("open_low", False)
        self.open_high = keywords.pop("open_high", False)
        super().__init__(meaning, **keywords)
        self.kind, self.low, self.high = kind, low, high

    def parse(self, text: str) -> Any:
        """The number."""
        if not _NUMBER.fullmatch(text):
            raise ValidationError(self._complaint(text))
        exact = Decimal(text)
        if not self._inside(float(exact)) or (self.kind is int and exact != exact.to_integral_value()):
            raise ValidationError(self._complaint(text))
        return self.kind(exact)

    def _inside(self, number: float) -> bool:
        above = number > self.low if self.open_low else number >= self.low
        below = number < self.high if self.open_high else number <= self.high
        return math.isfinite(number) and above and below

    def _complaint(self, text: str) -> str:
        noun = "a whole number" if self.kind is int else "a number"
        low = f"above {self.low:g}" if self.open_low else f"from {self.low:g}"
        high = f"below {self.high:.12g}" if self.open_high else f"to {self.high:.12g}"
        return f"{clip(text)}: write {noun} {low} {high}" + (f", such as {self.example}" if self.example else "")

    def schema(self) -> JsonSchema:
        """Type and bounds."""
        low, high = (
            "exclusiveMinimum" if self.open_low else "minimum",
            "exclusiveMaximum" if self.open_high else "maximum",
        )
        return {"type": "integer" if self.kind is int else "number", low: self.low, high: self.high}


class Target(Number):
    """An accuracy as a fraction; a percentage is refused with the fraction it stands for."""

    def __init__(self, meaning: str, **keywords: Any) -> None:
        super().__init__(float, 0, 1, meaning, open_low=True, open_high=True, **keywords)

    def _complaint(self, text: str) -> str:
        percent = text.removesuffix("%").strip()
        if _NUMBER.fullmatch(percent) and 1 <= Decimal(percent) < 100:
            fraction = (Decimal(percent) / 100).normalize()
            if Decimal(percent) != 1 or percent != text:
                return f"{clip(text)} looks like a percentage: write the fraction {fraction:f}"
        if _NUMBER.fullmatch(text.replace(",", ".")) and "," in text:
            return f"{clip(text)}: write a decimal point, {text.replace(',', '.')}"
        return f"{clip(text)}: write a fraction above 0 and below 1, such as 0.757"


class Targets(Target):
    """Several accuracies."""

    listed = True


class Flag(Parameter):
    """Yes or no."""

    words: ClassVar[dict[str, bool]] = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}

    def parse(self, text: str) -> bool:
        """The truth of it."""
        if text.lower() not in self.words:
            raise ValidationError(f"{clip(text)}: write true or false")
        return self.words[text.lower()]

    def schema(self) -> JsonSchema:
        """A boolean, or the digits that spreadsheets like."""
        return {"enum": [True, False, 1, 0, "yes", "no"]}
