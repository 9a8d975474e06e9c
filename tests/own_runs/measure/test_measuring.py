"""A network is measured by the real PyTorch on this machine's processor; other devices by what they answer to PyTorch's calls."""

import importlib
import os
import sys
from datetime import UTC, datetime
from threading import Thread
from types import ModuleType, SimpleNamespace

import pytest
import torch
from msgspec.structs import replace

import own_runs.measure
from own_runs import this_machine
from own_runs.measure import devices, measuring, networks, pipeline, small, training
from own_runs.measure.devices import CannotMeasure, Device, find_device
from own_runs.measure.measuring import Measurement, Request, measure
from own_runs.measure.training import Job, Rate, sweep

TINY = "support.tiny_networks:tiny"
CPU = Device("cpu", "a processor", 16.0, ("fp32", "bf16"), lambda: None)


@pytest.fixture
def published(monkeypatch):
    """torchvision and timm beside a PyTorch without CUDA, for which their compiled operators were not built: the part that
    describes those operators is left out, and no network here uses them."""
    monkeypatch.setitem(sys.modules, "torchvision._meta_registrations", ModuleType("torchvision._meta_registrations"))


def test_a_network_of_ones_own_is_measured_in_repeats():
    told = []
    request = Request(("mine",), TINY, image_size=32, batch_size=4, seconds=0.05)
    found = measure(request, CPU, told.append)
    assert found.best.batch_size == 4
    assert len(found.best.repeats) == training.REPEATS
    assert min(found.best.repeats) <= found.best.images_per_second <= max(found.best.repeats)
    assert told[0] == "mine at 32 px in fp32 on a processor"
    assert told[-1].startswith("data pipeline: ")
    speed = found.speed(datetime(2026, 11, 20, tzinfo=UTC))
    assert (speed.model, speed.precision, speed.batch_size, speed.image_size) == ("mine", "fp32", 4, 32)
    assert speed.framework == f"PyTorch {torch.__version__}"
    assert speed.images_per_second < found.best.images_per_second  # a processor prepares images too


def test_sixteen_bits_are_measured_by_automatic_casting(monkeypatch):
    seen = []
    real = torch.autocast
    monkeypatch.setattr(torch, "autocast", lambda kind, dtype: seen.append((kind, dtype)) or real(kind, dtype))
    measure(Request(("mine",), TINY, 32, "bf16", 2, 0.01), CPU, lambda _: None)
    assert set(seen) == {("cpu", torch.bfloat16)}


def test_a_precision_that_the_device_lacks_is_refused():
    with pytest.raises(CannotMeasure, match="does not train in fp16: write fp32, bf16"):
        measure(Request(("mine",), TINY, precision="fp16"), CPU, lambda _: None)


def test_batches_double_until_none_fits(monkeypatch):
    monkeypatch.setattr(
        training, "measured", lambda job, device, batch: Rate(batch, (float(batch),)) if batch < 50 else None
    )
    assert [rate.batch_size for rate in sweep(Job(None, 32, "fp32", 1.0), CPU, 4)] == [4, 8, 16, 32]


def test_batches_double_until_two_are_hardly_faster(monkeypatch):
    monkeypatch.setattr(training, "measured", lambda job, device, batch: Rate(batch, (min(batch, 16.0),)))
    assert [rate.batch_size for rate in sweep(Job(None, 32, "fp32", 1.0), CPU, 4)] == [4, 8, 16, 32, 64]


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("MPS backend out of memory"),
                                   RuntimeError("RESOURCE_EXHAUSTED: Ran out of memory")])  # fmt: skip
def test_what_does_not_fit_ends_the_sweep(monkeypatch, error):
    def full(*_):
        raise error

    monkeypatch.setattr(training, "training_step", full)
    assert training.measured(Job(None, 32, "fp32", 1.0), CPU, 4) is None
    with pytest.raises(CannotMeasure, match="does not fit the memory of a processor"):
        measure(Request(("mine",), TINY, batch_size=4), CPU, lambda _: None)


