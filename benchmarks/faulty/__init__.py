"""A cluster, a server on SQLite, and a price source that can all be broken while clients ask."""
