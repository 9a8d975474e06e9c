"""Rows of a page or document, whatever its form: each tells the text of a cell by the name that the table has for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Protocol

from selectolax.lexbor import LexborHTMLParser, LexborNode

from pricing.sources.common.page_table import Page, Part
from pricing.sources.source import SchemaChanged

TAB = "tab"


class Row(Protocol):
    """One machine with its rates."""

    def text(self, cell: str) -> str:
        """The text of a cell; of several, separated by commas, one after the other; empty where there is none."""
        ...


class PageRow:
    """An element of a page; cells are CSS selectors."""

    def __init__(self, node: LexborNode, tabs: dict[str, str]) -> None:
        self._node, self._tabs = node, tabs

    def text(self, cell: str) -> str:
        """Without doubled and non-breaking spaces."""
        if cell == TAB:
            return self._tab()
        found = [self._node.css_first(each.strip()) for each in cell.split(",") if cell]
        return " ".join(" ".join(node.text(separator=" ").split()) for node in found if node)

    def _tab(self) -> str:
        node = self._node.parent
        while node is not None and (node.attributes or {}).get("id") not in self._tabs:
            node = node.parent
        return self._tabs[str(node.attributes["id"])] if node else ""


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


class ScriptRow:
    """A row of a table of texts; cells are its headings."""

    def __init__(self, cells: dict[str, str]) -> None:
        self._cells = cells

    def text(self, cell: str) -> str:
        """The text below a heading."""
        return self._cells.get(cell, "")


def document_rows(page: Page, document: object) -> Iterator[Row]:
    """The objects of a JSON document's list. Raises SchemaChanged where there is none."""
    node = document
    for name in filter(None, page.rows.split(".")):
        node = node.get(name) if isinstance(node, dict) else None
    if not isinstance(node, list):
        raise SchemaChanged(f"the answer holds no list of {page.rows or 'rows'}")
    return map(DocumentRow, node)


def page_rows(page: Page, part: Part, text: str) -> Iterator[Row]:
    """The rows between two pieces of a page's text. Raises SchemaChanged where the page has them no longer."""
    between = _between(part, text)
    if page.form == "script":
        yield from _script_rows(between)
        return
    tree = LexborHTMLParser(between)
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


def _script_rows(text: str) -> Iterator[Row]:
    """The rows of a table that a script holds as JSON within a text of JSON."""
    _, found, rest = text.replace('\\"', '"').partition('"content":')
    try:
        (headings, *rows), _ = json.JSONDecoder().raw_decode(rest)
    except (ValueError, TypeError):
        raise SchemaChanged("the page has a new layout, its table is unreadable") from None
    for cells in rows if found else ():
        yield ScriptRow(dict(zip(headings, cells, strict=False)))
