"""Where prices are kept unless a setting says otherwise; known without loading what opens a store."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_data_path


def usual_place() -> Path:
    """An SQLite file in the user's data folder."""
    return user_data_path("costcalc", appauthor=False) / "prices.sqlite3"
