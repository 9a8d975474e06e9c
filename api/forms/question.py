"""What a question is: its path, what it is called on each surface, and the code that answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

if TYPE_CHECKING:
    from marshmallow import Schema

    from api.forms.code import Code

FILES = ("csv", "xlsx")
PICTURES = {"png": "a picture", "svg": "SVG"}


class Command(Struct, frozen=True):
    """A question as a command of the terminal: its positional arguments, of which those that end in `?` may be left out, and
    whether `--explain` has more to say. `rows` are those of a list that nobody limits,
    `narrowed` those where its arguments are given."""

    help: str
    arguments: tuple[str, ...] = ()
    explains: bool = False
    rows: int = 50
    narrowed: int = 50


class Tool(Struct, frozen=True):
    """A question as a tool of an assistant: what it answers, and how many rows come unless `limit` asks for more."""

    meaning: str
    rows: int | None = None
    name: str = ""


class Chart(Struct, frozen=True):
    """A picture of the answer: what it shows, and about how many pixels it has."""

    shows: str
    size: tuple[int, int] = (720, 430)


class Question(Struct, frozen=True, dict=True):
    """One question that people ask.

    `imported` imports its code, only when it is asked: no command waits for what another one needs. `is_page` where a browser
    gets a page though its code has none. `errors` are statuses beside those of every path. `example` is what a browser is
    answered that asks nothing; `drawn` has the defaults of parameters on the page, in pictures and in a terminal's list, where
    these differ. `topic` is the title under which the reference lists it; questions without one belong to the same first word of
    a path.
    """

    path: str
    summary: str
    imported: Callable[[], Code[Any]]
    chart: Chart | None = None
    command: Command | None = None
    tool: Tool | None = None
    errors: tuple[int, ...] = ()
    topic: str = ""
    example: Mapping[str, str] = field(default_factory=dict)
    drawn: Mapping[str, Any] = field(default_factory=dict)
    is_page: bool = False
    called: str = ""

    @property
    def name(self) -> str:
        """What code, commands and tools call it: its path, unless it is `called` otherwise."""
        return self.called or self.path.strip("/")

    @cached_property
    def code(self) -> Code[Any]:
        return self.imported()

    @cached_property
    def schema(self) -> Schema:
        return self.code.parameters()

    @cached_property
    def asked_in_terminal(self) -> Schema:
        return self.code.in_terminal() if self.code.in_terminal else self.schema

    def listed(self, values: dict[str, Any], rows: int) -> dict[str, Any]:
        """The parameters; of a list with so many rows, and its own defaults, where they say nothing else."""
        is_cut = self.code.is_list and "limit" in self.schema.fields
        return {"limit": rows, **self.drawn, **values} if is_cut else values

    @property
    def has_page(self) -> bool:
        return self.is_page or self.code.is_html

    @property
    def files(self) -> tuple[str, ...]:
        """The file endings that its path answers."""
        return FILES if self.code.is_sheet else ()

    @property
    def endings(self) -> tuple[str, ...]:
        return (*self.files, *(PICTURES if self.chart else ()))

    @property
    def kinds(self) -> tuple[str, ...]:
        """Every form that its path answers in, JSON apart."""
        return (*self.endings, *(["html"] if self.code.is_html else []))
