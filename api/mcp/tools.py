"""The questions that an assistant can ask, each with its parameters as JSON Schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from marshmallow import Schema

from api.mcp.answers import Json, Report, address_of, short_answer
from api.mcp.doctor import Diagnosis, diagnosis
from api.mcp.models import recipes_report, trainable_report
from api.questions.errors import BadParameters
from api.questions.fields import Parameter
from api.questions.schemas import (
    AccuracySchema,
    ChangesSchema,
    CommitmentsSchema,
    CompareSchema,
    CostSchema,
    FitSchema,
    HistorySchema,
    LayoutSchema,
    ModelQuestionSchema,
    OffersSchema,
    ThroughputSchema,
)
from api.reports.accuracy import accuracy_report
from api.reports.commitments import commitments_report
from api.reports.comparison import compare_report
from api.reports.cost import cost_report
from api.reports.models import fit_report
from api.reports.own_runs import own_recipes_report
from api.reports.prices.changes import changes_report
from api.reports.prices.history import history_report
from api.reports.prices.offers import offers_report
from api.reports.throughput import throughput_report
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue

SHEET_ONLY = {*LayoutSchema().fields, "profile", "focus", "table", "label", "cost_center"}


@dataclass(frozen=True, slots=True)
class Tool:
    """A question: the `path` that answers it over HTTP, its parameters, and how many rows come unless `limit` asks for more."""

    name: str
    meaning: str
    path: str
    schema: Schema
    report: Callable[[Service, Catalogue, dict[str, Any]], Report]
    rows: int | None = None

    def parameters(self) -> dict[str, Parameter]:
        """Those that change figures, not the look of a sheet."""
        fields: Any = self.schema.fields
        return {name: field for name, field in fields.items() if name not in SHEET_ONLY}

    def input_schema(self) -> Json:
        """The JSON Schema of its arguments."""
        parameters = self.parameters()
        return {
            "type": "object",
            "properties": {name: _described(field) for name, field in parameters.items()},
            "required": [name for name, field in parameters.items() if field.required],
            "additionalProperties": False,
        }

    def answer(self, service: Service, given: Mapping[str, Any]) -> Json:
        """The short answer. Raises Refused saying what to write instead."""
        arguments = {name: _texts(value) for name, value in given.items() if value is not None}
        sheets = {name: ["this says how a sheet looks: leave it out here"] for name in arguments if name in SHEET_ONLY}
        if sheets:
            raise BadParameters(sheets)
        if self.rows and "limit" in self.schema.fields:
            arguments.setdefault("limit", [str(self.rows)])
        catalogue = service.catalogue()
        values, _ = service.parse(self.schema, arguments, catalogue)
        return short_answer(self.report(service, catalogue, values).document(), address_of(self.path, arguments))


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """What is wrong with the installation of a service."""

    service: Service

    def document(self) -> Diagnosis:
        """The findings."""
        return diagnosis(self.service)


TOOLS = (
    Tool("cost", "What it costs and how long it takes to train a model to an accuracy: the picks (cheapest, fastest, balanced, "
         "surest), then estimates with ranges, sources and price dates, and what could not be estimated.",
         "/cost", CostSchema(), cost_report, 5),
    Tool("accuracy", "The highest accuracy of a model that a budget or a time limit allows, and where.",
         "/accuracy", AccuracySchema(), accuracy_report, 3),
    Tool("commitments", "From how many hours a month reserving, committing or renting by the month costs less than on demand.",
         "/commitments", CommitmentsSchema(), commitments_report, 2),
    Tool("compare", "Two machines for the same training: price and speed ratios, the cheaper one with its probability, and the "
         "hourly rate at which the answer turns.", "/compare", CompareSchema(), compare_report),
    Tool("offers", "Current hourly rates of machines, each with its source and date.",
         "/offers", OffersSchema(), offers_report, 20),
    Tool("price_history", "Every rate ever observed of a machine.", "/offers/history", HistorySchema(), history_report, 20),
    Tool("price_changes", "Rates that are new or different since a date.",
         "/offers/changes", ChangesSchema(), changes_report, 20),
    Tool("throughput", "Measured training speeds, and images for the money.",
         "/throughput", ThroughputSchema(), throughput_report, 20),
    Tool("fit", "The largest batch of each network that fits each accelerator, as measured or with its range, and the smallest "
         "accelerator that holds what does not fit.", "/fit", FitSchema(), fit_report, 20),
    Tool("models", "The models that one can ask about, with the best accuracy of any recipe.",
         "/models", Schema.from_dict({})(), trainable_report),
    Tool("recipes", "The recipes of a model: epochs, batch size, precision, accuracy reached, own system and source.",
         "/models", ModelQuestionSchema(only=("model",)), recipes_report),
    Tool("own_runs", "The training runs and speeds of one's own that are stored here; ask about a run with its name as model and "
         "a value of its metric as target.",
         "/recipes", Schema.from_dict({})(), lambda service, *_: own_recipes_report(service, None)),
    Tool("doctor", "What is wrong with this installation: stale prices, sources that fail, a store out of reach.",
         "/readyz", Schema.from_dict({})(), lambda service, *_: Diagnosed(service)),
)  # fmt: skip


def tool_named(name: str) -> Tool | None:
    """The tool of that name."""
    return next((tool for tool in TOOLS if tool.name == name), None)


def _described(field: Parameter) -> Json:
    one = field.schema()
    taken = {"anyOf": [one, {"type": "array", "items": one}]} if field.listed else one
    told = taken | {"description": field.meaning}
    return told if field.example is None else told | {"examples": [field.example]}


def _texts(value: Any) -> list[str]:
    """An argument as a query string would have it."""
    if isinstance(value, (list, tuple)):
        return [text for each in value for text in _texts(each)]
    return [str(value).lower() if isinstance(value, bool) else str(value)]
