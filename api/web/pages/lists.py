"""Lists as pages in the dress of the first screen: filters, a table, and the same rows as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from flask import render_template, request
from marshmallow import Schema

from api.formats import words
from api.formats.source_links import parts
from api.questions.fields import Choice
from api.questions.schemas import Layout
from api.questions.suggestions import squeeze
from api.reports.paging import Rest
from api.web.pages.address import Address
from api.web.pages.filters import Entry
from api.web.responses import arguments

ROWS = 50
Text = Callable[[Any], str]


class ListReport(Protocol):
    """What lists have in common."""

    @property
    def rest(self) -> Rest | None:
        """The rows that are left out behind those of the page."""
        ...

    def document(self) -> Any:
        """The JSON document."""
        ...


@dataclass(frozen=True, slots=True)
class Cell:
    """A column: its title, what stands in it, what belongs to it in small print, and where it leads."""

    title: str
    text: Text
    small: Text = lambda _: ""
    is_number: bool = False
    link: Callable[[Any], tuple[str, dict[str, object]] | None] = lambda _: None
    source: Text = lambda _: ""


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page of rows: `rows` takes them out of the document, `fields` are the filters shown, `chart` names the picture. Of lists
    that come whole, `find` says by which text a row is found, such as by `example`."""

    title: str
    intro: str
    schema: Schema
    fields: tuple[str, ...]
    rows: Callable[[Any], Iterable[Any]]
    cells: tuple[Cell, ...]
    kinds: tuple[str, ...] = ("csv", "json")
    chart: str = ""
    find: Text | None = None
    example: str = ""

    def __call__(self, report: ListReport, _: Layout) -> bytes:
        """The page of a report."""
        at, document = Address(request.path, arguments()), report.document()
        wanted, offset = request.args.get("_find", ""), int(request.args.get("offset") or 0)
        rows = [row for row in self.rows(document) if not self.find or squeeze(wanted) in squeeze(self.find(row))]
        return render_template(
            "list.html",
            page=self,
            at=at,
            fields=[self._entry(name, at) for name in self.fields],
            rows=rows,
            wanted=wanted,
            first=offset + 1,
            count=getattr(document, "count", len(rows)),
            rest=report.rest,
            before=max(offset - ROWS, 0) if offset else None,
            sources=parts,
            offset=offset,
        ).encode()

    def form(self) -> bytes:
        """The page before it is asked for rows."""
        at = Address(request.path, arguments())
        return render_template(
            "list.html", page=self, at=at, fields=[self._entry(name, at) for name in self.fields], rows=None
        ).encode()

    def _entry(self, name: str, at: Address) -> Entry:
        field: Any = self.schema.fields[name]
        choices = tuple(field.choices) if isinstance(field, Choice) else ()
        value = ", ".join(at.given.get(name, []))
        return Entry(name, name.replace("_", " ").capitalize(), value, str(field.example or ""), choices, field.meaning)


def day(moment: datetime | None) -> str:
    """A date, or nothing."""
    return f"{moment:%Y-%m-%d}" if moment else ""


def number(value: float | None, form: str = ",.4g") -> str:
    """A number, or nothing where it is not known."""
    return "" if value is None else format(value, form)


def gibibytes(value: float | None) -> str:
    """A size of memory, or nothing."""
    return "" if value is None else f"{value:,.0f} GiB"


def machine(row: Any) -> str:
    """Provider and type of machine, one or several."""
    return f"{row.provider} {row.instance_type}"


def accelerators(row: Any) -> str:
    """Accelerators and the region."""
    return words.in_region(f"{row.accelerators} × {row.accelerator}", row.region)