def test_any_other_error_is_told(monkeypatch):
    def wrong(*_):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(training, "training_step", wrong)
    with pytest.raises(RuntimeError, match="mat1"):
        training.measured(Job(None, 32, "fp32", 1.0), CPU, 4)


def test_an_accelerator_is_fed_meanwhile_and_a_processor_feeds_itself():
    rates = (Rate(32, (900.0,)),)
    on_cpu = Measurement(Request(("mine",)), CPU, "fp32", rates, 100.0)
    on_gpu = replace(on_cpu, device=replace(CPU, kind="cuda"))
    assert on_cpu.together == pytest.approx(90)
    assert on_gpu.together == 100
    assert on_gpu.limited_by == "data pipeline"
    assert replace(on_gpu, pipeline_images_per_second=2000.0).limited_by == "accelerator"


def test_the_pipeline_makes_images_with_every_worker():
    assert pipeline.prepare((64, 0.05)) > 1
    assert pipeline.images_per_second(32, 1, 0.05) > 1


@pytest.mark.parametrize(("name", "library"), [("resnet18", "torchvision"), ("vit_tiny_patch16_224", "timm")])
def test_networks_come_from_both_libraries(published, name, library):
    assert type(networks.build([name])).__module__.startswith(library)


def test_the_first_name_that_a_library_knows_counts(published):
    assert type(networks.build(["nobody_s_net", "resnet18"])).__name__ == "ResNet"


def test_an_unknown_network_is_refused_with_what_to_type(published):
    with pytest.raises(
        CannotMeasure, match=r"no network nonsense to measure: neither torchvision nor timm has it\. --module"
    ):
        networks.build(["nonsense"])


def test_a_torchvision_of_another_build_is_told_with_what_to_type(monkeypatch):
    def other_build(_):
        raise RuntimeError("operator torchvision::nms does not exist")

    monkeypatch.setattr(networks, "_of_torchvision", other_build)
    with pytest.raises(CannotMeasure, match=r"nms does not exist\. Install both from one place.*/whl/cpu"):
        networks.build(["resnet18"])


@pytest.mark.parametrize(("module", "told"), [
    ("tiny_networks", "must be package.module:factory"),
    ("support.nowhere:tiny", "support.nowhere cannot be imported"),
    ("support.tiny_networks:huge", "support.tiny_networks has no huge"),
    ("support.tiny_networks:number", "must return a torch.nn.Module, not int"),
])  # fmt: skip
def test_a_wrong_module_is_refused_with_what_to_type(module, told):
    with pytest.raises(CannotMeasure, match=told):
        networks.build(["mine"], module)


def gpu(monkeypatch, name, memory_gib, capability=(8, 0), hip=None):
    properties = SimpleNamespace(name=name, total_memory=memory_gib * devices.GIB)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: properties)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: capability)
    monkeypatch.setattr(torch.version, "hip", hip)
    return find_device()


@pytest.mark.parametrize(("name", "memory_gib", "capability", "hip", "ours", "precisions"), [
    ("NVIDIA A100-SXM4-80GB", 79.1, (8, 0), None, "A100-80GB", ("bf16", "fp16", "fp32")),
    ("Tesla V100-SXM2-16GB", 15.8, (7, 0), None, "V100", ("fp16", "fp32")),
    ("AMD Instinct MI300X", 191.7, (9, 4), "6.2", "MI300X", ("bf16", "fp16", "fp32")),
    ("NVIDIA Something New", 100.0, (12, 0), None, "NVIDIA Something New", ("bf16", "fp16", "fp32")),
])  # fmt: skip
def test_a_gpu_is_called_as_answers_call_it(monkeypatch, name, memory_gib, capability, hip, ours, precisions):
    found = gpu(monkeypatch, name, memory_gib, capability, hip)
    assert (found.kind, found.name, found.precisions) == ("cuda", ours, precisions)
    assert found.memory_gib == pytest.approx(memory_gib)


def test_an_apple_gpu_is_called_like_its_chip(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.mps, "recommended_max_memory", lambda: 48 * devices.GIB)
    monkeypatch.setattr(this_machine, "brand", lambda: "Apple M1 Max")
    found = find_device("mps")
    assert (found.kind, found.name, found.memory_gib) == ("mps", "M1 Max", 48)


