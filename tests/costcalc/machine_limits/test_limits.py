"""The slowest part decides, and how far its time is known."""

import math

import numpy as np
import pytest

from costcalc.machine_limits.limits import HIGH, LOW, PARTS, Limit, longest_of, matters, slowest

WIDTH = 0.1


def limit(seconds, width=0.3, part="host"):
    return Limit(part, np.array(seconds, float), np.array(width))


def one(accelerator, *limits, width=WIDTH):
    found = slowest([np.array([[accelerator]], float)], np.array([[width]]), limits)
    ends = (float(found.width_below[0, 0]), float(found.width_above[0, 0]))
    return float(found.seconds_per_epoch[0][0, 0]), PARTS[found.limited_by[0, 0]], ends


def test_without_limits_the_accelerators_decide():
    assert one(100) == (100, "accelerator", (WIDTH, WIDTH))


def test_far_apart_the_slowest_part_decides_with_its_own_interval():
    assert one(100, limit([[1]])) == (100, "accelerator", (WIDTH, WIDTH))
    seconds, part, ends = one(100, limit([[1000]]), limit([[1]], part="network"))
    assert (seconds, part) == (1000, "host")
    assert ends == pytest.approx((0.3, 0.3), abs=0.01)


def test_a_part_of_which_nothing_is_known_limits_nothing():
    assert one(100, limit([[0]])) == (100, "accelerator", (WIDTH, WIDTH))


def test_of_equal_times_one_is_probably_longer():
    seconds, part, (below, above) = one(100, limit([[100]], WIDTH))
    assert (seconds, part) == (100, "accelerator")
    drawn = np.random.default_rng(1).normal(0, WIDTH / 1.2816, (2, 200_000)).max(axis=0)
    assert (-below, above) == pytest.approx(np.quantile(drawn, [LOW, HIGH]), abs=0.002)


def test_the_longest_of_three_unequal_numbers():
    means, deviations = np.array([[0.0], [-0.1], [-np.inf]]), np.array([[0.1], [0.3], [1.0]])
    drawn = np.random.default_rng(2).normal(means[:2], deviations[:2], (2, 400_000)).max(axis=0)
    for share in (LOW, HIGH):
        assert longest_of(means, deviations, share)[0] == pytest.approx(np.quantile(drawn, share), abs=0.003)


def test_small_images_are_decoded_no_faster():
    """The host limits the phase of small images, and the whole run if it takes longer than the accelerators in all phases."""
    small, large = np.array([[50.0]]), np.array([[100.0]])
    found = slowest([small, large], np.array([[WIDTH]]), [limit([[70]])])
    assert [float(phase[0, 0]) for phase in found.seconds_per_epoch] == [70, 100]
    assert PARTS[found.limited_by[0, 0]] == "accelerator"
    found = slowest([small, large], np.array([[WIDTH]]), [limit([[90]])])
    assert PARTS[found.limited_by[0, 0]] == "host"


def test_refused_stays_refused_and_no_phase_is_added():
    seconds = [np.array([[np.inf, 10.0]]), np.array([[np.inf, 0.0]])]
    found = slowest(seconds, np.array([[np.nan, WIDTH]]), [limit([[20, 20]])])
    assert [phase.tolist() for phase in found.seconds_per_epoch] == [[[math.inf, 20]], [[math.inf, 0]]]
    assert PARTS[found.limited_by[0, 0]] == "accelerator"
    assert np.isfinite(found.width_above).all()


def test_a_limit_matters_where_its_interval_reaches_beyond_the_accelerators():
    fastest = np.array([[100.0, 100, 100], [np.inf, np.inf, np.inf]])
    near = 100 * math.exp(-0.29)
    asked = [limit([[near, near * 0.98, 0]] * 2)]
    assert matters(fastest, asked).tolist() == [True, False, False]
    assert matters(fastest, []).tolist() == [False] * 3


def test_the_limits_of_some_clusters():
    some = limit([[1, 2, 3]], 0.2).of(np.array([2, 0]))
    assert (some.seconds_per_epoch.tolist(), some.width_80.tolist()) == ([[3, 1]], [[0.2, 0.2]])
