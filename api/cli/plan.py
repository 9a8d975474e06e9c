"""`costcalc plan`: the rows of a file answered as `POST /plan` answers them."""

from __future__ import annotations

from dataclasses import dataclass

from api.bootstrap import build_once
from api.reports.documents import to_json
from api.reports.plan import Planner, as_csv, layout_beside
from api.reports.plan_rows import rows_of_csv, rows_of_json, shared
from api.settings import Settings


@dataclass(frozen=True, slots=True)
class Printed:
    """The answer as text, how many rows it has and how many of them have an error."""

    text: bytes
    rows: int
    unanswered: int


def answer(settings: Settings, given: dict[str, list[str]], body: bytes) -> Printed:
    """The answer in the form of the rows unless `format` asks for another. Raises Refused, and what opening the store raises."""
    service = build_once(settings)
    catalogue = service.catalogue()
    form = layout_beside(service, catalogue, given)
    is_json = body.lstrip()[:1] == b"["
    rows = rows_of_json(body) if is_json else rows_of_csv(body)
    document = Planner(service, catalogue, shared(given), form.decimal).document(rows)
    wanted = form.format or ("json" if is_json else "csv")
    text = to_json(document) + b"\n" if wanted == "json" else b"".join(as_csv(document, form))
    return Printed(text, len(document.rows), len(document.rows) - document.answered)
