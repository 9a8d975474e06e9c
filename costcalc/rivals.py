"""Where a question names several kinds of accelerators, or several clouds: what stands beside the one that leads."""

from __future__ import annotations

import numpy as np

from costcalc.catalogue.catalogue import Catalogue
from costcalc.costing.candidates import Candidates
from costcalc.query import EstimateQuery
from costcalc.units import Flags

MOST_CHIPS, MOST_CLOUDS = 3, 2  # of more, the question means any of them


def rivals(query: EstimateQuery, catalogue: Catalogue, candidates: Candidates, lead: int) -> dict[str, int | None]:
    """The position of the cheapest candidate of each kind and each cloud asked for, but those of the lead's; None where there is
    no candidate. One that picks may come from goes first. Versions of a chip, such as A100-40GB and A100-80GB, are one kind."""
    codes = catalogue.columns.instance[candidates.row]
    found: dict[str, int | None] = {}
    for kinds, most, place in (
        (set(map(_chip, query.accelerator)), MOST_CHIPS, 1),
        (set(query.provider), MOST_CLOUDS, 0),
    ):
        if 1 < len(kinds) <= most:
            of_code = {code: _names(catalogue, code)[place] for code in np.unique(codes).tolist()}
            for kind in sorted(kinds - {of_code[int(codes[lead])]}):
                found[kind] = _cheapest(
                    candidates, np.isin(codes, [code for code, name in of_code.items() if name == kind])
                )
    return found


def _chip(accelerator: str) -> str:
    return accelerator.partition("-")[0]


def _names(catalogue: Catalogue, code: int) -> tuple[str, str]:
    provider, _, machine = catalogue.vocabulary.instances[code]
    return provider, _chip(machine.accelerator)


def _cheapest(candidates: Candidates, flags: Flags) -> int | None:
    for some in (flags & candidates.pickable, flags):
        positions = np.flatnonzero(some)
        if len(positions):
            return int(positions[candidates.cost[positions].argmin()])
    return None
