"""A store has an identity, so that one which vanished is told from one that is begun anew, and a key."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """One row, drawn at random."""
    identity = op.create_table(
        "identity",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("key", sa.LargeBinary, nullable=False),
    )
    op.execute(identity.insert().values(id=secrets.token_hex(16), key=secrets.token_bytes(32)))
