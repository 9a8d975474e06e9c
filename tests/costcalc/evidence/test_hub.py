"""Networks of model hubs: as fast on their card as it was timed there, and trained as their weights were."""

import math

import pytest

from costcalc.evidence.hub import CARD
from costcalc.evidence.parsing import evidence_to_fit, hub_networks
from costcalc.hardware import Cluster
from costcalc.throughput.speed_model import SpeedModel
from science.fitting.hub import with_hub

NETWORKS = hub_networks()


def test_nothing_is_fitted_to_them(packaged_evidence):
    fitted_to = evidence_to_fit()
    names = {one.model for one in NETWORKS}
    assert names <= packaged_evidence.models.keys()
    assert not names & fitted_to.models.keys()
    assert len(packaged_evidence.throughputs) - len(fitted_to.throughputs) == sum(one.is_timed for one in NETWORKS)


def test_their_effects_are_those_of_their_speeds(packaged_evidence):
    made = with_hub(evidence_to_fit().fitted, NETWORKS, evidence_to_fit().models)
    for one in NETWORKS:
        key = ("model", one.model)
        assert packaged_evidence.fitted.transfer.effects[key] == pytest.approx(made.transfer.effects[key], abs=1e-4)


@pytest.mark.parametrize("name", ["convmixer_768_32", "tnt_s_patch16_224", "hrnet_w18"])
def test_they_are_as_fast_on_their_card_as_was_timed(packaged_evidence, name):
    network = next(one for one in NETWORKS if one.model == name)
    recipes = [
        recipe for recipe in packaged_evidence.recipes_of(name) if recipe.phases[0].image_size == network.rate_size
    ]
    model = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted)
    table = model.speeds(recipes[:1], [Cluster(CARD, 1, 1)])
    rate = recipes[0].samples_per_epoch / table.seconds_per_epoch[0, 0, 0]
    reading = math.exp(
        -packaged_evidence.fitted.transfer.effects["synthetic", "timm"]
    )  # the benchmark makes its images
    assert rate == pytest.approx(network.images_per_second * reading, rel=0.15)
