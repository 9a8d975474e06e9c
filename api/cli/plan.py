"""`costcalc plan`: the rows of a file answered as `POST /plan` answers them."""

from __future__ import annotations

from dataclasses import dataclass

from api.bootstrap import build_once
from api.formats.json import to_json
from api.formats.sheets import plan_csv, plan_xlsx
from api.questions.schemas import Layout
from api.reports.plan import PlanDocument, planner, rows_of_csv, rows_of_json
from api.settings import Settings


@dataclass(frozen=True, slots=True)
class Printed:
    """The answer as it is printed, how many rows it has and how many of them have an error."""

    text: bytes
    rows: int
    unanswered: int


def answer(settings: Settings, given: dict[str, list[str]], body: bytes) -> Printed:
    """The answer in the form of the rows unless `format` asks for another. Raises Refused, and what opening the store raises."""
    service = build_once(settings)
    answers, layout = planner(service, service.catalogue(), given)
    is_json = body.lstrip()[:1] == b"["
    document = answers.document(rows_of_json(body) if is_json else rows_of_csv(body))
    wanted = layout.format or ("json" if is_json else "csv")
    return Printed(_written(document, wanted, layout), len(document.rows), len(document.rows) - document.answered)


def _written(document: PlanDocument, kind: str, layout: Layout) -> bytes:
    if kind == "json":
        return to_json(document) + b"\n"
    return plan_xlsx(document, layout) if kind == "xlsx" else b"".join(plan_csv(document, layout))
