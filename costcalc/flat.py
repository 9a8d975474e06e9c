"""An estimate as everybody outside knows it: all its figures under flat names, in one order."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Any, get_type_hints

from msgspec import Struct, defstruct
from msgspec.structs import replace

from costcalc.answers import Estimate, figures
from costcalc.costing.owning import PRICE_UNKNOWN
from costcalc.query import ANY

NAMES = tuple(Estimate.__annotations__)
"""The names, in the order of JSON and of sheets."""
UNNAMED = ("model", "recipe")
"""What nobody names of a training of which only the hours are stated."""
COSTS = tuple(f"{basis}_cost{end}" for basis in ("effective", "billed") for end in ("", "_low", "_high"))


@cache
def flat_type() -> type[Struct]:
    """The record of these names, which has the name of an estimate too."""
    kinds = get_type_hints(Estimate) | dict.fromkeys(UNNAMED, str | None) | dict.fromkeys(COSTS, Decimal | None)
    return defstruct("Estimate", kinds.items(), namespace={"__doc__": Estimate.__doc__}, frozen=True)


def flat(estimate: object) -> Any:
    """An estimate's figures as one record. Stated hours are of no recipe, and of no network unless their run was published. Of a
    user's own machine whose price nobody knows only the electricity is known, a component: it has no cost.

    Raises NotImplementedError for anything else, as encoders ask.
    """
    if not isinstance(estimate, Estimate):
        raise NotImplementedError
    record, unknown = flat_type()(*figures(estimate)), dict[str, None]()
    if estimate.recipe_kind == "stated":
        unknown |= dict.fromkeys(UNNAMED if estimate.model == ANY else ("recipe",))
    if estimate.sources.price.source == PRICE_UNKNOWN:
        unknown |= dict.fromkeys(COSTS)
    return replace(record, **unknown) if unknown else record
