"""Where a question names several kinds of accelerators, several clouds or two ways to buy: what stands beside the lead."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from costcalc.catalogue.catalogue import OPTIONS, Catalogue
from costcalc.costing.candidates import Candidates
from costcalc.query import EstimateQuery
from costcalc.units import Flags

MOST_CHIPS, MOST_CLOUDS, MOST_WAYS = 3, 2, 2  # of more, the question means any of them
PROCESSOR, RENTED = "CPU", "rented"


@dataclass(frozen=True)
class Rivals:
    """The candidates of a question by kind of accelerator, by cloud and by way to buy. Versions of a chip, such as A100-40GB and
    A100-80GB, are one kind, and so are all `processors`."""

    query: EstimateQuery
    catalogue: Catalogue
    candidates: Candidates
    processors: Collection[str]

    def beside(self, lead: int) -> dict[str, int | None]:
        """The position of the cheapest candidate of each kind, cloud and way to buy asked for, but those of the lead's; None
        where there is no candidate. One that picks may come from goes first."""
        kinds, clouds = set(map(self._kind, self.query.accelerator)), set(self.query.provider)
        named = {*(kinds if 1 < len(kinds) <= MOST_CHIPS else ()), *(clouds if 1 < len(clouds) <= MOST_CLOUDS else ())}
        return self._named(named, lead) | self._bought_otherwise(lead) | self._rented_alike(lead)

    def _named(self, named: Collection[str], lead: int) -> dict[str, int | None]:
        """The cheapest of each of these kinds and clouds but the lead's."""
        if not named:
            return {}
        machines, codes = self.catalogue.vocabulary.instances, self.catalogue.columns.instance[self.candidates.row]
        of = {
            code: (self._kind(machines[code][2].accelerator), machines[code][0]) for code in np.unique(codes).tolist()
        }
        others = sorted(set(named).difference(of[int(codes[lead])]))
        return {name: self._cheapest(np.isin(codes, [code for code in of if name in of[code]])) for name in others}

    def _rented_alike(self, lead: int) -> dict[str, int | None]:
        """Beside a machine of the asker's own, what is rented of the accelerators or from the clouds asked for."""
        own, row = self.catalogue.own, self.candidates.row
        if not (own[row[lead]] and (self.query.accelerator or self.query.provider)):
            return {}
        return {RENTED: self._cheapest(~own[row])}

    def _bought_otherwise(self, lead: int) -> dict[str, int | None]:
        """The cheapest by each way to buy that is asked for, but that of the lead."""
        ways = self.query.purchase
        if len(ways) != MOST_WAYS:
            return {}
        options = self.catalogue.columns.option[self.candidates.row]
        return {
            way.value: self._cheapest(options == OPTIONS.index(way))
            for way in ways
            if OPTIONS.index(way) != options[lead]
        }

    def _kind(self, accelerator: str) -> str:
        return PROCESSOR if accelerator in self.processors else accelerator.partition("-")[0]

    def _cheapest(self, flags: Flags) -> int | None:
        for some in (flags & self.candidates.pickable, flags):
            positions = np.flatnonzero(some)
            if len(positions):
                return int(positions[self.candidates.cost[positions].argmin()])
        return None
