"""What an assistant can do besides asking: write a launch file, look at a running log, add a run, refresh the prices."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, cast

from marshmallow import Schema
from msgspec import Struct

from api.bootstrap import utc_now
from api.formats.launch_files import launch_file
from api.mcp.answers import Desk, Json, short_answer, texts_of
from api.mcp.tools import input_schema
from api.questions.declared import fields_of
from api.questions.errors import BadParameters, Refused
from api.questions.own_runs import RunFacts
from api.reports.launch import LaunchSchema, launch_report
from api.reports.own_runs import Owner, kept_run, new_run
from costcalc.parameters import Param
from own_runs.following import FollowedLog
from own_runs.logs.log import LogRefused, NothingYet
from own_runs.watch import NO_BUDGET, CannotWatch, Plan, outlook
from pricing import refresh
from pricing.sources import UnknownSource
from pricing.store.changes import By
from pricing.store.errors import StoreError
from pricing.store.store import Store

ASSISTANT = "assistant"


class Logged(Struct):
    """A log on this machine."""

    log: Annotated[str, Param("path of the log file", "run", "run.csv", use="everyday")]


class Watched(Logged):
    """The facts about a running training."""

    # fmt: off
    rate: Annotated[Decimal, Param(
        "what an hour of its machines costs, in US dollars",
        "run", 32.77, low=0, high=10**6, use="everyday")]
    planned_epochs: Annotated[float, Param("length of its schedule", "run", 90, above=0, high=10**6, use="everyday")]
    metric: Annotated[str | None, Param("metric of the log", "goal", "top1", use="everyday")] = None
    target: Annotated[float | None, Param(
        "value to reach",
        "goal", 0.76, low=-1e300, high=1e300, use="everyday")] = None
    steps_per_epoch: Annotated[float | None, Param(
        "where the log counts steps",
        "run", 5004, above=0, high=10**12, use="everyday")] = None
    max_cost: Annotated[Decimal | None, Param(
        "budget in US dollars",
        "limit", 200, above=0, high=10**12, use="everyday")] = None
    # fmt: on


class Refreshed(Struct):
    """Which prices to refresh."""

    source: Annotated[str | None, Param("price source, default all", "machine", "aws-page", use="everyday")] = None


WATCH, REFRESH = (Schema.from_dict(fields_of(of))() for of in (Watched, Refreshed))
ADD = Schema.from_dict(fields_of(Logged) | fields_of(RunFacts))()
LAUNCH = LaunchSchema()


@dataclass(frozen=True, slots=True)
class Action:
    """A tool that does something."""

    name: str
    meaning: str
    schema: Schema
    answer: Callable[[Desk, Json], Json]
    changes: bool = False

    def input_schema(self) -> Json:
        return input_schema(cast(Any, self.schema.fields))


def launched(desk: Desk, given: Json) -> Json:
    """A launch file for the best estimate of a question."""
    service, catalogue = desk.service, desk.service.catalogue()
    values, _ = service.parse(LAUNCH, texts_of(given), catalogue)
    report = launch_report(service, catalogue, values)
    warning = {"warning": report.trains_nothing} if report.trains_nothing else {}
    return {**warning, "file": launch_file(report).decode()}


def watched(desk: Desk, given: Json) -> Json:
    """The hours and dollars so far, from a log."""
    values = desk.service.check(WATCH, texts_of(given))
    log, limit = values.pop("log"), values.pop("max_cost", NO_BUDGET)
    planned = values.pop("planned_epochs")
    plan = Plan(hourly_rate=values.pop("rate"), max_cost=limit, planned_epochs=planned, **values)
    try:
        state = outlook(FollowedLog(Path(log)).look(), plan, (), utc_now())
    except NothingYet as nothing:
        return {"nothing_yet": str(nothing)}
    except (LogRefused, CannotWatch) as error:
        raise BadParameters({"log": [str(error)]}) from None
    return short_answer(state, "costcalc watch")


def added(desk: Desk, given: Json) -> Json:
    """A log as the user's own recipe."""
    service = desk.service
    if service.keeper is None:
        raise Refused(503, "no runs are kept here: it answers from fixed prices")
    values = service.check(ADD, texts_of(given))
    path = Path(values.pop("log"))
    run = new_run(service, service.catalogue(), values, path)
    kept = kept_run(service, service.keeper, run, Owner(None, service.user), By(ASSISTANT, service.clock()))
    return short_answer(kept, "costcalc recipes list")


def refreshed(desk: Desk, given: Json) -> Json:
    """The prices of the sources, read anew into the store."""
    values = desk.service.check(REFRESH, texts_of(given))
    named = (values["source"],) if "source" in values else ()
    try:
        report = refresh.refresh(named, Store(desk.database), os.environ, utc_now(), lambda _: None)
    except (UnknownSource, StoreError) as error:
        raise Refused(400, str(error)) from None
    sources = {
        result.name: result.error or result.missing or f"{len(result.offers)} rates" for result in report.results
    }
    return {"sources": sources, "all_well": report.exit_code == 0}


ACTIONS = (
    Action("launch", "A launch file that rents the best machine and trains; takes cost's parameters.", LAUNCH, launched),
    Action("watch", "Dollars so far and to the target of a running training, from its log.", WATCH, watched),
    Action("add_run", "Makes a training log of the user's a recipe; says what it needs to know.", ADD, added, changes=True),
    Action("refresh", "Reads prices anew from their sources; takes up to minutes.", REFRESH, refreshed, changes=True),
)  # fmt: skip
