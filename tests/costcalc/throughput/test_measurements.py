import math
from collections import defaultdict
from statistics import median

import numpy as np
import pytest

from costcalc.hardware import Cluster
from costcalc.throughput import REFUSALS, SpeedModel, signature
from costcalc.throughput.rates import bits, training_rate
from costcalc.training import IMAGES_PER_EPOCH

FAR = math.log(2.2)


def chip(evidence, accelerator):
    return evidence.accelerators[accelerator].chip


def cells(evidence):
    found = defaultdict(list)
    for row in evidence.throughputs:
        if row.precision and row.nodes == 1 and row.accelerators in range(1, 9):
            cell = row.model, bits(row.precision), row.image_size, chip(evidence, row.accelerator), row.accelerators
            found[cell].append((row.accelerator, math.log(training_rate(row))))
    return found


def recipes_by_model(evidence):
    found = defaultdict(dict)
    for recipe in evidence.recipes:
        if recipe.precision:
            found[recipe.model].setdefault(signature(recipe), recipe)
    return {model: list(recipes.values()) for model, recipes in found.items()}


def implementations_seen(evidence):
    own = {(recipe.stack, chip(evidence, recipe.system.accelerator)) for recipe in evidence.recipes if recipe.system}
    return own | {(row.stack, chip(evidence, row.accelerator)) for row in evidence.throughputs}


def test_no_measured_speed_is_far_from_its_answer_and_outside_its_interval(packaged_evidence):
    speeds = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted)
    seen, by_model, checked, wrong = implementations_seen(packaged_evidence), recipes_by_model(packaged_evidence), 0, []
    for (model, width, size, chip, count), rows in cells(packaged_evidence).items():
        foreign = [recipe for recipe in by_model.get(model, []) if (recipe.stack, chip) not in seen]
        alike = [recipe for recipe in foreign if bits(recipe.precision) == width]
        table = speeds.speeds(alike, [Cluster(rows[0][0], count)])
        truth = median(rate for _, rate in rows)
        for r, p in ((r, p) for r, x in enumerate(alike) for p, at in enumerate(x.phases) if at.image_size == size):
            if table.refusal[r, 0] == 0:
                apart = abs(math.log(IMAGES_PER_EPOCH / table.seconds_per_epoch[r, 0, p]) - truth)
                checked += 1
                wrong += [(alike[r].name, chip, count, apart)] * int(apart > max(FAR, table.width_80[r, 0]))
    assert checked > 1000
    assert not wrong


@pytest.mark.parametrize(
    ("model", "accelerator", "measured"),
    [("vgg16", "K80", 35), ("vgg16", "P100", 154), ("vgg16", "RTX A6000", 328), ("vgg16", "V100-32GB", 249)],
)
def test_a_network_runs_about_as_fast_as_others_code_ran_it(packaged_evidence, model, accelerator, measured):
    speeds = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted)
    table = speeds.speeds(packaged_evidence.recipes_of(model), [Cluster(accelerator, 1)])
    assert IMAGES_PER_EPOCH / table.seconds_per_epoch[0, 0, 0] == pytest.approx(measured, rel=0.3)


@pytest.mark.parametrize("model", ["deit_small", "resnet152", "efficientnet_b0"])
def test_chips_that_differ_in_memory_alone_differ_by_their_batch_alone(packaged_evidence, model):
    speeds = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted)
    recipes = packaged_evidence.recipes_of(model)
    table = speeds.speeds(recipes, [Cluster("V100", 1), Cluster("V100-32GB", 1)])
    both = (table.refusal == 0).all(axis=1) & (table.tier == table.tier.max()).all(axis=1)
    apart = table.seconds_per_epoch[both, 0, 0] / table.seconds_per_epoch[both, 1, 0]
    assert both.any()
    assert (apart >= 1 - 1e-9).all()
    assert (apart < 1.3).all()


def test_no_step_of_many_machines_is_shorter_than_any_measured(packaged_evidence):
    recipes = [recipe for recipe in packaged_evidence.recipes_of("resnet50") if recipe.global_batch_size]
    clusters = [Cluster("B200", 4, 64), Cluster("GB300", 4, 16), Cluster("H100", 8, 64)]
    table = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted).speeds(recipes, clusters)
    batch = np.array([recipe.global_batch_size for recipe in recipes])[:, None]
    epochs = np.where((table.refusal == 0)[:, :, None] & (table.seconds_per_epoch > 0), table.seconds_per_epoch, np.inf)
    assert (epochs.min(axis=2) / IMAGES_PER_EPOCH * batch).min() > 5.0e-3
    assert (table.refusal[:, 0] == REFUSALS.index("batch_too_small")).any()
