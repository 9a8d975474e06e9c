"""Whole workbooks: an answer with its rates and commitments, and commitments alone."""

from __future__ import annotations

from api.formats.xlsx.book import Book
from api.formats.xlsx.commitments import CommitmentSheets
from api.formats.xlsx.estimates import write_estimates
from api.formats.xlsx.rates import Rates
from api.formats.xlsx.summary import write_assumptions, write_summary
from api.formats.xlsx.tables import Front, write_front
from api.questions.links import to_url
from api.questions.schemas.layout import Layout
from api.reports.commitments import CommitmentsDocument
from api.reports.decision import Compared, MachineBills
from costcalc.answers import Answer
from costcalc.offers import PurchaseOption
from costcalc.tasks.goals import goal_in_words

YELLOW = (
    "Yellow cells are yours to change: hours, and runs where you asked about them, on Machines, list rates on Rates, your "
    "discounts on Discounts. The tables and the chart follow; these sentences do not."
)
OTHER_HOURS = (PurchaseOption.SPOT, PurchaseOption.FREE)  # interruptions, and sessions that end, stretch them


def cost(answer: Answer, commitments: CommitmentsDocument, bills: tuple[MachineBills, ...], layout: Layout) -> bytes:
    """An answer with its picks: summary, estimates, rates, discounts, assumptions, and what commitments on such machines cost."""
    query, answer = answer.query, answer.with_best()
    book = Book(f"costcalc {query.model} {query.target:g}", answer.prices.as_of, query.currency)
    summary, estimates = book.sheet("Summary"), book.sheet("Estimates")
    rates = Rates(book, query.currency, answer.prices.as_of)
    write_estimates(estimates, answer, rates, layout)
    write_assumptions(book.sheet("Assumptions"), answer)
    CommitmentSheets(commitments, bills, rates).add(book, lambda machine: _hours_of(machine, answer))
    rates.write()
    write_summary(book, summary, answer, layout.root)
    return book.finish()


def commitments(document: CommitmentsDocument, bills: tuple[MachineBills, ...], root: str = "") -> bytes:
    """Commitments alone, with the verdict in front."""
    query = document.query
    book = Book(f"costcalc commitments {query.model}", document.prices.as_of, query.currency)
    runs = {} if document.runs_per_month is None else {"runs_per_month": f"{document.runs_per_month}"}
    address = root + to_url(query, "/commitments.xlsx", **runs)
    lines = [*document.verdict, YELLOW, *document.notes]
    summary = book.sheet("Summary")
    front = Front(
        f"Rent or commit: {query.model} to {goal_in_words(query)}",
        lines,
        address,
        document.prices.as_of,
        query.currency,
    )
    below = write_front(summary, front)
    rates = Rates(book, document.query.currency, document.prices.as_of)
    sheets = CommitmentSheets(document, bills, rates)
    sheets.add(book, lambda _: None)
    sheets.draw(book, summary, below)
    rates.write()
    return book.finish()


def _hours_of(machine: Compared, answer: Answer) -> str | None:
    """The hours of the first estimate of the same training on the same machines, or the share of them that one run takes."""
    for estimate in answer.estimates:
        wanted = (machine.provider, machine.instance_type, machine.nodes, machine.recipe)
        found = (estimate.provider, estimate.instance_type, estimate.nodes, estimate.recipe)
        if wanted == found and estimate.purchase_option not in OTHER_HOURS:
            hours = f"INDEX(estimates_hours,MATCH({estimate.rank},estimates_rank,0))"
            return hours if answer.query.runs == 1 else f"{hours}*{machine.hours_per_run / estimate.hours!r}"
    return None
