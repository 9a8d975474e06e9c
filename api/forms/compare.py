"""`/compare`: two machines beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

from msgspec.structs import replace

from api.formats import csv_export, words
from api.formats.blocks import Block, Rows, Say
from api.formats.charts.cost_and_time import card
from api.formats.charts.frame import Axis, Frame
from api.formats.column import Column
from api.formats.estimates import missing_prices, rests_on
from api.formats.figures import of_an_estimate
from api.formats.page import Page
from api.formats.sheet import Sheet
from api.formats.sheet_columns import constant, estimate_columns, within
from api.formats.tables import Table
from api.forms.code import Code
from api.reports.compare import CompareDocument, CompareReport, CompareSchema, asked_of, compare_report
from costcalc.query import Basis
from costcalc.tasks.goals import training_in_words

COMPARED = (
    "price_ratio", "speed_ratio", "cheaper", "probability", "correlation", "break_even_hourly_rate", "cost_per_hour_saved",
)  # fmt: skip
ROOM = 1.25
BASIS: Basis = "effective"
TABLE = Table("Two machines for the same training", "", "machine", None, ())


def blocks(report: CompareReport) -> Iterator[Block]:
    """The verdict and both estimates."""
    document = report.document()
    sides = {"a": document.a, "b": document.b}
    side = Column("#", lambda row: next(name for name, each in sides.items() if each is row))
    yield Say(document.verdict, leads=True)
    yield Rows(replace(TABLE, columns=(side, *of_an_estimate(BASIS))), [*sides.values()])
    yield Say([" ".join(words.marks_explained(sides.values()))], small=True)
    yield rests_on(sides)
    yield from missing_prices(document.prices)


def sheet(report: CompareReport) -> Sheet:
    """Two rows, one per machine, each followed by the figures of the comparison."""
    document = report.document()
    columns: list[csv_export.Column] = [
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


CODE: Code[CompareReport] = Code(CompareSchema, compare_report, CompareDocument, blocks=blocks, html=html, sheet=sheet)
