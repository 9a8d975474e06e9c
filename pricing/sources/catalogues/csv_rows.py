"""Rows of a published CSV file."""

from __future__ import annotations

import csv
import io
import zipfile
import zlib
from collections.abc import Iterator, Set
from typing import IO

from pricing.sources.source import SchemaChanged

CsvRow = dict[str, str]
UNREADABLE = (csv.Error, zipfile.BadZipFile, zlib.error, UnicodeDecodeError, EOFError)


def csv_rows(source: str, file: IO[bytes], columns: Set[str]) -> Iterator[CsvRow]:
    """The rows of a file in UTF-8, without their empty cells, read one by one.

    Raises SchemaChanged where one of `columns` is missing, or the file cannot be read on.
    """
    try:
        reader = csv.DictReader(io.TextIOWrapper(file, "utf-8-sig", newline=""))
        missing = columns - set(reader.fieldnames or ())
        if missing:
            raise SchemaChanged(f"{source}: the file lacks {', '.join(sorted(missing))}")
        for row in reader:
            yield {column: cell for column, cell in row.items() if column and cell}
    except UNREADABLE as error:
        raise SchemaChanged(f"{source}: the file is unreadable ({type(error).__name__})") from None
