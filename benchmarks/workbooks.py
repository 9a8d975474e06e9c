"""Workbooks: an answer of 20 estimates with its commitments, and a price sheet of 10,000 rows."""

from __future__ import annotations

from api.formats.sheets import MOST_WORKBOOK_ROWS, cost_xlsx, offers_xlsx
from api.questions.schemas.layout import Layout
from api.reports.cost import cost_report
from api.reports.prices.offers import offers_report
from api.service import COST, Service
from api.stored import FixedPrices
from benchmarks.synthetic import NOW, catalogue
from benchmarks.timing import median, milliseconds, report
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import load_evidence
from pricing.packaged.offers import read_packaged

ROUNDS = 7


def run() -> bool:
    """Measures and reports."""
    packaged = Catalogue.from_offers(read_packaged().offers, "packaged")
    service = Service(load_evidence(), FixedPrices(packaged), lambda: NOW)
    values, layout = service.parse(COST, {"model": ["resnet50"], "target": ["0.757"]}, packaged)

    def answer() -> bytes:
        return cost_xlsx(cost_report(service, packaged, dict(values)), layout)

    many = catalogue(MOST_WORKBOOK_ROWS)
    answer()
    took = median(milliseconds([answer] * ROUNDS))
    fine = report("/cost.xlsx of 20 estimates", f"{took:.0f} ms (median)", "at most 150 ms", took <= 150)
    [took] = milliseconds([lambda: offers_xlsx(offers_report(service, many, {}), Layout())])
    return report(f"/offers.xlsx of {len(many):,} rows", f"{took / 1000:.1f} s", "at most 2 s", took <= 2000) and fine
