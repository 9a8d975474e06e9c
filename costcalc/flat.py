"""An estimate as everybody outside knows it: all its figures under flat names, in one order."""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import Any, get_type_hints

from msgspec import Struct, defstruct
from msgspec.structs import replace

from costcalc.answers import Estimate
from costcalc.query import ANY

NAMES = tuple(Estimate.__annotations__)
"""The names, in the order of JSON and of sheets."""
UNNAMED = ("model", "recipe")
"""What nobody names of a training of which only the hours are stated."""
_figures = attrgetter(*NAMES)


@cache
def flat_type() -> type[Struct]:
    """The record of these names, which has the name of an estimate too."""
    kinds = get_type_hints(Estimate) | dict.fromkeys(UNNAMED, str | None)
    return defstruct("Estimate", kinds.items(), namespace={"__doc__": Estimate.__doc__}, frozen=True)


def flat(estimate: Estimate) -> Any:
    """An estimate's figures as one record. Stated hours are of no recipe, and of no network unless their run was published."""
    record = flat_type()(*_figures(estimate))
    if estimate.recipe_kind != "stated":
        return record
    return replace(record, recipe=None, model=None if estimate.model == ANY else estimate.model)
