"""Any question of the register in Slack, asked by its name as in a terminal: `/cost trend resnet50 0.757`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from urllib.parse import urlencode

from msgspec import Struct

from api.formats.blocks import Block, Part, Rows, Say
from api.forms.question import Question
from api.forms.register import QUESTIONS
from api.questions.words.understanding import LONGEST
from api.service import Service
from api.slack import message
from api.slack.message import Message, cells_of, escape, link, section, small_print, table_of

ROWS = 20
"""Of the table: a longer one is read on its page."""
ALSO = {"recipes": "models"}
"""Other names of questions."""
SHARE = "share"
OPTION = re.compile(r"\s--([a-z][a-z-]*)[= ]")


class Asked(Struct, frozen=True):
    """A question by its name, the parameters given, and whether the whole channel sees the answer."""

    question: Question
    given: dict[str, list[str]]
    shared: bool

    def path(self, ending: str = "") -> str:
        """The address that asks the same; what only a terminal takes is a part of the path: `/models/resnet50`."""
        taken = self.question.schema.fields
        within = "/".join([self.question.path, *(value for name, [value] in self.given.items() if name not in taken)])
        pairs = urlencode({name: value for name, value in self.given.items() if name in taken}, doseq=True, safe=",:*")
        return f"{within}{ending}{'?' * bool(pairs)}{pairs}"


def asked_by_name(text: str) -> Asked | None:
    """What a text asks that begins with a question's name; None for one that does not, or goes on as a sentence does."""
    name = text.partition(" ")[0].lower()
    question = _by_name().get(ALSO.get(name, name))
    if question is None or question.command is None or len(text) > LONGEST:
        return None
    _, *words = _words(text)
    shared = SHARE in words
    plain = [word for word in words if "=" not in word and word != SHARE]
    names = list(question.command.arguments)
    for optional in [each for each in names[::-1] if each.endswith("?")][: max(len(names) - len(plain), 0)]:
        names.remove(optional)
    if len(plain) > len(names):
        return None
    named = dict(word.split("=", 1) for word in words if "=" in word)
    given = dict(zip((each.rstrip("?") for each in names), plain, strict=False)) | named
    return Asked(question, {name: [value] for name, value in given.items()}, shared)


def _words(text: str) -> list[str]:
    """The words of a command; an option of a terminal counts as the parameter."""
    text = OPTION.sub(lambda match: f" {match[1].replace('-', '_')}=", text)
    try:
        return shlex.split(text) or [""]
    except ValueError:  # a quote that nobody closed
        return text.split() or [""]


def _by_name() -> dict[str, Question]:
    """The questions that are read in blocks alone; those of a cost are asked without a name."""
    return {each.name: each for each in QUESTIONS if each.command and not each.code.terminal}


def answer(service: Service, asked: Asked, base: str) -> Message:
    """The answer, and where all of it is. Raises Refused for what the question does not take."""
    question, catalogue = asked.question, service.catalogue()
    values, _ = service.parse(question.asked_in_terminal, asked.given, catalogue)
    report = question.code.report(service, catalogue, question.listed(values, ROWS))
    blocks = [*_flat(question.code.answer(report))]
    tables = [each for each in blocks if isinstance(each, Rows)]
    main = next((each for each in tables if len(each.rows) > 1), tables[0] if tables else None)
    shown = [drawn for each in blocks if (drawn := _drawn(each, main))]
    page = link(f"{base}{asked.path()}", "Full answer")
    told = (line for each in blocks if isinstance(each, Say) for line in each.lines)
    rows = _lines(main) if main else ()
    return Message("\n".join([*map(escape, told), page, *map(escape, rows)]), (*shown, section(page)), asked.shared)


def picture(asked: Asked, base: str) -> Message | None:
    """The picture of the question, where it has one."""
    chart = asked.question.chart
    return message.picture(f"{base}{asked.path('.png')}", chart.shows, asked.shared) if chart else None


def _flat(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks without their headings; what is folded is read on the page."""
    for block in blocks:
        if not isinstance(block, Part):
            yield block
        elif not block.folded:
            yield from _flat(block.blocks)


def _drawn(block: Block, main: Rows | None) -> message.Block | None:
    """A block of Slack's; of several tables the first that compares anything, since a message holds one."""
    if isinstance(block, Say) and any(block.lines):
        text = "\n".join(map(escape, block.lines))
        return small_print(text) if block.small else section(text)
    if not isinstance(block, Rows) or block is not main or not block.rows:
        return None
    rows = block.first(ROWS)
    return table_of(block.columns(rows), rows)


def _lines(block: Rows) -> Iterator[str]:
    """The rows as text."""
    rows = block.first(ROWS)
    return (", ".join(cells) for cells in cells_of(block.columns(rows), rows))
