"""A question as a query string that parses back to the same question."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator
from dataclasses import MISSING
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from itertools import chain
from typing import Any
from urllib.parse import urlencode

from msgspec.structs import asdict, replace

from api.questions.fields import LAST_SECOND
from api.questions.spellings import ALONE, Meant
from api.questions.stated import PUBLISHED, SETTLED_BY_HOURS
from costcalc.answers import Estimate
from costcalc.query import ANY, DEFAULTS, EPOCHS, Discount, EstimateQuery, OwnRate, usual_basis
from costcalc.tasks.goals import task_of

GOAL = ("model", "target")


def to_url(query: EstimateQuery, path: str = "/cost", without: Collection[str] = (), **layout: str) -> str:
    """The address of this question; parameters at their defaults and those of `without` are left out, `layout` is added
    (`format="csv"`)."""
    kept = (pair for pair in pairs(query) if pair[0] not in without)
    return f"{path}?{urlencode([*kept, *layout.items()], safe=',:*')}"


def to_command(query: EstimateQuery) -> str:
    """The question as Slack's command asks it: `/cost resnet50 0.757 provider=aws`."""
    named = ((name, text) for name, text in pairs(query) if name not in ("model", "target"))
    written = (f'{name}="{text}"' if " " in text else f"{name}={text}" for name, text in named)
    goal = [text for name, text in pairs(query) if name in GOAL]
    return " ".join(["/cost", *goal, *written])


def command_of(name: str, query: EstimateQuery, taken: Collection[str], *beside: str) -> str:
    """The question as the command of this name asks it, which takes some of its parameters: `costcalc launch resnet50 0.757`."""
    return written_command(name, [pair for pair in pairs(query) if pair[0] in taken], *beside)


def written_command(name: str, given: Collection[tuple[str, str]], *beside: str) -> str:
    """A command with these parameters, of which the goal is named without options."""
    goal = [text for parameter in GOAL for named, text in given if named == parameter]
    options = ((f"--{parameter.replace('_', '-')}", text) for parameter, text in given if parameter not in GOAL)
    return shlex.join(["costcalc", name, *goal, *chain.from_iterable(options), *beside])


def narrowed(query: EstimateQuery, to: Estimate) -> EstimateQuery:
    """The question that this estimate of it alone answers. The machine says which accelerators; the recipe is named only beside
    others: one that is named on its own system is answered with the hours of its log."""
    return replace(
        query,
        provider=(to.provider,),
        region=(to.region,),
        instance_type=(to.instance_type,),
        accelerator=(),
        recipe=(to.recipe,) if query.recipes == "all" else query.recipe,
        purchase=(to.purchase_option,),
        term=(to.term,) if to.term else (),
        payment=(to.payment,) if to.payment else (),
        nodes=to.nodes,
        frontier=False,
        limit=1,
        offset=0,
    )


def pairs(query: EstimateQuery) -> Iterator[tuple[str, str]]:
    """The parameters that are not at their defaults, as they are written."""
    implied = {"target_of", "method_of"}
    implied |= {"target", "metric", "dataset"} if query.metric == EPOCHS else set()
    implied |= {"metric", "dataset"} if task_of(query) else set()
    if query.took is not None:
        implied |= {*SETTLED_BY_HOURS, *({"model"} if query.model == ANY else PUBLISHED)}
    for name, given in asdict(query).items():
        if name in implied:
            continue
        usual = usual_basis(query.purchase) if name == "basis" else DEFAULTS.get(name, MISSING)
        if given == usual:
            continue
        value = asked_by(name, given)
        if isinstance(value, tuple) and any("," in str(item) for item in value):
            yield from ((name, text_of(item)) for item in value)
        else:
            yield name, text_of(value)


def asked_by(name: str, value: Any) -> Any:
    """The words by which a question names this value."""
    if isinstance(value, Meant):
        return value.words
    return tuple(ALONE.get(each, each) for each in value) if name == "accelerator" else value


def text_of(value: object) -> str:
    """A parameter's value as it is written into a query string."""
    if isinstance(value, Meant):
        value = value.words
    if isinstance(value, tuple):
        return ",".join(text_of(item) for item in value)
    if isinstance(value, (Discount, OwnRate)):
        return _term(value)
    if isinstance(value, datetime):
        last = value.timetz() == LAST_SECOND
        return f"{value.date()}" if last else value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, (bool, float)):
        return str(value).lower().removesuffix(".0")
    return value.value if isinstance(value, StrEnum) else str(value)


def _term(value: Discount | OwnRate) -> str:
    if isinstance(value, OwnRate):
        return f"{value.currency}:{value.per_usd:f}"
    return f"{value.provider}:{value.fraction:f}" if value.provider else f"{value.fraction:f}"
