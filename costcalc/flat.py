"""An estimate as everybody outside knows it: all its figures under flat names, in one order."""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import Any, get_type_hints

from msgspec import Struct, defstruct

from costcalc.answers import Estimate

NAMES = tuple(Estimate.__annotations__)
"""The names, in the order of JSON and of sheets."""
_figures = attrgetter(*NAMES)


@cache
def flat_type() -> type[Struct]:
    """The record of these names, which has the name of an estimate too."""
    return defstruct("Estimate", get_type_hints(Estimate).items(), namespace={"__doc__": Estimate.__doc__}, frozen=True)


def flat(estimate: Estimate) -> Any:
    """An estimate's figures as one record."""
    return flat_type()(*_figures(estimate))
