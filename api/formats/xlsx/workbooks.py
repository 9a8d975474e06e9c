"""Whole workbooks: an answer with its rates and commitments, and commitments alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from api.formats.xlsx.book import Book
from api.formats.xlsx.commitments import CommitmentSheets
from api.formats.xlsx.estimates import write_estimates
from api.formats.xlsx.rates import Rates
from api.formats.xlsx.summary import write_assumptions, write_summary
from api.formats.xlsx.tables import Front, write_front
from api.questions.schemas.layout import Layout
from api.reports.decision import Compared, ComparedMachines
from costcalc.answers import Answer
from costcalc.offer import PurchaseOption
from costcalc.tasks.goals import goal_in_words

SAME_MACHINES = ("provider", "instance_type", "nodes", "recipe")
OTHER_HOURS = (PurchaseOption.SPOT, PurchaseOption.FREE)  # interruptions, and sessions that end, stretch them


def cost(answer: Answer, compared: ComparedMachines, layout: Layout) -> bytes:
    """An answer with its picks: summary, estimates, rates, discounts, assumptions, and what commitments on such machines cost."""
    query, answer = answer.query, answer.with_best()
    book = Book(f"costcalc {query.model} {query.target:g}", answer.prices.as_of, query.currency)
    summary, estimates = book.sheet("Summary"), book.sheet("Estimates")
    rates = Rates(book, query.currency, answer.prices.as_of)
    write_estimates(estimates, answer, rates, layout)
    write_assumptions(book.sheet("Assumptions"), answer)
    CommitmentSheets(compared, rates).add(book, lambda machine: _hours_of(machine, answer))
    rates.write()
    write_summary(book, summary, answer, layout.root)
    return book.finish()


def commitments(compared: ComparedMachines, as_of: datetime, lines: Sequence[str], address: str) -> bytes:
    """Commitments alone, at prices of a moment, with these lines in front."""
    query = compared.query
    book = Book(f"costcalc commitments {query.model}", as_of, query.currency)
    title = f"Rent or commit: {query.model} to {goal_in_words(query)}"
    summary = book.sheet("Summary")
    below = write_front(summary, Front(title, lines, address, as_of, query.currency))
    rates = Rates(book, query.currency, as_of)
    sheets = CommitmentSheets(compared, rates)
    sheets.add(book, lambda _: None)
    sheets.draw(book, summary, below)
    rates.write()
    return book.finish()


def _hours_of(machine: Compared, answer: Answer) -> str | None:
    """The hours of the first estimate of the same training on the same machines, or the share of them that one run takes."""
    for estimate in answer.estimates:
        same = all(getattr(estimate, name) == getattr(machine, name) for name in SAME_MACHINES)
        if same and estimate.purchase_option not in OTHER_HOURS:
            hours = f"INDEX(estimates_hours,MATCH({estimate.rank},estimates_rank,0))"
            return hours if answer.query.runs == 1 else f"{hours}*{machine.hours_per_run / estimate.hours!r}"
    return None
