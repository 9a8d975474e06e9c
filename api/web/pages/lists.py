"""Lists as pages in the dress of the first screen: filters, a table, and the same rows as files."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from flask import Response, render_template, request, url_for

from api.formats.source_links import brief
from api.formats.tables import Link, batch
from api.questions.errors import BadParameters
from api.questions.question import Question
from api.questions.register import question_of
from api.questions.schemas.layout import Layout, layout
from api.questions.suggestions import squeeze
from api.reports.models import FitReport, ModelsReport
from api.web.pages.address import Address
from api.web.pages.filters import entry
from api.web.responses import (
    ROWS_ON_PAGE,
    answered,
    arguments,
    asked_of,
    cached,
    chosen_format,
    current_service,
    wants_page,
    with_address,
    written,
)
from costcalc.evidence.largest_batch import Fit
from costcalc.training import Tier

MOST_SHOWN = 60
MOST_NETWORKS = 12


class GridRow(NamedTuple):
    """Accelerators of equal memory, and by network the largest batch on them: as measured where anybody did."""

    memory_gib: float
    accelerators: tuple[str, ...]
    batches: dict[str, Fit]


def fit_page(report: FitReport, _: Layout) -> bytes:
    """Which batch of each network each memory holds, as a grid; of one accelerator as a list."""
    if arguments().get("accelerator"):
        return list_page(question_of("fit"), report)
    first = list(report.found.of_the_first(MOST_NETWORKS))
    networks = list(dict.fromkeys(each.model for each in first))
    by_memory = groupby(sorted(first, key=_memory), key=_memory)
    grid = [GridRow(memory, *_together(list(some))) for memory, some in by_memory]
    return list_page(question_of("fit"), report, networks=networks, grid=grid, batch=batch)


def _memory(each: Fit) -> float:
    return each.memory_gib


def _together(some: Sequence[Fit]) -> tuple[tuple[str, ...], dict[str, Fit]]:
    """The accelerators; by network, the batch that was measured, else any, since what is modelled follows from the memory."""
    by_evidence = sorted(some, key=lambda each: each.evidence is Tier.MEASURED)
    return tuple(dict.fromkeys(each.accelerator for each in some)), {each.model: each for each in by_evidence}


def list_page(question: Question, report: Any, **shown_too: Any) -> bytes:
    """The rows of a report below the filters of its question."""
    table, document = question.listed, report.document()
    wanted, offset = request.args.get("_find", ""), int(request.args.get("offset") or 0)
    rows = [row for row in table.rows(report) if not table.find or squeeze(wanted) in squeeze(table.find(row))]
    shown = len(rows) if wanted or not table.find or "_all" in request.args else MOST_SHOWN
    if table.first and not wanted:
        rows.sort(key=table.first)
    columns = [cell for cell in table.columns if any(cell.text(row) or cell.source(row) for row in rows[:shown])]
    bars = {cell.heading: max((cell.bar(row) or 0 for row in rows), default=0) for cell in table.columns if cell.bar}
    return _drawn(
        question,
        title=report.name if question.path.endswith("}") else table.title,
        rows=rows[:shown],
        columns=columns,
        verdict=getattr(document, "verdict", ()),
        bars=bars,
        wanted=wanted,
        first=offset + 1,
        count=getattr(document, "count", len(rows)),
        rest=report.rest,
        before=max(offset - ROWS_ON_PAGE, 0) if offset else None,
        sources=brief,
        is_whole=shown >= len(rows),
        address=_address,
        **shown_too,
    )


def _drawn(question: Question, **shown: Any) -> bytes:
    at = Address(request.path, asked_of(question))
    fields = [entry(name, question.schema.fields[name], at) for name in question.listed.filters]
    return render_template(
        "list.html", question=question, table=question.listed, at=at, fields=fields, **shown
    ).encode()


def _address(link: Link) -> str:
    """Where a link leads: what something costs is asked on the first screen."""
    name, parameters = link
    return url_for("pages.page" if name == "cost" else f"questions.{name}", **parameters)


def history_view(question: Question) -> Response:
    """Every rate observed for the machines asked about; for a browser without a machine, the form that asks for one."""
    try:
        return answered(question)
    except BadParameters as wrong:
        if wants_page() and list(wrong.errors) == ["instance_type"] and not any(arguments().get("instance_type", [])):
            form = _drawn(question, title=question.listed.title, rows=None, is_whole=True)
            return Response(form, headers={"Cache-Control": "no-store", "Vary": "Accept"})
        raise


def models_view(question: Question) -> Response:
    """Every model; what is known of them needs no prices."""
    return _of_evidence(question, ModelsReport(current_service().evidence, None))


def model_view(question: Question, model: str) -> Response:
    """One model: its recipes with their curves, its throughputs, and where each was published."""
    service = current_service()
    name = service.model(model)
    return _of_evidence(question, ModelsReport(service.evidence_about(name.name), name))


def _of_evidence(question: Question, report: ModelsReport) -> Response:
    service = current_service()
    chosen = layout(service.check(question.schema, arguments()))
    kind = chosen_format(chosen, question.kinds)
    at = with_address(question, chosen, service.clock())
    return cached(("", report.name, at), kind, lambda: written(question, report, kind, at))
