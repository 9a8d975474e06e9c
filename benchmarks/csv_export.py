"""A price sheet of 100,000 rows as CSV: time beside csv.writer on the same rows, and memory."""

from __future__ import annotations

import csv
import io
import time
import tracemalloc
from collections.abc import Callable

from api.formats import price_sheet
from api.questions.schemas import Layout
from api.reports.prices.offers import OfferRow, offer_row, selected
from benchmarks.synthetic import NOW, catalogue
from benchmarks.timing import report

ROWS, ROUNDS = 100_000, 3
NAMES = tuple(OfferRow.__dataclass_fields__)


def run() -> bool:
    """Measures and reports."""
    offers = catalogue(ROWS)
    rows = selected(offers, NOW, {})

    def ours(part=rows) -> int:
        return sum(map(len, price_sheet.chunks(offers, part, NAMES, Layout())))

    ratio = least_seconds(ours) / least_seconds(plain(offers, rows))
    few, many, size = peak(lambda: ours(rows[: ROWS // 10])), peak(ours), ours() / 2**20
    what = f"{ROWS:,} rows of /offers.csv"
    fine = report(f"{what} beside csv.writer", f"{ratio:.2f} times its time", "at most 3 times", ratio <= 3)
    wanted = f"less than twice the {few:.1f} MiB that a tenth takes"
    return report(f"memory for the {size:.0f} MiB of {what}", f"{many:.1f} MiB", wanted, many < 2 * few) and fine


def plain(offers, rows) -> Callable[[], object]:
    """csv.writer on the same values, which are all there already."""
    values = [
        tuple(getattr(row, name) for name in NAMES) for row in (offer_row(offers.offer(row)) for row in rows.tolist())
    ]
    return lambda: csv.writer(io.StringIO()).writerows(values)


def least_seconds(call: Callable[[], object]) -> float:
    taken = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        call()
        taken.append(time.perf_counter() - started)
    return min(taken)


def peak(call: Callable[[], object]) -> float:
    """MiB that Python held at most during the call, beyond what it held before."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 2**20
