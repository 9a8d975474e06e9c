"""`/accuracy` and `/commitments` as pages: which accuracy to buy, and whether to commit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

from flask import render_template, request

from api.formats import words
from api.formats.charts.frame import days
from api.questions.links import text_of
from api.questions.register import question_of
from api.questions.schemas.layout import Layout
from api.reports.accuracy import AccuracyReport
from api.reports.commitments import CommitmentsReport
from api.reports.decision import Commitment, Compared, cheapest_first, considered
from api.reports.trend import TrendReport
from api.web.pages.address import Address
from api.web.pages.question import Headline, explained
from api.web.responses import asked_of

MOST_LINES = 24
FIELDS = (("model", "Model", "resnet50"), ("target", "Target", "0.757"), ("provider", "Provider", "aws"),
          ("accelerator", "Accelerator", "H100"), ("currency", "Currency", "EUR"))  # fmt: skip


def accuracy_page(report: AccuracyReport, _: Layout) -> bytes:
    """The highest accuracy within the budget and the time, and what each accuracy costs at least."""
    at = Address(request.path, asked_of(question_of("accuracy")))
    document = report.document()
    rows = document.rows()
    return render_template(
        "accuracy.html",
        at=at,
        rows=rows,
        marks=words.marks_explained(rows),
        document=document,
        headline=Headline.of((document.message,)),
    ).encode()


class CommitmentLine(NamedTuple):
    """A commitment with what it saves in a month against the cheapest rental on demand, and from how many runs a month on."""

    best: Commitment
    saves: Decimal | None
    pays_from: int | None


def _lines(report: CommitmentsReport, machines: Sequence[Compared]) -> Iterator[CommitmentLine]:
    """The cheapest way to pay of each kind and term on each machine, the least a month first."""
    rental, runs, seen = report.rental, report.runs_per_month, set()
    for each in considered(machines, runs):
        kind = id(each.machine), each.way.purchase_option, each.way.term
        if kind not in seen:
            seen.add(kind)
            saves = rental.billed_cost * runs - each.usage.cost_per_month if rental and runs is not None else None
            yield CommitmentLine(each, saves, each.pays_from(rental) if rental else None)


def commitments_page(report: CommitmentsReport, _: Layout) -> bytes:
    """All commitments beside renting on demand; each machine with its ways to commit and a picture of a month by hours of use."""
    document = report.document()
    at = Address(request.path, asked_of(question_of("commitments")))

    def chart_of(machine: Compared) -> str:
        only = {name: text_of(getattr(machine, name)) for name in ("provider", "region", "instance_type", "nodes")}
        return at(None, **only, accelerator=None, limit=1).partition("?")[2]

    return render_template(
        "commitments.html",
        at=at,
        document=document,
        lines=list(islice(_lines(report, document.machines), MOST_LINES)),
        machines=cheapest_first(document.machines, document.runs_per_month),
        chart_of=chart_of,
        headline=Headline.of(document.verdict),
    ).encode()


def trend_page(report: TrendReport, _: Layout) -> bytes:
    """The verdict, the chart, what happened, and the point of each date with its arithmetic."""
    document, at = (
        report.document(),
        Address(request.path, asked_of(question_of("trend"))),
    )
    moments = [days(point.date) for point in report.document().points]
    return render_template(
        "trend.html",
        at=at,
        document=document,
        headline=Headline.of(document.verdict),
        fields=FIELDS,
        places=[(moment - moments[0]) / (moments[-1] + 1 - moments[0]) for moment in moments],
        explained=lambda point: explained(replace(report.query, as_of=point.date), point.estimate),
        query=report.query,
    ).encode()
