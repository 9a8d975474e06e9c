"""`/trend` as a page: the price of a training over time, drawn, replayed and listed."""

from __future__ import annotations

from dataclasses import replace

from flask import render_template, request

from api.formats import words
from api.formats.charts.history import days
from api.questions.register import question_of
from api.questions.schemas.layout import Layout
from api.reports.trend import TrendReport
from api.web.pages.address import Address
from api.web.pages.question import Headline, explained
from api.web.responses import asked_of
from costcalc.units import in_words

FIELDS = (("model", "Model", "resnet50"), ("target", "Target", "0.757"), ("provider", "Provider", "aws"),
          ("accelerator", "Accelerator", "H100"), ("currency", "Currency", "EUR"))  # fmt: skip


def trend_page(report: TrendReport, _: Layout) -> bytes:
    """The verdict, the chart, what happened, and the point of each date with its arithmetic."""
    document, at = (
        report.document(),
        Address(request.path, asked_of(question_of("trend"))),
    )
    return render_template(
        "trend.html",
        at=at,
        document=document,
        headline=Headline.of(document.verdict),
        fields=FIELDS,
        places=_places(report),
        explained=lambda point: explained(replace(report.query, as_of=point.date), point.estimate),
        query=report.query,
        words=words,
        in_words=in_words,
    ).encode()


def _places(report: TrendReport) -> list[float]:
    """Where each point stands on the axis of the chart, from 0 to 1."""
    moments = [days(point.date) for point in report.document().points]
    return [(moment - moments[0]) / (moments[-1] + 1 - moments[0]) for moment in moments]
