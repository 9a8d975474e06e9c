import math

import numpy as np
import pytest

from costcalc.hardware import Cluster
from costcalc.throughput import REFUSALS, TIERS, SpeedModel
from costcalc.throughput.fitted_parameters import unfitted
from costcalc.throughput.memory import most_images
from costcalc.throughput.speed_model import DATED_SCATTER
from costcalc.throughput.workloads import own_rates
from costcalc.training import IMAGES_PER_EPOCH

LARS = "mlperf-v3.1-eos-ngc23.09-mxnet"
CLUSTERS = {
    "known": Cluster("A100-80GB", 8),
    "other count": Cluster("A100-80GB", 6),
    "crowded": Cluster("A100-80GB", 12),
    "many": Cluster("A100-80GB", 8, 5),
    "new chip": Cluster("B200", 8),
    "old chip": Cluster("K80", 8),
    "no network": Cluster("RTX 4090", 8, 2),
    "small machines": Cluster("A100-80GB", 2, 2),
    "unknown maker": Cluster("Ascend 910B", 8),
    "too many": Cluster("H100", 8, 100),
    "processors": Cluster("Xeon Platinum 8124M", 0),
}


@pytest.fixture(scope="session")
def speeds(packaged_evidence):
    model = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted)
    recipes = packaged_evidence.recipes_of("resnet50")
    table = model.speeds(recipes, list(CLUSTERS.values()))
    names = [recipe.name for recipe in recipes]

    def pair(recipe, cluster):
        return names.index(recipe), list(CLUSTERS).index(cluster)

    return table, pair


@pytest.mark.parametrize(
    ("cluster", "tier"),
    [("known", "transferred"), ("other count", "interpolated"), ("many", "modelled"), ("new chip", "modelled")],
)
def test_each_kind_of_evidence_has_its_name(speeds, cluster, tier):
    table, pair = speeds
    at = pair(LARS, cluster)
    assert TIERS[table.tier[at]] == tier
    assert table.notes(*at)


@pytest.mark.parametrize(
    ("cluster", "reason"),
    [
        ("no network", "no_network"),
        ("small machines", "no_network"),
        ("unknown maker", "no_throughput"),
        ("processors", "no_throughput"),
        ("too many", "batch_too_small"),
    ],
)
def test_what_nobody_can_know_is_refused(speeds, cluster, reason):
    table, pair = speeds
    at = pair(LARS, cluster)
    assert REFUSALS[table.refusal[at]] == reason
    assert np.isnan(table.seconds_per_epoch[at]).all()
    assert table.tier[at] == -1


def test_less_evidence_means_a_wider_interval(speeds):
    table, pair = speeds
    widths = {cluster: table.width_80[pair(LARS, cluster)] for cluster in CLUSTERS}
    for chip in ("new chip", "old chip"):  # of the old one others' rates are known, of the new one other tasks'
        ordered = [widths[cluster] for cluster in ("known", "other count", "many", chip)]
        assert ordered == sorted(ordered)
    assert table.width_80[pair(LARS, "other count")] < table.width_80[pair(LARS, "crowded")]


def test_the_well_known_machine_has_its_well_known_rate(speeds):
    table, pair = speeds
    rate = IMAGES_PER_EPOCH / table.seconds_per_epoch[pair(LARS, "known")][0]
    assert rate == pytest.approx(28_000, rel=0.04)


def test_a_recipe_with_phases_keeps_the_ratio_of_its_own_rates(speeds, packaged_evidence):
    table, pair = speeds
    recipe = next(r for r in packaged_evidence.recipes if r.name == "dawnbench-fastai-rn50-p3")
    seconds = table.seconds_per_epoch[pair(recipe.name, "known")][: len(recipe.phases)]
    own = np.array([phase.images_per_second for phase in recipe.phases])
    assert seconds[0] / seconds == pytest.approx(own / own[0])


def test_nothing_is_modelled_where_nothing_was_fitted(packaged_evidence):
    recipes = packaged_evidence.recipes_of("resnet50")
    model = SpeedModel(packaged_evidence.throughputs, unfitted(packaged_evidence.models))
    table = model.speeds(recipes, [CLUSTERS["known"], CLUSTERS["many"], CLUSTERS["new chip"]])
    answered = (table.refusal == 0).any(axis=0)
    assert answered.tolist() == [True, False, False]
    assert set(table.tier[table.refusal == 0].tolist()) == {TIERS.index("transferred")}


def test_no_recipes_and_no_clusters_make_an_empty_table(packaged_evidence):
    model = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted)
    assert model.speeds([], list(CLUSTERS.values())).refusal.shape == (0, len(CLUSTERS))
    assert model.speeds(packaged_evidence.recipes_of("resnet50")[:2], []).refusal.shape == (2, 0)


def test_memory_holds_what_mlperf_ran(packaged_evidence):
    resnet = packaged_evidence.models["resnet50"]
    images = most_images(np.array([80, 40, 24, 0.3, math.inf]), resnet, 224, "amp")
    assert (images[:3] > [816, 408, 204]).all()
    assert images[3] < 1
    assert images[4] == math.inf
    assert (images[:3] > 1.9 * most_images(np.array([80, 40, 24]), resnet, 224, "fp32")).all()


