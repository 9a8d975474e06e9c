"""Filters that each make sense and together leave nothing: said at once, with what to type instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from costcalc.offers import PurchaseOption

WITHOUT_TERM = frozenset({PurchaseOption.ON_DEMAND, PurchaseOption.SPOT, PurchaseOption.FREE})
Errors = dict[str, list[str]]


def contradictions(values: Mapping[str, Any]) -> Errors:
    """By parameter, why these parsed filters can't hold together."""
    return {**_terms(values), **_counts(values)}


def _terms(values: Mapping[str, Any]) -> Errors:
    bought = tuple(values.get("purchase") or ())
    if not bought or not WITHOUT_TERM.issuperset(bought):
        return {}
    named = " and ".join(option.value for option in bought)
    return {
        name: [f"{named} has no {name}: leave {name} out, or ask for purchase=reserved,monthly"]
        for name in ("term", "payment")
        if values.get(name)
    }


def _counts(values: Mapping[str, Any]) -> Errors:
    total, machines = values.get("accelerators"), values.get("nodes")
    if not total or not machines or total % machines == 0:
        return {}
    return {"accelerators": [f"{total} can't be shared equally by {machines} machines: write a multiple of {machines}"]}
