"""The price store: an append-only database, SQLite or PostgreSQL, and the snapshots that workers answer from."""

HEAD = "0009"  # the version of its tables
