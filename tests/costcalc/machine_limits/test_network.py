"""What several machines wait for one another, worked out by hand and on real machines."""

from math import exp, hypot, log

import numpy as np
import pytest
from fakes.recipes import recipe
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from costcalc.hardware import Machine
from costcalc.machine_limits.limits import PARTS, LimitedSpeeds, RentedMachines
from costcalc.machine_limits.network import Gradients, SystemNetwork, exchanges, own_share, times_sent, waiting
from costcalc.throughput.fitted_parameters import Overlap
from costcalc.training import IMAGES_PER_EPOCH, Model, Phase, System

HALF = Overlap(hidden=0.5, reached=0.5)
MODELS = {"resnet50": Model("resnet50", (), "resnet", 25.0, 4.1, 224, "paper")}
GRADIENTS = Gradients(MODELS, (SystemNetwork("org", "V100", 10.0, "paper"),))
SECONDS = st.floats(1e-3, 1e3)


def test_a_ring_sends_every_gradient_twice_but_for_its_own_share():
    assert times_sent(np.array([1, 2, 4, 1000])).tolist() == [0, 1, 1.5, 1.998]


@pytest.mark.parametrize(("precision", "gigabits"), [("amp", 0.4), ("fp32", 0.8), ("tf32", 0.8), (None, 0.8)])
def test_gradients_have_the_bytes_of_the_precision(precision, gigabits):
    assert GRADIENTS.gigabits(recipe(precision=precision)) == pytest.approx(gigabits)


def test_a_step_waits_for_what_does_not_hide():
    compute, exchange = np.array([9.0, 9.0, 9.0, 9.0]), np.array([0.0, 1.0, 3.0, 30.0])
    assert HALF.step(compute, exchange).tolist() == [9, 9 + 2 - 1, 9 + 6 - 3, 9 + 60 - 3]
    assert HALF._replace(hidden=1.0).step(compute, exchange).tolist() == [
        9,
        9,
        9,
        3 + 60,
    ]  # forward pass, then all-reduce
    assert HALF._replace(hidden=0.0).step(compute, exchange).tolist() == [9, 11, 15, 69]


@given(SECONDS, SECONDS, st.floats(0, 1), st.floats(0.1, 1))
def test_what_a_step_computes_is_found_from_its_length(compute, exchange, hidden, reached):
    law = Overlap(hidden, reached)
    step = law.step(np.array(compute), np.array(exchange))
    assert step >= compute
    assert law.compute(step, np.array(exchange)) == pytest.approx(compute, rel=1e-6, abs=1e-9 * exchange / reached)


@given(SECONDS, SECONDS, SECONDS, st.floats(0, 1), st.floats(0.1, 1))
def test_a_faster_network_is_never_slower(compute, exchange, other, hidden, reached):
    law = Overlap(hidden, reached)
    less, more = sorted([exchange, other])
    assert law.step(np.array(compute), np.array(less)) <= law.step(np.array(compute), np.array(more)) * (1 + 1e-9)


def test_all_reduces_of_an_epoch():
    kinds = [("acme", "slow", Machine("V100", 8, network_gbits_per_second=10.0)), ("acme", "?", Machine("V100", 8))]
    machines = RentedMachines(tuple(kinds), np.array([0, 0, 1]), np.array([1, 4, 4]))
    found = exchanges([recipe(precision="amp", global_batch_size=1000)], machines, GRADIENTS)
    assert found[0].tolist() == [0, pytest.approx(IMAGES_PER_EPOCH / 1000 * 0.4 * 1.5 / 10), 0]


def test_a_rate_logged_on_a_slow_network_holds_its_waiting():
    def share(**changes):
        usual = {"system": System("V100", 32, 4), "precision": "amp", "global_batch_size": 1000, "organisation": "org"}
        phases = (Phase(224, 0, 10, 2000.0),)  # half a second a step, of which all-reduces take 0.06 s at the full rate
        return own_share(recipe(**{**usual, "phases": phases, **changes}), GRADIENTS, HALF)

    assert share() == pytest.approx((0.5 - 0.06) / 0.5)
    assert share(global_batch_size=100) == pytest.approx(
        1 / 3
    )  # a twentieth of a second is shorter than its all-reduce
    assert share(system=System("V100", 8, 1)) == 1
    assert share(organisation="another") == 1
    assert share(phases=(Phase(224, 0, 10),), images_per_second=None) == 1


def limited(seconds):
    seconds = np.array([seconds], float)
    shape = seconds.shape
    return LimitedSpeeds((seconds,), np.zeros(shape, np.int8), np.full(shape, 0.3), np.full(shape, 0.3))


def test_the_range_reaches_from_all_hidden_to_nothing_hidden():
    own = (np.array([[9.0, 9.0, 9.0, np.inf]]),)
    found = waiting(limited([9.0, 9.0, 100.0, np.inf]), own, np.array([[0.0, 30.0, 30.0, 1.0]]), HALF)
    assert found.seconds_per_epoch[0].tolist() == [[9, 66, 100, np.inf]]
    assert [PARTS[code] for code in found.limited_by[0]] == ["accelerator", "network", "accelerator", "accelerator"]
    assert found.width_above[0] == pytest.approx([0.3, hypot(0.3, log(69 / 66)), 0.3, 0.3])
    assert found.width_below[0] == pytest.approx([0.3, hypot(0.3, log(66 / 63)), 0.3, 0.3])


def test_machines_that_wait_for_nothing_are_as_they_were():
    before = limited([9.0])
    assert waiting(before, (np.array([[9.0]]),), np.array([[0.0]]), HALF) is before


def test_a_phase_that_a_recipe_lacks_stays_empty():
    none = np.zeros((1, 1))
    before = limited([9.0])
    both = replace(before, seconds_per_epoch=(*before.seconds_per_epoch, none))
    found = waiting(both, (np.array([[9.0]]), none), np.array([[3.0]]), HALF)
    assert [phase.tolist() for phase in found.seconds_per_epoch] == [[[12]], [[0]]]
    assert exp(found.width_above[0, 0]) > exp(0.3)
