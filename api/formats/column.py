"""A figure of a row, which stands once for all surfaces: a page, the terminal, and the heading of a sheet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct

Text = Callable[[Any], str]


def nothing(_: object) -> str:
    """No text."""
    return ""


def leading_to(path: str, **parameters: object) -> str:
    """The address of a question, below that of the service."""
    return f"{path}?{urlencode(parameters)}"


class Column(Struct, frozen=True):
    """A figure: its heading, its text, in small print below it what belongs to it, and `meaning`, what must be known to read it.

    `source` is where the figure was read, and `link` the address below the service that leads on from it. A narrow terminal
    leaves out the column with `leave` 1 first, then 2, and so on; 0 always stays, and numbers are never wrapped. On a page a
    click on the heading asks for `sort`, and `bar` is the length of a bar below the figure.
    """

    heading: str
    text: Text
    small: Text = nothing
    is_number: bool = False
    leave: int = 0
    source: Text = nothing
    link: Text = nothing
    sort: str = ""
    bar: Callable[[Any], float | None] | None = None
    meaning: str = ""

    def cell(self, row: Any) -> str:
        """The text of a row, and what belongs to it on a line of its own."""
        return "\n".join(filter(None, [self.text(row), self.small(row)]))
