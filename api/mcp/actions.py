"""What an assistant can do besides asking: write a launch file, look at a running log, add a run, refresh the prices."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from marshmallow import Schema

from api.bootstrap import utc_now
from api.formats.launch_files import launch_file
from api.mcp.answers import Json, short_answer
from api.mcp.tools import input_schema
from api.questions.errors import BadParameters, Refused
from api.questions.fields import Number, Text
from api.questions.own_runs import RunSchema
from api.questions.parsing import as_texts
from api.reports.launch import LaunchSchema, launch_report
from api.reports.own_runs import Owner, kept_run, new_run
from api.service import Service
from own_runs.following import FollowedLog
from own_runs.logs.log import LogRefused, NothingYet
from own_runs.watch import NO_BUDGET, CannotWatch, Plan, outlook
from pricing import refresh
from pricing.store.changes import By
from pricing.store.connection import StoreError
from pricing.store.store import Store

ASSISTANT = "assistant"


class _Logged(Schema):
    log = Text("path of the log file", example="run.csv", required=True)


class WatchSchema(_Logged):
    """The facts about a running training."""

    rate = Number(Decimal, 0, 10**6, "what an hour of its machines costs, in US dollars", example=32.77, required=True)
    metric = Text("metric of the log", example="top1")
    target = Number(float, -1e300, 1e300, "value to reach", example=0.76)
    planned_epochs = Number(float, 0, 10**6, "length of its schedule", open_low=True, example=90, required=True)
    steps_per_epoch = Number(float, 0, 10**12, "where the log counts steps", open_low=True, example=5004)
    max_cost = Number(Decimal, 0, 10**12, "budget in US dollars", open_low=True, example=200)


class AddSchema(RunSchema):
    """A user's log and the facts it lacks."""

    log = _Logged().fields["log"]

    class Meta:
        """The user of an assistant is alone."""

        exclude = ("file", "shared", "token", "keep", "target")


class RefreshSchema(Schema):
    """Which prices to refresh."""

    source = Text("price source, default all", example="aws-page")


@dataclass(frozen=True, slots=True)
class Action:
    """A tool that does something; `shown` are the parameters whose schema an assistant reads before."""

    name: str
    meaning: str
    schema: Schema
    does: Callable[[Service, Mapping[str, Any], str | None], Json]
    shown: tuple[str, ...]
    changes: bool = False

    def input_schema(self) -> Json:
        return input_schema(self.schema, self.shown)


def launched(service: Service, given: Mapping[str, Any], _: str | None) -> Json:
    """A launch file for the best estimate of a question."""
    catalogue = service.catalogue()
    values, _layout = service.parse(LaunchSchema(), _texts(given), catalogue)
    report = launch_report(service, catalogue, values)
    warning = {"warning": report.trains_nothing} if report.trains_nothing else {}
    return {**warning, "file": launch_file(report).decode()}


def watched(service: Service, given: Mapping[str, Any], _: str | None) -> Json:
    """The hours and dollars so far, from a log."""
    values = service.check(WatchSchema(), _texts(given))
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


def added(service: Service, given: Mapping[str, Any], _: str | None) -> Json:
    """A log as the user's own recipe."""
    if service.keeper is None:
        raise Refused(503, "no runs are kept here: it answers from fixed prices")
    values = service.check(AddSchema(), _texts(given))
    path = Path(values.pop("log"))
    run = new_run(service, service.catalogue(), values, path)
    kept = kept_run(service, service.keeper, run, Owner(None, service.user), By(ASSISTANT, service.clock()))
    return short_answer(kept, "costcalc recipes list")


def refreshed(service: Service, given: Mapping[str, Any], database: str | None) -> Json:
    """The prices of the sources, read anew into the store."""
    values = service.check(RefreshSchema(), _texts(given))
    named = (values["source"],) if "source" in values else ()
    try:
        report = refresh.refresh(named, Store(database), os.environ, utc_now(), lambda _: None)
    except (refresh.UnknownSource, StoreError) as error:
        raise Refused(400, str(error)) from None
    sources = {
        result.name: result.error or result.missing or f"{len(result.offers)} rates" for result in report.results
    }
    return {"sources": sources, "all_well": report.exit_code == 0}


def _texts(given: Mapping[str, Any]) -> dict[str, list[str]]:
    return {name: as_texts(value) for name, value in given.items() if value is not None}


ACTIONS = (
    Action("launch", "A launch file that rents the best machine and trains; takes cost's parameters.", LaunchSchema(),
           launched, ("model", "target", "to", "provider", "run", "pick")),
    Action("watch", "Dollars so far and to the target of a running training, from its log.", WatchSchema(), watched,
           ("log", "rate", "planned_epochs", "metric", "target", "max_cost", "steps_per_epoch")),
    Action("add_run", "Makes a training log of the user's a recipe; says what it needs to know.", AddSchema(), added,
           ("log", "dataset", "accelerator", "metric", "batch_size", "name", "model"), changes=True),
    Action("refresh", "Reads prices anew from their sources; takes up to minutes.", RefreshSchema(), refreshed, ("source",),
           changes=True),
)  # fmt: skip
