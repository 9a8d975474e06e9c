"""Plain loops of PyTorch: slower than tuned code in 16 bits, in TF32 where the chip can, as fast as this project timed them."""

import math

import pytest
from msgspec.structs import replace

from costcalc.hardware import Cluster
from costcalc.throughput import SpeedModel
from costcalc.training import IMAGES_PER_EPOCH, Tier

ONE_H100, ONE_A100, ONE_V100 = Cluster("H100", 1), Cluster("A100-40GB", 1), Cluster("V100", 1)


def recipe(evidence, name):
    return next(one for one in (*evidence.recipes, *evidence.in_16_bits) if one.name == name)


def rates(evidence, one, *clusters):
    table = evidence.speed_model.speeds([one], clusters)
    return [IMAGES_PER_EPOCH / seconds for seconds in table.seconds_per_epoch[0, :, 0]]


def test_a_plain_loop_gains_less_by_16_bits_the_more_a_chip_computes(packaged_evidence):
    script = recipe(packaged_evidence, "torchvision-resnet50-90ep-amp")
    plain = rates(packaged_evidence, script, ONE_V100, ONE_A100, ONE_H100)
    other = rates(packaged_evidence, replace(script, plain=False), ONE_V100, ONE_A100, ONE_H100)
    slower = [math.log(one / another) for one, another in zip(plain, other, strict=True)]
    assert all(each < 0 for each in slower)
    assert slower[1] < slower[0]


def test_32_bit_convolutions_are_multiplied_in_tf32_where_the_chip_can(packaged_evidence):
    script = recipe(packaged_evidence, "torchvision-resnet50-90ep")
    in_tf32 = replace(script, precision="tf32")
    assert rates(packaged_evidence, script, ONE_A100) == pytest.approx(rates(packaged_evidence, in_tf32, ONE_A100))
    of_v100, as_tf32 = (rates(packaged_evidence, one, ONE_V100)[0] for one in (script, in_tf32))
    assert of_v100 != pytest.approx(as_tf32)


def test_a_transformer_multiplies_matrices_in_32_bits_unless_it_says_so(packaged_evidence):
    script = recipe(packaged_evidence, "torchvision-swin-tiny-300ep")
    fp32, tf32 = (replace(script, precision=each) for each in ("fp32", "tf32"))
    assert rates(packaged_evidence, fp32, ONE_H100)[0] < rates(packaged_evidence, tf32, ONE_H100)[0]


@pytest.mark.parametrize("model", ["efficientnet_b0", "mobilenet_v3_large", "vit_b16", "swin_tiny", "resnet50"])
def test_what_was_timed_on_a_chip_lies_inside_the_range_of_a_plain_loop_there(packaged_evidence, model):
    timed = [row for row in packaged_evidence.device_speeds if row.model == model and row.accelerator == "H100"]
    in_16_bits = [row.images_per_second for row in timed if row.precision in ("bf16", "fp16")]
    scripts = (*packaged_evidence.recipes, *packaged_evidence.in_16_bits)
    script = next(
        one for one in scripts if one.model == model and one.plain and one.precision == "amp" and not one.phases[1:]
    )
    table = packaged_evidence.speed_model.speeds([script], [ONE_H100])
    size = script.phases[0].image_size
    said = IMAGES_PER_EPOCH / table.seconds_per_epoch[0, 0, 0] * (size / 224) ** 1.6
    inside = [abs(math.log(rate / said)) <= table.width_80[0, 0] for rate in in_16_bits]
    assert sum(inside) >= 0.7 * len(inside)
    assert table.tier[0, 0] == list(Tier).index(Tier.INTERPOLATED)


def test_what_this_project_timed_teaches_of_plain_loops_on_that_die_alone(packaged_evidence):
    effects = packaged_evidence.fitted.transfer.effects
    assert {key[-2] for key in effects if key[0] == "loop"} == {"GH100"}
    tuned = recipe(packaged_evidence, "ffcv-rn50-32ep")
    without = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted).speeds([tuned], [ONE_H100])
    assert without.seconds_per_epoch[0, 0, 0] == pytest.approx(
        packaged_evidence.speed_model.speeds([tuned], [ONE_H100]).seconds_per_epoch[0, 0, 0]
    )
