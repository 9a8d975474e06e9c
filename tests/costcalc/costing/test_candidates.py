"""Order and frontier, against the plainest way to work them out."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from costcalc.costing.candidates import first, frontier

points = st.lists(st.tuples(st.integers(0, 6).map(float), st.integers(0, 6).map(float)), max_size=25)


def pair(listed):
    return tuple(np.array([point[axis] for point in listed], float) for axis in (0, 1))


def beats(one, other):
    return one[0] <= other[0] and one[1] <= other[1] and one != other


@given(points.filter(bool), st.integers(1, 30))
def test_the_first_are_those_of_a_full_sort(listed, count):
    in_order = sorted(range(len(listed)), key=lambda position: (*listed[position], position))
    assert first(pair(listed), count).tolist() == in_order[:count]


@given(points)
def test_the_frontier_is_what_nothing_beats(listed):
    flags = frontier(*pair(listed))
    for point, kept in zip(listed, flags, strict=True):
        assert kept == (not any(beats(other, point) for other in listed))


@given(points.filter(bool))
def test_whoever_is_left_out_is_beaten_by_a_member(listed):
    flags = frontier(*pair(listed))
    members = [point for point, kept in zip(listed, flags, strict=True) if kept]
    left_out = [point for point, kept in zip(listed, flags, strict=True) if not kept]
    assert members
    assert all(any(beats(member, point) for member in members) for point in left_out)


@given(points.filter(bool), st.randoms(use_true_random=False))
def test_the_order_of_points_does_not_matter(listed, random):
    shuffled = random.sample(listed, len(listed))
    chosen = {point for point, kept in zip(listed, frontier(*pair(listed)), strict=True) if kept}
    assert chosen == {point for point, kept in zip(shuffled, frontier(*pair(shuffled)), strict=True) if kept}
    ordered = [listed[position] for position in first(pair(listed), len(listed))]
    assert ordered == [shuffled[position] for position in first(pair(shuffled), len(listed))]