def test_a_tpu_waits_for_its_graph_and_wants_a_name(monkeypatch):
    called = []
    tpu = ModuleType("torch_xla")
    tpu.device, tpu.sync = lambda: torch.device("cpu"), lambda: called.append("sync")
    tpu.runtime, tpu.core = ModuleType("torch_xla.runtime"), ModuleType("torch_xla.core")
    tpu.runtime.device_type = lambda: "TPU"
    tpu.core.xla_model = ModuleType("torch_xla.core.xla_model")
    tpu.core.xla_model.wait_device_ops = lambda: called.append("wait")
    tpu.core.xla_model.get_memory_info = lambda _: {"bytes_limit": 16 * devices.GIB}
    for module in (tpu, tpu.runtime, tpu.core, tpu.core.xla_model):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    with pytest.raises(CannotMeasure, match="name it with --accelerator"):
        find_device("xla")
    found = find_device("xla", "TPU v5e")
    found.synchronize()
    assert (found.name, found.memory_gib, called) == ("TPU v5e", 16, ["sync", "wait"])


def test_a_device_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(CannotMeasure, match="finds no mps here: it finds cpu"):
        find_device("mps")


def test_a_processor_is_called_with_its_cores(monkeypatch, tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal:       16777216 kB\nMemFree: 1 kB\n")
    monkeypatch.setattr(this_machine, "brand", lambda: "AMD EPYC 7763 64-Core Processor")
    monkeypatch.setattr(this_machine, "MEMORY_INFO", tmp_path / "meminfo")
    monkeypatch.setattr(this_machine, "cpus", lambda: 4)
    found = find_device("cpu")
    assert (found.name, found.memory_gib) == ("AMD EPYC 7763 64-Core Processor 4 cores", 16)
    assert find_device("cpu", "my laptop").name == "my laptop"


def test_nothing_is_measured_where_no_batch_fits(monkeypatch):
    monkeypatch.setattr(measuring, "sweep", lambda *_: iter(()))
    with pytest.raises(CannotMeasure, match="try --batch-size 1"):
        measure(Request(("mine",), TINY), CPU, lambda _: None)


def test_what_decides_small_networks_is_measured_and_predicts_one_of_100_units(monkeypatch):
    monkeypatch.setattr(small, "REPEAT_SECONDS", 0.002)
    found = small.small_device(CPU, "measured here")
    assert found.transfer_bytes_per_second is None
    assert found.operations_per_second > 1e8
    assert found.step_seconds + found.layer_seconds > 0
    said, took = small.tried(CPU, found)
    assert 0.01 < said / took < 100  # of an order: other programs share this machine


def test_what_is_sent_to_a_gpu_is_measured_too(monkeypatch):
    monkeypatch.setattr(small, "REPEAT_SECONDS", 0.002)
    monkeypatch.setattr(Device, "torch_device", torch.device("cpu"))
    monkeypatch.setattr(small, "USUAL_SIDE", 64)
    assert small.small_device(replace(CPU, kind="cuda"), "measured here").transfer_bytes_per_second > 1e6


def test_a_processor_that_others_use_is_told():
    alone = Measurement(Request(("mine",)), CPU, "fp32", (Rate(4, (9.0,)),), 100.0, 0.95)
    assert not alone.is_disturbed
    assert replace(alone, processor_share=0.5).is_disturbed
    assert not replace(alone, processor_share=0.1, device=replace(CPU, kind="cuda")).is_disturbed


def test_the_clock_of_a_processor_stands_still_while_others_compute():
    others = Thread(target=lambda: sum(range(10**7)))
    start = training.seconds(CPU)
    others.start()
    others.join()
    assert training.seconds(CPU) - start < 0.05  # the other takes 0.2


def test_threads_that_wait_do_not_count_as_work(monkeypatch):
    monkeypatch.delenv("OMP_WAIT_POLICY")
    importlib.reload(own_runs.measure)
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
