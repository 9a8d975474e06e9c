"""Text that a person, a log or a source wrote: it becomes a line where it enters, so that it is harmless wherever it goes."""

from __future__ import annotations

import re
from operator import is_
from typing import Any, NewType, TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace

T = TypeVar("T")

Line = NewType("Line", str)
"""Text without line breaks, control and direction characters, or others that nobody sees."""

UNSEEN = r"\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
"""What a line cannot hold, as a class of a regular expression. Joiners stay, which Persian and emoji need."""
_UNSEEN = re.compile(f"[{UNSEEN}\ud800-\udfff\U000e0000-\U000e0fff]")  # also half characters and tags


def is_line(text: str) -> bool:
    """Whether a text shows exactly as it is written."""
    return _UNSEEN.search(text) is None


def line(text: str) -> Line:
    """The text, with a space for what a line cannot hold."""
    return Line(text if is_line(text) else " ".join(_UNSEEN.sub(" ", text).split()))


def in_lines(value: T) -> T:
    """The value with every text in it as a line: in lists, in the fields of a record, and in records within. The value itself if
    all texts are lines."""
    made: T = _made(value)
    return made


def _made(value: Any) -> Any:
    if isinstance(value, str):
        return line(value)
    if isinstance(value, Struct):
        changed = {name: made for name, part in asdict(value).items() if (made := in_lines(part)) is not part}
        return replace(value, **changed) if changed else value
    if type(value) is dict:
        return dict(in_lines([*value.items()]))
    if type(value) in (list, tuple, frozenset):
        parts = list(map(in_lines, value))
        return value if all(map(is_, parts, value)) else type(value)(parts)
    return value
