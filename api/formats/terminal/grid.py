"""Tables that fit a terminal: text wraps between words, columns are left out in a stated order, figures stay whole."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TextIO

import click
from msgspec import Struct

from api.formats.column import Column

PIPED_WIDTH = 100
BETWEEN = 2  # columns between two cells
NARROWEST = 8  # columns of text that is cut in words where nothing else can give way


class View(Struct, frozen=True):
    """How an answer is shown: so many columns wide, whether with all that it rests on, and whether in colour."""

    width: int
    explain: bool = False
    coloured: bool = False

    def strong(self, text: str) -> str:
        """What is to be read first."""
        return click.style(text, fg="green", bold=True) if self.coloured else text

    def faint(self, text: str) -> str:
        """What may be read last."""
        return click.style(text, dim=True) if self.coloured else text


def rows_below_headings(columns: Sequence[Column], rows: Sequence[object], width: int) -> Iterator[str]:
    """The lines of the headings and the rows alone, in the columns that fit."""
    cells = _cells(columns, rows)
    shown, widths = fitted(cells, width)
    for texts in zip(*(cells[column] for column in shown), strict=True):
        yield from _row(shown, texts, widths)


def _cells(columns: Sequence[Column], rows: Sequence[object]) -> dict[Column, list[str]]:
    return {column: [column.heading, *(column.cell(row) for row in rows)] for column in columns}


def table(columns: Sequence[Column], rows: Sequence[object], width: int) -> Iterator[str]:
    """The lines of the table, what its columns mean, and which are left out to fit the width."""
    cells = _cells(columns, rows)
    shown, widths = fitted(cells, width)
    heading, *texts = zip(*(cells[column] for column in shown), strict=True)
    yield ""
    yield from _row(shown, heading, widths)
    yield "─" * (sum(widths) + BETWEEN * (len(widths) - 1))
    for row in texts:
        yield from _row(shown, row, widths)
    yield ""
    left = [_named(column) for column in columns if column not in shown]
    if left:
        yield from paragraph(f"Not shown at {width} columns: {', '.join(left)}.", width)
    for column in shown:
        if column.meaning:
            yield from paragraph(f"{_named(column).capitalize()}: {column.meaning}", width, 2)


def _named(column: Column) -> str:
    return column.heading.replace("\n", " ")


def echo_table(columns: Sequence[Column], rows: Sequence[object]) -> None:
    """Prints the table as wide as the terminal."""
    for line in table(columns, rows, terminal_width()):
        click.echo(line.rstrip())


def has_colour(stream: TextIO) -> bool:
    """Whether text there may be coloured: on a terminal that can, unless NO_COLOR is set (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def terminal_width() -> int:
    """Columns of the terminal, or of COLUMNS; a fixed width where the output goes into a file or another command."""
    return shutil.get_terminal_size((PIPED_WIDTH, 0)).columns


def fitted(cells: dict[Column, list[str]], width: int) -> tuple[list[Column], list[int]]:
    """The columns that fit, with their widths. Text is wrapped only where all columns that may leave have left."""
    leaving = sorted((column for column in cells if column.leave), key=lambda column: column.leave)
    for count in range(len(leaving) + 1):
        shown = [column for column in cells if column not in leaving[:count]]
        room = width - BETWEEN * (len(shown) - 1)
        widths = [max(len(line) for text in cells[column] for line in text.split("\n")) for column in shown]
        if sum(widths) <= room:
            break
    words = [
        wide if column.is_number else max(len(word) for text in cells[column] for word in text.split() or [""])
        for column, wide in zip(shown, widths, strict=True)
    ]
    signs = [wide if column.is_number else min(wide, NARROWEST) for column, wide in zip(shown, words, strict=True)]
    return shown, _shrunk(_shrunk(widths, words, room), signs, room)


def _shrunk(widths: list[int], least: list[int], room: int) -> list[int]:
    """Takes from what has most to give, down to the least of each, until all fit."""
    while sum(widths) > room and widths != least:
        spare = [wide - low for wide, low in zip(widths, least, strict=True)]
        widths[spare.index(max(spare))] -= 1
    return widths


def _row(columns: Sequence[Column], texts: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """The lines of one row, figures to the right."""
    cells = [_wrapped(text, wide) for text, wide in zip(texts, widths, strict=True)]
    for line in zip_longest(*cells, fillvalue=""):
        parts = zip(columns, line, widths, strict=True)
        yield (
            (" " * BETWEEN)
            .join(part.rjust(wide) if column.is_number else part.ljust(wide) for column, part, wide in parts)
            .rstrip()
        )


def _wrapped(text: str, width: int) -> list[str]:
    return [part for line in text.split("\n") for part in textwrap.wrap(line, width, break_on_hyphens=False) or [""]]


def paragraph(text: str, width: int, indent: int = 0) -> list[str]:
    """The text in lines; those after the first are indented. No word, figure or address is split."""
    return textwrap.wrap(text, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
