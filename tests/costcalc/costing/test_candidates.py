"""Which offers train how long at what cost, by hand; order and frontier, against the plainest way to work them out."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import numpy as np
import pytest
from fakes.matrices import matrix
from fakes.offers import DAY, offer
from fakes.recipes import recipe
from hypothesis import given
from hypothesis import strategies as st

from costcalc.catalogue.catalogue import Catalogue, OfferFilter
from costcalc.convergence.curves import EpochsToTarget
from costcalc.convergence.eligibility import EligibleRecipes
from costcalc.costing.candidates import (
    Candidates,
    Rentals,
    allowed_offers,
    costs,
    discount_fraction,
    first,
    frontier,
    page,
    rentals,
    within_limits,
    without_training_time,
)
from costcalc.costing.storage_and_egress import Market
from costcalc.duration import overheads
from costcalc.duration.training_times import interrupted, training_times
from costcalc.estimate import US_DOLLAR
from costcalc.hardware import Machine
from costcalc.money import ExchangeRate
from costcalc.offers import PurchaseOption
from costcalc.query import Discount, EstimateQuery

HOUR = 3600.0
FOUR = Machine("V100", 4, 16.0)
SPOT, FREE = PurchaseOption.SPOT, PurchaseOption.FREE
QUERY = EstimateQuery("resnet50", 0.75, overheads="none")
ANY = OfferFilter(regions="all")
MARKET = Market({"USD": US_DOLLAR})

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


def catalogue(*offers):
    return Catalogue.from_offers(offers, "made up")


def four(**changes):
    """Machines of four V100 by the hour; one offer for each name."""
    return offer(**{"instance_type": "four", "machine": FOUR, "minimum_seconds": 0, **changes})


def one_recipe(nodes=(1, 2), seconds=None, **facts):
    return matrix([recipe(**facts)], [[seconds or [HOUR / count for count in nodes]]], nodes=nodes)


def eligible(*flags):
    ones = np.ones(len(flags))
    reach = EpochsToTarget(ones, ones * np.nan, ones, ones, ones)
    return EligibleRecipes(reach, ones, np.array(flags), 0 * ones, 0 * ones, {})


def allowed(prices, made_up, wanted=ANY, as_of=DAY):
    return allowed_offers(prices, made_up, prices.current_offers(as_of), wanted)


class TestAllowedOffers:
    def test_each_can_be_rented_for_every_number_of_machines(self):
        found = allowed(catalogue(four()), one_recipe((1, 2)))
        assert (found.row.tolist(), found.cluster.tolist()) == ([0, 0], [0, 1])
        assert found.clusters.tolist() == [True, True]
        assert not any(found.rejections.values())

    def test_a_free_tier_is_one_machine(self):
        prices = catalogue(four(purchase_option=FREE, hourly_rate=Decimal(0)))
        assert allowed(prices, one_recipe((1, 2))).cluster.tolist() == [0]

    def test_a_tower_is_one_machine(self):
        prices = catalogue(four(flags=("stands_alone",)))
        assert allowed(prices, one_recipe((1, 2))).cluster.tolist() == [0]

    def test_why_others_are_left_out(self):
        old = four(region="old", observed_at=DAY - timedelta(days=600))
        heard = four(region="heard", flags=("second_hand",), hourly_rate=Decimal(1))
        prices = catalogue(
            *(four(), old, heard),
            offer(instance_type="one"),
            offer(instance_type="processor", machine=Machine("Xeon", 0)),
        )
        shape = prices.shapes.index(("V100", 4))
        made_up = one_recipe((1,))
        made_up = replace(
            made_up,
            clusters=tuple(replace(cluster, shape=shape) for cluster in made_up.clusters),
            refusals={("V100", 1): "does_not_fit_memory"},
        )
        found = allowed(prices, made_up)
        assert len(found.row) == 1
        counted = {reason: number for reason, number in found.rejections.items() if number}
        assert counted == {"stale_price": 1, "second_hand_price": 1, "does_not_fit_memory": 1, "no_matching_cluster": 1}

    def test_filters_that_leave_nothing_say_so(self):
        nobody = OfferFilter(provider=("nobody",))
        assert allowed(catalogue(four()), one_recipe(), nobody).rejections["no_matching_offer"] == 1
        later = allowed(catalogue(four()), one_recipe(), as_of=DAY + timedelta(days=600))
        assert (later.rejections["no_matching_offer"], later.rejections["stale_price"]) == (0, 1)

    def test_without_recipes_no_offer_is_to_blame(self):
        found = allowed(catalogue(four()), matrix([], [np.zeros((0, 0))], nodes=()))
        assert not any(found.rejections.values())


class TestRentals:
    def rented(self, prices, made_up, query=QUERY):
        offers = allowed(prices, made_up)
        times = training_times(made_up, query, eligible(*[True] * len(made_up.speed_row)), offers.clusters)
        return offers, times, *rentals(prices, made_up, offers, times, query)

    def test_every_offer_has_every_time_on_its_cluster(self):
        prices = catalogue(four(instance_type="a"), four(instance_type="b"))
        pair = matrix([recipe(), recipe()], [[[HOUR, HOUR / 2]] * 2], nodes=(1, 2))
        _, _, times, rented = self.rented(prices, pair, replace(QUERY, recipes="all", nodes=2))
        assert len(rented.row) == 2 * 2 * 2
        assert sorted(zip(rented.row.tolist(), rented.time.tolist(), strict=True)) == [
            (row, time) for row in (0, 1) for time in range(4)
        ]
        assert rented.hours.tolist() == times.hours[rented.time].tolist()
        assert rented.nodes.tolist() == (times.cluster[rented.time] + 1).tolist()

    def test_spot_machines_are_interrupted(self):
        prices = catalogue(four(), four(purchase_option=SPOT))
        query = replace(QUERY, overheads="typical")
        _, steady, times, rented = self.rented(prices, one_recipe((2,)), query)
        assert len(times.hours) == 2
        broken = interrupted(steady, np.array([2]))
        assert rented.hours.tolist() == [steady.hours[0], broken.hours[0]]
        assert rented.time.tolist() == [0, 1]
        assert self.rented(prices, one_recipe((2,)))[3].time.tolist() == [0, 0]

    def test_repetitions_count(self):
        prices = catalogue(four())
        assert self.rented(prices, one_recipe((1,)), replace(QUERY, runs=3))[3].hours.tolist() == [3]

    @pytest.mark.parametrize(
        ("made_up", "changes", "reason"),
        [
            (one_recipe((1, 2), [np.inf, np.inf]), {}, "no_throughput"),
            (one_recipe((1, 2)), {"evidence": "measured"}, "not_measured"),
            (one_recipe((1, 2), division="open"), {}, "own_system_only"),
        ],
    )
    def test_offers_without_a_time_are_counted_with_the_reason(self, made_up, changes, reason):
        prices, query = catalogue(four()), replace(QUERY, **changes)
        offers, times, *_ = self.rented(prices, made_up, query)
        assert without_training_time(made_up, query, offers, eligible(True), times) == {reason: 1}
        assert without_training_time(made_up, query, offers, eligible(False), times) == {}

    def test_the_reason_is_that_of_the_fewest_machines(self):
        made_up = matrix([recipe()], [[[np.inf, np.inf]]], nodes=(1, 2), refusals=[[2, 3]])
        offers, times, *_ = self.rented(catalogue(four()), made_up)
        assert without_training_time(made_up, QUERY, offers, eligible(True), times) == {"does_not_fit_memory": 1}

    def test_one_cluster_with_a_time_is_enough(self):
        made_up = one_recipe((1, 2), [np.inf, HOUR])
        offers, times, *_ = self.rented(catalogue(four()), made_up)
        assert without_training_time(made_up, QUERY, offers, eligible(True), times) == {}


def rented(hours, row=None, nodes=None, calendar=None, beside=None):
    hours = np.array(hours, float)
    waited = hours if calendar is None else np.array(calendar, float)
    apart = np.zeros(len(hours), bool) if beside is None else np.array(beside)
    rows = np.zeros(len(hours), np.int64) if row is None else np.array(row)
    machines = np.ones(len(hours), np.int64) if nodes is None else np.array(nodes)
    return Rentals(rows, np.arange(len(hours)), machines, hours, waited, apart)


class TestCosts:
    def test_machines_discount_and_exchange_multiply(self):
        prices = catalogue(four(currency="EUR"))
        market = Market({"USD": US_DOLLAR, "EUR": ExchangeRate("EUR", Decimal("0.5"), None, "made up")})
        query = replace(QUERY, discount=(Discount(Decimal("0.25")),))
        assert costs(prices, query, rented([2], nodes=[4]), market).tolist() == [3 * 2 * 4 * 0.75 / 0.5]
        assert costs(prices, replace(QUERY, currency="EUR"), rented([2]), market).tolist() == [6]
        assert np.isnan(costs(prices, QUERY, rented([2]), MARKET)[0])

    def test_the_basis_is_the_one_asked_for(self):
        prices = catalogue(four(billing_increment_seconds=3600))
        assert costs(prices, QUERY, rented([0.5]), MARKET).tolist() == [3]
        assert costs(prices, replace(QUERY, basis="effective"), rented([0.5]), MARKET).tolist() == [1.5]

    def test_storage_and_egress_come_on_top(self):
        asked = {
            "storage_gb": Decimal(730),
            "storage_rate": Decimal(2),
            "egress_gb": Decimal(10),
            "egress_rate": Decimal(5),
        }
        assert costs(catalogue(four()), replace(QUERY, **asked), rented([3]), MARKET).tolist() == [9 + 3 * 2 + 50]

    def test_a_providers_own_discount_wins_over_the_general(self):
        query = replace(QUERY, discount=(Discount(Decimal("0.1")), Discount(Decimal("0.3"), "aws")))
        on_demand, owned = PurchaseOption.ON_DEMAND, PurchaseOption.OWNED
        assert [discount_fraction(query, provider, on_demand) for provider in ("aws", "gcp")] == [0.3, 0.1]
        assert discount_fraction(QUERY, "aws", on_demand) == 0
        assert discount_fraction(query, "own", owned) == 0


class TestLimits:
    def test_each_is_counted_by_the_first_limit_it_breaks(self):
        hours = rented([overheads.ENDLESS_HOURS, 1, 9, 9, 2, 2, 1])
        cost = np.array([np.nan, np.nan, 99, 1, 99, 5, 5])
        query = replace(QUERY, max_hours=2, max_cost=Decimal(5))
        kept, _, rejections = within_limits(query, hours, cost)
        assert rejections == {
            "interrupted_too_often": 1, "no_exchange_rate": 1, "over_max_hours": 2, "over_max_cost": 1,
        }  # fmt: skip
        assert (kept.calendar_hours.tolist(), kept.cost.tolist()) == ([2, 1], [5, 5])
        assert kept.on_frontier.tolist() == [False, True]

    def test_without_limits_all_that_end_stay(self):
        kept, _, rejections = within_limits(QUERY, rented([1, 1_000]), np.array([1e9, 1]))
        assert len(kept.row) == 2
        assert not any(rejections.values())
        assert kept.on_frontier.tolist() == [True, True]

    def test_the_frontier_alone_where_it_is_asked_for(self):
        whole, cost = rented([1, 2, 3]), np.array([5.0, 6, 4])
        kept, _, rejections = within_limits(replace(QUERY, frontier=True), whole, cost)
        assert (kept.calendar_hours.tolist(), kept.on_frontier.tolist()) == ([1, 3], [True, True])
        assert not any(rejections.values())

    def test_nothing_is_on_no_frontier(self):
        kept, *_ = within_limits(QUERY, rented([]), np.zeros(0))
        assert kept.on_frontier.tolist() == []

    def test_of_one_training_time_the_cheapest_offers_are_on_the_frontier(self):
        shared = replace(rented([1, 1, 1], row=[0, 1, 2]), time=np.array([0, 0, 0]))
        kept, *_ = within_limits(QUERY, shared, np.array([2.0, 1, 1]))
        assert kept.on_frontier.tolist() == [False, True, True]

    def test_hours_of_the_calendar_count(self):
        waiting = rented([1, 2, 3], calendar=[1, 9, 3])
        kept, _, rejections = within_limits(replace(QUERY, max_hours=3), waiting, np.ones(3))
        assert kept.calendar_hours.tolist() == [1, 3]
        assert rejections["over_max_hours"] == 1

    def test_who_waits_longer_in_the_same_training_time_is_beaten(self):
        waiting = replace(rented([2, 2, 2], calendar=[2, 9, 5]), time=np.array([0, 0, 0]))
        kept, *_ = within_limits(QUERY, waiting, np.array([1.0, 0, 1]))
        assert kept.on_frontier.tolist() == [True, True, False]

    def test_free_tiers_that_stand_beside_obey_limits_uncounted_and_beat_nobody(self):
        mixed = rented([1, 2, 3, 4], row=[0, 1, 2, 3], calendar=[1, 2, 30, 4], beside=[False, True, True, False])
        kept, free, rejections = within_limits(replace(QUERY, max_hours=20), mixed, np.array([5.0, 0, 0, 4]))
        assert (kept.row.tolist(), kept.on_frontier.tolist()) == ([0, 3], [True, True])
        assert (free.row.tolist(), free.on_frontier.tolist()) == ([1], [False])
        assert not any(rejections.values())


class TestPage:
    prices = catalogue(four(instance_type="a"), four(instance_type="b"))

    def positions(self, hours, cost, row, **asked):
        whole = rented(hours, row)
        candidates = Candidates(whole.row, whole.time, whole.hours, np.array(cost, float), np.ones(len(row), bool))
        query = replace(QUERY, **asked)
        return page(candidates.order(query.sort), query).tolist()

    def test_ties_go_by_the_other_figure_then_by_name(self):
        hours, cost, row = [2, 1, 1, 1], [1, 1, 1, 2], [0, 1, 0, 0]
        assert self.positions(hours, cost, row) == [2, 1, 0, 3]
        assert self.positions(hours, cost, row, sort="time") == [2, 1, 3, 0]

    def test_pages_begin_after_the_offset(self):
        hours, row = [1, 2, 3, 4], [0] * 4
        assert self.positions(hours, hours, row, limit=2, offset=1) == [1, 2]
        assert self.positions(hours, hours, row, limit=2, offset=3) == [3]
        assert self.positions(hours, hours, row, limit=2, offset=9) == []
