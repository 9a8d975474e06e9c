import math
from dataclasses import replace

import pytest

from costcalc.fitting.transfer import Ratio, terms
from costcalc.hardware import Cluster
from costcalc.throughput import TIERS, SpeedModel
from costcalc.throughput.fitted_parameters import KINDS
from costcalc.throughput.reference_model import step_overhead
from costcalc.throughput.transfer import Transfer, hardware_terms
from costcalc.throughput.workloads import implementation, workload
from costcalc.training import Tier


@pytest.fixture(scope="module")
def done(packaged_evidence):
    return next(row for row in packaged_evidence.throughputs if row.stack == "lambda-tf" and row.model == "vgg16")


def values(done, evidence, accelerator, per_node):
    found = hardware_terms(workload(done, 224, evidence.models), evidence.accelerators[accelerator], per_node)
    return {key: value for key, value, _ in found}


def test_sharing_gradients_costs_more_cards_and_larger_networks_more(done, packaged_evidence):
    one, eight = (values(done, packaged_evidence, "V100", count) for count in (1, 8))
    assert not any(key[0] == "count" for key in one)
    assert eight["count", "parameters"] == pytest.approx(3 * (math.log1p(138.36 / 25.6) - math.log(2)))


@pytest.mark.parametrize(("card", "alone"), [("RTX 3090", True), ("RTX 4070 Ti", True), ("RTX A6000", False)])
@pytest.mark.parametrize("others", ["RTX 2080 Ti", "RTX 4000 Ada", "RTX 6000 Ada", "V100"])
def test_only_newer_geforce_cards_cannot_reach_each_other(done, packaged_evidence, card, alone, others):
    assert (("no peers",) in values(done, packaged_evidence, card, 2)) == alone
    assert ("no peers",) not in values(done, packaged_evidence, others, 8)


def test_without_matrix_units_precision_is_taken_back(done, packaged_evidence):
    back = values(done, packaged_evidence, "P100", 1)
    assert [value for key, value in back.items() if key[0] == "precision"] == [-1.0]


def test_a_network_has_its_own_cost_of_small_batches(done, packaged_evidence):
    small = replace(done, global_batch_size=16 * done.accelerators)
    found = {key: value for key, value, _ in terms(Ratio(small, workload(done, 224, {}), 0.0), {})}
    assert found["batch", "vgg16"] == pytest.approx(step_overhead(16))
    assert Transfer({}, {}, {("batch", "vgg16"): 0.5}).slope("vgg16") == 0.5
    assert Transfer({}, {}, {}).slope("vgg16") == 0.0


def test_steeper_costs_of_small_batches_slow_small_batches_down(packaged_evidence):
    fitted = packaged_evidence.fitted
    steep = replace(fitted.transfer, effects={**fitted.transfer.effects, ("batch", "vgg16"): 1.0})
    recipes = packaged_evidence.recipes_of("vgg16")
    clusters = [Cluster("H100", 8, 1), Cluster("H100", 1, 1)]
    rows = packaged_evidence.throughputs
    usual, slower = (
        SpeedModel(rows, replace(fitted, transfer=each)).speeds(recipes, clusters).seconds_per_epoch[0, :, 0]
        for each in (fitted.transfer, steep)
    )
    assert slower[0] / slower[1] > 1.05 * usual[0] / usual[1]  # eight share the recipe's batch: a small one each


def test_every_code_knows_the_chips_it_was_measured_on(packaged_evidence):
    chips = packaged_evidence.fitted.transfer.chips_of
    seen = {
        implementation(row)
        for row in packaged_evidence.throughputs
        if row.stack == "nvidia-tf2" and row.model == "efficientnet_b0"
    }
    pycls = next(implementation(row) for row in packaged_evidence.throughputs if row.stack == "pycls")
    assert chips[pycls] == {"V100"}
    assert seen
    assert all(chips[each] >= {"V100"} for each in seen)


def test_a_code_known_on_the_chip_is_surer_than_one_carried_to_it(packaged_evidence):
    recipes = packaged_evidence.recipes_of("regnety_32gf")
    table = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted).speeds(
        recipes, [Cluster("V100", 8), Cluster("V100-32GB", 8), Cluster("H100", 8)]
    )
    assert [KINDS[kind] for kind in table.kind[0]] == ["transferred", "network", "stack"]
    assert TIERS[table.tier[0, 1]] == Tier.MODELLED
    assert table.width_80[0, 1] < 0.7 * table.width_80[0, 2]
    assert "measured on this chip" in table.notes(0, 1)[0]


def test_a_network_its_code_was_never_measured_with_stays_unsure(packaged_evidence):
    recipes = [recipe for recipe in packaged_evidence.recipes_of("mobilenet_v2") if recipe.stack == "gluoncv"]
    table = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted).speeds(recipes, [Cluster("V100", 8)])
    assert [KINDS[kind] for kind in table.kind[:, 0]] == ["stack"] * len(recipes)
    assert recipes
