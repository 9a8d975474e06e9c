"""How an answer is written: its format, its separators, and the user's words that it repeats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Struct

from costcalc.parameters import Param
from costcalc.query import parameters_of


class Layout(Struct, frozen=True):
    """How an answer is written: its format, and for CSV the byte order mark and the separators.

    `columns` are those of a sheet that are wanted, in their order; all where none is named. `root` is what whole addresses in a
    workbook begin with, and `address` that of this question; both are empty where nobody knows them.
    """

    # fmt: off
    format: Annotated[Literal["json", "csv", "xlsx"] | None, Param(
        "format of the answer; overrides the Accept header",
        "layout", "csv", use="usual")] = None
    excel: Annotated[bool, Param(
        "CSV for Excel: a UTF-8 mark, Excel's dates, and a last line that counts the rows left out",
        "sheet", 1)] = False
    sep: Annotated[str, Param("CSV: separator between cells; default a comma", "sheet", ";", "separator")] = ","
    decimal: Annotated[Literal[".", ","], Param(
        "CSV: decimal separator; with a comma, sep is ; by default",
        "sheet", ",")] = "."
    columns: Annotated[tuple[str, ...], Param(
        "CSV and XLSX: these columns alone, in this order",
        "sheet", "provider,hours")] = ()
    profile: Annotated[Literal["own", "focus"], Param(
        "CSV columns: own (default), or focus for the FinOps billing format",
        "focus", "focus")] = "own"
    fields: Annotated[Literal["all", "verdict"], Param(
        "JSON: all (default), or the verdict with the next step and the picks alone, below 3 kB",
        "brief", "verdict")] = "all"
    # fmt: on
    root: str = ""
    address: str = ""


class Access(Struct, frozen=True):
    """Who asks."""

    token: Annotated[str | None, Param("API token, for clients that cannot send an Authorization header", "layout")] = (
        None
    )


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
    return {name: str(values[name]) for name in parameters_of("words") if values.get(name) is not None}
