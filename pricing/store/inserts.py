"""Writing many rows at once, merged into those that stand already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

from pricing.store.tables import ROWS_AT_ONCE

Row = Mapping[str, Any]
Merge = Callable[[ColumnElement[Any], ColumnElement[Any]], ColumnElement[Any]]


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
