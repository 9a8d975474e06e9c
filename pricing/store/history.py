"""The history of rates in a book: when each was first seen, and when last."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from costcalc.offers import Offer
from pricing.store.book import Book, moment
from pricing.store.offer_rows import entry


@dataclass(frozen=True, slots=True)
class Observed:
    """One rate of the history: the offer as first observed, when it was last seen unchanged, and the source's name."""

    offer: Offer
    last_seen_at: datetime
    origin: str


def observed_runs(book: Book) -> list[Observed]:
    """Every rate of the book once, oldest first: rows that repeat one, or that two books both hold, are joined to it."""
    order = np.lexsort((book.named["seen"], book.named["observed"]))
    runs: list[Observed] = []
    newest: dict[tuple[str, bytes], tuple[int, bytes]] = {}
    for row in order.tolist():
        [offer] = book.offers(np.array([row]))
        origin, seen = book.origins[book.named["origin"][row]], moment(int(book.named["seen"][row]))
        each = entry(origin, offer)
        number, rate = newest.get((origin, each.offer_digest), (-1, b""))
        if rate == each.rate_digest:
            run = runs[number]
            runs[number] = Observed(run.offer, max(run.last_seen_at, seen), origin)
        else:
            newest[origin, each.offer_digest] = (len(runs), each.rate_digest)
            runs.append(Observed(offer, seen, origin))
    return runs
