"""How well the speed of a network is told without timing its training: `python -m science.validation.networks`.

Each network is left out in turn, then each family whole: its speed follows from its speed of inference on the same card, or from
its size alone. Its epochs follow from those that other codes train networks of its family for.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

import numpy as np

from costcalc.evidence import Evidence, load_evidence
from costcalc.evidence.hub import SIZE_WIDTH, HubNetwork
from costcalc.evidence.parsing import hub_networks
from costcalc.throughput.workloads import REFERENCE_GMACS
from costcalc.units import Floats
from science.fitting.hub import inferred_speed

LEVEL = 0.8


def by_inference(networks: Sequence[HubNetwork], *, without_family: bool = False) -> list[float]:
    """ln of the training speed that inference tells over the timed one, of images of one size."""
    timed = [one for one in networks if one.images_per_second and one.rate_size == one.inference_size]
    return [
        math.log(inferred_speed(one, others) / (one.images_per_second or math.nan))
        for one in timed
        for others in ([each for each in networks if not without_family or each.family != one.family],)
    ]


def by_size(evidence: Evidence) -> tuple[Floats, Floats]:
    """The law of size, as `costcalc.evidence.hub` has it, and ln of the told over the measured speed of each network left out."""
    gmacs, effects = np.array([size for _, size in _sizes(evidence)]).T
    x = np.column_stack([np.ones(len(gmacs)), np.log(gmacs / REFERENCE_GMACS)])
    hat = x @ np.linalg.inv(x.T @ x) @ x.T
    law = np.linalg.lstsq(x, effects, rcond=None)[0]
    return law, (hat @ effects - effects) / (1 - np.diag(hat))


def by_size_of_other_families(evidence: Evidence) -> Floats:
    """The same errors, the law learned without the network's whole family."""
    families, sizes = zip(*_sizes(evidence), strict=True)
    gmacs, effects = np.array(sizes).T
    x, family = np.column_stack([np.ones(len(gmacs)), np.log(gmacs / REFERENCE_GMACS)]), np.array(families)
    errors = np.empty(len(gmacs))
    for name in set(families):
        law = np.linalg.lstsq(x[family != name], effects[family != name], rcond=None)[0]
        errors[family == name] = (x @ law - effects)[family == name]
    return errors


def epochs_by_other_codes(evidence: Evidence) -> Iterator[float]:
    """ln of the epochs that other codes train networks of its family for, in the middle, over those of a network and its code."""
    lengths: dict[str, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    for recipe in evidence.recipes:
        model = evidence.models.get(recipe.model)
        if model and recipe.scheduled_epochs and not recipe.epochs_width and recipe.kind != "record":
            lengths[model.family][recipe.stack, model.name].append(recipe.scheduled_epochs)
    for trained in lengths.values():
        for (code, _), epochs in trained.items():
            others = [median(each) for (other, _), each in trained.items() if other != code]
            if others:
                yield math.log(median(others) / median(epochs))


def scores(evidence: Evidence) -> dict[str, Sequence[float] | Floats]:
    """The errors in ln by what the speed or the epochs follow from, and what was left out."""
    hub = hub_networks()
    return {
        "speed by inference on the same card, network left out": by_inference(hub),
        "speed by inference on the same card, family left out": by_inference(hub, without_family=True),
        "speed by size alone, network left out": by_size(evidence)[1],
        "speed by size alone, family left out": by_size_of_other_families(evidence),
        "epochs by other codes of its family, code left out": list(epochs_by_other_codes(evidence)),
    }


def told(name: str, errors: Sequence[float] | Floats) -> str:
    """A score in words."""
    middle, wide = math.expm1(median(map(abs, errors))), math.exp(half_width(errors))
    return f"{name}: {len(errors)} cases, median error {middle:.1%}, 80 % within x/÷{wide:.2f}"


def half_width(errors: Sequence[float] | Floats) -> float:
    """The half-width that holds LEVEL of these errors."""
    return float(np.quantile(np.abs(errors), LEVEL))


def _sizes(evidence: Evidence) -> Iterator[tuple[str, tuple[float, float]]]:
    """The family of each network with a measured speed, its multiply-adds, and what it adds to ln(images/s)."""
    effects = evidence.fitted.transfer.effects
    for model in evidence.models.values():
        if model.gmacs and ("model", model.name) in effects and model.speed_width != SIZE_WIDTH:
            effect = effects["model", model.name] + effects.get(("family", model.family), 0.0)
            yield model.family, (model.gmacs, effect)


def main() -> None:
    """Prints the scores."""
    evidence = load_evidence()
    law, _ = by_size(evidence)
    for name, errors in scores(evidence).items():
        print(told(name, errors))
    print(f"size: ln(images/s) changes by {law[0]:.3f} + {law[1]:.3f} ln(GMACs / {REFERENCE_GMACS})")


if __name__ == "__main__":
    main()
