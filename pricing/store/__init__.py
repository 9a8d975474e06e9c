"""The price store: an append-only database, SQLite or PostgreSQL, and the snapshots that workers answer from."""

HEAD = "0011"  # the newest migration; a store that has it opens without the migration tool
