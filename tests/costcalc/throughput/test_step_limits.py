"""What fits into memory and how short a step can be, worked by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.speeds import PARTS, RESNET, SMALL, rate

from costcalc.throughput.step_limits import densest, most_images, shortest_step

GIB_OF_RESNET = 25.6e6 * 16 / 2**30  # weights, gradients and two moments
MEMORY = np.array([80.0])


def images(gib, *asked):
    return most_images(np.array([gib]), *asked).item()


def test_the_reference_takes_80_mb_an_image():
    assert images(80.0, RESNET, 224, "amp") == pytest.approx((80 * 0.95 - GIB_OF_RESNET) / 0.08)
    assert images(80.0, None, 224, "amp") == images(80.0, RESNET, 224, "amp")


def test_32_bits_take_twice_the_room():
    assert images(80.0, RESNET, 224, "fp32") == pytest.approx(images(80.0, RESNET, 224, "fp16") / 2)
    assert images(80.0, RESNET, 224, None) == images(80.0, RESNET, 224, "fp32")


def test_images_take_room_by_their_area():
    assert images(80.0, RESNET, 448, "amp") == pytest.approx(images(80.0, RESNET, 224, "amp") / 4)


def test_a_smaller_network_takes_less_room_but_not_in_proportion():
    room = (80 * 0.95 - 5.12e6 * 16 / 2**30) / 0.08
    assert images(80.0, SMALL, 224, "amp") == pytest.approx(room * 10**0.75)


def test_multiply_adds_are_those_at_the_networks_own_size():
    assert images(80.0, replace(RESNET, image_size=448), 448, "amp") == images(80.0, RESNET, 224, "amp")


def test_unknown_memory_holds_everything_and_a_tiny_one_nothing():
    assert images(math.inf, RESNET, 224, "amp") == math.inf
    assert images(0.3, RESNET, 224, "amp") < 0


def test_what_was_seen_in_memory_fits():
    seen = 50.0  # images at 224 px in a GiB
    assert images(80.0, RESNET, 224, "amp", seen) == pytest.approx((80 * 0.95 - GIB_OF_RESNET) * seen)
    assert images(80.0, RESNET, 448, "amp", seen) == pytest.approx((80 * 0.95 - GIB_OF_RESNET) * seen / 4)
    assert images(80.0, RESNET, 224, "amp", 1.0) == images(80.0, RESNET, 224, "amp")


@given(st.floats(1, 200), st.floats(1, 200))
def test_more_memory_never_holds_less(first, second):
    small, large = sorted((first, second))
    assert images(small, RESNET, 224, "amp") <= images(large, RESNET, 224, "amp")


def test_the_densest_row_counts():
    room = 80 * 0.95 - GIB_OF_RESNET
    rows = [rate(1, global_batch_size=8 * 400), rate(1, global_batch_size=8 * 100, image_size=448), rate(1)]
    assert densest(rows[:1], RESNET, PARTS) == pytest.approx(400 / room)
    assert densest(rows[1:], RESNET, PARTS) == pytest.approx(400 / room)
    assert densest(rows, RESNET, PARTS) == pytest.approx(400 / room)
    assert densest([], RESNET, PARTS) == 0


@pytest.mark.parametrize(
    "silent",
    [
        rate(1),
        rate(1, global_batch_size=800, accelerators=0),
        rate(1, "silent", global_batch_size=800),
        rate(1, "Xeon", global_batch_size=800),
    ],
)
def test_rows_that_say_nothing_of_memory(silent):
    assert densest([silent], RESNET, PARTS) == 0


def test_a_chip_that_computes_out_of_its_own_memory_says_nothing_of_others():
    pod = replace(PARTS["new"], device_memory=False)
    assert densest([rate(1, global_batch_size=800)], RESNET, {"new": pod}) == 0


def test_a_memory_too_small_for_the_network_says_nothing():
    tiny = replace(PARTS["new"], memory_gib=0.1)
    assert densest([rate(1, global_batch_size=800)], RESNET, {"new": tiny}) == 0


def test_machines_wait_for_each_other_and_for_the_gradients():
    assert shortest_step(RESNET) == pytest.approx(0.003 + 2 * 25.6e6 * 2 / 50e9)
    assert shortest_step(None) == shortest_step(RESNET)
    assert shortest_step(SMALL) == pytest.approx(0.003 + 2 * 5.12e6 * 2 / 50e9)
