import math

import pytest
from support.speeds import MODELS, rate

from costcalc.throughput.workloads import Implementation, implementation, workload


def row(evidence, name):
    return next(row for row in evidence.throughputs if row.name == name)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("vgg16_bn", "vgg"),
        ("se_resnext50_32x4d", "resnext"),
        ("efficientnetv2_s", "efficientnet"),
        ("inception_resnet_v2", "inception"),
        ("googlenet", "googlenet"),
    ],
)
def test_networks_of_one_architecture_are_of_one_family(packaged_evidence, model, family):
    assert packaged_evidence.models[model].family == family


def test_the_examples_of_one_maker_are_several_codes(packaged_evidence):
    names = {
        implementation(row)
        for row in packaged_evidence.throughputs
        if row.organisation == "NVIDIA" and row.stack != "mlperf"
    }
    assert {name.framework_family for name in names} == {"mxnet", "paddle", "pytorch", "tensorflow"}
    assert len({implementation(row) for row in packaged_evidence.throughputs if row.stack == "lambda-tf"}) == 1


def test_a_recipe_and_the_rates_of_its_code_are_filed_alike(packaged_evidence):
    rates = {implementation(row) for row in packaged_evidence.throughputs}
    stacks = {row.stack for row in packaged_evidence.throughputs} - {"mlperf", "dawnbench"}
    recipes = {implementation(recipe) for recipe in packaged_evidence.recipes if recipe.stack in stacks}
    assert recipes <= rates


def test_what_nobody_stated_is_taken_as_16_bits_and_as_resnet_50(packaged_evidence):
    done = next(row for row in packaged_evidence.throughputs if row.precision is None and row.model == "resnet50")
    assert workload(done, 224, {}).precision == "16bit"
    assert workload(done, 224, {}).parameters == workload(done, 224, {}).gmacs == workload(done, 224, {}).offset == 0


def test_larger_images_and_networks_take_longer(packaged_evidence):
    models = packaged_evidence.models
    done = row(packaged_evidence, "nvidia-tf2-efficientnet-b0-a100-80gb-x1-amp")
    small, large = workload(done, 112, models), workload(done, 224, models)
    assert small.offset - large.offset == pytest.approx(1.6 * math.log(2))
    assert large.gmacs == pytest.approx(math.log(0.4 / 4.1))
    assert large.offset > 0 > large.parameters > -math.log(2)


def test_what_a_row_computes_is_what_its_columns_say():
    made = workload(rate(1, precision="fp32"), 112, MODELS)
    assert (made.model, made.family, made.image_size, made.precision) == ("small", "tiny", 112, "fp32")
    assert made.implementation == Implementation("ours", "pytorch", "us")
    assert made.parameters == pytest.approx(math.log((1 + 0.2) / 2))
    assert made.gmacs == pytest.approx(math.log(0.1))
    assert made.offset == pytest.approx(1.6 * math.log(2) + 0.7 * math.log(10))


def test_a_network_that_is_not_listed_is_a_family_of_its_own():
    made = workload(rate(1, model="unheard-of"), 224, MODELS)
    assert (made.family, made.parameters, made.gmacs) == ("unheard-of", 0.0, 0.0)
