"""What a flag says may change while a rate does not: each sighting keeps the flags of its moment."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Room for the flags; empty means those of the observation."""
    op.add_column("sightings", sa.Column("flags", sa.Text))
