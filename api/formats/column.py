"""A figure of a row, which stands once for all surfaces: a page, the terminal, and the heading of a sheet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

Text = Callable[[Any], str]
Link = tuple[str, dict[str, Any]]


def nothing(_: object) -> str:
    """No text."""
    return ""


class Column(Struct, frozen=True):
    """A figure: its heading, its text, in small print below it what belongs to it, and `meaning`, what must be known to read it.

    `source` is where the figure was read, and `link` the question that leads on from it, with its parameters. A narrow terminal
    leaves out the column with `leave` 1 first, then 2, and so on; 0 always stays, and numbers are never wrapped. On a page a
    click on the heading asks for `sort`, and `bar` is the length of a bar below the figure.
    """

    heading: str
    text: Text
    small: Text = nothing
    is_number: bool = False
    leave: int = 0
    source: Text = nothing
    link: Callable[[Any], Link | None] = lambda _: None
    sort: str = ""
    bar: Callable[[Any], float | None] | None = None
    meaning: str = ""

    def cell(self, row: Any) -> str:
        """The text of a row, and what belongs to it on a line of its own."""
        return "\n".join(filter(None, [self.text(row), self.small(row)]))
