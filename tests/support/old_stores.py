"""Stores as earlier versions of costcalc left them."""

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, create_engine


def engine_at(url: str, revision: str) -> Engine:
    """The engine of an empty store of an earlier version."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", "pricing.store:migrations")
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    return engine
