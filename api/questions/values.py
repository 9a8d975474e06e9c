"""The values of parsed parameters that reports read by name; `query_of` makes a question of the others."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from costcalc.query import OwnRate
from costcalc.training import Model


class Values(TypedDict, total=False):
    """Of every question; one with parameters of its own has its own kind beside them. Those that were not given are missing,
    unless the schema has a default."""

    model: Model
    as_of: datetime
    currency: str
    fx: tuple[OwnRate, ...]
    rates: str
    sort: str
    offset: int
    limit: int
