"""A price sheet of 100,000 rows as CSV: time beside csv.writer on the same rows, and memory."""

from __future__ import annotations

import csv
import io
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace

from api.formats import price_sheet
from api.questions.schemas.layout import Layout
from api.reports.prices.offers import OfferRow, OffersReport, offers_report
from api.service import Service
from api.stored import FixedPrices
from benchmarks.synthetic import NOW, catalogue
from benchmarks.timing import report
from costcalc.evidence import load_evidence

ROWS, ROUNDS = 100_000, 3
NAMES = tuple(OfferRow.__dataclass_fields__)


def run() -> bool:
    """Measures and reports."""
    offers = catalogue(ROWS)
    sheet = offers_report(Service(load_evidence(), FixedPrices(offers), lambda: NOW), offers, {})
    tenth = replace(sheet, page=sheet.page[: ROWS // 10])

    def ours(part=sheet) -> int:
        return sum(map(len, price_sheet.chunks(part, NAMES, Layout())))

    ratio = least_seconds(ours) / least_seconds(plain(sheet))
    few, many, size = peak(lambda: ours(tenth)), peak(ours), ours() / 2**20
    what = f"{ROWS:,} rows of /offers.csv"
    fine = report(f"{what} beside csv.writer", f"{ratio:.2f} times its time", "at most 3 times", ratio <= 3)
    wanted = f"less than twice the {few:.1f} MiB that a tenth takes"
    return report(f"memory for the {size:.0f} MiB of {what}", f"{many:.1f} MiB", wanted, many < 2 * few) and fine


def plain(sheet: OffersReport) -> Callable[[], object]:
    """csv.writer on the same values, which are all there already."""
    values = [tuple(getattr(row, name) for name in NAMES) for row in sheet.rows()]
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
