"""The values of parsed parameters that reports read by name; `query_of` makes a question of the others."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal, TypedDict

from api.questions.resolving import Side
from costcalc.picks import PickName
from costcalc.query import OwnRate
from costcalc.training import Crossing, Model


class Values(TypedDict, total=False):
    """Of every question but those below; those that were not given are missing, unless the schema has a default."""

    model: Model
    as_of: datetime
    since: datetime
    until: datetime
    currency: str
    fx: tuple[OwnRate, ...]
    rates: str
    sort: str
    offset: int
    limit: int
    recipe: tuple[str, ...]
    instance_type: tuple[str, ...]
    image_size: int
    year: int
    nodes: int
    speeds: str
    crossing: Crossing
    budget: Decimal | None
    runs_per_month: Decimal | None
    table: Literal["break_even", "cash"]
    every: str
    a: Side
    b: Side
    q: str
    to: Literal["skypilot", "dstack"]
    run: str
    pick: PickName
    data: str
    checkpoints: str


class RunValues(TypedDict, total=False):
    """Values about a user's own run."""

    file: str
    name: str
    model: str
    date: datetime
    better: Literal["lower", "higher"]
    nodes: int
    instance_type: str
    accelerator: str
    steps_are: str
