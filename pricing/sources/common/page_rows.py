"""Rows of a page or document, whatever its form: each tells the text of a cell by the name that the table has for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from selectolax.lexbor import LexborHTMLParser, LexborNode

from pricing.sources.common.page_table import Page, Part
from pricing.sources.source import SchemaChanged

TAB = "tab"
FROM_A_DAY = re.compile(r"\(Effective (\w+ \d{1,2}, \d{4})\)")


class Row(Protocol):
    """One machine with its rates."""

    def text(self, cell: str) -> str:
        """The text of a cell; of several, separated by commas, one after the other; empty where there is none."""


class PageRow:
    """An element of a page; cells are CSS selectors."""

    def __init__(self, node: LexborNode, tabs: dict[str, str]) -> None:
        self._node, self._tabs = node, tabs

    def text(self, cell: str) -> str:
        """Without doubled and non-breaking spaces."""
        if cell == TAB:
            above = self._node.parent
            while above is not None and (above.attributes or {}).get("id") not in self._tabs:
                above = above.parent
            return self._tabs[str(above.attributes["id"])] if above else ""
        nodes = [self._node.css_first(each.strip()) for each in cell.split(",") if cell]
        return " ".join(" ".join(node.text(separator=" ").split()) for node in nodes if node)


class DocumentRow:
    """An object of a JSON document; cells are dotted names."""

    def __init__(self, entry: object) -> None:
        self._entry = entry

    def text(self, cell: str) -> str:
        """Values as JSON writes them, text as it is; null is empty."""
        return " ".join(filter(None, (self._value(each.strip()) for each in cell.split(","))))

    def _value(self, cell: str) -> str:
        node = self._entry
        for name in cell.split("."):
            if isinstance(node, list) and name.isdigit() and int(name) < len(node):
                node = node[int(name)]
            else:
                node = node.get(name) if isinstance(node, dict) else None
        return "" if node is None or isinstance(node, dict | list) else str(node)


class TableRow:
    """A row of a table; cells are how its headings begin."""

    def __init__(self, headings: Sequence[str], cells: Sequence[str], now: datetime) -> None:
        self._cells: list[tuple[str, str]] = []
        for heading, cell in zip(headings, cells, strict=False):
            announced = FROM_A_DAY.search(heading)
            if not announced:
                self._cells.append((heading, cell))
            elif datetime.strptime(f"{announced[1]} +0000", "%B %d, %Y %z") <= now and self._cells:
                self._cells[-1] = self._cells[-1][0], cell  # in the place of the rate beside which it was announced

    def text(self, cell: str) -> str:
        """The text below a heading; empty where there is none."""
        return next((text for heading, text in self._cells if cell and heading.startswith(cell)), "")


def document_rows(page: Page, document: object) -> Iterator[Row]:
    """The objects of a JSON document's list. Raises SchemaChanged where there is none."""
    node = document
    for name in filter(None, page.rows.split(".")):
        node = node.get(name) if isinstance(node, dict) else None
    if not isinstance(node, list):
        raise SchemaChanged(f"the answer holds no list of {page.rows or 'rows'}")
    return map(DocumentRow, node)


def page_rows(page: Page, part: Part, text: str, now: datetime) -> Iterator[Row]:
    """The rows between two pieces of a page's text. Raises SchemaChanged where the page has them no longer."""
    tree = LexborHTMLParser(_between(part, text))
    if page.form == "table":
        yield from _table_rows(page, tree, now)
        return
    tabs = {str(node.attributes["aria-controls"]): node.text(strip=True) for node in tree.css("[aria-controls]")}
    for node in tree.css(page.rows):
        yield PageRow(node, tabs)


def _between(part: Part, text: str) -> str:
    first, last = part.between
    _, has_first, rest = text.partition(first)
    between, has_last, _ = rest.partition(last)
    if not (has_first and has_last):
        raise SchemaChanged(f"the page has a new layout and holds no {last if has_first else first!r}")
    return between


def _table_rows(page: Page, tree: LexborHTMLParser, now: datetime) -> Iterator[Row]:
    """The rows of tables, each below the headings that stand in its first row. Raises SchemaChanged where no table has them."""
    headings: list[str] = []
    for node in tree.css(page.rows):
        cells = [" ".join(cell.text(separator=" ").split()) for cell in node.css(page.cells)]
        if cells[:1] == [page.name]:
            headings = cells
        elif headings:
            yield TableRow(headings, cells, now)
    if not any(heading.startswith(rate.rate) for rate in page.rates for heading in headings):
        raise SchemaChanged("the page has a new layout, its table is unreadable")
