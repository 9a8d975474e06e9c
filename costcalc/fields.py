"""Records whose fields are those of other records."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

Kind = TypeVar("Kind")


def filled(kind: type[Kind], /, *sources: object, **given: object) -> Kind:
    """A record whose fields are `given`, or else what the first of the sources that knows their names has under them.

    A field that nobody knows keeps its default. Raises TypeError where it has none.
    """
    of: Any = kind
    known = _known(of, *map(type, sources))
    return kind(**({name: getattr(sources[at], name) for name, at in known if name not in given} | given))


@lru_cache(maxsize=256)
def _known(kind: Any, *sources: type) -> tuple[tuple[str, int], ...]:
    """The fields that any of the sources knows, each with the first that does."""
    names = [{*dir(source), *getattr(source, "__dataclass_fields__", ())} for source in sources]
    first = ((each.name, (at for at, known in enumerate(names) if each.name in known)) for each in fields(kind))
    return tuple((name, at) for name, places in first for at in islice(places, 1))
