"""Which overlap explains how codes scale over networks that are known."""

from math import exp

import pytest
from msgspec.structs import replace

from costcalc.machine_limits.network import Gradients, SystemNetwork
from costcalc.throughput.fitted_parameters import USUAL_OVERLAP, Overlap
from science.fitting.network import fit_overlap, over_networks, scaling_error
from science.fitting.transfer import fit_transfer, ratios


@pytest.fixture(scope="module")
def learned(packaged_evidence):
    return ratios(packaged_evidence.throughputs, packaged_evidence.fitted.reference, packaged_evidence.models)


@pytest.fixture(scope="module")
def transfer(packaged_evidence, learned):
    return fit_transfer(learned, packaged_evidence.models, packaged_evidence.accelerators)


def test_rates_are_scaled_from_those_of_the_same_code_on_the_fewest_machines(packaged_evidence, learned):
    pairs = {ratio.row.name: base.row.name for ratio, base in over_networks(learned, packaged_evidence.gradients)}
    assert pairs["dawnbench-fastai-rn50-16xp3-224px"] == "dawnbench-fastai-rn50-p3-224px"
    assert pairs["tf-2017-resnet50-k80-x64-p2.8xlarge-distributed-synthetic"].startswith("tf-2017-resnet50-k80-x8-")
    assert "nvidia-pytorch-efficientnet-b4-a100-80gb-x16-amp" not in pairs  # whose network nobody said


def test_the_packaged_law_is_that_of_the_packaged_rates(packaged_evidence, learned, transfer):
    gradients = packaged_evidence.gradients
    assert fit_overlap(over_networks(learned, gradients), transfer, gradients) == packaged_evidence.fitted.overlap


@pytest.mark.parametrize("law", [Overlap(0.0, 1.0), Overlap(1.0, 0.2)])
def test_the_law_that_rates_were_made_by_is_found(packaged_evidence, learned, transfer, law):
    """Slow networks, so that the all-reduce of every pair matters."""
    slow = Gradients(
        packaged_evidence.models, tuple(SystemNetwork(*pair, 2.0, "made up") for pair in [("Google", "K80")])
    )
    pairs = [
        (_measured_as(pair, scaling_error(pair, transfer, slow, law)), pair[1]) for pair in over_networks(learned, slow)
    ]
    found = fit_overlap(pairs, transfer, slow)
    assert found == (pytest.approx(law.hidden, abs=0.05), pytest.approx(law.reached, abs=0.05))


def _measured_as(pair, error):
    """The rate of a pair as if its error were none."""
    ratio, _ = pair
    rate = ratio.row.images_per_second * exp(-error)
    return replace(ratio, row=replace(ratio.row, images_per_second=rate), value=ratio.value - error)


def test_nothing_is_learned_from_nothing(packaged_evidence, transfer):
    assert fit_overlap([], transfer, packaged_evidence.gradients) == USUAL_OVERLAP
