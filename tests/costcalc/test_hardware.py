"""What one computes on: how it is called, what decides its speed, and which part can stand for another."""

import pytest
from msgspec.structs import replace

from costcalc.hardware import Accelerator, Machine, counted

A100 = replace(Accelerator.unlisted("A100-40GB"), chip="A100", memory_gib=40.0, memory_bandwidth_gb_per_s=1555.0)


def test_accelerators_are_counted_and_a_processor_is_named():
    assert (counted(8, "V100"), counted(8, "V100", " x "), counted(0, "Xeon")) == ("8 V100", "8 x V100", "Xeon")


def test_virtual_processors_decide_only_where_there_are_no_accelerators():
    assert Machine("V100", 8, vcpus=96).shape == ("V100", 8, 0)
    assert Machine("Xeon", 0, vcpus=96).shape == ("Xeon", 0, 96)
    assert Machine("Xeon", 0).shape == ("Xeon", 0, 0)


@pytest.mark.parametrize(
    ("changes", "stands"),
    [
        ({"memory_gib": 80.0}, True),
        ({"memory_gib": 20.0}, False),
        ({"memory_bandwidth_gb_per_s": 900.0}, False),
        ({"memory_gib": 80.0, "memory_bandwidth_gb_per_s": 900.0}, False),
        ({"memory_gib": None}, True),
        ({"chip": "V100"}, False),
    ],
)
def test_a_part_stands_for_another_of_its_chip_with_no_less_and_no_slower_memory(changes, stands):
    assert replace(A100, **changes).is_no_worse_than(A100) is stands
