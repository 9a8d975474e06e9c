"""Speeds that once came out wrong, on the packaged evidence, each beside what bounds it."""

import numpy as np
import pytest

from costcalc.hardware import Cluster
from costcalc.throughput import SpeedModel
from costcalc.training import IMAGES_PER_EPOCH


@pytest.fixture(scope="module")
def speeds(packaged_evidence):
    """Images per second of the fastest phase [R, C] of the recipes that match, and half the width of their range."""
    model = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted)

    def speeds(network, wanted, *clusters):
        recipes = [recipe for recipe in packaged_evidence.recipes_of(network) if wanted(recipe)]
        table = model.speeds(recipes, clusters, packaged_evidence.recipes_of_larger(network))
        return IMAGES_PER_EPOCH / np.nanmin(table.seconds_per_epoch, axis=2), table.width_80

    return speeds


def named(name):
    return lambda recipe: recipe.name == name


def test_one_of_eight_does_at_least_an_eighth_of_what_eight_were_measured_to_do(speeds):
    """One V100 was taken to do 20.9 images/s of RegNetX-32GF where eight did 435."""
    ((one, two, four, eight),), _ = speeds(
        "regnetx_32gf", named("pycls-regnetx-32gf"), *(Cluster("V100", count) for count in (1, 2, 4, 8))
    )
    assert eight == pytest.approx(435, rel=0.01)
    assert eight / 8 <= four / 4 <= two / 2 <= one < 80


def test_a100s_of_40_and_80_gb_differ_no_more_than_their_memories_do(speeds):
    """With 32 images on each of eight cards one was 1.53 times as fast as the other: one die, 1.31 times the bandwidth."""
    ((small, large),), ((narrow, wide),) = speeds(
        "resnet50", named("pycls-resnet-50"), Cluster("A100-40GB", 8), Cluster("A100-80GB", 8)
    )
    assert 1 <= large / small < 1.31
    assert np.log(large / small) < min(narrow, wide)  # each lies in the range of the other


def test_twice_the_chips_are_not_slower_with_the_batch_of_the_recipe(speeds):
    """128 chips, measured with four times the batch, were taken to be faster than 256."""
    ((half, whole),), _ = speeds(
        "amoebanet_d", named("dawnbench-google-amoeba-tpuv2"), Cluster("TPU v2", 64), Cluster("TPU v2", 128)
    )
    assert half <= whole


@pytest.mark.parametrize(("chip", "gb_per_s"), [("TPU v6e", 1638), ("TPU v5e", 819)])
def test_no_chip_that_nobody_measured_passes_its_memory(speeds, packaged_evidence, chip, gb_per_s):
    """One v6e was taken to do 6,077 images/s where its memory moves the data of 5,123."""
    roof = gb_per_s / packaged_evidence.fitted.reference.data_sheets.gb_per_image
    found, _ = speeds(
        "resnet50", lambda recipe: recipe.is_mlperf and recipe.phases[0].image_size == 224, Cluster(chip, 1)
    )
    assert np.nanmax(found) <= roof * 1.0001


@pytest.mark.parametrize("network", [f"efficientnet_b{size}" for size in range(6)])
def test_p100_is_not_faster_than_v100_in_32_bits(speeds, network):
    found, _ = speeds(network, lambda recipe: recipe.precision == "fp32", Cluster("P100", 1), Cluster("V100", 1))
    assert not (found[:, 0] > found[:, 1]).any()


@pytest.mark.parametrize("name", ["efficientformer_l1", "levit_128s"])
def test_a_network_that_distils_another_waits_for_it(speeds, name):
    """They were taken to see 1,000 and 4,700 images/s, where their teacher, RegNetY-16GF, trains at 83: thrice that at most."""
    ((rate,),), ((width,),) = speeds(name, lambda recipe: recipe.teacher, Cluster("RTX 3090", 1))
    assert 100 < rate < 3 * 83.24 * 1.3
    assert width > 0.3


def test_an_ordinary_script_does_hardly_more_than_the_best_benchmark_of_the_card(speeds):
    """One RTX 3090 was taken to train 471 to 521 images/s of ViT-B/16 where timm's code, on made-up images, does 393."""
    ((rate,),), _ = speeds("vit_b16", named("torchvision-vit-b16-300ep"), Cluster("RTX 3090", 1))
    assert 393 / 1.3 < rate < 393 * 1.15
