"""Picks: on made-up prices by hand, and on 2,000 drawn questions against the plainest way to find them in the list."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from fakes.offers import DAY, offer
from support.engine import answer

from costcalc.catalogue.catalogue import Catalogue
from costcalc.hardware import Machine
from costcalc.offers import PurchaseOption
from costcalc.query import Discount, EstimateQuery
from costcalc.training import Tier

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
NAMES = ["cheapest", "fastest", "balanced", "surest"]
FREE, ON_DEMAND, SPOT = PurchaseOption.FREE, PurchaseOption.ON_DEMAND, PurchaseOption.SPOT
MOMENTS = [None, *(datetime(year, 7, 1, tzinfo=UTC) for year in (2018, 2020, 2021, 2022, 2023, 2024, 2025))]
SIZES = [{}, {}, {"nodes": 1}, {"accelerators": 8}, {"nodes": 2}]
TARGETS = {
    "resnet50": (0.60, 0.79), "resnet18": (0.60, 0.72), "resnet152": (0.70, 0.79), "vgg16": (0.65, 0.72),
    "efficientnet_b4": (0.75, 0.83), "deit_small": (0.70, 0.80),
}  # fmt: skip
PURCHASES = [(), (), (ON_DEMAND,), (SPOT,), (ON_DEMAND, FREE), (FREE,),
             tuple(option for option in PurchaseOption if option not in (FREE, SPOT))]  # fmt: skip
BATCHES, DRAWN = 8, 250


def cost(query, one):
    return one.effective_cost if query.basis == "effective" else one.billed_cost


def draw(chance):
    """A question with some filters, limits and ways of counting."""
    model = chance.choice(list(TARGETS))
    low, high = TARGETS[model]
    some = {
        "provider": (("aws",), ("gcp",), ("azure", "lambda"), ("aws", "gcp", "kaggle")),
        "accelerator": (("V100",), ("A100-40GB", "A100-80GB"), ("H100",), ("T4", "TPU v3")),
        "max_hours": (1.0, 10.0, 100.0, 1000.0),
        "max_cost": (Decimal(5), Decimal(50), Decimal(500)),
        "basis": ("effective",), "sort": ("time",), "recipes": ("all",), "regions": ("all",), "frontier": (True,),
        "evidence": ("measured",), "overheads": ("none",), "confidence": (0.5, 0.95), "utilization": (0.5,),
        "max_price_age": (30, 200), "discount": ((Discount(Decimal("0.2"), "aws"),),), "offset": (7,),
    }  # fmt: skip
    asked = {name: chance.choice(values) for name, values in some.items() if chance.random() < 0.15}
    shared = {"as_of": chance.choice(MOMENTS), "purchase": chance.choice(PURCHASES), "limit": 40} | chance.choice(SIZES)
    return EstimateQuery(model, round(chance.uniform(low, high), 3), **shared, **asked)


def obeys(query, one):
    """Whether an estimate is within the filters and limits."""
    cent = Decimal("0.01")
    return (
        (not query.provider or one.provider in query.provider)
        and (not query.accelerator or one.accelerator in query.accelerator)
        and (one.purchase_option in query.purchase if query.purchase else True)
        and query.nodes in (None, one.nodes)
        and query.accelerators in (None, one.accelerators)
        and (query.max_hours is None or one.calendar_hours <= query.max_hours)
        and (query.max_cost is None or cost(query, one) <= query.max_cost + cent)
        and (query.recipes == "all" or one.success_probability >= query.confidence)
        and (query.evidence == "any" or one.evidence.throughput is Tier.MEASURED)
        and one.price_age_days <= query.max_price_age
    )


def surest(listed):
    """The estimates that the surest may be picked from."""
    known = [
        one
        for one in listed
        if one.evidence.convergence is Tier.MEASURED
        and one.evidence.throughput in (Tier.MEASURED, Tier.TRANSFERRED)
        and one.success_probability >= 0.95
        and one.price_first_hand
    ]
    newest = {}
    for one in known:
        newest[one.provider] = min(one.price_age_days, newest.get(one.provider, one.price_age_days))
    fresh = [one for one in known if one.price_age_days <= 30]
    return fresh or [one for one in known if one.price_age_days == newest[one.provider]]


def check_listed(query, found, listed):
    """That no estimate of a list is better than the picks; the whole list also has them."""
    picked = {pick.name: pick.estimate for pick in found.picks}
    for one in listed:
        assert cost(query, picked["cheapest"]) <= cost(query, one)
        assert picked["fastest"].calendar_hours <= one.calendar_hours
        assert (
            not one.frontier or product(query, picked["balanced"]) <= product(query, one) + 0.006 * one.calendar_hours
        )
    if len(listed) == found.count:
        assert all(one in listed for one in picked.values())
        sure = surest(listed)
        assert ("surest" in picked) == bool(sure)
        assert not sure or (
            picked["surest"] in sure and cost(query, picked["surest"]) == min(cost(query, one) for one in sure)
        )


def product(query, one):
    return float(cost(query, one)) * one.calendar_hours - 0.006 * one.calendar_hours


def check_free(query, found):
    assert not (found.free and FREE in query.purchase)
    assert len(found.free) <= 3
    hours = [one.calendar_hours for one in found.free]
    assert hours == sorted(hours)
    assert len({(one.provider, one.instance_type) for one in found.free}) == len(hours)
    for one in found.free:
        assert (one.purchase_option, one.billed_cost, one.frontier) == (FREE, 0, False)
        assert obeys(replace(query, purchase=()), one)
    beside = [*found.estimates, *(pick.estimate for pick in found.picks)]
    assert FREE in query.purchase or all(one.purchase_option is not FREE for one in beside)


@pytest.mark.parametrize("seed", range(BATCHES))
def test_picks_are_the_best_of_the_list_and_obey_the_question(packaged_evidence, packaged_prices, seed):
    chance, whole = random.Random(seed), 0
    for _ in range(DRAWN):
        query = draw(chance)
        found = answer(query, packaged_evidence, packaged_prices, NOW)
        names = [pick.name for pick in found.picks]
        assert names in ([], NAMES[:3], NAMES)
        assert bool(names) == (found.count > 0)
        for pick in found.picks:
            assert obeys(query, pick.estimate)
            assert pick.estimate.frontier or (pick.name != "balanced" and not query.frontier)
            assert pick.reason.endswith(".")
        check_listed(query, found, found.estimates)
        check_free(query, found)
        whole += 0 < len(found.estimates) == found.count
        if names:
            pick = chance.choice(found.picks).estimate
            there = replace(query, offset=pick.rank - 1, limit=1)
            assert answer(there, packaged_evidence, packaged_prices, NOW).estimates == (pick,)
    assert whole > DRAWN / 10


@pytest.fixture(scope="module")
def plain(packaged_evidence):
    """Every network with a recipe and a top-1 curve, with three targets that its recipes reach."""
    best = {
        model: max(
            (point.top1 or 0 for one in packaged_evidence.recipes_of(model) for point in one.evaluations), default=0
        )
        for model in sorted(packaged_evidence.models)
    }
    return [(model, round(top * share, 3)) for model, top in best.items() if top for share in (0.97, 0.98, 0.99)]


def test_picks_exist_whenever_estimates_do(packaged_evidence, packaged_prices, plain):
    assert len(plain) >= 40
    found = [answer(EstimateQuery(*each, limit=1), packaged_evidence, packaged_prices, NOW) for each in plain]
    assert all(bool(one.picks) == bool(one.estimates) for one in found)
    assert sum(bool(one.picks) for one in found) >= 40
    assert sum(one.picks[-1].name == "surest" for one in found if one.picks) >= 20


def machines(number, **changes):
    """An offer of eight A100 for each number of dollars per hour, under names of its own."""
    eight = Machine("A100-40GB", 8, 40.0, 96)
    return offer(instance_type=f"eight-{number}", machine=eight, hourly_rate=Decimal(number), **changes)


def ask_of(evidence, *offers, target=0.757, **asked):
    query = EstimateQuery("resnet50", target, **({"as_of": DAY, "nodes": 1} | asked))
    return answer(query, evidence, Catalogue.from_offers(offers, "made up"), NOW)


def picked(found):
    return {pick.name: pick.estimate.instance_type for pick in found.picks}


def test_the_surest_has_a_fresh_rate_of_the_providers_own(packaged_evidence):
    heard = machines(1, flags=("second_hand",))
    old = machines(2, observed_at=DAY - timedelta(days=31))
    fresh = machines(3, observed_at=DAY - timedelta(days=30))
    found = ask_of(packaged_evidence, heard, old, fresh)
    assert picked(found)["cheapest"] == "eight-1"
    assert picked(found)["surest"] == "eight-3"
    assert found.picks[-1].reason.startswith("The only estimate with a recipe that somebody ran")
    assert "30 days old" in found.picks[-1].reason


def test_where_nothing_is_fresh_the_newest_rate_of_each_provider_is(packaged_evidence):
    ages = {"aws": (50, 40), "gcp": (300, 200)}
    offers = [
        machines(number, provider=provider, observed_at=DAY - timedelta(days=age))
        for number, (provider, age) in enumerate([(name, age) for name in ages for age in ages[name]], 1)
    ]
    assert picked(ask_of(packaged_evidence, *offers))["surest"] == "eight-2"
    assert picked(ask_of(packaged_evidence, *offers[2:]))["surest"] == "eight-4"


def test_nothing_is_surest_where_all_rates_are_second_hand_or_all_speeds_modelled(packaged_evidence):
    second_hand = ask_of(packaged_evidence, machines(1, flags=("second_hand",)))
    unseen = ask_of(packaged_evidence, offer(machine=Machine("A100-40GB", 3, 40.0)))
    assert list(picked(second_hand)) == list(picked(unseen)) == NAMES[:3]
    assert second_hand.none_is_sure == (
        "No estimate with a recipe that somebody ran, a speed measured on such accelerators and a probability of 95 % or more "
        "has a rate of the provider's own."
    )
    assert unseen.none_is_sure == "No estimate has a recipe that somebody ran."


def test_nothing_is_surest_where_the_target_is_reached_in_fewer_than_95_of_100_runs(packaged_evidence):
    asked = {"recipe": ("ffcv-rn50-88ep",), "recipes": "all", "confidence": 0.9}
    sure = ask_of(packaged_evidence, machines(1), target=0.781, **asked)
    likely = ask_of(packaged_evidence, machines(1), target=0.782, **asked)
    assert (sure.estimates[0].success_probability, likely.estimates[0].success_probability) == pytest.approx(
        (0.98, 0.93), abs=0.005
    )
    assert (list(picked(sure)), list(picked(likely))) == (NAMES, NAMES[:3])
    assert likely.none_is_sure.endswith(" has a probability of 95 % or more.")


def test_nothing_is_said_of_sureness_where_there_is_a_surest_or_no_estimate(packaged_evidence):
    assert ask_of(packaged_evidence, machines(1)).none_is_sure == ""
    assert ask_of(packaged_evidence, machines(1), max_hours=1e-9).none_is_sure == ""


def test_a_reason_says_of_how_many_and_by_what(packaged_evidence):
    cheapest, fastest, balanced, _ = ask_of(packaged_evidence, machines(1), machines(2), machines(3)).picks
    assert (cheapest.reason, fastest.reason) == ("Costs least of 3 estimates.", "Ends first of 3 estimates.")
    assert balanced.reason == "The only estimate that no other beats on both cost and time."
    share = ask_of(packaged_evidence, machines(1), machines(2), basis="effective").picks[0]
    assert share.reason == "Costs least of 2 estimates, by its share of the bill."


def test_a_pick_on_the_page_is_the_same_estimate_and_elsewhere_has_its_rank(packaged_evidence, packaged_prices):
    found = answer(EstimateQuery("resnet50", 0.757, limit=5), packaged_evidence, packaged_prices, NOW)
    cheapest, fastest, *_ = (pick.estimate for pick in found.picks)
    assert cheapest is found.estimates[0]
    assert fastest.rank > 5
    by_time = answer(EstimateQuery("resnet50", 0.757, limit=5, sort="time"), packaged_evidence, packaged_prices, NOW)
    assert by_time.picks[1].estimate is by_time.estimates[0]
    assert replace(by_time.estimates[0], rank=fastest.rank) == fastest


def free_tier(name, session, week):
    return offer(
        **{"instance_type": name, "purchase_option": FREE, "hourly_rate": Decimal(0)},
        **{"session_hours": session, "hours_per_week": week, "machine": Machine("V100", 1, 16.0)},
    )


def test_free_tiers_stand_beside_the_estimates_first_to_end_first(packaged_evidence):
    tiers = [free_tier(f"free-{week}", 12.0, float(week)) for week in (2, 4, 3, 1)]
    found = ask_of(packaged_evidence, machines(1), *tiers)
    assert [one.instance_type for one in found.free] == ["free-4", "free-3", "free-2"]
    assert [one.rank for one in found.free] == [1, 2, 3]
    assert (found.count, found.estimates[0].rank, found.estimates[0].frontier) == (1, 1, True)
    days = found.free[0].calendar_hours / 24
    assert any(f"take {days:.1f} days at 4 h a week" in said for said in found.free[0].assumptions)
    (asked,) = ask_of(packaged_evidence, machines(1), tiers[0], purchase=(FREE,)).estimates
    assert replace(asked, frontier=False) == replace(found.free[2], rank=1)


def test_the_calendar_decides_limits_order_and_frontier(packaged_evidence):
    slow, quick = free_tier("free-2", 12.0, 2.0), machines(1)
    both = ask_of(packaged_evidence, slow, quick, purchase=(FREE, ON_DEMAND), sort="time")
    assert [one.instance_type for one in both.estimates] == ["eight-1", "free-2"]
    hours = both.estimates[1].hours
    limited = ask_of(packaged_evidence, slow, quick, purchase=(FREE, ON_DEMAND), max_hours=hours)
    assert [one.instance_type for one in limited.estimates] == ["eight-1"]
    assert (limited.rejections["over_max_hours"], limited.rejection_units["over_max_hours"]) == (1, "runs")
    dear = replace(slow, purchase_option=ON_DEMAND, instance_type="dear", hourly_rate=Decimal(1))
    front = ask_of(packaged_evidence, slow, dear, purchase=(FREE, ON_DEMAND), frontier=True)
    assert [one.instance_type for one in front.estimates] == ["free-2", "dear"], "equal hours, but not on the calendar"


def test_the_dates_of_prices_are_those_of_the_offers_asked_about(packaged_evidence):
    days = [DAY - timedelta(days=age) for age in (300, 200, 100)]
    offers = [machines(1, observed_at=days[0])]
    offers += [machines(number, provider="gcp", observed_at=day) for number, day in enumerate(days[1:], 2)]
    every, gcp = ask_of(packaged_evidence, *offers).prices, ask_of(packaged_evidence, *offers, provider=("gcp",)).prices
    assert (every.oldest_observed_at, every.newest_observed_at) == (days[0], days[2])
    assert (gcp.oldest_observed_at, gcp.newest_observed_at) == (days[1], days[2])


def test_offers_count_as_offers_and_pairs_with_recipes_as_runs(packaged_evidence):
    offers = [machines(number) for number in (1, 2, 3)]
    found = ask_of(packaged_evidence, *offers, recipes="all", max_hours=0.01)
    assert found.rejections["over_max_hours"] == ask_of(packaged_evidence, *offers, recipes="all").count > 3
    assert found.rejection_units["over_max_hours"] == "runs"
    assert found.rejection_units["target_never_reached"] == "recipes"
    old = ask_of(packaged_evidence, *offers, as_of=DAY + timedelta(days=600))
    assert (old.rejections["stale_price"], old.rejection_units["stale_price"]) == (3, "offers")
    assert old.rejections.keys() == old.rejection_units.keys()
