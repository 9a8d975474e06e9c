"""What is sent to Slack: blocks within Slack's limits, and the plain text that stands in for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from api.formats.column import Column

# https://docs.slack.dev/reference/block-kit/blocks
MOST_ROWS, MOST_COLUMNS, MOST_CELL_CHARACTERS = 100, 20, 10_000
LONGEST_TEXT = 3000
LONGEST_CELL = 80
LONGEST_URL = 3000
LONGEST_FALLBACK = 4000

Block = dict[str, Any]
_CONTROL = re.compile(r"[\0-\x08\x0b-\x1f\x7f]")


class Message(Struct, frozen=True):
    """A reply: `text` alone must do where blocks cannot be shown. Only whoever asked sees it unless `shared`."""

    text: str
    blocks: tuple[Block, ...] = ()
    shared: bool = False

    @classmethod
    def of(cls, text: str) -> Message:
        """One paragraph of mrkdwn already escaped."""
        return cls(text, (section(text),))

    def payload(self) -> dict[str, Any]:
        return {"response_type": "in_channel" if self.shared else "ephemeral", **self.content()}

    def content(self) -> dict[str, Any]:
        blocks = {"blocks": list(self.blocks)} if self.blocks else {}
        return {"text": clipped(self.text, LONGEST_FALLBACK), **blocks}

    def below(self, line: str) -> Message:
        """The message below a line of mrkdwn, which its first paragraph gets too."""
        first, *others = self.blocks
        return replace(self, text=f"{line}\n{self.text}", blocks=(section(f"{line}\n{first['text']['text']}"), *others))

    def without_blocks(self) -> Message:
        return replace(self, blocks=())


def escape(text: str) -> str:
    """Text that Slack shows as it is: no link, mention or entity comes out of it, and no control sign."""
    plain = _CONTROL.sub("?", text)
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def clipped(text: str, most: int) -> str:
    """The text, cut where it is longer than Slack takes, never within an entity."""
    if len(text) <= most:
        return text
    return re.sub(r"&[a-z]{0,4}$", "", text[: most - 1]) + "…"


def link(url: str, words: str) -> str:
    """A link under some words."""
    return f"<{url.replace('&', '&amp;').replace('|', '%7C').replace('>', '%3E').replace('<', '%3C')}|{escape(words)}>"


def section(text: str) -> Block:
    """A paragraph; the text is mrkdwn already escaped."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": clipped(text, LONGEST_TEXT)}}


def small_print(text: str) -> Block:
    """Small print; the text is mrkdwn already escaped."""
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": clipped(text, LONGEST_TEXT)}]}


def image(url: str, title: str) -> Block:
    """A picture that Slack fetches from `url`."""
    return {"type": "image", "image_url": url, "alt_text": clipped(title, 2000)}


def picture(url: str, title: str, shared: bool) -> Message | None:
    """A picture as a message of its own: Slack refuses a whole message whose picture it cannot fetch at once.

    https://github.com/slackapi/python-slack-sdk/issues/1782. None for a longer address than Slack takes.
    """
    if len(url) > LONGEST_URL:
        return None
    return Message(link(url, title), (image(url, title),), shared)


def table_of(columns: Sequence[Column], rows: Iterable[Any]) -> Block:
    """A table of these columns, numbers to the right."""
    header = [(column.heading, "right" if column.is_number else "left") for column in columns]
    return table(header, cells_of(columns, rows))


def cells_of(columns: Sequence[Column], rows: Iterable[Any]) -> list[list[str]]:
    """The rows as text, each cell on one line."""
    return [[column.cell(row).replace("\n", "; ") for column in columns] for row in rows]


def table(header: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]) -> Block:
    """A table of plain texts: header cells with their column's alignment, then as many rows as Slack takes."""
    titles = [title for title, _ in header]
    fitting = list(_fitting([titles, *rows]))
    return {
        "type": "table",
        "column_settings": [{"align": align, "is_wrapped": True} for _, align in header],
        "rows": [[{"type": "raw_text", "text": cell} for cell in row] for row in fitting],
    }


def _fitting(rows: Iterable[Sequence[str]]) -> Iterator[list[str]]:
    left = MOST_CELL_CHARACTERS
    for number, row in enumerate(rows):
        cells = [clipped(_CONTROL.sub("?", cell), LONGEST_CELL) or "–" for cell in row[:MOST_COLUMNS]]
        left -= sum(map(len, cells))
        if left < 0 or number == MOST_ROWS:
            return
        yield cells
