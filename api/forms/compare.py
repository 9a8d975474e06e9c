"""`/compare`: two machines beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

from msgspec.structs import replace

from api.formats.charts.frame import Axis, Frame
from api.formats.charts.plot import card
from api.formats.csv_export import Column
from api.formats.page import Page
from api.formats.sheet import Sheet
from api.formats.sheet_columns import constant, estimate_columns, within
from api.formats.terminal.estimates import estimate_lines, missing_prices
from api.formats.terminal.grid import View, paragraph
from api.forms.code import Code
from api.reports.compare import CompareDocument, CompareReport, CompareSchema, asked_of, compare_report
from costcalc.answers import Estimate
from costcalc.query import Basis
from costcalc.tasks.goals import training_in_words

COMPARED = (
    "price_ratio", "speed_ratio", "cheaper", "probability", "correlation", "break_even_hourly_rate", "cost_per_hour_saved",
)  # fmt: skip
ROOM = 1.25
BASIS: Basis = "effective"


def terminal(report: CompareReport, view: View) -> Iterator[str]:
    """Both estimates and the verdict."""
    document = report.document()
    a, b = (_off_the_frontier(estimate) for estimate in (document.a, document.b))  # the other may be all that it beats
    yield from estimate_lines((a, b), "effective", view, number=lambda each: "a" if each is a else "b")
    yield ""
    for sentence in document.verdict:
        yield from paragraph(sentence, view.width, 2)
    yield from missing_prices(document.prices, view)


def _off_the_frontier(estimate: Estimate) -> Estimate:
    parts = estimate.parts
    return Estimate(replace(parts, standing=replace(parts.standing, on_frontier=False)))


def sheet(report: CompareReport) -> Sheet:
    """Two rows, one per machine, each followed by the figures of the comparison."""
    document = report.document()
    columns: list[Column] = [
        ("side", itemgetter(0)),
        *(within(itemgetter(1), column) for column in estimate_columns()),
        *(constant(name, getattr(document, name)) for name in COMPARED),
    ]
    rows, kept = (("a", document.a), ("b", document.b)), {"side", *COMPARED}
    title, as_of = f"Two machines for {training_in_words(document.query)}", document.prices.as_of
    return Sheet("Compared", title, document.verdict, columns, rows, as_of, document.query.currency, kept)


class Turn(NamedTuple):
    """A line of hourly rates of machine `b`, in percent: where it stands today, and up to where it costs less than `a`."""

    now: str
    even: str
    most: float


def html(report: CompareReport) -> Page:
    """Both machines as cards, which costs less and how surely, and the break-even rate."""
    document = report.document()
    both = document.a, document.b
    frame = Frame(
        Axis.around([hours for each in both for hours in (each.calendar_hours, each.hours_low, each.hours_high)]),
        Axis.around([float(cost) for each in both for cost in each.cost(BASIS)]),
        tuple(dict.fromkeys(each.provider for each in both)),
    )
    sentences = document.verdict
    shown = {
        "document": document,
        "notes": (
            *sentences[1 : 2 + (document.price_ratio is not None)],
            *sentences[len(sentences) - len(document.owned) :],
        ),
        "sides": [
            (name, each, each.cost(BASIS), card(frame, each, BASIS), asked_of(side, report.query))
            for name, each, side in zip("ab", both, report.sides, strict=True)
        ],
        "turn": _turn(document),
        "chance_of_a": document.probability if document.cheaper == "a" else 1 - document.probability,
    }
    return Page("compare.html", shown)


def _turn(document: CompareDocument) -> Turn | None:
    """Where the answer turns; None if `b` costs more even at no hourly rate."""
    now, even = float(document.b.hourly_rate), document.break_even_hourly_rate
    if even <= 0:
        return None
    most = ROOM * max(now, even)
    return Turn(f"{100 * now / most:.2f}%", f"{100 * even / most:.2f}%", most)


CODE: Code[CompareReport] = Code(
    CompareSchema, compare_report, CompareDocument, terminal=terminal, html=html, sheet=sheet
)
