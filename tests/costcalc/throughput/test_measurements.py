import math
from collections import defaultdict
from statistics import median

import numpy as np
import pytest
from support.sampled import WHOLE, sampled
from support.speeds import REFERENCE, TRANSFER, rate, recipe

from costcalc.hardware import Cluster
from costcalc.throughput import REFUSALS, SpeedModel, signature
from costcalc.throughput.cluster_features import ClusterFeatures
from costcalc.throughput.measurements import AnybodysRates, Measurements
from costcalc.throughput.reference_model import UNDATED
from costcalc.throughput.workloads import SIZE_EXPONENT, bits, training_rate
from costcalc.training import IMAGES_PER_EPOCH, Phase

FAR = math.log(2.2)


def chip(evidence, accelerator):
    return evidence.accelerators[accelerator].chip


def cells(evidence):
    found = defaultdict(list)
    for row in evidence.throughputs:
        if row.precision and row.nodes == 1 and row.accelerators in range(1, 9):
            cell = row.model, bits(row.precision), row.image_size, chip(evidence, row.accelerator), row.accelerators
            found[cell].append((row.accelerator, math.log(training_rate(row)), row.plain))
    return found


def recipes_by_model(evidence):
    found = defaultdict(dict)
    for one in evidence.recipes:
        if one.precision:
            found[one.model].setdefault(signature(one), one)
    return {model: list(recipes.values()) for model, recipes in found.items()}


def implementations_seen(evidence):
    own = {(recipe.stack, chip(evidence, recipe.system.accelerator)) for recipe in evidence.recipes if recipe.system}
    return own | {(row.stack, chip(evidence, row.accelerator)) for row in evidence.throughputs}


def test_no_measured_speed_is_far_from_its_answer_and_outside_its_interval(packaged_evidence):
    speeds = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted)
    seen, by_model, checked, wrong = implementations_seen(packaged_evidence), recipes_by_model(packaged_evidence), 0, []
    for (model, width, size, chip, count), rows in sampled(cells(packaged_evidence).items(), one_in=4):
        foreign = [recipe for recipe in by_model.get(model, []) if (recipe.stack, chip) not in seen]
        alike = [recipe for recipe in foreign if bits(recipe.precision) == width]
        table = speeds.speeds(alike, [Cluster(rows[0][0], count)])
        truths = {plain: [rate for _, rate, of in rows if of or not plain] for plain in (True, False)}
        for r, p in ((r, p) for r, x in enumerate(alike) for p, at in enumerate(x.phases) if at.image_size == size):
            if table.refusal[r, 0] == 0 and truths[alike[r].plain]:
                truth = median(truths[alike[r].plain])  # plain loops are as fast as plain loops
                apart = abs(math.log(IMAGES_PER_EPOCH / table.seconds_per_epoch[r, 0, p]) - truth)
                checked += 1
                wrong += [(alike[r].name, chip, count, apart)] * int(apart > max(FAR, table.width_80[r, 0]))
    assert checked > (1000 if WHOLE else 250)
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


CLUSTERS = (Cluster("new", 8), Cluster("new", 4), Cluster("new", 8, 4), Cluster("old", 8), Cluster("new-big", 8))


def measured(*rows, clusters=CLUSTERS):
    return Measurements(dict(enumerate(rows)), ClusterFeatures(clusters, REFERENCE, TRANSFER))


def test_the_median_of_what_was_measured_is_taken():
    found = measured(rate(900), rate(1000), rate(1600))
    assert found.rates(recipe(), CLUSTERS[0], 128, 1.0) == [pytest.approx(1000)]
    assert measured(rate(900), rate(1600)).rates(recipe(), CLUSTERS[0], 128, 1.0) == [
        pytest.approx(1200)
    ]  # in ln: their mean is


def test_a_rate_of_another_batch_is_brought_to_the_batch_asked_for():
    eight = measured(rate(1000, global_batch_size=8 * 512))
    [asked] = eight.rates(recipe(), CLUSTERS[0], 64, 1.5)
    assert asked == pytest.approx(1000 * ((1 + 20 / 512) / (1 + 20 / 64)) ** 1.5)
    assert eight.rates(recipe(), CLUSTERS[0], 512, 1.5) == [pytest.approx(1000)]


def test_rates_on_synthetic_images_stand_for_no_training():
    made_up = rate(2000, data="synthetic")
    assert measured(rate(1000), made_up).rates(recipe(), CLUSTERS[0], 128, 1.0) == [pytest.approx(1000)]
    alone = measured(made_up)
    assert alone.rates(recipe(), CLUSTERS[0], 128, 1.0) is None
    assert (alone.exact.any(), alone.in_one_machine, alone.anywhere) == (False, frozenset(), {"new"})
    assert alone.nearest(2022).tolist() == [0] * len(CLUSTERS)


def test_a_rate_that_counts_evaluation_is_one_of_less_training():
    assert measured(rate(1000, includes_evaluation=True)).rates(recipe(), CLUSTERS[0], 128, 1.0) == [
        pytest.approx(1006)
    ]


def test_every_phase_must_have_been_measured_on_that_very_system():
    both = recipe(phases=(Phase(224, 0, 1), Phase(160, 1, 2)))
    rows = [rate(1000), rate(1900, image_size=160)]
    assert measured(*rows).rates(both, CLUSTERS[0], 128, 1.0) == [pytest.approx(1000), pytest.approx(1900)]
    assert measured(rows[0]).rates(both, CLUSTERS[0], 128, 1.0) is None
    assert measured(*rows).rates(recipe(phases=()), CLUSTERS[0], 128, 1.0) is None
    for other in CLUSTERS[1:]:
        assert measured(*rows).rates(both, other, 128, 1.0) is None


