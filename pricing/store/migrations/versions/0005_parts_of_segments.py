"""Segments stand in parts, so that the history of one machine type need not read whole ones."""

import zlib
from typing import Any

import sqlalchemy as sa
from alembic import op

from pricing.store.migrations.append_only import append_only

revision = "0005"
down_revision = "0004"

BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create the table anew and move each segment into it."""
    old = sa.MetaData()
    old.reflect(op.get_bind(), only=["segments"])
    rows = op.get_bind().execute(sa.select(old.tables["segments"])).mappings().all()
    op.drop_table("segments")
    new = op.create_table(
        "segments",
        sa.Column("sequence", BIG_ID, sa.ForeignKey("snapshots.sequence"), primary_key=True),
        sa.Column("part", sa.SmallInteger, primary_key=True),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("ended_at", MOMENT, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )
    for row in rows:
        op.get_bind().execute(new.insert(), _parts(dict(row)))
    append_only("segments")


def _parts(row: dict[str, Any]) -> list[dict[str, Any]]:
    from pricing.store.book import Book
    from pricing.store.snapshots import segment_parts

    book = Book.from_bytes(zlib.decompress(row["document"]))
    return [row | part for part in segment_parts(book)]
