"""Marshmallow fields of declared parameters: what a question's fields say of themselves decides how their texts are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from enum import EnumMeta
from functools import partial
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from msgspec import Struct

from api.questions import fields
from api.questions.spellings import PURCHASES
from costcalc.offer import PurchaseOption
from costcalc.parameters import Declared, Param, Part, declared
from costcalc.query import Discount, OwnRate
from costcalc.training import OwnSpeed

Field = fields.Parameter
Maker = Callable[..., Field]
KINDS: Mapping[str, Maker] = {
    "accuracy": fields.Target,
    "accuracies": fields.Targets,
    "begin": partial(fields.Moment, begins=True),
    "command": fields.Command,
    "currency": fields.Currency,
    "layers": fields.Layers,
    "names": fields.Names,
    "sentence": fields.Sentence,
    "separator": fields.Separator,
    "term": fields.Terms,
    "text": fields.Text,
    "word": fields.Word,
}
NUMBERS: Mapping[str, type[fields.Number]] = {
    "money": fields.Cost,
    "hours": fields.Hours,
    "scaled": fields.Scaled,
    "millions": fields.Millions,
}
TYPES: Mapping[Any, Maker] = {bool: fields.Flag, str: fields.Text, datetime: fields.Moment}
LISTED: Mapping[Any, Maker] = {
    str: fields.Names,
    OwnSpeed: fields.OwnSpeeds,
    Discount: fields.Discounts,
    OwnRate: fields.OwnRates,
}


def fields_of(of: type[Struct], *parts: Part) -> dict[str, Any]:
    """The fields of a question's parameters: of these parts, or of all."""
    return {name: _field(each) for name, each in declared(of).items() if not parts or each.param.part in parts}


def _field(each: Declared) -> Field:
    field = _maker(each.type, each.param)(
        meaning=each.param.meaning, example=each.param.example, required=each.is_required
    )
    field.param = each.param
    return field


def _maker(hint: Any, param: Param) -> Maker:
    """What makes the field of a type: its own kind, a number, one or several of some words, or any text."""
    item = get_args(hint)[0] if get_origin(hint) is tuple else None
    if kind := KINDS.get(param.kind) or LISTED.get(item):
        return kind
    types = [each for each in get_args(item or hint) if each is not NoneType] or [item or hint]
    words = param.words or next(filter(None, map(_words, (item or hint, *types))), ())
    if number := next((each for each in types if each in (int, float, Decimal)), None):
        return _number(number, words, param)
    if words:
        also = PURCHASES if {*words} & {*PurchaseOption} else {}
        return partial(fields.Choices if item else fields.Choice, words, also=also)
    return TYPES[types[0]]


def _words(hint: Any) -> tuple[Any, ...]:
    """The words of a literal or of an enumeration."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return tuple(hint) if isinstance(hint, EnumMeta) else ()


def _number(kind: type, words: tuple[str, ...], param: Param) -> Maker:
    low, high = (
        (param.low if param.above is None else param.above),
        (param.high if param.below is None else param.below),
    )
    bounds: dict[str, Any] = {
        "low": low,
        "high": high,
        "open_low": param.above is not None,
        "open_high": param.below is not None,
    }
    if words:
        return partial(fields.NumberOrWord, words, **bounds)
    return partial(NUMBERS.get(param.kind, fields.Number), kind, is_share=param.kind == "share", **bounds)
