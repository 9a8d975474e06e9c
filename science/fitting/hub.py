"""Networks of model hubs, of which one speed is known: the effect that makes each as fast there as that says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import mean

from msgspec.structs import replace

from costcalc.evidence.hub import HubNetwork, effect_of_size
from costcalc.throughput.fitted_parameters import FittedParameters
from costcalc.throughput.reference_model import Key
from costcalc.training import Model
from science.fitting.transfer import ratios, residual

HELD_TO_ALL = 2  # networks


def with_hub(fitted: FittedParameters, networks: Sequence[HubNetwork], models: Mapping[str, Model]) -> FittedParameters:
    """What was learned, and beside it one effect for each of these networks; nothing else changes."""
    transfer = fitted.transfer
    learned = {key: value for key, value in transfer.effects.items() if key not in _keys(networks)}
    transfer = replace(transfer, models={**models, **{one.model: one.as_model() for one in networks}}, effects=learned)
    speeds = (one.as_throughput(inferred_speed(one, networks)) for one in networks if _is_run(one))
    found = ratios(speeds, fitted.reference, transfer.models)
    effects: dict[Key, float] = {("model", ratio.row.model): residual(ratio, transfer) for ratio in found}
    effects |= {
        ("model", one.model): effect_of_size(one.gmacs) - learned.get(("family", one.family), 0.0)
        for one in networks
        if not _is_run(one)
    }
    return replace(fitted, transfer=replace(transfer, effects={**learned, **effects}))


def inferred_speed(network: HubNetwork, others: Sequence[HubNetwork]) -> float:
    """Images/s of training that follow from those of inference by the mean ratio of both, in ln, that the timed networks of the
    family have, held to that of all networks by the weight of two; the network itself does not count."""
    known = [
        (one.family, math.log((one.inference_images_per_second or math.nan) / (one.images_per_second or math.nan)))
        for one in others
        if one.is_timed and one is not network and one.rate_size == one.inference_size
    ]
    family = [ratio for name, ratio in known if name == network.family]
    middle = mean(ratio for _, ratio in known)
    ratio = (sum(family) + HELD_TO_ALL * middle) / (len(family) + HELD_TO_ALL)
    return (network.inference_images_per_second or math.nan) / math.exp(ratio)


def _is_run(network: HubNetwork) -> bool:
    """Whether it was timed at all, in training or in inference."""
    return network.is_timed or network.inference_images_per_second is not None


def _keys(networks: Sequence[HubNetwork]) -> set[Key]:
    return {("model", one.model) for one in networks}
