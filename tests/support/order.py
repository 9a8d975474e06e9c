"""The order of an answer's estimates, from their own figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import astuple

from costcalc.answers import Answer, Estimate


def check_order(answer: Answer, key: Callable[[Estimate], Any]) -> None:
    """An answer's first page begins with the picks, each once, in their order and under their names; what else picks may come
    from follows by this key, then the rest by it."""
    names: dict[int, list[str]] = {}
    for pick in answer.picks:
        names.setdefault(pick.estimate.rank, []).append(pick.name)
    assert [*names] == list(range(1, len(names) + 1))
    assert [each.rank for each in answer.estimates] == list(range(1, len(answer.estimates) + 1))
    for each in answer.estimates:
        assert each.pick == (" ".join(names[each.rank]) if each.rank in names else None)
    may_be_picked = answer.count - sum(astuple(answer.folded))
    for tier in (answer.estimates[len(names) : may_be_picked], answer.estimates[may_be_picked:]):
        keys = [key(each) for each in tier]
        assert keys == sorted(keys)
