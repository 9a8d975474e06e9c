"""A price sheet of 100,000 rows as CSV: time beside csv.writer on the same rows, and memory."""

from __future__ import annotations

import csv
import io
import time
import tracemalloc
from collections.abc import Callable

from api import price_sheet
from api.offers import OfferRow, as_row, selected
from api.schemas import Layout
from benchmarks.synthetic import NOW, catalogue
from benchmarks.timing import report

ROWS, ROUNDS = 100_000, 3
NAMES = tuple(OfferRow.__dataclass_fields__)


def run() -> bool:
    """Measures and reports."""
    offers = catalogue(ROWS)
    rows = selected(offers, NOW, {})
    offer_rows = (as_row(offers.offer(row)) for row in rows.tolist())
    values = [tuple(getattr(row, name) for name in NAMES) for row in offer_rows]

    def ours() -> int:
        return sum(map(len, price_sheet.chunks(offers, rows, NAMES, Layout())))

    ratio = least_seconds(ours) / least_seconds(lambda: csv.writer(io.StringIO()).writerows(values))
    fine = report(
        f"{ROWS:,} rows of /offers.csv beside csv.writer", f"{ratio:.2f} times its time", "at most 3 times", ratio <= 3
    )
    del values
    few, many = (
        peak(lambda part=part: [0 for _ in price_sheet.chunks(offers, part, NAMES, Layout())])
        for part in (rows[: ROWS // 10], rows)
    )
    size = ours() / 2**20
    return (
        report(
            f"memory for these {size:.0f} MiB",
            f"{many:.1f} MiB",
            f"less than twice the {few:.1f} MiB for a tenth",
            many < 2 * few,
        )
        and fine
    )


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
