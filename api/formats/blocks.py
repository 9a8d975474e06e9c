"""An answer as blocks, which stand once: a terminal, a page and Slack each loop over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct

from api.formats.column import Column
from api.formats.tables import Table
from api.reports.paging import Rest


class Say(Struct, frozen=True):
    """Sentences. Those that `lead` are the verdict, which heads a page instead of its title; those that are `small` may be read
    last."""

    kind: ClassVar = "say"
    lines: Sequence[str]
    leads: bool = False
    small: bool = False


class Chart(Struct, frozen=True):
    """The picture of the question with these `changes`, and what it `shows`; without either that of the question as it stands."""

    kind: ClassVar = "chart"
    changes: Mapping[str, object] = {}
    shows: str = ""


class Rows(Struct, frozen=True):
    """Rows of a table. Of a list `count` are all that there are, `when` says of which prices, and `rest` what is left out."""

    kind: ClassVar = "rows"
    table: Table
    rows: Sequence[Any]
    count: int | None = None
    when: str = ""
    rest: Rest | None = None

    def first(self, most: int) -> Sequence[Any]:
        """At most so many rows; of a list that comes whole those that are looked for first."""
        ordered = self.table.first and len(self.rows) > most
        return (sorted(self.rows, key=self.table.first) if ordered else self.rows)[:most]

    def columns(self, rows: Sequence[Any]) -> list[Column]:
        """Those in which any of these rows has something."""
        return [each for each in self.table.columns if any(each.text(row) or each.source(row) for row in rows)]


class Part(Struct, frozen=True):
    """Blocks below a heading. What is `folded` is shown to those who ask for more: by a click, or by --explain."""

    kind: ClassVar = "part"
    title: str
    blocks: Sequence[Block]
    folded: bool = False


def anchor(title: str) -> str:
    """The address of a part on its page."""
    return f"#{title.replace(' ', '-')}"


Block = Say | Chart | Rows | Part


def verdict_of(report: Any) -> Sequence[str]:
    """What a list says before its rows."""
    return getattr(report.document(), "verdict", ())


def list_of(table: Table, report: Any) -> Rows:
    """The rows of a list."""
    document, rows = report.document(), list(table.rows(report))
    return Rows(table, rows, getattr(document, "count", len(rows)), table.when(document), report.rest)


def blocks_of(table: Table, report: Any, is_drawn: bool) -> Iterator[Block]:
    """A list: what it says, its picture where it has one, its rows."""
    rows = list_of(table, report)
    yield Say(verdict_of(report))
    yield from [Chart()] if is_drawn and rows.rows else []
    yield rows
