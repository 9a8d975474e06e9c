"""How each question of the terminal is answered: its parameters, its report, and the report as a table and as a sheet."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from marshmallow import Schema, ValidationError

from api.bootstrap import build_once
from api.cli.grid import View
from api.cli.options import FORMATS
from api.formats.json import to_json
from api.questions.errors import BadParameters
from api.questions.fields import Choice
from api.questions.schemas import (
    AccuracySchema,
    ChangesSchema,
    CommitmentsSchema,
    CompareSchema,
    CostSchema,
    FitSchema,
    HistorySchema,
    Layout,
    ModelQuestionSchema,
    OffersSchema,
    ThroughputSchema,
)
from api.service import Service
from api.settings import Settings
from costcalc.catalogue.catalogue import Catalogue

FORMAT = Choice(FORMATS, "format of the answer")


class Report(Protocol):
    """What a question is answered with, before it is written in one form or another."""

    def document(self) -> object:
        """The JSON document."""
        ...


R = TypeVar("R", bound=Report)


@dataclass(frozen=True, slots=True)
class Answering(Generic[R]):
    """The parameters of a question, its report, and the lines of the table and the pieces of the sheet that show it."""

    schema: Schema
    report: Callable[[Service, Catalogue, dict[str, Any]], R]
    table: Callable[[R, View], Iterable[str]]
    csv: Callable[[R, Layout], Iterable[bytes]]


def answer(asked: Answering[R], settings: Settings, given: dict[str, list[str]], view: View) -> str:
    """The answer as text. Raises Refused, and what opening the store and reading the tables raise."""
    form = _format(given.pop("format", ["table"]))
    service = build_once(settings)
    catalogue = service.catalogue()
    values, layout = service.parse(asked.schema, given, catalogue)
    if layout.profile == "focus" and form != "csv":
        raise BadParameters({"profile": ["focus is a form of CSV: add --format csv"]})
    report = asked.report(service, catalogue, values)
    if form == "json":
        return to_json(report.document()).decode() + "\n"
    if form == "csv":
        return b"".join(asked.csv(report, layout)).decode()
    return "".join(f"{line.rstrip()}\n" for line in asked.table(report, view))


def launch(settings: Settings, given: dict[str, list[str]]) -> str:
    """The launch file that `/launch` answers. Raises Refused and CannotStart."""
    from api.formats.launch_files import launch_file
    from api.questions.schemas import LaunchSchema
    from api.reports.launch import launch_report

    service = build_once(settings)
    catalogue = service.catalogue()
    values, _ = service.parse(LaunchSchema(), given, catalogue)
    return launch_file(launch_report(service, catalogue, values)).decode()


@dataclass(frozen=True, slots=True)
class PlanAnswer:
    """The answer to the rows of a plan as it is printed, how many rows it has and how many of them have an error."""

    text: bytes
    rows: int
    unanswered: int


def plan(settings: Settings, given: dict[str, list[str]], body: bytes) -> PlanAnswer:
    """What `POST /plan` answers, in the form of the rows unless `format` asks for another. Raises what `answer` does."""
    from api.formats.sheets import plan_csv, plan_xlsx
    from api.reports.plan import planner, rows_of_csv, rows_of_json

    service = build_once(settings)
    answers, layout = planner(service, service.catalogue(), given)
    is_json = body.lstrip()[:1] == b"["
    document = answers.document(rows_of_json(body) if is_json else rows_of_csv(body))
    wanted = layout.format or ("json" if is_json else "csv")
    if wanted == "json":
        text = to_json(document) + b"\n"
    else:
        text = plan_xlsx(document, layout) if wanted == "xlsx" else b"".join(plan_csv(document, layout))
    return PlanAnswer(text, len(document.rows), len(document.rows) - document.answered)


def _format(given: list[str]) -> str:
    try:
        return str(FORMAT.deserialize(given))
    except ValidationError:
        told = f"must be table, json or csv, given once; got {' '.join(given)}"
        raise BadParameters({"format": [told]}) from None


def _cost() -> Answering[Any]:
    from api.cli.cost import cost_lines
    from api.reports.cost import cost_report

    def csv(report: Any, layout: Layout) -> Iterable[bytes]:
        from api.formats.sheets import cost_csv  # a table does not wait for what writes sheets

        return cost_csv(report, layout)

    return Answering(CostSchema(), cost_report, cost_lines, csv)


def _accuracy() -> Answering[Any]:
    from api.cli.tables import accuracy_lines
    from api.formats.sheets import accuracy_csv
    from api.reports.accuracy import accuracy_report

    return Answering(AccuracySchema(), accuracy_report, accuracy_lines, accuracy_csv)


def _commitments() -> Answering[Any]:
    from api.cli.tables import commitments_lines
    from api.formats.sheets import commitments_csv
    from api.reports.commitments import commitments_report

    return Answering(CommitmentsSchema(), commitments_report, commitments_lines, commitments_csv)


def _models() -> Answering[Any]:
    from api.cli.tables import models_lines
    from api.formats.sheets import models_csv
    from api.reports.models import models_report

    return Answering(ModelQuestionSchema(), models_report, models_lines, models_csv)


def _throughput() -> Answering[Any]:
    from api.cli.tables import throughput_lines
    from api.formats.sheets import throughput_csv
    from api.reports.throughput import throughput_report

    return Answering(ThroughputSchema(), throughput_report, throughput_lines, throughput_csv)


def _compare() -> Answering[Any]:
    from api.cli.tables import compare_lines
    from api.formats.sheets import compare_csv
    from api.reports.comparison import compare_report

    return Answering(CompareSchema(), compare_report, compare_lines, compare_csv)


def _fit() -> Answering[Any]:
    from api.cli.tables import fit_lines
    from api.formats.sheets import fit_csv
    from api.reports.models import fit_report

    return Answering(FitSchema(), fit_report, fit_lines, fit_csv)


def _offers() -> Answering[Any]:
    from api.cli.tables import offers_lines
    from api.formats.sheets import offers_csv
    from api.reports.prices.offers import offers_report

    return Answering(OffersSchema(), offers_report, offers_lines, offers_csv)


def _history() -> Answering[Any]:
    from api.cli.tables import history_lines
    from api.formats.sheets import history_csv
    from api.reports.prices.history import history_report

    return Answering(HistorySchema(), history_report, history_lines, history_csv)


def _changes() -> Answering[Any]:
    from api.cli.tables import changes_lines
    from api.formats.sheets import changes_csv
    from api.reports.prices.changes import changes_report

    return Answering(ChangesSchema(), changes_report, changes_lines, changes_csv)


ANSWERS: dict[str, Callable[[], Answering[Any]]] = {
    "cost": _cost,
    "accuracy": _accuracy,
    "commitments": _commitments,
    "models": _models,
    "throughput": _throughput,
    "compare": _compare,
    "fit": _fit,
    "offers": _offers,
    "history": _history,
    "changes": _changes,
}
"""By command; what an answer needs is imported when it is asked for."""
