"""All estimates of a question at a glance: as points of a picture, and counted by what a filter may name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from msgspec import Struct

from costcalc.answers import Overview
from costcalc.catalogue.catalogue import OPTIONS, Catalogue
from costcalc.costing.sieve import Totals
from costcalc.estimate import Asked
from costcalc.units import Indices

Counted = Literal["provider", "accelerator", "purchase"]


class Point(NamedTuple):
    """One estimate: what is rented, its hours on the calendar and its cost by the question's basis, each with its 80 %
    range."""

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
    cost: float
    frontier: bool
    hours_low: float
    hours_high: float
    cost_low: float
    cost_high: float


class Points(Struct, frozen=True, dict=True):
    """The estimates of a question that picks may come from, in the question's order."""

    asked: Asked

    @cached_property
    def figures(self) -> Overview:
        """Their figures."""
        return self.asked.overview(pickable=True)

    @property
    def totals(self) -> Totals:
        """How many estimates there are in all."""
        return self.asked.totals

    @property
    def catalogue(self) -> Catalogue:
        """What has their offers."""
        return self.asked.catalogue

    def counted(self, name: Counted) -> Counter[str]:
        """How many estimates have each provider, accelerator or way to buy."""
        return self._counted(name, self.totals.rows, self.totals.of_row)

    def _counted(self, name: Counted, rows: Indices, of_row: Indices) -> Counter[str]:
        columns, instances = self.catalogue.columns, self.catalogue.vocabulary.instances
        codes = columns.option if name == "purchase" else columns.instance
        counted: Counter[str] = Counter()
        for code, number in enumerate(np.bincount(codes[rows], of_row).astype(int).tolist()):
            if not number:
                continue
            if name == "purchase":
                counted[OPTIONS[code].value] += number
            else:
                counted[instances[code][0] if name == "provider" else instances[code][2].accelerator] += number
        return counted

    def drawn(self) -> Counter[str]:
        """The ways to buy of the estimates that pictures show: those that picks may come from."""
        return self._counted("purchase", self.figures.row, np.ones_like(self.figures.row))

    def sold(self, positions: Indices) -> Iterator[tuple[int, str, str]]:
        """The rank, the provider and the way to buy of each of these estimates."""
        columns, machines = self.catalogue.columns, self.catalogue.vocabulary.instances
        row = self.figures.row[positions]
        codes = (each.tolist() for each in (self.figures.rank[positions], columns.instance[row], columns.option[row]))
        return (
            (rank, machines[instance][0], OPTIONS[option].value) for rank, instance, option in zip(*codes, strict=True)
        )

    def at(self, positions: Indices) -> Iterator[Point]:
        """The estimates at these positions of the columns."""
        columns, words, overview = self.catalogue.columns, self.catalogue.vocabulary, self.figures
        row = overview.row[positions]
        codes = (each[row] for each in (columns.instance, columns.region, columns.option, columns.term))
        figures = (each[positions] for each in (overview.nodes, overview.hours, overview.cost, overview.on_frontier))
        every = (overview.rank[positions], *codes, *figures, *self.asked.ranges(overview.position[positions]))
        for rank, instance, region, option, term, nodes, *rest in zip(*(each.tolist() for each in every), strict=True):
            provider, name, machine = words.instances[instance]
            offered = (provider, name, nodes, machine.accelerator, machine.accelerators * nodes, words.regions[region])
            yield Point(rank, *offered, OPTIONS[option].value, words.terms[term] or None, *rest)
