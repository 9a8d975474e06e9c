"""Records whose fields are those of other records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, TypeVar

Kind = TypeVar("Kind")
Known = tuple[Sequence[str], Callable[[Any], Sequence[Any]]]


def names_of(kind: type) -> tuple[str, ...]:
    """The names of a record's fields; none for anything else."""
    named: Iterable[str] = getattr(kind, "__struct_fields__", ()) or getattr(kind, "__dataclass_fields__", ())
    return tuple(named)


def filled(kind: type[Kind], /, *sources: object, as_usual: Sequence[str] = (), **given: object) -> Kind:
    """A record with the `given` fields; each other field comes from the first source that has its name.

    Raises TypeError where the fields that no source has, because one was renamed perhaps, are others than those that keep their
    defaults `as_usual`.
    """
    of: Any = kind
    known = _read(of, tuple(given), tuple(as_usual), *map(type, sources))
    for source, (names, read) in zip(sources, known, strict=True):
        given.update(zip(names, read(source), strict=True))
    return kind(**given)


@lru_cache(maxsize=256)
def _read(kind: Any, given: tuple[str, ...], as_usual: tuple[str, ...], *sources: type) -> Sequence[Known]:
    """By source, the fields that it is the first to know, and what reads them."""
    left, read = {*names_of(kind)} - {*given}, list[Known]()
    for source in sources:
        names = sorted(left & {*dir(source), *names_of(source)})
        left -= {*names}
        read.append((names, attrgetter(*names) if len(names) > 1 else partial(_few, names)))
    if unlike := left ^ {*as_usual}:
        raise TypeError(f"{kind.__name__}: {', '.join(sorted(unlike))} must come from a source, or be left as usual")
    return read


def _few(names: Sequence[str], source: object) -> list[Any]:
    """The values of a source under one name or none, of which `attrgetter` makes no tuple."""
    return [getattr(source, name) for name in names]
