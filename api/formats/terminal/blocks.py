"""The blocks of an answer in a terminal, one below the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import dropwhile
from typing import Any

from msgspec.structs import replace

from api.formats.blocks import Block, Chart, Part, Rows, Say
from api.formats.column import Column, nothing
from api.formats.terminal.grid import View, paragraph, table
from api.questions.suggestions import many
from api.questions.themes import as_options

MOST_ROWS = 50
"""Of a list that comes whole."""
INDENT = 3


def printed(blocks: Iterable[Block], view: View) -> Iterator[str]:
    """The lines of these blocks, the first of which is not empty; pictures have none."""
    return dropwhile(lambda line: not line, _lines(blocks, view))


def _lines(blocks: Iterable[Block], view: View) -> Iterator[str]:
    for block in blocks:
        yield from WRITERS[type(block)](block, view)


def _say(block: Say, view: View) -> Iterator[str]:
    for line in block.lines:
        yield from paragraph(as_options(line), view.width, 2)


def _rows(block: Rows, view: View) -> Iterator[str]:
    """How many rows there are and how many are shown, then their table; of a list that comes whole the first rows."""
    listed, rows, rest = block.table, block.rows, f"--limit {block.count} shows all"
    if listed.find and len(rows) > MOST_ROWS:
        rows, rest = block.first(MOST_ROWS), "--format json has all"
    if block.count is not None:
        shown, more = (f"{len(rows):,} of ", f"; {rest}") if len(rows) < block.count else ("", "")
        heading = f"{shown}{many(block.count, listed.noun)} {block.when}".rstrip()
        yield from paragraph(heading + more, view.width)
    if rows:
        columns = [replace(each, heading=_heading(each, rows)) for each in block.columns(rows)]
        sources = [Column("source", each.source, leave=1) for each in columns if each.source is not nothing]
        yield from table([*columns, *sources], rows, view.width)


def _heading(column: Column, rows: Sequence[Any]) -> str:
    """In two lines where it is wider than what stands below it."""
    heading = column.heading.lower()
    widest = max(len(line) for row in rows for line in column.cell(row).split("\n"))
    return heading if len(heading) <= widest else heading.replace(" ", "\n", 1)


def _part(block: Part, view: View) -> Iterator[str]:
    """Its heading, below which sentences are indented; tables need the whole width."""
    if view.explain or not block.folded:
        yield ""
        yield from paragraph(block.title, view.width, INDENT)
        narrower = replace(view, width=view.width - INDENT)
        for part in block.blocks:
            if isinstance(part, Say):
                yield from (f"{' ' * INDENT}{line}" for line in _say(part, narrower))
            else:
                yield from _lines([part], view)


WRITERS: dict[type, Callable[[Any, View], Iterator[str]]] = {
    Say: _say,
    Chart: lambda *_: iter(()),
    Rows: _rows,
    Part: _part,
}