@pytest.mark.parametrize(
    "name", ["algoperf-v0.5-vit-s16-nadamw-sequential-self", "nvidia-pytorch-resnet50-a100x8-amp-90ep"]
)
def test_on_its_own_system_a_recipe_has_its_own_rate(packaged_evidence, name):
    [recipe] = [each for each in packaged_evidence.recipes if each.name == name]
    own = recipe.system
    model = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted)
    cluster = Cluster(own.accelerator, own.accelerators_per_node, own.nodes)
    table = model.speeds(packaged_evidence.recipes_of(recipe.model), [cluster])
    at = packaged_evidence.recipes_of(recipe.model).index(recipe)
    assert IMAGES_PER_EPOCH / table.seconds_per_epoch[at, 0, 0] == pytest.approx(own_rates(recipe)[0])


def test_other_peoples_code_is_never_surer_than_with_other_networks(packaged_evidence):
    """MLPerf's rates on A100s lie closer together than those that one program makes on one card with two networks."""
    fitted = packaged_evidence.fitted
    recipes = packaged_evidence.recipes_of("resnet50")
    table = SpeedModel(packaged_evidence.throughputs, fitted).speeds(recipes, [Cluster("A100-80GB", 8)])
    for recipe, refusal, width in zip(recipes, table.refusal[:, 0], table.width_80[:, 0], strict=True):
        if refusal == 0 and recipe.stack != "mlperf":
            assert width > 0.999 * fitted.widths["network"].ln


def test_a_round_is_told_a_measurement_of_its_year(packaged_evidence):
    recipes = packaged_evidence.recipes_of("resnet50")
    eight = [Cluster("A100-80GB", 8)]
    table = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted).speeds(recipes, eight)
    for year in (2021, 2022, 2023):
        at = next(r for r, recipe in enumerate(recipes) if recipe.stack == "mlperf" and recipe.year == year)
        assert table.source(at, 0).year == year
        assert f", {year}, 8 x A100-80GB" in table.notes(at, 0)[0]


def test_a_mean_over_image_sizes_is_shared_out_and_comes_back(packaged_evidence):
    [recipe] = [each for each in packaged_evidence.recipes if each.name == "ffcv-rn18-88ep"]
    rates, end = own_rates(recipe), recipe.evaluations[-1]
    assert rates == sorted(rates, reverse=True)
    spent = [phase.to_epoch - phase.from_epoch for phase in recipe.phases]
    hours = sum(epochs * IMAGES_PER_EPOCH / rate for epochs, rate in zip(spent, rates, strict=True)) / 3600
    assert hours * recipe.clock_factor == pytest.approx(end.epochs * IMAGES_PER_EPOCH / recipe.images_per_second / 3600)


def test_sizes_whose_rates_are_guessed_are_never_sure(packaged_evidence):
    recipes = packaged_evidence.recipes_of("efficientnetv2_s")
    table = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted).speeds(recipes, [Cluster("V100", 8)])
    guessed = [r for r, recipe in enumerate(recipes) if len(recipe.phases) > 1 and not own_rates(recipe)]
    assert guessed
    assert (table.width_80[guessed, 0] > 0.999 * packaged_evidence.fitted.widths["stack"].ln).all()


@pytest.mark.parametrize(
    ("cluster", "kinds", "least"),
    [
        (Cluster("A100-80GB", 8), ["transferred"], 0.0),
        (Cluster("H100", 8), ["transferred"], 0.0),
        (Cluster("L40S", 8), ["transferred"], 0.0),
        (Cluster("H100", 2), ["interpolated"], 0.0),
        (Cluster("A100-80GB-PCIe", 12), ["interpolated", "machines"], 0.0),
        (Cluster("H100", 8, 8), ["transferred"], 1.0),
        (Cluster("H100", 8, 5), ["machines"], 1.0),
        (Cluster("H200", 8, 2), ["machines"], 1.0),
    ],
)
def test_intervals_are_those_that_were_scored(packaged_evidence, cluster, kinds, least):
    """`validation.end_to_end` scores these half-widths; the engine must answer with the same, or wider where twice as many would
    lose more."""
    fitted, recipes = packaged_evidence.fitted, packaged_evidence.recipes_of("resnet50")
    lars = next(r for r, recipe in enumerate(recipes) if recipe.name == LARS)
    table = SpeedModel(packaged_evidence.throughputs, fitted).speeds(recipes, [cluster])
    scatter = max(fitted.reference.scatter(cluster.accelerator), least, DATED_SCATTER)
    scored = scatter * np.hypot(*[fitted.widths[kind].ln for kind in kinds], *[0.0] * (2 - len(kinds)))
    assert scored * (1 - 1e-5) < table.width_80[lars, 0] < scored * (1 + 1e-5) + 0.02 * (kinds != ["transferred"])
