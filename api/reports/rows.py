"""The rows of a plan as they are sent: a sheet or a list becomes texts by column, or is refused with what to send instead."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from api.questions.errors import BadParameters, Errors, Refused
from own_runs.reading_apart import OutOfBounds, read_apart

MOST_ROWS = 1000
MOST_COLUMNS = 100
SEPARATORS = ",;\t|"
NAMELESS = ""  # the column of cells beyond the last heading: no heading can be empty

Given = dict[str, str]
Cell = str | int | float | bool | None


class _Read(Struct, frozen=True):
    """The rows, or what is wrong with them."""

    rows: list[Given] = []
    errors: Errors = {}


def rows_apart(body: bytes, is_json: bool) -> list[Given]:
    """The rows of what a stranger sent, which a cell reads. Raises BadParameters, and Refused (422) for what takes too much."""
    try:
        read = read_apart(_Read, _read, body, is_json)
    except OutOfBounds as refused:
        raise Refused(422, f"rows: {refused}", {"rows": [str(refused)]}) from None
    if read.errors:
        raise BadParameters(read.errors)
    return read.rows


def _read(body: bytes, is_json: bool) -> _Read:
    try:
        return _Read(rows_of(body, is_json))
    except BadParameters as refused:
        return _Read(errors=refused.errors)


def rows_of(body: bytes, is_json: bool) -> list[Given]:
    """The rows of a list of objects, or of a sheet. Raises BadParameters."""
    return rows_of_json(body) if is_json else rows_of_csv(body)


def check_size(rows: int, columns: int) -> None:
    """Raises BadParameters where there are no rows, or too many, or too many columns."""
    if not rows:
        told = "there are none: send a line of column names, such as model,target, and a line for each question"
        raise BadParameters({"rows": [told]})
    for number, most, what in ((rows, MOST_ROWS, "rows"), (columns, MOST_COLUMNS, "columns")):
        if number > most:
            raise BadParameters({"rows": [f"{number} {what}: send at most {most}"]})


def rows_of_csv(body: bytes) -> list[Given]:
    """The rows of a sheet: UTF-8 with or without a byte order mark, separated by comma, semicolon, tab or bar.

    Blank lines do not count. Raises BadParameters.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadParameters({"rows": [f"not UTF-8 at byte {error.start + 1}: save the sheet as CSV UTF-8"]}) from None
    head = text.partition("\n")[0]
    separator = max(SEPARATORS, key=head.count)
    try:
        lines = [
            line for line in csv.reader(io.StringIO(text), delimiter=separator) if any(cell.strip() for cell in line)
        ]
    except csv.Error as error:
        raise BadParameters({"rows": [f"not valid CSV: {error}"]}) from None
    names = [name.strip() for name in lines[0]] if lines else []
    check_size(len(lines[1:]), len(names))
    if "" in names or len(set(names)) < len(names):
        raise BadParameters({"rows": ["the first line must name every column once, such as model,target,provider"]})
    return [_given(names, cells) for cells in lines[1:]]


def _given(names: Sequence[str], cells: Sequence[str]) -> Given:
    """A line by column; what stands beyond the last column named is kept, so that the row can say so."""
    beyond = [cell.strip() for cell in cells[len(names) :]]
    own = dict(zip(names, [*map(str.strip, cells), *[""] * len(names)], strict=False))
    return own | ({NAMELESS: ",".join(beyond)} if any(beyond) else {})


def rows_of_json(body: bytes) -> list[Given]:
    """The rows of a list of objects; lists in them count as several values. Raises BadParameters."""
    try:
        listed = msgspec.json.decode(body, type=list[dict[str, Cell | list[Cell]]])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        example = '[{"model": "resnet50", "target": 0.757}]'
        told = f"{error}: send a list such as {example}; a value is a text, a number or a list of them"
        raise BadParameters({"rows": [told]}) from None
    check_size(len(listed), len({name for row in listed for name in row}))
    return [{name: _text(value) for name, value in row.items()} for row in listed]


def _text(value: Cell | list[Cell]) -> str:
    if isinstance(value, list):
        return ",".join(map(_text, value))
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
