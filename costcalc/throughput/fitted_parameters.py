"""What was learned when the evidence was built, and its file format: effects of both models, interval half-widths."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from costcalc.hardware import Accelerator
from costcalc.throughput.data_sheets import DataSheets
from costcalc.throughput.reference_model import ChipPrior, Key, ReferenceModel, TypicalUse
from costcalc.throughput.workloads import Transfer
from costcalc.training import Model
from costcalc.units import Flags, Floats

Kinds = NDArray[np.int8]  # indices of KINDS
KINDS = ("transferred", "interpolated", "machines", "accelerator", "network", "stack", "code")
"""Kinds of evidence from most to least: none is surer than those before it."""
TRANSFERRED, INTERPOLATED, MACHINES, ACCELERATOR, NETWORK, STACK, CODE = range(len(KINDS))
ORDERS = (KINDS[:4] + KINDS[5:], ("transferred", "interpolated", "network", "stack", "code"))
BY_YEAR = KINDS[:4]  # those whose errors depend on whether the software's year is known
SAME_IMPLEMENTATION = KINDS[:3]  # those that rest on rates of the same accelerator with the same implementation
OF_TRANSFORMERS = {"network": "transformer", "stack": "transformer, accelerator", "code": "transformer, accelerator"}
# the kinds of evidence that transformers have wider ranges for: their codes differ more
LEVEL = 0.8  # of every interval that an estimate shows


def calibrated(kind: str, undated: bool) -> str:
    """The key in `FittedParameters.widths` of a kind of evidence; `undated` where the software is of no year in particular."""
    return f"{kind}, undated software" if undated and kind in BY_YEAR else kind


class Sort(NamedTuple):
    """What decides how wide a recipe's range is beside its evidence: whether its software is of no year in particular, whether it
    is the reference network's, whether its network is a transformer, and whether it is a user's own run."""

    undated: bool
    reference: bool
    transformer: bool
    own: bool = False

    def half_width(self, widths: Mapping[str, HalfWidth], kind: str) -> HalfWidth:
        """The widest that applies. The narrow ones are errors of MLPerf's implementations; others are known no better than with
        their other networks, and on a chip that they never ran on no better than code that nobody timed: of many recipes people
        see the one that looks best there."""
        names = [calibrated(kind, self.undated)]
        if not self.reference:
            names.append("code" if kind == "stack" and not self.own else "network")
        if self.transformer and kind in OF_TRANSFORMERS:
            names.append(OF_TRANSFORMERS[kind])
        return max(widths[name] for name in names)


def widening(kind: Kinds | np.int8, several: Flags | bool, scatter: Floats | float) -> Floats:
    """How much wider than usual intervals are, `scatter` telling how the rates of the same accelerator scatter.

    Where those lie close together they promise as much for one machine only: many machines add errors of their own.
    """
    alone = (kind < KINDS.index("machines")) & np.logical_not(several)
    return np.where(alone, scatter, np.where(kind < len(SAME_IMPLEMENTATION), np.maximum(scatter, 1.0), 1.0))


class HalfWidth(NamedTuple):
    """The half-width in ln(time) of an interval at LEVEL: a quantile of out-of-group errors (split conformal).

    `by_rule` where too few errors are known for that quantile, so that a rule of thumb stands for it; `cases` is how many are.
    With `by_organisation` each of them is an organisation, whose results count once together.
    """

    ln: float
    by_rule: bool
    cases: int = 0
    by_organisation: bool = False


Seconds = TypeVar("Seconds", float, Floats)


class ElapsedTime(NamedTuple):
    """From training alone to MLPerf's clock, evaluations, warm-up and slow first epoch included: t + factor x t^power."""

    factor: float
    power: float

    def seconds(self, training: Seconds) -> Seconds:
        """Elapsed seconds of a run that trains for so many seconds."""
        elapsed: Seconds = training + self.factor * training**self.power
        return elapsed


class Overlap(NamedTuple):
    """How long machines wait for an all-reduce of their gradients: `hidden` is the share of it that takes place behind the
    backward pass, as long as that lasts, `reached` the share of the network's rate that it reaches."""

    hidden: float
    reached: float

    def step(self, compute: Floats, exchange: Floats) -> Floats:
        """Seconds of a step that computes for so many; `exchange` are those of the all-reduce at the network's full rate."""
        sent = exchange / self.reached
        return np.asarray(compute + sent - self.hidden * np.minimum(sent, BACKWARD * compute))

    def compute(self, step: Floats, exchange: Floats) -> Floats:
        """Seconds that a step of so many computes: the inverse of `step`."""
        sent = exchange / self.reached
        behind = step - (1 - self.hidden) * sent
        beyond = np.maximum(step - sent, 0.0) / (1 - self.hidden * BACKWARD)
        return np.asarray(np.where(sent <= BACKWARD * behind, behind, beyond))


