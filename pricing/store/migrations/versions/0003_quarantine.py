"""What the checks left out is remembered, and who let it pass."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Events of rates that were left out."""
    op.create_table(
        "quarantine",
        sa.Column("id", BIG_ID, primary_key=True),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        *(
            sa.Column(name, sa.Text, nullable=False)
            for name in ("provider", "region", "instance_type", "purchase_option")
        ),
        *(sa.Column(name, sa.Text) for name in ("term", "payment", "offering_class")),
        sa.Column("currency", sa.String(3), nullable=False),
        sa.Column("hourly_nanos", sa.BigInteger, nullable=False),
    )
