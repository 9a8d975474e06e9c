"""Answers on made-up prices: each way of buying, each overhead, and the edges of the question."""

from datetime import timedelta
from decimal import Decimal
from math import exp, hypot, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from fakes.offers import DAY, monthly, offer, owned, reserved
from msgspec.structs import replace
from support.engine import answer

from costcalc import EstimateQuery
from costcalc.catalogue.catalogue import Catalogue
from costcalc.convergence.curves import isotonic
from costcalc.convergence.eligibility import SEED_SIGMA
from costcalc.duration.overheads import calendar_hours, interrupted_hours
from costcalc.hardware import Cluster, Machine
from costcalc.offer import PurchaseOption
from costcalc.throughput import WIDE_BY_RULE, SpeedModel
from costcalc.throughput.fitted_parameters import HalfWidth
from costcalc.training import Metric, OwnSpeed, Tier

EIGHT = {"instance_type": "eight", "machine": Machine("V100", 8, 16.0)}
P3 = {"provider": "aws", "instance_type": "p3.16xlarge", "machine": Machine("V100", 8, 16.0)}
FASTAI = {"metric": Metric.TOP5, "recipe": ("dawnbench-fastai-rn50-p3",), "recipes": "all"}


@pytest.fixture
def ask_of(ask):
    """Asks prices made of these offers, on the day they were seen."""

    def ask_of(*offers, target=0.757, **parameters):
        prices = Catalogue.from_offers(offers, "made up")
        return ask(target, prices=prices, **({"as_of": DAY, "nodes": 1, "limit": 1000} | parameters))

    return ask_of


def test_a_spot_run_is_interrupted(ask_of):
    spot = offer(purchase_option=PurchaseOption.SPOT, hourly_rate=Decimal(1))
    by_option = {one.purchase_option.value: one for one in ask_of(offer(), spot).estimates}
    steady, broken = by_option["on_demand"], by_option["spot"]
    assert broken.recipe == steady.recipe
    assert broken.train_hours == steady.train_hours
    assert broken.hours == pytest.approx(float(interrupted_hours(steady.hours, 48.0)))
    assert broken.hours_high == pytest.approx(float(interrupted_hours(steady.hours_high, 12.0)))
    assert broken.hours_low == steady.hours_low
    assert broken.retry_hours == pytest.approx(steady.retry_hours * broken.hours / steady.hours)
    assert broken.retry_hours > steady.retry_hours > 0
    assert any(
        sentence.startswith("Spot: ") and "one interruption per machine" in sentence for sentence in broken.assumptions
    )


def test_more_spot_machines_are_interrupted_more_often(ask_of):
    steady = offer(**P3)
    for nodes in (1, 16):
        found = ask_of(steady, replace(steady, purchase_option=PurchaseOption.SPOT), nodes=nodes, sort="time")
        calm, broken = found.estimates
        assert (calm.purchase_option, broken.purchase_option) == ("on_demand", "spot")
        assert broken.hours == pytest.approx(float(interrupted_hours(calm.hours, 48.0 / nodes)))


def test_spot_machines_too_many_to_ever_finish_are_rejected(ask_of):
    machine = Machine("V100", 4, 16.0, network_gbits_per_second=10.0, most_machines=2_000)
    four = P3 | {"instance_type": "p3.8xlarge", "machine": machine}
    found = ask_of(offer(**four), offer(**four, purchase_option=PurchaseOption.SPOT), nodes=2_000, training="record")
    assert {one.purchase_option.value for one in found.estimates} <= {"on_demand"}
    assert found.rejections["interrupted_too_often"] > 0


def test_a_logged_rate_holds_what_its_machines_waited(ask_of, packaged_evidence):
    """On another provider's machines over as fast a network the rate is as it was logged, over a faster one it is higher."""
    (logged,) = (one for one in packaged_evidence.recipes if one.name == "dawnbench-fastai-rn50-16xp3")
    offers = [
        offer(instance_type=f"{rate}", machine=Machine("V100", 8, 16.0, network_gbits_per_second=rate))
        for rate in (25.0, 100.0)
    ]
    asked = {"recipe": (logged.name,), "recipes": "all", "nodes": 16, "overheads": "none", "confidence": 0.1}
    found = {one.instance_type: one for one in ask_of(*offers, target=0.93, metric=Metric.TOP5, **asked).estimates}
    seconds = sum(
        max(min(phase.to_epoch, found["25.0"].epochs) - phase.from_epoch, 0) / phase.images_per_second
        for phase in logged.phases
    )
    assert found["25.0"].images_per_second == pytest.approx(found["25.0"].epochs / seconds, rel=1e-4)
    assert found["100.0"].images_per_second > 1.03 * found["25.0"].images_per_second


