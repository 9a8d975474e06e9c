"""The processor of this machine is read from what Linux tells of it, and follows the law of all processors."""

from functools import partial
from math import exp

import pytest
from support.engine import evidence as packaged
from support.this_machine import EPYC, forgotten, pretend, x86

from costcalc.hardware import Cluster
from costcalc.throughput.processors import LN_WIDTH_80
from own_runs import this_machine

INTEL = "Intel(R) Xeon(R) CPU @ 2.60GHz", "GenuineIntel", "6"
AMD = "AuthenticAMD"


@pytest.fixture
def packaged_evidence():
    return packaged()


@pytest.fixture
def told(monkeypatch, tmp_path):
    """Has this machine be another Linux, with so many logical processors."""
    with forgotten():
        yield partial(pretend, monkeypatch, tmp_path)


def figures(found):
    return found.cores, found.ghz, found.operations_per_cycle, found.operations_per_cycle_16bit, found.like


@pytest.mark.parametrize(("text", "cpus", "expected"), [
    (EPYC, 2, (2, 2.6, 64, 128, "EPYC Zen 5")),
    (x86("Intel(R) Xeon(R) Platinum 8488C", "Intel", 6, "avx2", 4800, 16, 8), 16, (8, 2.4, 64, 1024, "Xeon Platinum 8488C")),
    (x86("AMD EPYC 9R14", AMD, 25, "avx2 avx512f", 5200, 4, 4), 4, (4, 2.6, 32, 64, "EPYC 9R14")),
    (x86(*INTEL, "avx avx2 avx512f amx_bf16 avx512_bf16", 5200.0, 8, 4), 8, (4, 2.6, 64, 1024, INTEL[0])),
    (x86(*INTEL, "avx avx2", 4400.0, 2, 1), 2, (1, 2.2, 32, None, INTEL[0])),
    (x86("AMD Ryzen 9 7950X", AMD, 25, "avx2 avx512f avx512_bf16", 9000, 32, 16), 32, (16, 4.5, 32, 64, "AMD Ryzen 9 7950X")),
    (x86("AMD Ryzen 9 7950X", AMD, 25, "avx2 avx512f avx512_bf16", 9000, 32, 16), 1, (1, 4.5, 32, 64, "AMD Ryzen 9 7950X")),
])  # fmt: skip
def test_cores_clock_and_vector_width_are_read(packaged_evidence, told, text, cpus, expected):
    told(text, cpus)
    found = this_machine.processor(packaged_evidence.processors)
    assert found.name == f"{this_machine.brand()} {cpus} cores"
    assert figures(found) == pytest.approx(expected)


def test_an_arm_processor_without_a_clock_is_not_guessed(packaged_evidence, told, tmp_path):
    told("processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd sve bf16\n")
    assert this_machine.processor(packaged_evidence.processors) is None
    assert this_machine.with_this_machine(packaged_evidence) is packaged_evidence
    (tmp_path / "khz").write_text("2600000\n")
    assert figures(this_machine.processor(packaged_evidence.processors))[:4] == (4, 2.6, 32, 64)


def test_an_apple_laptops_processor_is_not_taken_for_its_graphics_processor(packaged_evidence, told):
    told("model name: Apple M1 Max\n")
    assert this_machine.processor(packaged_evidence.processors) is None


def test_this_machine_follows_the_law_of_all_and_what_was_measured_of_its_kind(packaged_evidence, told):
    told(EPYC, 2)
    known = this_machine.with_this_machine(packaged_evidence)
    assert known.version != packaged_evidence.version
    model = known.find_model("resnet18")
    low, middle, high = known.processors.images_per_second(Cluster(this_machine.name(), 1), model, 224, "fp32")
    twin = packaged_evidence.processors.images_per_second(Cluster("EPYC Zen 5", 1), model, 224, "fp32")
    assert middle == pytest.approx(twin.middle)
    assert high / middle == pytest.approx(middle / low) == pytest.approx(exp(LN_WIDTH_80))


def test_a_network_of_unknown_arithmetic_is_not_predicted(packaged_evidence):
    model = packaged_evidence.models["amoebanet_d"]
    assert packaged_evidence.processors.images_per_second(Cluster("EPYC 9R14", 0, 1, 8), model, 224, "fp32") is None
