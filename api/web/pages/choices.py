"""`/accuracy` and `/commitments` as pages: which accuracy to buy, and whether to commit."""

from __future__ import annotations

from flask import render_template, request

from api.formats import words
from api.questions.links import text_of
from api.questions.register import question_of
from api.questions.schemas import Layout
from api.reports.accuracy import AccuracyReport
from api.reports.commitments import CommitmentsReport
from api.reports.compared import Compared
from api.web.pages.address import Address
from api.web.pages.question import Headline
from api.web.responses import asked_of
from costcalc.assumptions import in_words


def accuracy_page(report: AccuracyReport, _: Layout) -> bytes:
    """The highest accuracy within the budget and the time, and what each accuracy costs at least."""
    at = Address(request.path, asked_of(question_of("accuracy")))
    document = report.document()
    marks = words.marks_explained((*document.estimates, *document.less))
    return render_template(
        "accuracy.html", at=at, marks=marks, document=document, words=words, in_words=in_words
    ).encode()


def commitments_page(report: CommitmentsReport, _: Layout) -> bytes:
    """Each machine with its ways to commit, and a picture of what a month costs by hours of use."""
    at = Address(request.path, asked_of(question_of("commitments")))

    def chart_of(machine: Compared) -> str:
        only = {name: text_of(getattr(machine, name)) for name in ("provider", "region", "instance_type", "nodes")}
        return at(None, **only, accelerator=None, limit=1).partition("?")[2]

    return render_template(
        "commitments.html",
        at=at,
        document=report.document(),
        words=words,
        chart_of=chart_of,
        headline=Headline.of(report.document().verdict),
    ).encode()
