"""The store of version 0.2.0, from which upgrades start; a new store has the newest tables at once."""

revision = "0002"
down_revision = None


def upgrade() -> None:
    """Nobody comes to it from before."""
    raise NotImplementedError
