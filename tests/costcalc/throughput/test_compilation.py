"""Code that is compiled trains transformers faster, and where nobody says how it runs both are possible."""

import numpy as np
import pytest
from msgspec.structs import replace

from costcalc.hardware import Cluster
from costcalc.throughput import SpeedModel
from costcalc.throughput.workloads import SIGNS, workload
from costcalc.training import IMAGES_PER_EPOCH, Running

H100, A100 = Cluster("H100", 1), Cluster("A100-80GB", 1)
COMPILED, AMP = Running(compilation="compiled"), Running(precision="amp")


@pytest.fixture(scope="module")
def deit(packaged_evidence):
    return next(one for one in packaged_evidence.recipes_of("deit_base") if one.compilation == "eager")


@pytest.fixture(scope="module")
def speeds(packaged_evidence):
    model = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted)
    return lambda *recipes: model.speeds(recipes, [H100, A100])


def rates(table):
    return IMAGES_PER_EPOCH / np.nanmin(table.seconds_per_epoch, axis=2)


def test_codes_say_how_they_run(packaged_evidence):
    how = {row.stack: row.compilation for row in packaged_evidence.throughputs}
    assert (how["big-vision"], how["timm"], how["mlperf"]) == ("compiled", "eager", None)


def test_a_transformer_gains_more_by_being_compiled_than_a_convolution(packaged_evidence, deit):
    transfer = packaged_evidence.fitted.transfer
    small = packaged_evidence.recipes_of("resnet50")[0]
    gains = [transfer.of_compiling(workload(one, 224, packaged_evidence.models)) for one in (deit, small)]
    assert gains[0] > 0.15 > gains[1] > 0.0


def test_a_recipe_runs_as_it_is_asked_to(packaged_evidence, speeds, deit):
    own, eager, compiled = deit, deit.run_so(Running(compilation="eager")), deit.run_so(COMPILED)
    found = rates(speeds(own, eager, compiled))
    assert found[0] == pytest.approx(found[1])
    gain = packaged_evidence.fitted.transfer.of_compiling(workload(deit, 224, packaged_evidence.models))
    assert np.log(found[2] / found[1]) == pytest.approx(2 * gain, abs=0.05)


def test_what_nobody_says_stands_between_and_is_known_less(speeds, deit):
    unknown = replace(deit, compilation=None)
    table = speeds(deit, unknown)
    assert table.width_80[1, 0] > table.width_80[0, 0]
    assert sorted(SIGNS.values()) == [-1.0, 0.0, 1.0]


def test_a_rate_measured_otherwise_is_no_measurement(packaged_evidence, deit):
    """What its own code was logged at on its own system stands for that way of running alone."""
    own = deit.system
    model = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted)
    home = [Cluster(own.accelerator, own.accelerators_per_node, own.nodes)]
    same, other = (model.speeds([one], home) for one in (deit, deit.run_so(COMPILED)))
    assert rates(other)[0, 0] > rates(same)[0, 0]
    assert other.width_80[0, 0] > same.width_80[0, 0]


def test_a_network_published_in_32_bits_is_faster_in_16(packaged_evidence, speeds):
    """3.5 times as fast on one H100, as ConvNeXt-T was measured (`device_speeds.csv`)."""
    one = next(one for one in packaged_evidence.recipes_of("convnext_tiny") if one.precision == "fp32")
    published, otherwise = rates(speeds(one, one.run_so(AMP)))[:, 0]
    assert 1.5 < otherwise / published < 5


def test_amp_is_said_to_be_another_way(packaged_evidence):
    one = next(one for one in packaged_evidence.recipes_of("convnext_tiny") if one.precision == "fp32")
    model = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted)
    [published, otherwise] = [" ".join(model.speeds([each], [H100]).notes(0, 0)) for each in (one, one.run_so(AMP))]
    assert "precision=amp estimates" in published
    assert "differently from its publication: amp (fp32)" in otherwise
    assert one.run_so(Running(precision="fp32")) is one


def test_a_tpu_computes_32_bits_in_bf16(packaged_evidence):
    transfer = packaged_evidence.fitted.transfer
    one = packaged_evidence.recipes_of("resnet50")[0]
    whole, half = (workload(replace(one, precision=bits), 224, packaged_evidence.models) for bits in ("fp32", "bf16"))
    gain = lambda chip: transfer.hardware(whole, chip, 1) - transfer.hardware(half, chip, 1)  # noqa: E731
    assert gain("TPU v3") - gain("H100") == pytest.approx(
        transfer.effects["precision", "16bit"] - transfer.effects["precision", "fp32"], abs=0.15
    )
