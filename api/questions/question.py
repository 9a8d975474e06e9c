"""What a question is: its path, its parameters, and what answers it on each surface.

It names the code that answers as `package.module:name`. The code is imported when the question is asked, so that no command
waits for what another one needs; a test resolves every name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct, field

if TYPE_CHECKING:
    from marshmallow import Schema

FILES = ("csv", "xlsx")
PICTURES = {"png": "a picture", "svg": "SVG"}


class Command(Struct, frozen=True):
    """A question as a command of the terminal: its positional arguments, of which those that end in `?` may be left out, and
    whether `--explain` has more to say. `parameters` is its schema where it takes others than its path, and `rows` are those of a
    list that nobody limits."""

    help: str
    arguments: tuple[str, ...] = ()
    explains: bool = False
    parameters: str = ""
    rows: int = 50


class Tool(Struct, frozen=True):
    """A question as a tool of an assistant: what it answers, and how many rows come unless `limit` asks for more."""

    meaning: str
    rows: int | None = None
    name: str = ""


class Chart(Struct, frozen=True):
    """A picture of the answer: what it shows, the function that draws a report, and about how many pixels it has."""

    shows: str
    draws: str
    size: tuple[int, int] = (720, 430)

    def figure(self, report: Any) -> Any:
        return resolve_name(self.draws)(report)


class Question(Struct, frozen=True, dict=True):
    """One question that people ask.

    `parameters` is a marshmallow schema, `report` a function of (service, catalogue, values), and `document` the type of the
    JSON answer: that beside the report, called after it, where nothing else is said. `forms` has what writes
    a report in another form: for the `terminal`, as `html`, `csv` or `xlsx`. A list has its `table`, of which those that
    `forms` lacks are made. `view` replaces the usual way to answer over HTTP. `errors` are statuses beside those of every
    path. `example` is what a browser is answered that asks nothing; `drawn` has the defaults of parameters on the page, in
    pictures and in a terminal's list, where these differ. `topic` is the title under which the reference lists it; questions
    without one belong to the same first word of a path.
    """

    name: str
    path: str
    summary: str
    parameters: str
    report: str
    forms: Mapping[str, str] = field(default_factory=dict)
    chart: Chart | None = None
    command: Command | None = None
    tool: Tool | None = None
    errors: tuple[int, ...] = ()
    topic: str = ""
    table: str = ""
    view: str = ""
    example: Mapping[str, str] = field(default_factory=dict)
    drawn: Mapping[str, Any] = field(default_factory=dict)
    document: str = ""

    @cached_property
    def schema(self) -> Schema:
        return cast("Schema", resolve_name(self.parameters)())

    @cached_property
    def asked_in_terminal(self) -> Schema:
        parameters = self.command.parameters if self.command else ""
        return cast("Schema", resolve_name(parameters)()) if parameters else self.schema

    @cached_property
    def answer(self) -> Callable[[Any, Any, dict[str, Any]], Any]:
        """The function that makes the report from a service, a catalogue and parsed values."""
        return cast("Callable[[Any, Any, dict[str, Any]], Any]", resolve_name(self.report))

    @cached_property
    def answers_with(self) -> type:
        module, _, function = self.report.partition(":")
        named = "".join(map(str.capitalize, function.removesuffix("_report").split("_")))
        return cast(type, resolve_name(self.document or f"{module}:{named}Document"))

    @cached_property
    def listed(self) -> Any:
        """The table of a list; None for other questions."""
        return resolve_name(self.table) if self.table else None

    @property
    def has_page(self) -> bool:
        return bool(self.table) or "html" in self.forms

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The file endings that its path answers."""
        every = self.listed is not None and self.listed.row is not None
        return tuple(kind for kind in FILES if every or kind in self.forms)

    @property
    def endings(self) -> tuple[str, ...]:
        return (*self.files, *(PICTURES if self.chart else ()))

    @property
    def kinds(self) -> tuple[str, ...]:
        """Every form that its path answers in, JSON apart."""
        return (*self.endings, *(["html"] if self.has_page else []))

    def writer(self, form: str) -> Callable[..., Any]:
        """The function that writes the report in this form. Raises KeyError for an unknown form."""
        return cast("Callable[..., Any]", resolve_name(self.forms[form]))
