"""What people measured or ran themselves stands beside the prices."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """One row for each measured speed, and later for each training log."""
    op.create_table(
        "own_runs",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("owner", sa.String(64)),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
