"""What is wrong with an installation, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from api.questions.errors import NotReady
from api.questions.suggestions import many
from api.service import Service
from api.version import installed_version
from costcalc.catalogue.catalogue import Catalogue
from costcalc.catalogue.freshness import current_freshness
from costcalc.offer import ANY_SOURCE, OLD_DAYS

EXTRAS = {"psycopg": "server", "redis": "server", "resvg_py": "server"}
"""By module, the extra of this package that brings it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: whether it passed, what was found, and what to do (empty if nothing)."""

    subject: str
    state: Literal["well", "worth knowing", "wrong"]
    found: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings, and whether all checks passed."""

    well: bool
    version: str
    findings: tuple[Finding, ...]


def diagnosis(service: Service) -> Diagnosis:
    """Looks at prices, store, sources, evidence and extras; asks no price source."""
    run = sum(not recipe.is_interpolated for recipe in service.evidence.recipes)
    evidence = f"{run} recipes, {len(service.evidence.throughputs):,} measured speeds"
    findings = (*_prices(service), Finding("evidence", "well", evidence), _extras())
    return Diagnosis(all(finding.state != "wrong" for finding in findings), installed_version(), findings)


def _prices(service: Service) -> Iterator[Finding]:
    if trouble := service.prices.trouble():
        yield Finding("store", "wrong", f"out of reach: {trouble}", "costcalc prices status")
    try:
        catalogue = service.catalogue()
    except NotReady as error:
        yield Finding("prices", "wrong", error.detail, "costcalc prices status")
        return
    yield _age(service, catalogue)
    for gap in catalogue.gaps:
        remedy = "costcalc prices refresh" if gap.source == ANY_SOURCE else f"costcalc prices try {gap.source}"
        yield Finding("price source", "worth knowing", f"{gap.source}: {gap.reason}", remedy)
    for source, count in Counter(service.prices.quarantined()).items():
        text = f"{many(count, 'odd rate')} of {source} left out"
        yield Finding("quarantine", "worth knowing", text, f"costcalc prices release {source}")


def _age(service: Service, catalogue: Catalogue) -> Finding:
    fresh = current_freshness(catalogue, service.clock())
    if fresh.median_age_days is None:
        return Finding("prices", "wrong", "the snapshot has no current rate", "costcalc prices refresh")
    oldest = sorted(fresh.by_provider.items(), key=lambda pair: -pair[1])
    by_provider = ", ".join(f"{provider} {days:.0f}" for provider, days in oldest)
    text = f"the rates are {fresh.median_age_days:.0f} days old in the median; by provider: {by_provider}"
    if fresh.median_age_days > OLD_DAYS:
        return Finding("prices", "worth knowing", text, "costcalc prices refresh")
    return Finding("prices", "well", text)


def _extras() -> Finding:
    missing = sorted({extra for module, extra in EXTRAS.items() if find_spec(module) is None})
    if not missing:
        return Finding("extras", "well", "all installed")
    return Finding("extras", "worth knowing", f"not installed: {', '.join(missing)}",
                   f"pip install 'costcalc[{','.join(missing)}]'")  # fmt: skip
