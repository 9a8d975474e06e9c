import math

import pytest

from costcalc.throughput.workloads import implementation, workload


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
