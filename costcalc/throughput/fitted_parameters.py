"""What was learned when the evidence was built, and its file format: effects of both models, interval half-widths."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from costcalc.fitting.ridge import Key
from costcalc.hardware import Accelerator
from costcalc.throughput.data_sheets import Chips
from costcalc.throughput.reference_model import Core, Usual
from costcalc.throughput.transfer import Relative
from costcalc.training import Model
from costcalc.units import Flags, Floats

Kinds = NDArray[np.int8]  # indices of KINDS
KINDS = ("transferred", "interpolated", "machines", "accelerator", "network", "stack")
# kinds from most evidence to least: none is surer than those before it
ORDERS = (KINDS[:4] + KINDS[5:], ("transferred", "interpolated", "network", "stack"))
BY_YEAR = KINDS[:4]  # those whose errors depend on whether the software's year is known
KNOWN = KINDS[:3]  # those that rest on rates of the same accelerator with the same code
LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def calibrated(kind: str, undated: bool) -> str:
    """The name in `Widths` of a kind of evidence, the software being of no year in particular or of a known one."""
    return f"{kind}, usual software" if undated and kind in BY_YEAR else kind


def stretch(kind: Kinds | np.int8, several: Flags | bool, scatter: Floats | float) -> Floats:
    """How much wider than usual intervals are, `scatter` telling how the rates of the same accelerator scatter.

    Where those lie close together they promise as much for one machine only: many machines add errors of their own.
    """
    alone = (kind < KINDS.index("machines")) & np.logical_not(several)
    return np.where(alone, scatter, np.where(kind < len(KNOWN), np.maximum(scatter, 1.0), 1.0))


@dataclass(frozen=True, slots=True)
class Widths:
    """Half-widths in ln(time) at LEVELS, per kind of evidence: quantiles of out-of-group errors."""

    table: Mapping[str, tuple[float, ...]]

    def at(self, kind: str, level: float) -> float:
        """The half-width of `kind` at a level in (0, 1), on a straight line in the normal score between the stored ones.

        Raises KeyError for a kind that was never calibrated, ValueError for a level outside (0, 1).
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, not {level}")
        stored = self.table[kind]
        right = next((index for index, known in enumerate(LEVELS) if known >= level), len(LEVELS) - 1)
        if right == 0 or level > LEVELS[-1]:
            return stored[right] * _score(level) / _score(LEVELS[right])
        low, high = _score(LEVELS[right - 1]), _score(LEVELS[right])
        share = (_score(level) - low) / (high - low)
        return stored[right - 1] + share * (stored[right] - stored[right - 1])


def _score(level: float) -> float:
    """The normal deviate that a central interval of this level reaches to."""
    return NormalDist().inv_cdf((1 + level) / 2)


@dataclass(frozen=True, slots=True)
class Fitted:
    """Everything the estimator learned from the tables whose fingerprint is `tables`."""

    tables: str
    core: Core
    relative: Relative
    widths: Widths
    overhead: tuple[float, float] = field(default=(0.25, 0.6))

    def wall_seconds(self, train_seconds: Floats) -> Floats:
        """Elapsed time of a run with its evaluations and warm-up: t + a t^p, fitted on MLPerf runs of other organisations."""
        factor, power = self.overhead
        return train_seconds + factor * train_seconds**power


def unfitted(models: Mapping[str, Model]) -> Fitted:
    """Nothing learned: only what was measured on the very same system by the same code is answered."""
    core = Core(Chips({}, 1.0, 1.0), {}, {}, frozenset(), 0.0)
    names = {calibrated(kind, undated) for kind in KINDS for undated in (False, True)}
    widths = Widths({name: tuple(_score(level) * 0.08 for level in LEVELS) for name in (*sorted(names), "length")})
    return Fitted("", core, Relative(models, {}), widths)


def to_json(fitted: Fitted) -> str:
    """The file's text: small, sorted, one effect a line."""
    core = fitted.core
    return json.dumps(
        {
            "tables": fitted.tables,
            "roofline": [core.chips.compute, core.chips.memory],
            "images_per_joule": {str(year): best for year, best in core.chips.per_joule},
            "usual": {name: [round(each.software, 5), each.batch, each.scatter] for name, each in core.usual.items()},
            "typical": core.default_intercept,
            "years": {name: list(span) for name, span in core.years.items()},
            "networked": sorted(core.networked),
            "core": _written(core.effects),
            "relative": _written(fitted.relative.effects),
            "widths": {kind: list(values) for kind, values in fitted.widths.table.items()},
            "overhead": list(fitted.overhead),
        },
        indent=0,
        sort_keys=True,
    )


def from_json(text: str, accelerators: Mapping[str, Accelerator], models: Mapping[str, Model]) -> Fitted:
    """The fitted models over these tables. Raises ValueError naming what is missing in a broken file."""
    try:
        raw = json.loads(text)
        compute, memory = raw["roofline"]
        per_joule = tuple((int(year), float(best)) for year, best in sorted(raw["images_per_joule"].items()))
        chips = Chips(accelerators, compute, memory, per_joule)
        years = {name: (int(first), int(last)) for name, (first, last) in raw["years"].items()}
        usual = {name: Usual(*each) for name, each in raw["usual"].items()}
        core = Core(chips, _read(raw["core"]), years, frozenset(raw["networked"]), raw["typical"], usual)
        widths = Widths({kind: tuple(values) for kind, values in raw["widths"].items()})
        factor, power = raw["overhead"]
        relative = Relative(models, _read(raw["relative"]), chips.without_matrix_units)
        return Fitted(raw["tables"], core, relative, widths, (factor, power))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"fitted.json: {error}; write it anew with `make fit`") from error


def _written(effects: Mapping[Key, float]) -> dict[str, float]:
    return {"|".join(key): round(value, 5) for key, value in effects.items() if abs(value) >= 5e-6}


def _read(written: Mapping[str, float]) -> dict[Key, float]:
    return {tuple(key.split("|")): value for key, value in written.items()}
