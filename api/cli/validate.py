"""What `costcalc validate` does: score, and write the page of the method anew. What is wrong is said before that."""

from __future__ import annotations

from pathlib import Path

from costcalc import validation
from costcalc.validation.published import Published, load_published


class WrongPage(ValueError):
    """The page of the method can't be written to."""


class WrongTables(ValueError):
    """The published results can't be scored against."""


def scores(form: str, into: str | None) -> str:
    """The report as table or JSON, and in the page `into`. Raises WrongPage and WrongTables, saying what to do."""
    page, published = _page(into) if into else "", _published()
    found = validation.validate(published)
    if into:
        Path(into).write_text(validation.documented(page, found), "utf-8")
    return found.to_json() if form == "json" else found.text()


def _page(path: str) -> str:
    try:
        page = Path(path).read_text("utf-8")
        validation.require_markers(page)
    except ValueError as error:
        raise WrongPage(f"--into {path}: {error}") from error
    return page


def _published() -> Published:
    try:
        return load_published()
    except ValueError as error:
        raise WrongTables(error) from error
