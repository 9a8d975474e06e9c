"""The documents as pages: `/docs/<page>` is docs/<page>.md of the repository."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

from flask import Blueprint, render_template, send_from_directory, url_for
from flask.typing import ResponseReturnValue
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from api.questions.errors import NotFound
from api.questions.suggestions import either, nearest

FOLDER = Path(__file__).parents[3] / "docs"
"""Beside the packages in a checkout, within the one package of a wheel."""
PARAMETER = re.compile(r"[a-z_0-9]+(?==|$)")
READABLE = (
    ("<pre>", '<pre tabindex="0">'),  # where wide, the keyboard moves it too
    ("<table>", '<table tabindex="0">'),
    ("<th></th>", "<td></td>"),  # a heading has words
)
blueprint = Blueprint("manual", __name__)


@cache
def titles() -> dict[str, str]:
    """The heading of each document, by the name of its page."""
    return {file.stem: _heading(file.read_text("utf-8")) for file in sorted(FOLDER.glob("*.md"))}


@blueprint.get("/docs/<page>")
def document(page: str) -> str:
    """A document. Raises NotFound for a name of none."""
    if page not in titles():
        near = nearest(page, titles())
        raise NotFound(f"no document is called {page}: {f'did you mean {either(near)}?' if near else 'see /docs'}")
    return render_template("manual.html", title=titles()[page], text=_page(page))


@blueprint.get("/docs/files/<name>")
def file(name: str) -> ResponseReturnValue:
    """A picture or another file that documents lead to."""
    pictures = FOLDER / "pictures"
    return send_from_directory(pictures if (pictures / name).is_file() else FOLDER, name)


def place_of(parameter: str) -> str:
    """The address of what the reference says of a parameter of a cost."""
    return url_for("manual.document", page="reference", _anchor=parameter)


def _heading(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def _page(page: str) -> Markup:
    """The text of a document as HTML. Headings, and the parameters that begin rows of tables, can be linked to."""
    markdown = MarkdownIt("commonmark").enable("table")
    tokens = markdown.parse((FOLDER / f"{page}.md").read_text("utf-8"))
    for before, token in pairwise(tokens):
        for inline in token.children or ():
            _lead_on(inline)
        if before.type == "heading_open":
            before.attrSet("id", re.sub(r"[^\w -]", "", token.content.lower()).replace(" ", "-"))
        if before.type == "td_open" and (parameter := PARAMETER.match(_first_code(token))):
            before.attrSet("id", parameter[0])
    html = markdown.renderer.render(tokens, markdown.options, {})
    for written, readable in READABLE:
        html = html.replace(written, readable)
    return Markup(html)


def _first_code(cell: Token) -> str:
    """The code that a cell begins with."""
    first = next(iter(cell.children or ()), None)
    return first.content if first is not None and first.type == "code_inline" else ""


def _lead_on(inline: Token) -> None:
    """Has a link or picture of a document lead to a page or file here; what the repository alone has is text."""
    for attribute in {"href", "src"} & inline.attrs.keys():
        path, sign, place = str(inline.attrs[attribute]).partition("#")
        if path.startswith("../"):
            del inline.attrs[attribute]
        elif path.endswith(".md"):
            inline.attrs[attribute] = url_for("manual.document", page=path.removesuffix(".md")) + sign + place
        elif path and "://" not in path:
            inline.attrs[attribute] = url_for("manual.file", name=Path(path).name)
