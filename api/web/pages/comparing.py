"""`/compare` as a page: two machines as cards, which costs less and how surely, and the rate at which the answer turns."""

from __future__ import annotations

from typing import Any, NamedTuple

from flask import Response, render_template, request

from api.formats.charts.frame import Axis, Frame
from api.formats.charts.plot import card
from api.questions.errors import Refused
from api.questions.question import Question
from api.reports.comparison import CompareDocument, asked_of, compare_report
from api.web.pages.address import Address
from api.web.pages.question import explained
from api.web.responses import answered, arguments, current_service, wants_page, with_example
from costcalc.query import Basis

EXAMPLE = {"model": ["resnet50"], "target": ["0.757"], "a": ["aws:p5.4xlarge"], "b": ["aws:p4d.24xlarge"]}
EXAMPLES = (
    ("a GH200 or a B200", {"a": "lambda:gpu_1x_gh200", "b": "lambda:gpu_1x_b200_sxm6"}),
    ("one machine or four", {"a": "aws:p5.48xlarge", "b": "aws:p5.48xlarge:4"}),
    ("on demand or spot", {"a": "gcp:a2-highgpu-1g", "b": "gcp:a2-highgpu-1g:spot"}),
    ("rent or own", {"a": "lambda:gpu_1x_a10", "b": "own:1x RTX 4090"}),
)
ROOM = 1.25
BASIS: Basis = "effective"


class Turn(NamedTuple):
    """A line of hourly rates of machine `b`, in percent: where it stands today, and up to where it costs less than `a`."""

    now: str
    even: str
    most: float


def compare_view(question: Question) -> Response:
    """A page for browsers, which without parameters has an example; else the answer."""
    if not wants_page():
        return answered(question)
    given = with_example(_ticked(arguments()), EXAMPLE)
    shown: dict[str, Any] = {"at": Address(request.path, given), "given": given, "examples": EXAMPLES}
    try:
        service = current_service()
        catalogue = service.catalogue()
        values, _ = service.parse(question.schema, given, catalogue)
        report = compare_report(service, catalogue, values)
        shown |= _compared(report.document(), [asked_of(side, report.query) for side in report.sides])
        status = 200
    except Refused as refused:
        shown["errors"], status = refused.errors or {"": [refused.detail]}, refused.status
    return Response(render_template("compare.html", **shown), status)


def _ticked(given: dict[str, list[str]]) -> dict[str, list[str]]:
    """The first two machines that were ticked elsewhere as `a` and `b`."""
    ticked = dict.fromkeys(given.get("_with", []))
    sides = {side: [machine] for side, machine in zip("ab", ticked, strict=False)}
    return {name: texts for name, texts in given.items() if name != "_with"} | sides


def _compared(document: CompareDocument, asked: list[Any]) -> dict[str, Any]:
    both = document.a, document.b
    frame = Frame(
        Axis.around([hours for each in both for hours in (each.calendar_hours, each.hours_low, each.hours_high)]),
        Axis.around([float(cost) for each in both for cost in each.cost(BASIS)]),
        tuple(dict.fromkeys(each.provider for each in both)),
    )
    said = document.verdict
    return {
        "document": document,
        "notes": (*said[1 : 2 + (document.price_ratio is not None)], *said[len(said) - len(document.owned) :]),
        "sides": [
            (name, each, each.cost(BASIS), card(frame, each, BASIS), explained(query, each))
            for name, each, query in zip("ab", both, asked, strict=True)
        ],
        "turn": _turn(document),
        "chance_of_a": document.probability if document.cheaper == "a" else 1 - document.probability,
    }


def _turn(document: CompareDocument) -> Turn | None:
    """Nothing where `b` costs more even for nothing an hour."""
    now, even = float(document.b.hourly_rate), document.break_even_hourly_rate
    if even <= 0:
        return None
    most = ROOM * max(now, even)
    return Turn(f"{100 * now / most:.2f}%", f"{100 * even / most:.2f}%", most)