def test_the_own_clock_knows_no_interruptions(ask_of):
    spot = offer(purchase_option=PurchaseOption.SPOT)
    found = ask_of(offer(), spot, overheads="none").estimates
    assert len({one.hours for one in found}) == 1
    assert {one.overhead_hours for one in found} == {0}


def test_a_replay_keeps_its_log_and_adds_what_it_left_out(ask_of):
    bare = ask_of(offer(**P3), target=0.93, overheads="none", **FASTAI).estimates[0]
    typical = ask_of(offer(**P3), target=0.93, **FASTAI).estimates[0]
    assert bare.evidence.throughput is Tier.MEASURED
    assert typical.train_hours == bare.hours
    fixed = (300 + 298 + 20 * (bare.epochs // 10)) / 3600
    assert typical.overhead_hours == pytest.approx(fixed + bare.hours * 50_000 / 1_281_167 / 3)


def test_a_replay_is_surer_of_its_time_than_a_transfer(ask_of, packaged_evidence):
    asked = {"target": 0.93, "overheads": "none"} | FASTAI
    (own,) = ask_of(offer(**P3), **asked).estimates
    (elsewhere,) = ask_of(offer(instance_type="other", machine=Machine("V100", 8, 16.0)), nodes=1, **asked).estimates
    calibrated = exp(packaged_evidence.fitted.widths["own"].ln)
    assert own.hours_low < own.hours / calibrated < own.hours * calibrated < own.hours_high
    assert own.hours_high / own.hours_low < elsewhere.hours_high / elsewhere.hours_low


def test_start_up_takes_two_to_ten_minutes(ask_of):
    (bare,) = ask_of(offer(**P3), target=0.93, overheads="none", **FASTAI).estimates
    (typical,) = ask_of(offer(**P3), target=0.93, **FASTAI).estimates
    below, above = typical.hours - typical.hours_low, typical.hours_high - typical.hours
    assert below * 60 == pytest.approx(hypot((bare.hours - bare.hours_low) * 60, 5 - 2.8))
    assert above * 60 == pytest.approx(hypot((bare.hours_high - bare.hours) * 60, 9.2 - 5))


@pytest.mark.parametrize(
    ("name", "metric", "target"),
    [
        ("ffcv-rn50-32ep", Metric.TOP1, 0.757),
        ("riseml-2018-v100", Metric.TOP1, 0.757),
        ("dawnbench-fastai-rn50-p3", Metric.TOP5, 0.93),
    ],
)
def test_elsewhere_epochs_meet_the_speed_of_each_phase(ask_of, packaged_evidence, name, metric, target):
    machine = Machine("A100-40GB", 8, 40.0)
    asked = {"metric": metric, "recipes": "all", "recipe": (name,), "overheads": "none", "crossing": "first"}
    (one,) = ask_of(offer(instance_type="a100", machine=machine), target=target, **asked).estimates
    (recipe,) = [recipe for recipe in packaged_evidence.recipes if recipe.name == name]
    speeds = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted).speeds(
        (recipe,), (Cluster("A100-40GB", 8),)
    )
    spent = [min(one.epochs, phase.to_epoch) - phase.from_epoch for phase in recipe.phases]
    paced = zip(spent, speeds.seconds_per_epoch[0, 0], strict=False)
    training = sum(max(epochs, 0) * second for epochs, second in paced) / 3600
    assert one.hours == pytest.approx(training * recipe.clock_factor)
    assert (recipe.clock_factor > 1) == (recipe.clock == "training+evaluation")


def test_an_interpolated_schedule_is_called_that_and_less_sure(ask_of):
    machine = offer(instance_type="a100", machine=Machine("A100-40GB", 8, 40.0))
    asked = {"target": 0.757, "recipes": "all", "overheads": "none"}
    between, measured = (ask_of(machine, recipe=(f"ffcv-rn50-{e}ep",), **asked).estimates[0] for e in (36, 32))
    assert between.evidence.convergence is Tier.INTERPOLATED
    assert measured.evidence.convergence is Tier.MEASURED
    assert between.hours_high / between.hours > measured.hours_high / measured.hours
    assert ask_of(machine, recipe=("ffcv-rn50-36ep",), evidence="measured", **asked).count == 0


@pytest.mark.parametrize("name", ["ffcv-rn50-32ep", "gluoncv-resnet50-v1b"])
def test_the_chance_of_success_is_that_of_normal_seed_noise(ask_of, packaged_evidence, name):
    (recipe,) = [recipe for recipe in packaged_evidence.recipes if recipe.name == name]
    end = recipe.mean_top1 or isotonic([point.top1 for point in recipe.evaluations])[-1]
    target = float(end) - 0.0007
    machine = offer(instance_type="a100", machine=Machine("A100-40GB", 8, 40.0))
    (one,) = ask_of(machine, target=target, recipes="all", recipe=(name,), crossing="first").estimates
    chance = NormalDist(end, 0.0011 * sqrt(1 + 1 / recipe.runs)).cdf(2 * end - target)
    assert one.success_probability == pytest.approx(chance)
    whole = recipe.evaluations[-1].epochs / one.epochs * one.train_hours + one.overhead_hours
    assert one.retry_hours == pytest.approx((1 - chance) / chance * whole)


def test_evaluation_is_not_counted_twice(ask_of, packaged_evidence):
    clocked = [r for r in packaged_evidence.recipes_of("resnet50") if r.clock == "training+evaluation" and r.system]
    recipe = next(r for r in clocked if (r.system.accelerator, r.system.accelerators) == ("V100", 8) and r.is_log)
    target = recipe.evaluations[-1].top1 - 0.001
    found = ask_of(offer(**EIGHT), target=target, recipe=(recipe.name,), recipes="all", crossing="first").estimates[0]
    assert found.overhead_hours == pytest.approx((300 + 298 + 20 * (found.epochs // 10)) / 3600)


@pytest.mark.parametrize(("epochs", "stretched"), [(16, False), (88, True)])
def test_a_free_tier_costs_nothing_but_days(ask_of, epochs, stretched):
    free = offer(purchase_option=PurchaseOption.FREE, hourly_rate=Decimal(0), session_hours=12.0, hours_per_week=84.0)
    (one,) = ask_of(free, target=0.737, recipe=(f"ffcv-rn50-{epochs}ep",), recipes="all").free
    assert (one.billed_cost, one.effective_cost, one.hourly_rate) == (0, 0, 0)
    assert one.calendar_hours == pytest.approx(calendar_hours(*np.array([[one.hours], [12.0], [84.0]]))[0])
    assert (one.calendar_hours > one.hours) == stretched


def test_an_owned_machine_is_bought_whole_and_used_in_part(ask_of):
    (one,) = ask_of(owned(), utilization=1).estimates
    assert one.billed_cost > 26280
    assert one.hourly_rate == Decimal("1.1")
    assert float(one.effective_cost) == pytest.approx(one.hours * 1.1, abs=0.01)
    (alone,) = ask_of(owned(), utilization=0).estimates
    assert float(alone.effective_cost) == pytest.approx(float(alone.billed_cost), abs=0.01)


def test_each_way_of_paying_breaks_even_against_the_same_machine(ask_of):
    found = {one.purchase_option.value: one for one in ask_of(offer(), reserved(), monthly()).estimates}
    assert found["on_demand"].break_even_hours is None
    assert found["reserved"].break_even_hours == 3504
    assert found["monthly"].break_even_hours == pytest.approx(730 / 3)
    elsewhere = ask_of(offer(region="there"), reserved()).estimates
    assert {one.break_even_hours for one in elsewhere} == {None}


@pytest.mark.parametrize("filters", [{}, {"purchase": (PurchaseOption.OWNED,)}, {"provider": ("owned",)}])
def test_an_owned_machine_breaks_even_against_the_cheapest_rental_whatever_was_asked_for(ask_of, filters):
    cheap, dear = offer(), offer(region="there", hourly_rate=Decimal(4))
    own = next(
        one for one in ask_of(cheap, dear, owned(), **filters).estimates if one.purchase_option is PurchaseOption.OWNED
    )
    assert own.break_even_hours == pytest.approx(26280 / (3 - 0.1), rel=0.001)


def test_what_is_taken_for_granted_is_said(ask_of):
    rounded = replace(monthly(), flags=("rounded", "second_hand"), observed_at=DAY - timedelta(days=60))
    (one,) = ask_of(rounded, utilization=0.5).estimates
    said = " ".join(one.assumptions)
    for words in (
        "60 days before the requested date",
        "whole months of 730 hours",
        "Other work uses 50%",
        "rounded, second hand",
        "start-up",
    ):
        assert words in said
    (committed,) = ask_of(reserved()).estimates
    assert any("the whole 1y commitment" in sentence for sentence in committed.assumptions)


@pytest.mark.parametrize(("recipe", "apart"), [("ffcv-rn50-88ep", False), ("dawnbench-fastai-rn50-p3", True)])
def test_evaluation_is_called_overhead_where_the_recipe_does_not_count_it(ask, recipe, apart):
    (one,) = ask(0.75, recipe=(recipe,), recipes="all", accelerator=("V100",), limit=1).estimates
    said = " ".join(one.assumptions)
    assert ("evaluation after every epoch" in said) == apart
    assert ("counts evaluation as training" in said) != apart


def test_points_and_early_stops_are_said(ask_of):
    asked = {"recipes": "all", "overheads": "none"}
    (riseml,) = ask_of(offer(**P3), recipe=("riseml-2018-v100",), **asked).estimates
    said = " ".join(riseml.assumptions)
    assert "known only at its published points" in said
    assert "source's own clock (training)" in said
    (winner,) = ask_of(offer(**P3), target=0.70, recipe=("dawnbench-diux-rn50-p3-tensorpack",), **asked).estimates
    assert "selected winners" in " ".join(winner.assumptions)


def test_an_early_stop_is_said(ask_of):
    machine = offer(**(EIGHT | {"machine": Machine("A100-40GB", 8, 40.0)}))
    early, whole = (
        ask_of(machine, target=target, recipe=("ffcv-rn50-88ep",), recipes="all").estimates[0] for target in (0.7, 0.78)
    )
    assert f"Stops early, after {early.epochs:g} of 88 scheduled epochs" in " ".join(early.assumptions)
    assert "Stops early" not in " ".join(whole.assumptions)


@pytest.mark.parametrize("parameters", [{"nodes": 5}, {"nodes": None, "accelerators": 40}])
def test_numbers_of_machines_that_no_recipe_used_can_be_asked_for(ask_of, parameters):
    machine = Machine("H100", 8, 80.0, network_gbits_per_second=3200.0)
    found = ask_of(offer(instance_type="h100", machine=machine), **parameters).estimates
    assert {(one.nodes, one.accelerators, one.evidence.throughput) for one in found} == {(5, 40, Tier.MODELLED)}


@pytest.mark.parametrize(("model", "metric"), [("xception", Metric.TOP1), ("resnetaa50d", Metric.TOP5)])
def test_a_model_without_a_curve_answers_with_nothing(ask_of, packaged_evidence, model, metric):
    assert not any(point for recipe in packaged_evidence.recipes_of(model) for point in recipe.evaluations)
    answer = ask_of(offer(), model=model, metric=metric)
    assert (answer.count, answer.best_reached) == (0, None)


def test_no_prices_at_all_are_no_error(ask_of):
    answer = ask_of()
    assert (answer.count, answer.estimates) == (0, ())


def test_all_runs_on_one_instance_type_share_its_own_system(ask_of):
    """Elsewhere a recipe's epochs meet the machine's throughput, at home its log is replayed."""
    same_shape = offer(**EIGHT)
    home, away = (
        ask_of(one, target=0.93, overheads="none", **FASTAI).estimates[0] for one in (offer(**P3), same_shape)
    )
    assert home.epochs == away.epochs
    assert home.evidence.throughput is Tier.MEASURED
    assert away.evidence.throughput is not Tier.MEASURED
    assert home.sources.throughput.source == home.sources.convergence.source


def test_what_of_a_recipe_is_used_and_how_it_was_evaluated(ask_of):
    machine = offer(instance_type="a100", machine=Machine("A100-40GB", 8, 40.0))

    def said(recipe, words):
        asked = {"recipes": "all", "as_of": DAY.replace(year=2026), "max_price_age": 5000}
        (one,) = ask_of(machine, recipe=(recipe,), **asked).estimates
        return any(words in sentence for sentence in one.assumptions)

    assert said("mlperf-v2.1-hls-gaudi2-tf", "Only the recipe's schedule")
    assert said("ffcv-rn50-32ep", "schedule and code")
    assert said("ffcv-rn50-32ep", "at 256 pixels, averaged over each image and its mirror image, after training")
    assert said("torchvision-v2-resnet50", "at 224 pixels, after training at 176 or fewer")
    assert not said("mlperf-v2.1-hls-gaudi2-tf", "Accuracy was measured at")
    assert said("ffcv-rn50-32ep", "differ by 0.11 points of top-1 from seed to seed")
    assert not said("mlperf-v2.1-hls-gaudi2-tf", "from seed to seed")
    assert said("ffcv-rn50-32ep", "rests on one run")
    assert not said("mlperf-v2.1-hls-gaudi2-tf", "rests on one run")


@pytest.mark.parametrize(("target", "told"), [(0.781, False), (0.785, True), (0.80, False)])
def test_a_jump_of_the_cost_names_the_recipe_that_ends(ask_of, target, told):
    machine = offer(instance_type="a100", machine=Machine("A100-40GB", 8, 40.0))
    one = ask_of(machine, target=target, as_of=DAY.replace(year=2026), max_price_age=5000, confidence=0.5).estimates[0]
    assert any(sentence.startswith("ffcv-rn50-88ep ends at 0.78") for sentence in one.assumptions) == told


@pytest.mark.parametrize(
    ("model", "recipe", "accelerators", "least", "most"),
    [
        ("resnet50", "rsb-a1-resnet50-600ep", 4, 90, 130),  # 4.6 days (arXiv:2110.00476)
        ("resnet50", "rsb-a3-resnet50-100ep", 4, 14, 16),  # 15 hours
        ("deit_base", "deit-base", 8, 48, 60),  # two to three days, 53 hours (arXiv:2012.12877)
        ("deit_small", "deit-small", 4, 0, 72),  # less than three days
    ],
)
def test_authors_who_say_how_long_their_runs_took_are_believed(ask_of, model, recipe, accelerators, least, most):
    machine = offer(machine=Machine("V100", accelerators, 16.0))
    ends = {"rsb-a1-resnet50-600ep": 0.8038, "rsb-a3-resnet50-100ep": 0.7805, "deit-base": 0.818, "deit-small": 0.799}
    asked = {
        "model": model,
        "recipe": (recipe,),
        "recipes": "all",
        "overheads": "none",
        "target": ends[recipe],
    }
    (one,) = ask_of(machine, **asked).estimates
    assert least <= one.hours <= most


def test_an_estimate_says_whose_code_it_is_and_what_others_take(ask_of):
    machine = offer(instance_type="h100", machine=Machine("H100", 8, 80.0))
    fast, slow = (
        ask_of(machine, target=0.757, recipe=(name,), recipes="all").estimates[0]
        for name in ("mlperf-v3.0-*", "nvidia-pytorch-resnet50-*")
    )
    assert (fast.code, slow.code) == ("mlperf", "vendor_example")
    for one in (fast, slow):
        middle = (one.usual_hours_low * one.usual_hours_high) ** 0.5
        assert one.usual_hours_low < middle < one.usual_hours_high
        assert one.usual_cost_low < one.usual_cost_high
        assert any("Other people's code takes " in sentence for sentence in one.assumptions)
    assert fast.usual_hours_high > 1.5 * fast.hours  # hardly anybody's code is as fast as MLPerf's


def test_a_speed_of_the_asker_s_is_that_of_their_own_code(ask_of):
    one = ask_of(offer(), images_per_second=(OwnSpeed(400, 1, "V100"),)).estimates[0]
    assert one.code == "own"
    assert "The speed is that of your own code." in one.assumptions
    assert "Only the recipe's schedule is used; the speed is that of your own code." in one.assumptions


def test_a_recipe_without_a_logged_speed_says_so(ask_of, packaged_evidence):
    machine = offer(instance_type="a100", machine=Machine("A100-40GB", 8, 40.0))
    (one,) = ask_of(machine, target=0.79, recipe=("torchvision-v2-resnet50",), recipes="all").estimates
    assert one.evidence_notes.throughput.startswith(
        "No speed of this recipe's code has been published; it is modelled from other code and networks, the nearest being "
    )
    assert one.code == "unknown"
    assert "The speed is that of typical published code." in one.assumptions
    assert one.hours_high / one.hours > 1.5  # as wide as the speeds of all codes
    assert not any("own log" in sentence for sentence in one.assumptions)
    carried, found = "carried over from ", one.sources.throughput.source
    assert found.startswith(carried)
    measured = [row for row in packaged_evidence.throughputs if found == carried + row.source]
    assert ("resnet50", "A100-40GB", 8) in {(row.model, row.accelerator, row.accelerators) for row in measured}
    assert "torchvision" not in {row.stack for row in measured}


def test_a_past_date_says_that_speeds_were_fitted_later(ask_of):
    machine = offer(
        instance_type="a100", machine=Machine("A100-40GB", 8, 40.0), observed_at=DAY.replace(year=2022, month=2)
    )
    asked = {"recipe": ("ffcv-rn50-32ep",), "recipes": "all", "max_price_age": 5000}
    (then,), (now,) = (
        ask_of(machine, **asked, as_of=day).estimates for day in (machine.observed_at, DAY.replace(year=2027))
    )
    assert not any("later than" in sentence for sentence in now.assumptions)
    assert any("later than the requested date" in sentence for sentence in then.assumptions)


def test_a_target_within_the_noise_above_the_end_is_answered_with_its_chance(ask_of, packaged_evidence):
    [recipe] = [one for one in packaged_evidence.recipes if one.name == "ffcv-rn50-16ep"]
    end = isotonic([point.top1 for point in recipe.evaluations])[-1].item()
    named = {"recipe": (recipe.name,), "recipes": "all"}
    above, beyond = end + SEED_SIGMA[Metric.TOP1] / 2, end + 2 * SEED_SIGMA[Metric.TOP1]
    [found] = ask_of(offer(**EIGHT), target=above, **named).estimates
    assert found.epochs == recipe.evaluations[-1].epochs
    assert found.success_probability == pytest.approx(NormalDist().cdf(-0.5 / sqrt(2)), abs=1e-3)
    assert found.retry_hours > found.hours
    assert any("ended below the target" in line for line in found.assumptions)
    assert ask_of(offer(**EIGHT), target=above, recipe=(recipe.name,)).rejections["below_confidence"] == 1
    assert ask_of(offer(**EIGHT), target=beyond, **named).rejections["target_never_reached"] == 1


@pytest.mark.parametrize("kind", ["own", "length"])
def test_a_range_that_is_wide_by_rule_says_so(kind, packaged_evidence):
    widths = {**packaged_evidence.fitted.widths, kind: HalfWidth(0.1, by_rule=True)}
    guessed = replace(packaged_evidence, fitted=replace(packaged_evidence.fitted, widths=widths))
    prices = Catalogue.from_offers([offer(**P3)], "made up")
    nobody_ran = {"recipe": ("ffcv-rn50-28ep",), "recipes": "all"}
    asked = {"own": EstimateQuery("resnet50", 0.93, **FASTAI), "length": EstimateQuery("resnet50", 0.757, **nobody_ran)}
    for evidence, said in ((packaged_evidence, False), (guessed, True)):
        found = answer(replace(asked[kind], nodes=1), evidence, prices, DAY).estimates
        assert [WIDE_BY_RULE in one.assumptions for one in found] == [said]


def test_a_schedule_nobody_ran_stops_early_near_its_end_only(ask_of):
    named = {"recipe": ("ffcv-rn50-28ep",), "recipes": "all"}
    near, far = (ask_of(offer(**EIGHT), target=target, **named) for target in (0.73, 0.60))
    assert any("where the borrowed curve passes the target" in line for line in near.estimates[0].assumptions)
    assert (far.count, far.rejections["far_below_end"]) == (0, 1)


@pytest.mark.parametrize(("model", "target"), [("vit_b16", 0.79), ("swin_base", 0.83), ("convnext_tiny", 0.81)])
def test_transformers_and_their_kin_are_answered(ask_of, model, target):
    machine = offer(instance_type="a100", machine=Machine("A100-80GB", 8, 80.0))
    one = ask_of(machine, model=model, target=target).estimates[0]
    assert 5 < one.hours < 60
    assert one.hours_low < one.hours < one.hours_high


def test_a_recipe_known_at_its_end_stops_where_others_with_its_schedule_would(ask_of):
    """DeiT-B took 53 hours on 8 V100; 1.8 points below its end its kind of schedule is at 70 to 75 % of its length."""
    asked = {"model": "deit_base", "recipe": ("deit-base",), "recipes": "all", "overheads": "none"}
    whole, early = (ask_of(offer(**EIGHT), target=target, **asked).estimates[0] for target in (0.818, 0.8))
    assert whole.hours == pytest.approx(53, rel=0.001)
    assert 0.68 < early.hours / whole.hours < 0.78
    assert early.epochs / 300 == pytest.approx(early.hours / whole.hours, rel=0.001)
    assert early.evidence.convergence == "interpolated"
    assert any("the borrowed curve passes the target" in said for said in early.assumptions)
    assert early.hours_high / early.hours > whole.hours_high / whole.hours
