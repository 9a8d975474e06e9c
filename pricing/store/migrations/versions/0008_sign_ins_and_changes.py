"""Sign-ins stand in the store, changes that people made do too, and owners are no digests of their tokens any more."""

import sqlalchemy as sa
from alembic import op

from pricing.store.keyed import TOKEN, keyed
from pricing.store.migrations.append_only import append_only

revision = "0008"
down_revision = "0007"

BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Two tables; an owner is now the digest of a token under the store's key."""
    op.create_table(
        "sign_ins",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("until", MOMENT, nullable=False),
    )
    op.create_table(
        "changes",
        sa.Column("id", BIG_ID, primary_key=True),
        sa.Column("at", MOMENT, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("who", "did", "what")),
    )
    append_only("changes")
    _hide_digests()


def _hide_digests() -> None:
    connection, tables = op.get_bind(), sa.MetaData()
    tables.reflect(connection, only=["identity", "own_runs"])
    runs = tables.tables["own_runs"]
    key = connection.execute(sa.select(tables.tables["identity"].c.key)).scalar_one()
    for (owner,) in connection.execute(sa.select(runs.c.owner).distinct().where(runs.c.owner.is_not(None))).all():
        hidden = keyed(key, TOKEN, bytes.fromhex(owner))
        connection.execute(runs.update().where(runs.c.owner == owner).values(owner=hidden))
