"""Which offers a question allows, how long each trains and what that costs, by hand."""

from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import pytest
from fakes.matrices import matrix
from fakes.offers import DAY, offer
from fakes.recipes import recipe
from fakes.rentals import rented
from msgspec.structs import replace

from costcalc.catalogue.catalogue import OPTIONS, Catalogue, OfferFilter
from costcalc.convergence.curves import EpochsToTarget
from costcalc.convergence.eligibility import EligibleRecipes
from costcalc.costing.rentals import (
    Pairs,
    allowed_offers,
    costs,
    discount_fraction,
    rentals,
    spot_risks,
    without_training_time,
)
from costcalc.costing.storage_and_egress import Market
from costcalc.duration.offered_clusters import NOWHERE
from costcalc.duration.training_times import Course, interrupted, training_times
from costcalc.hardware import Machine
from costcalc.interruptions import ObservedInterruptions
from costcalc.money import ExchangeRate
from costcalc.offer import PurchaseOption
from costcalc.query import Discount, EstimateQuery

HOUR = 3600.0
FOUR = Machine("V100", 4, 16.0)
SPOT, FREE = PurchaseOption.SPOT, PurchaseOption.FREE
QUERY = EstimateQuery("resnet50", 0.75, overheads="none")
ANY = OfferFilter(regions="all")
MARKET = Market()


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
    return EligibleRecipes(reach, ones, ones > 0, ones == 0, np.array(flags), np.array(flags), 0 * ones, 0 * ones, {})


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

    def test_what_is_sold_in_capacity_blocks_alone(self):
        by_the_hour, block = four(), four(purchase_option=PurchaseOption.CAPACITY_BLOCK, term="1d")
        alone = {1: np.array([False]), 2: np.array([True])}
        found = allowed(catalogue(by_the_hour, block), replace(one_recipe((1, 2)), in_blocks_alone=alone))
        options = [OPTIONS[code] for code in catalogue(by_the_hour, block).columns.option[found.row]]
        assert sorted(zip(found.cluster.tolist(), options, strict=True)) == [
            (0, PurchaseOption.CAPACITY_BLOCK),
            (0, PurchaseOption.ON_DEMAND),
            (1, PurchaseOption.CAPACITY_BLOCK),
        ]

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
        fours = prices.shape_of_instance == prices.shapes.index(("V100", 4, 0))
        made_up = replace(
            one_recipe((1,)),
            clusters_of_instances={1: np.where(fours, 0, NOWHERE)},
            refusals={prices.instance_code["acme", "one"]: "does_not_fit_memory"},
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
    observed = (
        ObservedInterruptions("acme", "quiet", "<5%", "us-east-1 us-west-2", date(2025, 6, 28), "a list"),
        ObservedInterruptions("acme", "busy", ">20%", "us-east-1", date(2025, 6, 28), "a list"),
    )

    def rented(self, prices, made_up, query=QUERY):
        offers = allowed(prices, made_up)
        known = eligible(*[True] * len(made_up.speed_row))
        times = training_times(Course.of(made_up, query, known), offers.clusters)
        return (
            offers,
            times,
            *rentals(prices, made_up, Pairs.every(offers, times), query, spot_risks(prices, self.observed)),
        )

    def test_every_offer_has_every_time_on_its_cluster(self):
        prices = catalogue(four(instance_type="a"), four(instance_type="b"))
        pair = matrix([recipe(), recipe()], [[[HOUR, HOUR / 2]] * 2], nodes=(1, 2))
        _, _, times, rented = self.rented(prices, pair, replace(QUERY, recipes="all", nodes=2))
        assert len(rented.row) == 2 * 2 * 2
        assert sorted(zip(rented.row.tolist(), rented.time.tolist(), strict=True)) == [
            (row, time) for row in (0, 1) for time in range(4)
        ]
        assert rented.hours.tolist() == times.hours[rented.time].tolist()
        assert rented.tariffs.metered.tolist() == (3.0 * (times.cluster[rented.time] + 1)).tolist()

    def test_spot_machines_are_interrupted(self):
        prices = catalogue(four(), four(purchase_option=SPOT))
        query = replace(QUERY, overheads="typical")
        _, steady, times, rented = self.rented(prices, one_recipe((2,)), query)
        assert len(times.hours) == 2
        broken = interrupted(steady, np.array([2]), np.array([0]))
        assert rented.hours.tolist() == [steady.hours[0], broken.hours[0]]
        assert rented.time.tolist() == [0, 1]
        assert self.rented(prices, one_recipe((2,)))[3].time.tolist() == [0, 0]

    def test_a_machine_is_interrupted_as_often_as_its_cloud_says(self):
        named = ("quiet", "us-east-1"), ("quiet", "eu-west-1"), ("busy", "us-east-1")
        prices = catalogue(*(four(instance_type=name, region=region, purchase_option=SPOT) for name, region in named))
        _, steady, times, rented = self.rented(prices, one_recipe((2,)), replace(QUERY, overheads="typical"))
        usual, rare, often = (interrupted(steady, np.array([2]), np.array([risk])).hours[0] for risk in (0, 1, 5))
        hours = {
            (prices.offer(row).instance_type, prices.offer(row).region): spent
            for row, spent in zip(rented.row, rented.hours, strict=True)
        }
        assert hours == dict(zip(named, (rare, usual, often), strict=True))
        assert steady.hours[0] < rare < usual < often
        assert len(times.hours) == 4, "one for each risk there is, beside that without interruptions"

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
        assert without_training_time(Course.of(made_up, query, eligible(True)), offers, times) == {reason: 1}
        assert without_training_time(Course.of(made_up, query, eligible(False)), offers, times) == {}

    def test_the_reason_is_that_of_the_fewest_machines(self):
        made_up = matrix([recipe()], [[[np.inf, np.inf]]], nodes=(1, 2), refusals=[[2, 3]])
        offers, times, *_ = self.rented(catalogue(four()), made_up)
        assert without_training_time(Course.of(made_up, QUERY, eligible(True)), offers, times) == {
            "does_not_fit_memory": 1
        }

    def test_one_cluster_with_a_time_is_enough(self):
        made_up = one_recipe((1, 2), [np.inf, HOUR])
        offers, times, *_ = self.rented(catalogue(four()), made_up)
        assert without_training_time(Course.of(made_up, QUERY, eligible(True)), offers, times) == {}


class TestCosts:
    def test_machines_discount_and_exchange_multiply(self):
        prices = catalogue(four(currency="EUR"))
        market = Market({"EUR": ExchangeRate("EUR", Decimal("0.5"), None, "made up")})
        query = replace(QUERY, discount=(Discount(Decimal("0.25")),))
        assert costs(prices, query, rented([2], nodes=[4], prices=prices), market).tolist() == [3 * 2 * 4 * 0.75 / 0.5]
        assert costs(prices, replace(QUERY, currency="EUR"), rented([2], prices=prices), market).tolist() == [6]
        assert np.isnan(costs(prices, QUERY, rented([2], prices=prices), MARKET)[0])

    def test_the_basis_is_the_one_asked_for(self):
        prices = catalogue(four(billing_increment_seconds=3600))
        assert costs(prices, QUERY, rented([0.5], prices=prices), MARKET).tolist() == [3]
        assert costs(prices, replace(QUERY, basis="effective"), rented([0.5], prices=prices), MARKET).tolist() == [1.5]

    def test_storage_and_egress_come_on_top(self):
        asked = {
            "storage_gb": Decimal(730),
            "storage_rate": Decimal(2),
            "egress_gb": Decimal(10),
            "egress_rate": Decimal(5),
        }
        prices, query = catalogue(four()), replace(QUERY, **asked)
        assert costs(prices, query, rented([3], prices=prices), MARKET).tolist() == [9 + 3 * 2 + 50]

    def test_a_providers_own_discount_wins_over_the_general(self):
        query = replace(QUERY, discount=(Discount(Decimal("0.1")), Discount(Decimal("0.3"), "aws")))
        on_demand, owned = PurchaseOption.ON_DEMAND, PurchaseOption.OWNED
        assert [discount_fraction(query, provider, on_demand) for provider in ("aws", "gcp")] == [
            Decimal("0.3"),
            Decimal("0.1"),
        ]
        assert discount_fraction(QUERY, "aws", on_demand) == 0
        assert discount_fraction(query, "own", owned) == 0
