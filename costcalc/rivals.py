"""Where a question names several machines, kinds of accelerators, clouds or two ways to buy: what stands beside the lead."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from msgspec import Struct

from costcalc.catalogue.catalogue import OPTIONS, Catalogue
from costcalc.catalogue.columns import Int8
from costcalc.costing.candidates import Candidates
from costcalc.hardware import Accelerator
from costcalc.query import EstimateQuery
from costcalc.units import Flags

MOST, MOST_WAYS = 3, 2  # of more, the question means any of them
PROCESSOR, RENTED = "CPU", "rented"
SORTS = {"NVIDIA": "GPU", "AMD": "GPU", "Google": "TPU", "Graphcore": "IPU"}
"""What accelerators of these makers are."""


class Rivals(Struct, frozen=True):
    """The candidates of a question by machine, kind of accelerator, cloud and way to buy. Versions of a chip, such as A100-40GB
    and A100-80GB, are one kind, and so are all `processors`."""

    query: EstimateQuery
    catalogue: Catalogue
    candidates: Candidates
    accelerators: Mapping[str, Accelerator]
    processors: Collection[str]

    def beside(self, lead: int) -> dict[str, int | None]:
        """By each machine, or else kind and cloud, and each way to buy that the question names, except the lead's: the position
        of the cheapest candidate, None if there is none. One that can be a pick goes first, then one bought as the lead is."""
        kinds = zip(*map(self._kinds, self.query.accelerator), strict=True)
        of_kinds = next((names for names in map(set, kinds) if 1 < len(names) <= MOST), set())
        groups = [set(self.query.instance_type)] if self.query.instance_type else [of_kinds, set(self.query.provider)]
        named = {name for names in groups if 1 < len(names) <= MOST for name in names}
        rows, own = self.candidates.row, self.catalogue.own
        of_own = own[rows[lead]] and (self.query.accelerator or self.query.provider)
        rented = {RENTED: self._cheapest(~own[rows], lead)} if of_own else {}  # beside a user's own machine
        return self._named(named, lead) | self._bought_otherwise(lead) | rented

    def _named(self, named: Collection[str], lead: int) -> dict[str, int | None]:
        """The cheapest of each of these machines, kinds and clouds, except the lead's."""
        if not named:
            return {}
        machines, codes = self.catalogue.vocabulary.instances, self.catalogue.columns.instance[self.candidates.row]
        of = {code: (*self._kinds(machines[code][2].accelerator), *machines[code][:2]) for code in set(codes.tolist())}
        others = sorted(set(named).difference(of[int(codes[lead])]))
        rows = {name: np.isin(codes, [code for code in of if name in of[code]]) for name in others}
        return {name: self._cheapest(flags, lead) for name, flags in rows.items()}

    def _bought_otherwise(self, lead: int) -> dict[str, int | None]:
        """The cheapest by each way to buy asked for, except the lead's."""
        ways = self.query.purchase
        if len(ways) != MOST_WAYS:
            return {}
        others = {way.value: OPTIONS.index(way) for way in ways if OPTIONS.index(way) != self._options[lead]}
        return {way: self._cheapest(self._options == code, lead) for way, code in others.items()}

    def _kinds(self, name: str) -> tuple[str, str]:
        """Its chip and what sort of accelerator that is: of many chips, sorts are compared."""
        chip = PROCESSOR if name in self.processors else name.partition("-")[0]
        known = self.accelerators.get(name)
        return chip, SORTS.get(known.vendor, chip) if known else chip

    @property
    def _options(self) -> Int8:
        return self.catalogue.columns.option[self.candidates.row]

    def _cheapest(self, flags: Flags, lead: int) -> int | None:
        for some in (flags & self.candidates.pickable, flags & (self._options == self._options[lead]), flags):
            positions = some.nonzero()[0]
            if len(positions):
                return int(self.candidates.order("cost", self.catalogue).first(positions, 1)[0])
        return None