BACKWARD = 2 / 3  # of a step's arithmetic is that of the backward pass
USUAL_OVERLAP = Overlap(0.5, 0.7)
USUAL_ELAPSED_TIME = ElapsedTime(0.25, 0.6)


class FittedParameters(Struct, frozen=True):
    """Everything the estimator learned from the tables whose fingerprint is `tables`.

    `widths` are by kind of evidence: the speeds' (see `calibrated`; "code" also for what other codes take), those of
    OF_TRANSFORMERS, "own" for a run repeated on its own system, "length" for the length of a schedule that nobody ran, "curve"
    for where a borrowed curve crosses a target (see `ModelRecipes`).
    """

    tables: str
    reference: ReferenceModel
    transfer: Transfer
    widths: Mapping[str, HalfWidth]
    elapsed_time: ElapsedTime = USUAL_ELAPSED_TIME
    overlap: Overlap = USUAL_OVERLAP


def unfitted(models: Mapping[str, Model]) -> FittedParameters:
    """Nothing learned: only what was measured on the very same system by the same implementation is answered."""
    reference = ReferenceModel(DataSheets({}, 1.0, 1.0), {}, {}, frozenset(), 0.0)
    names = sorted({calibrated(kind, undated) for kind in KINDS for undated in (False, True)})
    others = ("own", "length", "curve", *OF_TRANSFORMERS.values())
    widths = dict.fromkeys((*names, *others), HalfWidth(0.1, by_rule=True))
    return FittedParameters("", reference, Transfer(models, {}, {}), widths)


def to_json(fitted: FittedParameters) -> str:
    """The file's text: small, sorted, one effect a line."""
    reference, sheets = fitted.reference, fitted.reference.data_sheets
    return json.dumps(
        {
            "tables": fitted.tables,
            "roofline": [sheets.tflop_per_image, sheets.gb_per_image],
            "images_per_joule": {str(year): best for year, best in sheets.images_per_joule},
            "typical": {
                name: [round(use.software, 5), use.batch, use.scatter] for name, use in reference.typical.items()
            },
            "default_intercept": reference.default_intercept,
            "priors": {name: [*prior[:3], list(prior.tasks)] for name, prior in reference.priors.items()},
            "years": {name: list(span) for name, span in reference.years.items()},
            "networked": sorted(reference.networked),
            "reference": _written(reference.effects),
            "transfer": _written(fitted.transfer.effects),
            "widths": {kind: width._asdict() for kind, width in fitted.widths.items()},
            "elapsed_time": list(fitted.elapsed_time),
            "overlap": list(fitted.overlap),
        },
        indent=0,
        sort_keys=True,
    )


def from_json(text: str, accelerators: Mapping[str, Accelerator], models: Mapping[str, Model]) -> FittedParameters:
    """The fitted models over these tables. Raises ValueError naming what is missing in a broken file."""
    try:
        raw = json.loads(text)
        tflop_per_image, gb_per_image = raw["roofline"]
        per_joule = tuple((int(year), float(best)) for year, best in sorted(raw["images_per_joule"].items()))
        reference = ReferenceModel(
            data_sheets=DataSheets(accelerators, tflop_per_image, gb_per_image, per_joule),
            effects=_read(raw["reference"]),
            years={name: (int(first), int(last)) for name, (first, last) in raw["years"].items()},
            networked=frozenset(raw["networked"]),
            default_intercept=raw["default_intercept"],
            typical={name: TypicalUse(*use) for name, use in raw["typical"].items()},
            priors={
                name: ChipPrior(shift, slower, faster, tuple(tasks))
                for name, (shift, slower, faster, tasks) in raw["priors"].items()
            },
        )
        return FittedParameters(
            tables=raw["tables"],
            reference=reference,
            transfer=Transfer(models, accelerators, _read(raw["transfer"])),
            widths={kind: HalfWidth(**width) for kind, width in raw["widths"].items()},
            elapsed_time=ElapsedTime(*raw["elapsed_time"]),
            overlap=Overlap(*raw["overlap"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"fitted.json: {error}; write it anew with `make fit`") from error


def _written(effects: Mapping[Key, float]) -> dict[str, float]:
    """Effects that round to nothing stay: their names say which networks and chips were measured."""
    return {"|".join(key): round(value, 5) for key, value in effects.items()}


def _read(written: Mapping[str, float]) -> dict[Key, float]:
    return {tuple(key.split("|")): value for key, value in written.items()}
