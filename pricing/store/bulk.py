"""Many rows at once, without SQLAlchemy's work on each: COPY into PostgreSQL, one prepared statement on SQLite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Table

Cells = tuple[Any, ...]


def insert_many(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert rows that all have the same columns, within the caller's transaction."""
    waiting = iter(rows)
    first = next(waiting, None)
    if first is None:
        return
    names = tuple(first)
    cells = _cells(connection, table, names, chain([first], waiting))
    write = _copy if connection.dialect.name == "postgresql" else _execute
    write(connection, table.name, names, cells)


def _cells(
    connection: Connection, table: Table, names: tuple[str, ...], rows: Iterable[Mapping[str, Any]]
) -> Iterator[Cells]:
    """The rows' values as the driver takes them: types such as moments are converted as SQLAlchemy would."""
    dialect = connection.dialect
    converters: list[tuple[str, Callable[[Any], Any] | None]] = [
        (name, table.c[name].type.dialect_impl(dialect).bind_processor(dialect)) for name in names
    ]
    for row in rows:
        yield tuple(convert(row[name]) if convert else row[name] for name, convert in converters)


def _copy(connection: Connection, table: str, names: tuple[str, ...], cells: Iterator[Cells]) -> None:
    cursor: Any = connection.connection.cursor()
    with cursor, cursor.copy(f"COPY {table} ({', '.join(names)}) FROM STDIN") as copy:
        for row in cells:
            copy.write_row(row)


def _execute(connection: Connection, table: str, names: tuple[str, ...], cells: Iterator[Cells]) -> None:
    places = ", ".join("?" for _ in names)
    cursor: Any = connection.connection.cursor()
    cursor.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})", cells)
    cursor.close()
