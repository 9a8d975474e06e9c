"""Prices: what sources ask, the packaged rates, and the append-only store."""
