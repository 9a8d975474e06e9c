"""Our answer beside gpuhunt's `Catalog.query`, both over the same 100,000 offers in memory, alternating in one run.

gpuhunt knows no models, so it is asked for what a question about resnet50 comes to: every offer with an accelerator that
resnet50 was measured on. Its offers are spread over its own providers, as its published catalogue is.
"""

from __future__ import annotations

import time

from gpuhunt import AcceleratorVendor, Catalog, CatalogItem
from gpuhunt._internal.catalog import OFFLINE_PROVIDERS, ProviderCatalog

from benchmarks.answers import questions
from benchmarks.synthetic import NOW, catalogue
from benchmarks.timing import median, milliseconds, report
from costcalc.answers import Answer
from costcalc.catalogue.catalogue import OPTIONS, Catalogue
from costcalc.estimate import answer
from costcalc.evidence import load_evidence
from costcalc.query import EstimateQuery

SIZE = 100_000


def run() -> bool:
    """Measures and reports."""
    evidence, offers = load_evidence(), catalogue(SIZE)
    theirs = their_catalogue(offers)
    measured = sorted({row.accelerator for row in evidence.throughputs if row.model == "resnet50"})

    def ask(question: EstimateQuery) -> Answer:
        return answer(question, evidence, offers, NOW)

    ask(EstimateQuery("resnet50", 0.7))
    ours_ms: list[float] = []
    theirs_ms: list[float] = []
    for question in questions(10):
        theirs_ms += milliseconds([lambda: theirs.query(gpu_name=measured)])
        ours_ms += milliseconds([lambda q=question: ask(q)])  # type: ignore[misc]
    ratio = median(theirs_ms) / median(ours_ms)
    return report(
        "faster than gpuhunt's Catalog.query at 100,000 offers", f"{ratio:.0f} times", "at least 50", ratio >= 50
    )


def their_catalogue(offers: Catalogue) -> Catalog:
    """The same offers as gpuhunt keeps them in memory."""
    theirs = Catalog(balance_resources=False, auto_reload=False)
    items = [_item(offers, row) for row in offers.current_offers(NOW).rows.tolist()]
    for position, provider in enumerate(OFFLINE_PROVIDERS):
        theirs.catalog[provider] = ProviderCatalog("1", items[position :: len(OFFLINE_PROVIDERS)])
    theirs.loaded_at = time.monotonic()
    return theirs


def _item(offers: Catalogue, row: int) -> CatalogItem:
    columns, words = offers.columns, offers.vocabulary
    _, name, machine = words.instances[columns.instance[row]]
    return CatalogItem(
        provider="aws",
        instance_name=name,
        location=words.regions[columns.region[row]],
        price=columns.hourly[row] / 1e9,
        cpu=machine.vcpus or 8,
        memory=machine.memory_gib or 64,
        gpu_count=machine.accelerators,
        gpu_name=machine.accelerator,
        gpu_memory=machine.accelerator_memory_gib or 16,
        spot=OPTIONS[columns.option[row]] == "spot",
        disk_size=None,
        gpu_vendor=AcceleratorVendor.NVIDIA,
    )
