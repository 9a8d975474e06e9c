"""Prices: sources, the append-only store and the catalogue in memory."""
