"""The SQLite file in the user's data folder. This module does not import SQLAlchemy, which takes 0.2 s."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_data_path


def default_path() -> Path:
    """The file that keeps the prices unless COSTCALC_DATABASE_URL names another store."""
    return user_data_path("costcalc", appauthor=False) / "prices.sqlite3"


def default_url() -> str:
    """The same file as a database URL."""
    return f"sqlite:///{default_path()}"
