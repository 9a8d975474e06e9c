"""Shared runs say who shared them, and each owner's runs have a number that changes with them."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

SHARER = """
    UPDATE own_runs SET shared_by = COALESCE(
        (SELECT who FROM changes WHERE did = 'added' AND what = own_runs.kind || ' ' || own_runs.id ORDER BY id DESC LIMIT 1),
        'somebody') WHERE owner IS NULL
"""
HIDDEN = "UPDATE own_runs SET shared_by = 'somebody without a token' WHERE shared_by LIKE 'somebody at %'"
NUMBERED = """
    INSERT INTO versions (name, number) SELECT DISTINCT COALESCE(owner, 'everybody'), 1 FROM own_runs
    UNION SELECT 'sign-ins', 1
"""


def upgrade() -> None:
    """The name of a sharer comes from the changes that were noted, without an address."""
    op.add_column("own_runs", sa.Column("shared_by", sa.Text))
    op.create_table(
        "versions",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False, index=True),
    )
    for statement in (SHARER, HIDDEN, NUMBERED):
        op.execute(statement)