def test_measured_systems_are_marked():
    found = measured(rate(1000), rate(3500, accelerators=32, nodes=4), rate(300, "old", 16, nodes=2))
    assert found.exact.tolist() == [True, False, True, False, False]
    assert (found.anywhere, found.in_one_machine) == ({"new", "old"}, {"new"})


def test_the_nearest_row_is_of_the_same_accelerator_then_alike_in_machines_then_in_count():
    rows = [rate(1000), rate(500, accelerators=3), rate(9000, accelerators=64, nodes=8), rate(300, "old", 8)]
    assert measured(*rows).nearest(UNDATED).tolist() == [0, 1, 2, 3, 0]
    assert measured(rows[0], rate(500, accelerators=2)).nearest(UNDATED)[1] == 0  # as far from both: the first


def test_two_machines_are_like_many_rather_than_like_one():
    rows = [rate(1000), rate(9000, accelerators=64, nodes=8)]
    assert measured(*rows, clusters=[Cluster("new", 8, nodes) for nodes in (1, 2)]).nearest(UNDATED).tolist() == [0, 1]


def test_where_nobody_measured_the_accelerator_its_chip_with_another_memory_is_nearest():
    rows = [rate(300, "old", 8), rate(9000, accelerators=64, nodes=8)]
    assert measured(*rows).nearest(UNDATED).tolist() == [1, 1, 1, 0, 1]


@pytest.mark.parametrize(("year", "row"), [(UNDATED, 2), (2018, 0), (2021, 1), (2022, 1), (2030, 2)])
def test_of_equal_systems_the_row_of_the_year_is_nearest(year, row):
    rows = [rate(1000 + then, year=then) for then in (2019, 2021, 2023)]
    assert measured(*rows, clusters=CLUSTERS[:1]).nearest(year).tolist() == [row]


def test_nobody_measured_anything():
    assert measured().nearest(UNDATED).tolist() == [-1] * len(CLUSTERS)
    assert not measured().exact.any()


def test_what_anybody_made_is_compared_on_one_machine_whatever_the_memory():
    rows = [
        rate(1000),
        rate(1100, stack="theirs"),
        rate(1210, "new-big"),
        rate(9, accelerators=32, nodes=4),
        rate(7, image_size=160),
    ]
    anybodys = AnybodysRates(rows, ClusterFeatures(CLUSTERS, REFERENCE, TRANSFER))
    ours = np.log(np.full((len(CLUSTERS), 1), 2200.0))
    farthest = math.log(2.2)
    assert anybodys.distance(recipe(), ours) == pytest.approx([farthest, 0, 0, 0, farthest])
    assert anybodys.distance(recipe(phases=(Phase(64, 0, 1),)), ours).tolist() == [0] * 5


def test_a_rate_at_another_image_size_speaks_for_this_one_by_the_law_of_sizes():
    """Most rates were published at 224 pixels, and the quickest recipes train at fewer."""
    anybodys = AnybodysRates([rate(1000), rate(7, image_size=450)], ClusterFeatures(CLUSTERS[:1], REFERENCE, TRANSFER))
    ours = np.log(np.array([[2000 * (224 / 176) ** SIZE_EXPONENT]]))
    assert anybodys.distance(recipe(phases=(Phase(176, 0, 1),)), ours) == pytest.approx([math.log(2)])


def test_the_phase_that_is_farthest_from_what_others_made_counts():
    rows = [rate(1000), rate(2000, image_size=160)]
    anybodys = AnybodysRates(rows, ClusterFeatures(CLUSTERS[:1], REFERENCE, TRANSFER))
    ours = np.log(np.array([[1100.0, 1000.0]]))
    both = recipe(phases=(Phase(224, 0, 1), Phase(160, 1, 2)))
    assert anybodys.distance(both, ours) == pytest.approx([math.log(2)])


def test_the_range_of_the_usual_recipe_holds_what_other_people_reach_on_that_card(packaged_evidence):
    """Rates of one card by anybody's PyTorch in mixed precision, brought to the recipe's image size: at least 15 of 20."""
    rows = [row for row in packaged_evidence.throughputs if row.system.accelerators == 1 and row.model == "resnet50"]
    rows = [
        row for row in rows if row.framework_family == "pytorch" and row.precision == "amp" and row.image_size == 224
    ]
    [mild] = [each for each in packaged_evidence.recipes if each.name == "mosaicml-mild-29ep"]
    cards = [Cluster(row.accelerator, 1) for row in rows if row.accelerator != mild.system.accelerator]
    speeds = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted)
    table = speeds.speeds([mild], list(dict.fromkeys(cards)))
    of = {cluster.accelerator: place for place, cluster in enumerate(table.clusters)}
    inside = []
    for row in rows:
        if row.accelerator in of:
            seconds = table.seconds_per_epoch[0, of[row.accelerator], 0]
            theirs = row.images_per_second * (224 / mild.phases[0].image_size) ** SIZE_EXPONENT
            apart = math.log(mild.samples_per_epoch / seconds / theirs)
            inside.append(abs(apart) <= table.width_80[0, of[row.accelerator]])
    assert len(inside) >= 20
    assert sum(inside) >= 0.75 * len(inside)
