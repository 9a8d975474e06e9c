"""Runs migrations on the connection of a store that is being opened, inside its transaction."""

from alembic import context

from pricing.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
