"""Records whose fields are those of other records."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

Kind = TypeVar("Kind")
_LACKING = object()


def filled(kind: type[Kind], /, *sources: object, **given: object) -> Kind:
    """A record whose fields are `given`, or else what the first of the sources that knows their names has under them.

    A field that nobody knows keeps its default. Raises TypeError where it has none.
    """
    of: Any = kind
    for name in (each.name for each in fields(of)):
        if name not in given:
            known = (getattr(source, name, _LACKING) for source in sources)
            value = next((each for each in known if each is not _LACKING), _LACKING)
            if value is not _LACKING:
                given[name] = value
    return kind(**given)
