"""Small networks: sizes by hand, the terms of a step, and where the processor stops to win."""

import pytest
from msgspec.structs import replace

from costcalc.evidence.small_devices import small_devices
from costcalc.small_networks import (
    SmallDevice,
    SmallNetwork,
    Training,
    WrongLayers,
    hours,
    small_network,
    step_time,
    turning_factor,
    worth_up_to,
)

CPU = SmallDevice("a processor", 40e-6, 20e-6, 100e9, None, 2, "measured", "")
GPU = SmallDevice("a GPU", 100e-6, 80e-6, 10e12, 6e9, 2.5, "modelled", "")


def training(layers, batch_size=64):
    return Training(small_network(layers), samples=60_000, batch_size=batch_size, epochs=10)


def test_a_dense_network_has_the_weights_of_its_layers():
    network = small_network(" MLP:784-512-512-10 ")
    assert network == SmallNetwork((512, 512, 10), 784)
    assert network.multiply_adds == 784 * 512 + 512 * 512 + 512 * 10
    assert network.parameters == network.multiply_adds + 512 + 512 + 10


def test_one_layer_of_100_units_is_small_over_few_inputs_and_large_over_many():
    assert small_network("mlp:4-100-1").parameters == 4 * 100 + 100 + 100 + 1
    assert small_network("mlp:1000000-100-1").parameters > 100e6


def test_a_convolutional_network_halves_its_sides_after_each_layer():
    network = small_network("cnn:28x28x1-32-64-10")
    assert network.inputs == 784
    assert network.multiply_adds == 784 * 9 * 32 + 14 * 14 * 9 * 32 * 64 + 7 * 7 * 64 * 10
    assert network.parameters == 9 * 32 + 32 + 9 * 32 * 64 + 64 + 7 * 7 * 64 * 10 + 10


def test_odd_sides_are_halved_downwards_and_never_below_one():
    assert small_network("cnn:5x7x1-2-3-10").multiply_adds == 5 * 7 * 9 * 2 + 2 * 3 * 9 * 2 * 3 + 1 * 1 * 3 * 10
    assert small_network("cnn:1x1x1-2-3-4").multiply_adds == 9 * 2 + 9 * 2 * 3 + 3 * 4


def test_hidden_layers_are_scaled_and_keep_at_least_one_unit():
    network = small_network("mlp:10-100-30-5")
    assert network.scaled(2) == SmallNetwork((200, 60, 5), 10)
    assert network.scaled(0.001) == SmallNetwork((1, 1, 5), 10)


@pytest.mark.parametrize("text", ["mlp:784-many-10", "mlp:784", "mlp:", "784-10", "mlp:784--10", "mlp:0-10", "mlp:-3-10",
                                  "cnn:28-32-10", "cnn:28x28-32-10", "rnn:3-4", "mlp:7e2-10", "mlp:99999999999-10",
                                  "mlp:" + "-".join(["8"] * 200)])  # fmt: skip
def test_layers_that_are_no_whole_numbers_are_refused_with_what_to_type(text):
    with pytest.raises(WrongLayers, match=r"mlp:784-512-512-10|at most 100 layers"):
        small_network(text)


def test_a_processor_does_one_after_the_other_and_a_gpu_computes_meanwhile():
    run = training("mlp:784-100-10")
    arithmetic = 64 * 6 * (784 * 100 + 100 * 10)
    assert step_time(run, CPU).seconds == pytest.approx(40e-6 + 2 * 20e-6 + arithmetic / 100e9)
    assert step_time(run, GPU).seconds == pytest.approx(100e-6 + 2 * 80e-6 + 64 * 785 * 4 / 6e9)
    assert step_time(run, GPU).limited_by == "launches"
    assert hours(run, GPU) == pytest.approx(10 * 938 * step_time(run, GPU).seconds / 3600)


def test_a_larger_batch_costs_a_gpu_nothing_until_it_is_full_and_a_processor_at_once():
    one, many = training("mlp:100-100-10", 1), training("mlp:100-100-10", 64)
    assert step_time(many, GPU).seconds < 1.02 * step_time(one, GPU).seconds
    assert step_time(many, CPU).seconds > 1.5 * step_time(one, CPU).seconds


def test_a_layer_of_100_units_trains_faster_on_the_processor_and_a_wide_one_on_the_gpu():
    assert hours(training("mlp:4-100-1"), CPU) < hours(training("mlp:4-100-1"), GPU)
    assert hours(training("mlp:784-8192-8192-10"), CPU) > hours(training("mlp:784-8192-8192-10"), GPU)


def test_both_are_equally_fast_where_the_answer_turns():
    run = training("mlp:784-100-10")
    factor = turning_factor(run, CPU, GPU)
    narrower, wider = (replace(run, network=run.network.scaled(factor * share)) for share in (0.5, 2))
    assert hours(narrower, CPU) < hours(narrower, GPU)
    assert hours(wider, CPU) > hours(wider, GPU)


def test_a_device_that_is_faster_at_any_size_never_turns():
    assert turning_factor(training("mlp:784-100-10"), CPU, replace(CPU, step_seconds=1e-6, layer_seconds=1e-6)) is None


def test_a_gpu_that_is_twice_as_fast_is_worth_twice_the_rate():
    assert worth_up_to(0.10, 4.0, 2.0) == pytest.approx(0.20)


def test_packaged_devices_have_sources_and_processors_no_transfer():
    devices = small_devices()
    assert {one.name for one in devices} >= {"T4", "V100", "A100-80GB", "H100"}
    assert all(one.source and one.factor_80 > 1 for one in devices)
    assert [one.name for one in devices if one.transfer_bytes_per_second is None] == ["EPYC (Zen 5), 2 cores"]
