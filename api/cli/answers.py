"""What the commands that ask print: a report as a table, as JSON or as CSV."""

from __future__ import annotations

from typing import NamedTuple

from marshmallow import ValidationError
from msgspec import Struct

from api.bootstrap import build_once
from api.cli.options import FORMATS
from api.formats.csv_export import has_rows
from api.formats.terminal.grid import View
from api.forms.question import FILES, Question
from api.questions.errors import BadParameters
from api.questions.fields import Choice
from api.settings import Settings

FORMAT = Choice(FORMATS, "format of the answer")


class Printed(NamedTuple):
    """An answer as text, and beside it why it holds nothing: a sheet without rows, a launch file that trains nothing."""

    text: str | bytes
    beside: str = ""


def answer(question: Question, settings: Settings, given: dict[str, list[str]], view: View) -> Printed:
    """The answer in the form asked for. Raises Refused, and what opening the store and reading the tables raise."""
    formats = given.pop("format", ["table"])
    try:
        form = FORMAT.deserialize(formats)
    except ValidationError:
        message = f"must be table, json, csv or xlsx, given once; got {' '.join(formats)}"
        raise BadParameters({"format": [message]}) from None
    service = build_once(settings)
    catalogue = service.catalogue()
    values, layout = service.parse(question.asked_in_terminal, given, catalogue)
    if layout.profile == "focus" and form != "csv":
        raise BadParameters({"profile": ["focus is a form of CSV: add --format csv"]})
    if form in FILES and form not in question.files:
        raise BadParameters({"format": [f"{question.name} has no {form.upper()}: write table or json"]})
    if form == "table" and (command := question.command):
        is_narrowed = all(name.rstrip("?") in given for name in command.arguments)
        values = question.listed(values, command.narrowed if is_narrowed else command.rows)
    report = question.code.report(service, catalogue, values)
    if form == "json":
        return Printed(f"{question.code.encoded(report, layout).decode()}\n")
    if form == "xlsx":
        return Printed(question.code.xlsx_of(report, layout))
    sheet = b""
    if form == "csv":
        sheet = b"".join(question.code.csv_of(report, layout))
    if has_rows(sheet):
        return Printed(sheet.decode())
    table = "".join(f"{line.rstrip()}\n" for line in question.code.lines(report, view))
    return Printed(sheet.decode(), table) if form == "csv" else Printed(table)


def launch(settings: Settings, given: dict[str, list[str]]) -> Printed:
    """The launch file that `/launch` answers, and beside it why it trains nothing. Raises Refused, StoreError and TableError."""
    from api.formats.launch_files import launch_file
    from api.reports.launch import LaunchSchema, launch_report

    service = build_once(settings)
    catalogue = service.catalogue()
    values, _ = service.parse(LaunchSchema(), given, catalogue)
    report = launch_report(service, catalogue, values)
    return Printed(launch_file(report).decode(), report.trains_nothing)


class PlanAnswer(Struct, frozen=True):
    """The answer to the rows of a plan as it is printed, their sums in words, how many rows it has and how many of them have an
    error."""

    text: bytes
    sums: list[str]
    rows: int
    unanswered: int


def plan(settings: Settings, given: dict[str, list[str]], body: bytes) -> PlanAnswer:
    """What `POST /plan` answers, in the form of the rows unless `format` asks for another. Raises what `answer` does."""
    from api.forms.plan import FORMS, in_all, planner
    from api.reports.rows import rows_of

    service = build_once(settings)
    answers, layout = planner(service, service.catalogue(), given)
    is_json = body.lstrip()[:1] == b"["
    document = answers.document(rows_of(body, is_json))
    wanted = layout.format or ("json" if is_json else "csv")
    text = FORMS[wanted](document, layout) + b"\n" * (wanted == "json")
    sums = list(map(in_all, document.sums))
    return PlanAnswer(text, sums, len(document.rows), len(document.rows) - document.answered)
