"""The workbook in which finance changes rates, hours and discounts, and watches the totals."""

from __future__ import annotations

from api.formats.xlsx.book import Book
from api.formats.xlsx.estimates import write_estimates
from api.formats.xlsx.rates import Rates
from api.formats.xlsx.summary import write_assumptions, write_summary
from api.questions.schemas.layout import Layout
from costcalc.answers import Answer


def cost(answer: Answer, layout: Layout) -> bytes:
    """An answer with its picks: summary, estimates, rates, discounts and assumptions."""
    query, answer = answer.query, answer.with_best()
    book = Book(f"costcalc {query.model} {query.target:g}", answer.prices.as_of, query.currency)
    summary, estimates = book.sheet("Summary"), book.sheet("Estimates")
    rates = Rates(book, query.currency, answer.prices.as_of)
    write_estimates(estimates, answer, rates, layout)
    write_assumptions(book.sheet("Assumptions"), answer)
    rates.write()
    write_summary(book, summary, answer, layout.root)
    return book.finish()
