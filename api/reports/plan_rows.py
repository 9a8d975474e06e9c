"""The rows of a plan: a sheet or a list of objects becomes texts by column, or is refused with what to send instead."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import msgspec

from api.questions.errors import BadParameters
from api.questions.finance_schemas import RowSchema
from api.questions.parsing import Arguments
from api.questions.suggestions import clip
from api.questions.synonyms import unknown_parameter

ROW = RowSchema()
MOST_ROWS = 1000
MOST_COLUMNS = 100
SEPARATORS = ",;\t|"
BEYOND = "_beyond"

Given = dict[str, str]


def check_columns(rows: Sequence[Given]) -> None:
    """Raises BadParameters where there are too many rows, none, or a column that is no parameter."""
    if not rows:
        raise BadParameters(
            {"rows": ["there are none: send a line of column names such as model,target and lines below it"]}
        )
    if len(rows) > MOST_ROWS:
        raise BadParameters({"rows": [f"{len(rows)} rows: send at most {MOST_ROWS} at once"]})
    names = dict.fromkeys(name for row in rows for name in row)
    wrong = [name for name in names if name not in ROW.fields and not name.startswith("_")]
    if wrong:
        raise BadParameters({name[:60]: [f"{_unknown(name)}; columns of your own start with _"] for name in wrong[:9]})


def _unknown(name: str) -> str:
    return unknown_parameter("column", name, ROW.fields, "/docs lists them")


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
        raise BadParameters({"rows": [f"no CSV: {error}"]}) from None
    names = [name.strip() for name in lines[0]] if lines else []
    _check_names(names)
    return [_given(names, cells) for cells in lines[1:]]


def _check_names(names: Sequence[str]) -> None:
    if len(names) > MOST_COLUMNS:
        raise BadParameters({"rows": [f"{len(names)} columns: send at most {MOST_COLUMNS}"]})
    if "" in names or len(set(names)) < len(names):
        raise BadParameters({"rows": ["the first line must name every column once, such as model,target,provider"]})


def _given(names: Sequence[str], cells: Sequence[str]) -> Given:
    """A line by column; what stands beyond the last column named is kept, so that the row can say so."""
    beyond = [cell.strip() for cell in cells[len(names) :]]
    own = dict(zip(names, [*map(str.strip, cells), *[""] * len(names)], strict=False))
    return own | ({BEYOND: ",".join(beyond)} if any(beyond) else {})


def rows_of_json(body: bytes) -> list[Given]:
    """The rows of a list of objects; lists in them count as several values. Raises BadParameters."""
    try:
        listed = msgspec.json.decode(body, type=list[dict[str, Any]])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadParameters(
            {"rows": [f'{error}: send a list such as [{{"model": "resnet50", "target": 0.757}}]']}
        ) from None
    return [{name: _text(name, value) for name, value in row.items()} for row in listed]


def _text(name: str, value: Any) -> str:
    if isinstance(value, list) and all(isinstance(each, (str, int, float)) for each in value):
        return ",".join(map(str, value))
    if isinstance(value, dict | list):
        raise BadParameters({name[:60]: [f"{clip(str(value))}: write a text, a number or a list of them"]})
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def shared(given: Arguments) -> dict[str, list[str]]:
    """The parameters that stand in every row."""
    return {name: list(texts) for name, texts in given.items() if name in ROW.fields and any(map(str.strip, texts))}
