"""All estimates of a question at a glance: a point of the chart for each, and how many there are of each provider, machine and
way to buy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from api.service import Service
from costcalc.answers import Overview
from costcalc.catalogue.catalogue import OPTIONS, Catalogue
from costcalc.query import EstimateQuery

COUNTED = ("provider", "accelerator", "purchase")


class Point(NamedTuple):
    """One estimate: what is rented, its hours on the calendar and its cost by the question's basis, each with its 80 % range."""

    rank: int
    provider: str
    instance_type: str
    nodes: int
    accelerator: str
    accelerators: int
    region: str
    purchase_option: str
    term: str | None
    hours: float
    hours_low: float
    hours_high: float
    cost: float
    cost_low: float
    cost_high: float
    frontier: bool


@dataclass(frozen=True, slots=True)
class Glance:
    """Overviews of one question, and of the questions beside it that leave one filter out."""

    service: Service
    catalogue: Catalogue
    query: EstimateQuery

    def points(self) -> tuple[Point, ...]:
        """Every estimate in the question's order."""
        return tuple(_points(*self.service.overview(self.query, self.catalogue)))

    def counts(self) -> dict[str, list[tuple[str, int]]]:
        """By filter, every name that it may have with the number of estimates that it would leave, most first."""
        whole = self.points()
        return {name: self._counted(name, whole) for name in COUNTED}

    def _counted(self, name: str, whole: tuple[Point, ...]) -> list[tuple[str, int]]:
        chosen = getattr(self.query, name)
        points = replace(self, query=self._without(name)).points() if chosen else whole
        column = Point._fields.index("purchase_option" if name == "purchase" else name)
        counted = {**dict.fromkeys(map(str, chosen), 0), **Counter(str(point[column]) for point in points)}
        return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))

    def _without(self, name: str) -> EstimateQuery:
        dropped: dict[str, Any] = {name: ()}
        return replace(self.query, **dropped)


def _points(found: Overview, catalogue: Catalogue) -> Iterator[Point]:
    columns, words = catalogue.columns, catalogue.vocabulary
    codes = (columns.instance, columns.region, columns.option, columns.term)
    offers = zip(*(code[found.row].tolist() for code in codes), strict=True)
    figures = (
        found.hours,
        found.hours_low,
        found.hours_high,
        found.cost,
        found.cost_low,
        found.cost_high,
        found.on_frontier,
    )
    rows = zip(offers, found.nodes.tolist(), zip(*(each.tolist() for each in figures), strict=True), strict=True)
    for rank, ((instance, region, option, term), nodes, numbers) in enumerate(rows, 1):
        provider, name, machine = words.instances[instance]
        offered = (provider, name, nodes, machine.accelerator, machine.accelerators * nodes, words.regions[region])
        yield Point(rank, *offered, OPTIONS[option].value, words.terms[term] or None, *numbers)
