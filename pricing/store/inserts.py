"""Writing many rows at once: inserts that pass by SQLAlchemy's work on each row, and inserts that merge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

from pricing.store.tables import ROWS_AT_ONCE

Row = Mapping[str, Any]
Values = tuple[Any, ...]
Merge = Callable[[ColumnElement[Any], ColumnElement[Any]], ColumnElement[Any]]


def insert_many(connection: Connection, table: Table, rows: Iterable[Row]) -> None:
    """Insert rows that all have the same columns: COPY into PostgreSQL, one prepared statement on SQLite."""
    waiting = iter(rows)
    first = next(waiting, None)
    if first is None:
        return
    names = tuple(first)
    values = _driver_values(connection, table, names, chain([first], waiting))
    write = _copy if connection.dialect.name == "postgresql" else _execute
    write(connection, table.name, names, values)


def upsert(connection: Connection, table: Table, rows: Iterable[Row], merge: Merge) -> None:
    """Insert; where the primary key stands already, set each other column to `merge(old, new)`."""
    dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(table)
    key = [column.name for column in table.primary_key]
    others = [column for column in table.columns if column.name not in key]
    merged = {column.name: merge(column, statement.excluded[column.name]) for column in others}
    on_conflict, waiting = statement.on_conflict_do_update(index_elements=key, set_=merged), iter(rows)
    while some := list(islice(waiting, ROWS_AT_ONCE)):
        connection.execute(on_conflict, some)


def _driver_values(
    connection: Connection, table: Table, names: tuple[str, ...], rows: Iterable[Row]
) -> Iterator[Values]:
    """The rows' values as the driver takes them: types such as moments are converted as SQLAlchemy would."""
    dialect = connection.dialect
    converters: list[tuple[str, Callable[[Any], Any] | None]] = [
        (name, table.c[name].type.dialect_impl(dialect).bind_processor(dialect)) for name in names
    ]
    for row in rows:
        yield tuple(convert(row[name]) if convert else row[name] for name, convert in converters)


def _copy(connection: Connection, table: str, names: tuple[str, ...], rows: Iterator[Values]) -> None:
    cursor: Any = connection.connection.cursor()
    with cursor, cursor.copy(f"COPY {table} ({', '.join(names)}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _execute(connection: Connection, table: str, names: tuple[str, ...], rows: Iterator[Values]) -> None:
    marks = ", ".join("?" for _ in names)
    cursor: Any = connection.connection.cursor()
    cursor.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", rows)
    cursor.close()
