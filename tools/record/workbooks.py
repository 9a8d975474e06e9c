"""Workbooks as text: every cell with its formula, its number format, and its value calculated anew by LibreOffice."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from openpyxl import Workbook, load_workbook

TESTS = Path(__file__).parents[2] / "tests"
IS_WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def cells_of(workbooks: list[bytes]) -> list[bytes]:
    """The text of each workbook, in order; LibreOffice starts once for all."""
    sys.path.insert(0, str(TESTS))  # as pytest does
    from support.office import recalculated_all  # type: ignore[import-not-found]

    with tempfile.TemporaryDirectory(prefix="workbooks-") as folder:
        paths = [Path(folder) / f"{number:04}.xlsx" for number in range(len(workbooks))]
        for path, content in zip(paths, workbooks, strict=True):
            path.write_bytes(content)
        values = recalculated_all(paths) if paths else []
        return ["\n".join(_lines(load_workbook(path), each)).encode() for path, each in zip(paths, values, strict=True)]


def _lines(written: Workbook, calculated: Workbook) -> Iterator[str]:
    for sheet in written:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.value is not None:
                    value = calculated[sheet.title][cell.coordinate].value
                    formula = f" {cell.value}" if cell.data_type == "f" else ""
                    yield f"{sheet.title}!{cell.coordinate} [{cell.number_format}]{formula}: {value}"
