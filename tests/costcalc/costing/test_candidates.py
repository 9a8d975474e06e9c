"""Limits, frontier and order of candidates, against the plainest way to work them out."""

from decimal import Decimal

import numpy as np
from fakes.offers import offer
from fakes.rentals import rented
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from costcalc.catalogue.catalogue import Catalogue
from costcalc.costing.candidates import Candidates, Listing, Order, frontier, with_frontier, within_limits
from costcalc.duration import overheads
from costcalc.picks import CONFIRMED, RUNS
from costcalc.query import EstimateQuery

QUERY = EstimateQuery("resnet50", 0.75, overheads="none")

points = st.lists(st.tuples(st.integers(0, 6).map(float), st.integers(0, 6).map(float)), max_size=25)


def pair(listed):
    return tuple(np.array([point[axis] for point in listed], float) for axis in (0, 1))


def order(listed):
    """That of these points, none of which has another name than its place."""
    place = np.arange(len(listed))
    return Order(*pair(listed), np.zeros(len(listed), np.int8), place, place)


def beats(one, other):
    return one[0] <= other[0] and one[1] <= other[1] and one != other


@given(points.filter(bool), st.integers(1, 30))
def test_the_first_are_those_of_a_full_sort(listed, count):
    in_order = sorted(range(len(listed)), key=lambda position: (*listed[position], position))
    assert order(listed).first(np.arange(len(listed)), count).tolist() == in_order[:count]


@given(points.filter(bool), st.data())
def test_the_list_begins_with_the_picks_then_what_else_they_may_come_from(listed, data):
    pickable = np.array(data.draw(st.lists(st.booleans(), min_size=len(listed), max_size=len(listed))), bool)
    several = st.lists(st.sampled_from(pickable.nonzero()[0].tolist()), max_size=4) if pickable.any() else st.just([])
    picks, offset, limit = data.draw(several), data.draw(st.integers(0, 30)), data.draw(st.integers(0, 30))
    plain = sorted(range(len(listed)), key=lambda at: (not pickable[at], *listed[at], at))
    plain = [*dict.fromkeys(picks), *(at for at in plain if at not in picks)]
    listing = Listing.of(order(listed), picks, pickable, int(pickable.sum()))
    assert listing.page(offset, limit) == plain[offset : offset + limit]
    assert (listing.all().tolist(), listing.all(pickable=True).tolist()) == (plain, plain[: pickable.sum()])
    assert [listing.rank(at) for at in plain] == list(range(1, len(plain) + 1))


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
    ordered = [listed[position] for position in order(listed).sorted(np.arange(len(listed)))]
    assert ordered == [shuffled[position] for position in order(shuffled).sorted(np.arange(len(listed)))]


def limited(query, rentals, cost):
    """The rentals within the limits of a query as candidates, those that stand beside them, and what was left out."""
    *kept, rejections = within_limits(query, rentals, cost)
    none = np.zeros(len(cost), np.int8)
    return *(Candidates.of(rentals, cost, none, none, none, some) for some in kept), rejections


def flagged(kept):
    """Which of these candidates are on the frontier, all of them being pickable."""
    return with_frontier(kept, needed=0).on_frontier.tolist()


