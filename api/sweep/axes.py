"""The axes of a sweep: `target=0.75,0.76` or `as_of=2018-05..2026-11/1mo`, each a parameter with the texts it takes in turn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from itertools import takewhile
from typing import TypeVar

from marshmallow import Schema

from api.questions.errors import BadParameters
from api.questions.fields import Moment, Number, Parameter
from api.questions.spellings import between_commas
from api.questions.suggestions import Guesses, clip

MOST_STEPS = 100_000
MOST = f", for at most {MOST_STEPS:,} values"
WRITE = "write NAME=VALUE,VALUE,..., such as target=0.75,0.757 or as_of=2018-05..2026-11/1mo"
HOLDS_PLUS = "instance_type"  # such as n1-highmem-16+2xV100
_STEP = re.compile(r"([1-9][0-9]{0,4})(d|w|mo|y)")
_MONTHS = {"mo": 1, "y": 12}
_DAYS = {"d": 1, "w": 7}

T = TypeVar("T", date, Decimal)


@dataclass(frozen=True, slots=True)
class Axis:
    """A parameter and the texts that it takes in turn."""

    name: str
    texts: tuple[str, ...]


def axes(written: Iterable[str], schema: Schema) -> list[Axis]:
    """The axes of these texts, in their order. Raises BadParameters with what to write."""
    found: dict[str, tuple[str, ...]] = {}
    for text in written:
        name, equals, values = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise BadParameters({clip(text): [f"is no axis: {WRITE}"]})
        if name in found:
            raise BadParameters({name: ["swept twice: write all its values behind one ="]})
        found[name] = _texts(name, values, _parameter(name, schema))
    return [Axis(name, texts) for name, texts in found.items()]


def lines(text: str) -> list[str]:
    """The axes that a file lists, one a line; blank lines and those that start with # do not count."""
    stripped = map(str.strip, text.splitlines())
    return [line for line in stripped if line and not line.startswith("#")]


def _parameter(name: str, schema: Schema) -> Parameter:
    field = schema.fields.get(name)
    if not isinstance(field, Parameter):
        said = Guesses().unknown_parameter(
            "parameter", name, schema.fields, "see costcalc sweep --help for all of them"
        )
        raise BadParameters({name[:60]: [said]})
    return field


def _texts(name: str, values: str, field: Parameter) -> tuple[str, ...]:
    parts = between_commas(values)
    if not parts:
        raise BadParameters({name: [f"has no values: {WRITE}"]})
    texts = [text for part in parts for text in (_range(name, part, field) if ".." in part else [part])]
    joins = field.listed and name != HOLDS_PLUS
    return tuple(dict.fromkeys(text.replace("+", ",") if joins else text for text in texts))


def _range(name: str, text: str, field: Parameter) -> Iterable[str]:
    """Every step of FIRST..LAST/STEP, both ends included."""
    ends, _, step = text.partition("/")
    first, _, last = (part.strip() for part in ends.partition(".."))
    try:
        if isinstance(field, Moment):
            return _moments(first, last, step)
        if isinstance(field, Number):
            return _numbers(Decimal(first), Decimal(last), Decimal(step))
    except (ValueError, OverflowError, InvalidOperation):
        pass
    raise BadParameters({name: [f"{clip(text)}: {_example(field)}"]})


def _example(field: Parameter) -> str:
    if isinstance(field, Moment):
        return f"write the first and the last date and a step, such as 2018-05..2026-11/1mo; steps are d, w, mo and y{MOST}"
    if isinstance(field, Number):
        return f"write the first and the last number and a step, such as 0.70..0.80/0.01{MOST}"
    return "only dates and numbers have ranges; write each value, with commas between them"


def _moments(first: str, last: str, step: str) -> list[str]:
    """ISO dates; a month stands for its first day."""
    length = _STEP.fullmatch(step)
    if not length:
        raise ValueError(step)
    size, unit = int(length[1]), length[2]
    begin = _date(first)

    def moment(number: int) -> date:
        if unit in _DAYS:
            return begin + timedelta(number * size * _DAYS[unit])
        return _later(begin, number * size * _MONTHS[unit])

    return [each.isoformat() for each in _until(moment, _date(last))]


def _date(text: str) -> date:
    return date.fromisoformat(f"{text}-01" if len(text) == len("2018-05") else text)


def _later(begin: date, months: int) -> date:
    """The same day of a later month; of a shorter month its last."""
    years, month = divmod(begin.month - 1 + months, 12)
    following = date(begin.year + years + (month == 11), (month + 1) % 12 + 1, 1)
    last = following - timedelta(1)
    return last.replace(day=min(begin.day, last.day))


def _numbers(first: Decimal, last: Decimal, step: Decimal) -> list[str]:
    if not (first.is_finite() and last.is_finite() and step.is_finite() and step > 0):
        raise ValueError(step)
    return [f"{each.normalize():f}" for each in _until(lambda number: first + number * step, last)]


def _until(value: Callable[[int], T], last: T) -> list[T]:
    """The values of 0, 1, 2 ... up to `last`. Raises ValueError where there are none or too many."""
    found = list(takewhile(lambda each: each <= last, map(value, range(MOST_STEPS + 1))))
    if not 0 < len(found) <= MOST_STEPS:
        raise ValueError(last)
    return found
