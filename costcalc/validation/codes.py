"""Other networks and other people's code: rates carried to accelerators on which that code was never measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from costcalc.throughput.core import Core
from costcalc.throughput.fit import is_core
from costcalc.throughput.rates import precision_class
from costcalc.throughput.relative import Ratio, fit_relative, ratios
from costcalc.validation.published import Published
from costcalc.validation.scores import Case

FOLDS = 10


def carried(published: Published, core: Core) -> list[Case]:
    """Every rate outside the core model, all rates of its code on its accelerator being held out (in FOLDS folds).

    The plain method takes the middle ratio to the core model of the same code and network on other accelerators.
    """
    models = published.evidence.models
    found = ratios(published.evidence.throughputs, core, models)
    groups: dict[tuple[str, str], list[Ratio]] = defaultdict(list)
    for item in found:
        if not is_core(item.row):
            groups[item.work.stack, item.row.accelerator].append(item)
    keys = sorted(groups)
    cases = []
    for fold in (keys[start::FOLDS] for start in range(FOLDS)):
        held = {item.row.name for key in fold for item in groups[key]}
        kept = [item for item in found if item.row.name not in held]
        learned = fit_relative(kept, models, core.chips.without_matrix_units)
        for item in (item for key in fold for item in groups[key]):
            plain = _plain(item, kept)
            if plain is not None and learned.knows(item.work.model):
                row = item.row
                guess = learned.effects_of(item.work, row.accelerator, row.accelerators // row.nodes)
                cases.append(Case(row.name, f"{row.stack} {row.accelerator}", item.value - guess, item.value - plain))
    return cases


def _plain(item: Ratio, kept: Sequence[Ratio]) -> float | None:
    same = [o for o in kept if (o.work.stack, o.work.model) == (item.work.stack, item.work.model)]
    equal = [o for o in same if precision_class(o.work.precision) == precision_class(item.work.precision)]
    chosen = equal or same
    return float(np.median([other.value for other in chosen])) if chosen else None