class TestLimits:
    def test_each_is_counted_by_the_first_limit_it_breaks(self):
        hours = rented([overheads.ENDLESS_HOURS, 1, 9, 9, 2, 2, 1])
        cost = np.array([np.nan, np.nan, 99, 1, 99, 5, 5])
        query = replace(QUERY, max_hours=2, max_cost=Decimal(5))
        kept, _, rejections = limited(query, hours, cost)
        assert rejections == {
            "interrupted_too_often": 1, "no_exchange_rate": 1, "over_max_hours": 2, "over_max_cost": 1,
        }  # fmt: skip
        assert (kept.calendar_hours.tolist(), kept.cost.tolist()) == ([2, 1], [5, 5])
        assert flagged(kept) == [False, True]

    def test_without_limits_all_that_end_stay(self):
        kept, _, rejections = limited(QUERY, rented([1, 1_000]), np.array([1e9, 1]))
        assert len(kept.row) == 2
        assert not any(rejections.values())
        assert flagged(kept) == [True, True]

    def test_the_frontier_is_drawn_among_the_pickable(self):
        kept, *_ = limited(QUERY, rented([1, 2, 3]), np.array([5.0, 6, 4]))
        some = with_frontier(kept._replace(marks=np.array([CONFIRMED, RUNS | CONFIRMED, RUNS], np.int8)), needed=RUNS)
        assert (some.pickable.tolist(), some.on_frontier.tolist()) == ([False, True, True], [False, True, True])

    def test_nothing_is_on_no_frontier(self):
        kept, *_ = limited(QUERY, rented([]), np.zeros(0))
        assert flagged(kept) == []

    def test_of_one_training_time_the_cheapest_offers_are_on_the_frontier(self):
        shared = rented([1, 1, 1], row=[0, 1, 2])._replace(time=np.array([0, 0, 0]))
        kept, *_ = limited(QUERY, shared, np.array([2.0, 1, 1]))
        assert flagged(kept) == [False, True, True]

    def test_hours_of_the_calendar_count(self):
        waiting = rented([1, 2, 3], calendar=[1, 9, 3])
        kept, _, rejections = limited(replace(QUERY, max_hours=3), waiting, np.ones(3))
        assert kept.calendar_hours.tolist() == [1, 3]
        assert rejections["over_max_hours"] == 1

    def test_who_waits_longer_in_the_same_training_time_is_beaten(self):
        waiting = rented([2, 2, 2], calendar=[2, 9, 5])._replace(time=np.array([0, 0, 0]))
        kept, *_ = limited(QUERY, waiting, np.array([1.0, 0, 1]))
        assert flagged(kept) == [True, True, False]

    def test_free_tiers_that_stand_beside_obey_limits_uncounted_and_beat_nobody(self):
        mixed = rented([1, 2, 3, 4], row=[0, 1, 2, 3], calendar=[1, 2, 30, 4], beside=[False, True, True, False])
        kept, free, rejections = limited(replace(QUERY, max_hours=20), mixed, np.array([5.0, 0, 0, 4]))
        assert (kept.row.tolist(), flagged(kept)) == ([0, 3], [True, True])
        assert (free.row.tolist(), free.on_frontier.tolist()) == ([1], [False])
        assert not any(rejections.values())


class TestPage:
    def positions(self, hours, cost, row, flags=(), **asked):
        whole = rented(hours, row)
        all_flags = [np.ones(len(row), bool)] * 4
        candidates = Candidates(whole.row, whole.time, whole.hours, np.array(cost, float), *all_flags)
        query = replace(QUERY, **asked)
        said = flags or [()] * (max(row) + 1)
        prices = Catalogue.from_offers([offer(region=str(at), flags=each) for at, each in enumerate(said)], "made up")
        listing = Listing.of(candidates.order(query.sort, prices), (), candidates.pickable, len(row))
        return listing.page(query.offset, query.limit)

    def test_ties_go_by_the_other_figure_then_by_name(self):
        hours, cost, row = [2, 1, 1, 1], [1, 1, 1, 2], [0, 1, 0, 0]
        assert self.positions(hours, cost, row) == [2, 1, 0, 3]
        assert self.positions(hours, cost, row, sort="time") == [2, 1, 3, 0]

    def test_of_equal_ones_those_that_are_free_come_first_and_those_of_which_none_is_last(self):
        flags = [("no_capacity",), (), ("available",), ("no_capacity",)]
        assert self.positions([1] * 4, [2, 2, 2, 1], [0, 1, 2, 3], flags=flags) == [3, 2, 1, 0]

    def test_pages_begin_after_the_offset(self):
        hours, row = [1, 2, 3, 4], [0] * 4
        assert self.positions(hours, hours, row, limit=2, offset=1) == [1, 2]
        assert self.positions(hours, hours, row, limit=2, offset=3) == [3]
        assert self.positions(hours, hours, row, limit=2, offset=9) == []
