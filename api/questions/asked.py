"""The question that parsed parameters ask, and the moment that it is about."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, cast

from msgspec.structs import replace

from api.questions.amounts import day as day_of
from api.questions.errors import Errors
from api.questions.fields import LAST_SECOND
from api.questions.parsing import Arguments
from api.questions.suggestions import clip
from costcalc.catalogue.catalogue import Catalogue
from costcalc.query import EstimateQuery, usual_basis
from costcalc.training import Model

CLOCKS_DIFFER = timedelta(minutes=5)


def query_of(values: Mapping[str, object], **defaults: object) -> EstimateQuery:
    """The question that parsed parameters ask; `defaults` apply to parameters that are not given. Who asks outright for an order
    by cost wants the cheapest pick first."""
    given: dict[str, Any] = {**defaults, **values, "model": cast(Model, values["model"]).name}
    usual = {
        "basis": usual_basis(given.get("purchase", ())),
        "pick": "cheapest" if values.get("sort") == "cost" else None,
    }
    return EstimateQuery(**{**usual, **given})


def not_come(values: dict[str, Any], arguments: Arguments, now: datetime) -> Errors:
    """Refuses an `as_of` that begins after now; a day, month or year that has begun ends with today. Servers' clocks differ a
    little: what one has just answered is no future to the next."""
    as_of = values.get("as_of")
    if as_of is None or as_of <= now + CLOCKS_DIFFER:
        return {}
    text = arguments["as_of"][0].strip()
    begins = day_of(text, first=True)
    if begins is None or begins > now.date():
        return {"as_of": [f"{clip(text)} has not come: leave as_of out for the prices of now"]}
    values["as_of"] = datetime.combine(now.date(), LAST_SECOND)
    return {}


def too_early(as_of: datetime | None, catalogue: Catalogue) -> Errors:
    """Refuses a moment before the first price."""
    first = catalogue.first_observed_at
    if as_of is None or first is None or as_of >= first or not catalogue.knows(as_of):
        return {}
    return {"as_of": [f"{as_of.date()} is before our first price, of {first.date()}; choose that date or a later one"]}


def with_moment(query: EstimateQuery, as_of: datetime) -> EstimateQuery:
    """The question with `as_of` filled in, as answers repeat it."""
    return query if query.as_of else replace(query, as_of=as_of)
