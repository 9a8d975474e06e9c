"""The values of parsed parameters. `query_of` makes the engine's question of them; what a question asks beside that has a
structure of its own."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import Struct

S = TypeVar("S", bound=Struct)
Values = dict[str, Any]
"""By name; those that were not given are missing."""


def taken(of: type[S], values: Values) -> S:
    """Takes the parameters of this structure out of the values."""
    return of(**{name: values.pop(name) for name in of.__struct_fields__ if name in values})
