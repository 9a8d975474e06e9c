"""Servers that share a store agree which of them refreshes the prices."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """One row for each kind of work."""
    op.create_table(
        "leases",
        sa.Column("work", sa.String(64), primary_key=True),
        sa.Column("holder", sa.String(64), nullable=False),
        sa.Column("until", MOMENT, nullable=False),
        sa.Column("done_at", MOMENT),
    )
