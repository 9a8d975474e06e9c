"""What is answered where a sentence asks what machines cost an hour: their rates, in a line for each accelerator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from msgspec.structs import replace

from api.questions.suggestions import either
from api.questions.words.understanding import Understanding
from api.reports.prices.offers import OffersReport, OffersSchema, offers_report
from api.reports.prices.summary import RateSummary, in_a_line
from api.reports.verdict import HOW_BOUGHT
from api.service import Service
from costcalc.catalogue.catalogue import Catalogue
from costcalc.offer import PurchaseOption

MOST_LINES = 4
NONE = "no rate is known."


@dataclass(frozen=True, slots=True)
class RatesDocument:
    """What a question about rates is answered with: lines of words, the rates by accelerator, and where all of them are."""

    verdict: tuple[str, ...]
    summary: tuple[RateSummary, ...]
    link: str


@dataclass(frozen=True)
class RatesReport:
    """Rates that a sentence asks for, by these parameters of `/offers`."""

    service: Service
    catalogue: Catalogue
    asked: Mapping[str, list[str]]

    def document(self) -> RatesDocument:
        link = urlencode({name: ",".join(values) for name, values in self.asked.items()}, safe=",:*")
        summary = tuple(each for _, report in self.reports for each in report.summary)
        return RatesDocument(tuple(self._lines()), summary, f"/offers?{link}")

    @cached_property
    def reports(self) -> list[tuple[str, OffersReport]]:
        """What is asked about, with its rates: a few accelerators one by one, more of them together. Raises BadParameters."""
        names = self.asked.get("instance_type") or self.asked.get("accelerator") or ["An accelerator"]
        if "instance_type" in self.asked or len(names) > MOST_LINES or "accelerator" not in self.asked:
            return [(either(names), self._report(self.asked))]
        return [(name, self._report({**self.asked, "accelerator": [name]})) for name in names]

    def _report(self, asked: Mapping[str, list[str]]) -> OffersReport:
        values, _ = self.service.parse(OffersSchema(), dict(asked), self.catalogue)
        return offers_report(self.service, self.catalogue, values)

    def _lines(self) -> Iterator[str]:
        kind = "confirmed rate" if "rates" in self.asked else "unconfirmed rate"
        how = " ".join(_conditions(self.asked))
        for name, report in self.reports:
            yield (
                in_a_line(report.overall, f"{name} {how}", kind, report.as_of)
                if report.overall
                else f"{name} {how}: {NONE}"
            )


def rates_of(service: Service, catalogue: Catalogue, meant: Understanding) -> tuple[Understanding, RatesReport]:
    """The report that a sentence about rates asks for, and the sentence with what it does not say: on demand, and of confirmed
    rates, where there are such. Raises BadParameters."""
    meant = replace(meant, chosen={} if "purchase" in meant.parameters else {"purchase": ["on_demand"]})
    confirmed = replace(meant, chosen={**meant.chosen, "rates": ["confirmed"]})
    report = RatesReport(service, catalogue, confirmed.answered)
    if any(each.overall for _, each in report.reports):
        return confirmed, report
    return meant, RatesReport(service, catalogue, meant.answered)


def _conditions(asked: Mapping[str, list[str]]) -> Iterator[str]:
    """How, where and in which machines, in words."""
    options = asked["purchase"]
    yield either(HOW_BOUGHT[PurchaseOption(option)] for option in options) if len(options) <= MOST_LINES else "rented"
    if count := asked.get("accelerators"):
        yield f"in machines of {count[0]}"
    for name, before in (("provider", "at"), ("region", "in")):
        if values := asked.get(name):
            yield f"{before} {either(values) if len(values) <= MOST_LINES else f'{len(values)} {name}s'}"
