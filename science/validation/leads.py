"""What leads for a plain question about each of NETWORKS, at the packaged prices: `python -m science.validation.leads`.

Said of each: the machine, its range in dollars, how its speed is known, and whether the next step starts it as printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from decimal import Decimal

from api.forms.cost import cost_report
from api.reports.verdict import in_short
from api.service import COST, Service
from api.stored import FixedPrices
from costcalc.answers import Answer
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import load_evidence
from pricing.packaged.offers import read_packaged

MOMENT = datetime(2026, 11, 20, 12, tzinfo=UTC)
NETWORKS = (
    *("resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d", "wide_resnet50_2"),
    *("vgg16", "densenet121", "inception_v3", "mobilenet_v2", "mobilenet_v3_large", "regnety_3200mf"),
    *("efficientnet_b0", "efficientnet_b4", "efficientnetv2_s", "convnext_tiny", "convnext_base"),
    *("swin_tiny", "swin_base", "deit_small", "deit_base", "vit_b16"),
)


def answers(networks: Iterable[str]) -> Iterator[Answer]:
    """The answer to the plain question about each network, to the target that is usual of it."""
    catalogue = Catalogue.from_offers(read_packaged().offers, "packaged")
    service = Service(load_evidence(), FixedPrices(catalogue), lambda: MOMENT)
    for network in networks:
        values, _ = service.parse(COST, {"model": [network]}, catalogue)
        yield cost_report(service, catalogue, values).answer


def lines(answered: Iterable[Answer]) -> Iterator[str]:
    """One for each answer, then how many speeds are known in which way, how many start, and how wide all ranges are."""
    known, started, width = Counter[str](), 0, Decimal(0)
    for answer in answered:
        lead, way, starts = answer.lead, answer.lead.evidence.throughput.spoken, _starts(answer)
        known[way] += 1
        started += starts
        width += lead.billed_cost_high - lead.billed_cost_low
        dollars = f"{lead.billed_cost:>8} USD ({lead.billed_cost_low} to {lead.billed_cost_high})"
        start = "starts" if starts else "does not start"
        yield f"{answer.query.model:20}{in_short(lead):36}{lead.hours:7.2f} h {dollars}, {way}, {start}"
    ways = ", ".join(f"{number} {way}" for way, number in known.most_common())
    yield f"{ways}; {started} start as printed; the ranges are {width:,.0f} USD wide in sum"


def _starts(answer: Answer) -> bool:
    """Whether the next step is a command that starts the lead itself."""
    return answer.next is not None and answer.next.command is not None and answer.next.estimate == answer.lead


if __name__ == "__main__":
    for line in lines(answers(NETWORKS)):
        print(line)
