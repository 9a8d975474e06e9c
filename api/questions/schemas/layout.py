"""How an answer is written: its format, its separators, and the user's words that it repeats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

WORDS = ("label", "cost_center")


class Layout(Struct, frozen=True):
    """How an answer is written: its format, and for CSV the byte order mark and the separators.

    `columns` are those of a sheet that are wanted, in their order; all where none is named. `root` is what whole addresses in a
    workbook begin with, and `address` that of this question; both are empty where nobody knows them.
    """

    format: Literal["json", "csv", "xlsx"] | None = None
    excel: bool = False
    sep: str = ","
    decimal: str = "."
    profile: Literal["own", "focus"] = "own"
    focus: Literal["1.4", "1.2"] = "1.4"
    columns: tuple[str, ...] = ()
    root: str = ""
    address: str = ""


def layout(values: dict[str, Any]) -> Layout:
    """Takes the layout out of parsed values. With a decimal comma the separator is a semicolon by default."""
    chosen = {name: values.pop(name) for name in Layout.__struct_fields__ if name in values}
    values.pop("token", None)
    if "columns" in chosen:
        chosen["columns"] = tuple(
            name.strip().lower() for text in chosen["columns"] for name in text.split(",") if name.strip()
        )
    if chosen.get("decimal") == ",":
        chosen.setdefault("sep", ";")
    return Layout(**chosen)


def own_words(values: Mapping[str, object]) -> dict[str, str]:
    """The label and the cost centre among parsed parameters, which every export repeats."""
    return {name: str(values[name]) for name in WORDS if values.get(name) is not None}
