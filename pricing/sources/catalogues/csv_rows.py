"""Rows of a published CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Set

from pricing.sources.source import SchemaChanged

CsvRow = dict[str, str]


def csv_rows(source: str, text: str, columns: Set[str]) -> Iterator[CsvRow]:
    """The file's rows, without their empty cells. Raises SchemaChanged where one of `columns` is missing."""
    reader = csv.DictReader(io.StringIO(text, newline=""))
    missing = columns - set(reader.fieldnames or ())
    if missing:
        raise SchemaChanged(f"{source}: the file lacks {', '.join(sorted(missing))}")
    for row in reader:
        yield {column: cell for column, cell in row.items() if column and cell}
