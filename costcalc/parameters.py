"""What is said of a parameter where it is declared: its meaning, its bounds, and the part of a question that it belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, NamedTuple, get_args, get_type_hints

from msgspec import NODEFAULT, Struct

Part = Literal[
    "goal", "recipe", "described", "stated", "language", "machine", "count", "own", "owned", "purchase", "limit", "order", "pick",
    "page", "date", "price", "money", "bill", "share", "layout", "sheet", "focus", "brief", "words", "run",
]  # fmt: skip
"""Parts of a question: what it has to say of one thing. Whatever concerns some parameters of a part concerns all of them."""
Kind = Literal[
    "", "share", "accuracy", "accuracies", "money", "hours", "begin", "term", "currency", "separator", "names", "word", "text",
    "sentence", "layers", "command", "millions", "scaled",
]  # fmt: skip
Use = Literal["everyday", "usual", "rare"]


class Param(Struct, frozen=True):
    """A parameter, beside its type and its default.

    `kind` is how its text is read where its type does not say: a number may be an amount of money or a length of time. `low` and
    `high` are the ends of what is allowed, `above` and `below` the first values that are not. `words` are those that a free text
    takes. One that is `settled` need not be asked: where a question lacks it, it follows from the rest. One that `narrows` leaves
    estimates out, unless it has its default: an answer that finds little suggests to drop it. `leaves_out` is the reason under
    which an answer counts what this parameter alone leaves out. One that may change nothing `concerns` certain estimates alone.
    It is `called` other words too. An `everyday` one stands in every list, a `rare` one only in full ones.
    """

    meaning: str
    part: Part
    example: object = None
    kind: Kind = ""
    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    words: tuple[Any, ...] = ()
    settled: bool = False
    narrows: bool = False
    leaves_out: str = ""
    concerns: str = ""
    called: str = ""
    use: Use = "rare"


class Declared(NamedTuple):
    """A parameter as a question declares it."""

    name: str
    type: Any
    default: Any
    param: Param

    @property
    def is_required(self) -> bool:
        return self.default is NODEFAULT and not self.param.settled


@cache
def declared(of: type[Struct]) -> dict[str, Declared]:
    """The parameters among the fields of a question, by name."""
    return {each.name: each for each in _declared(of)}


def named(of: type[Struct], *parts: Part) -> tuple[str, ...]:
    """The names of the parameters of these parts."""
    return tuple(each.name for each in declared(of).values() if each.param.part in parts)


def _declared(of: type[Struct]) -> Iterator[Declared]:
    hints = get_type_hints(of, include_extras=True)
    defaults = dict(zip(reversed(of.__struct_fields__), reversed(of.__struct_defaults__), strict=False))
    for name in of.__struct_fields__:
        for param in getattr(hints[name], "__metadata__", ()):
            if isinstance(param, Param):
                yield Declared(name, get_args(hints[name])[0], defaults.get(name, NODEFAULT), param)
