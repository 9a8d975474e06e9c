"""Training times by hand: which recipe is the quickest, overheads, intervals, further runs, repetitions and interruptions."""

from math import exp, hypot

import numpy as np
import pytest
from fakes.matrices import WIDTH, matrix
from fakes.recipes import recipe
from msgspec.structs import replace

from costcalc.assumptions import rewritten
from costcalc.convergence.curves import EpochsToTarget
from costcalc.convergence.eligibility import EligibleRecipes
from costcalc.duration import overheads
from costcalc.duration.training_times import Course, interrupted, repeated, training_times
from costcalc.machine_limits.host import Feed
from costcalc.query import EstimateQuery
from costcalc.recipes import EVALUATION_SHARE
from costcalc.training import DATA_SET_GB, IMAGES_PER_EPOCH, Evaluation, Phase, System

HOUR = 3600.0
STAGING_HOURS = float(overheads.staging_hours(DATA_SET_GB))


def eligible(epochs, own_hours=None, probability=1.0, which=None, below=0.0, above=0.0, end=None):
    epochs = np.array(epochs, float)
    many = len(epochs)
    own = np.full(many, np.nan) if own_hours is None else np.array(own_hours, float)
    ends = epochs if end is None else np.array(end, float)
    return EligibleRecipes(
        to_target=EpochsToTarget(epochs, own, np.full(many, 0.8), ends, own),
        success_probability=np.full(many, probability),
        usable=np.ones(many, bool),
        seldom=np.zeros(many, bool),
        eligible=np.ones(many, bool) if which is None else np.array(which),
        best=np.ones(many, bool),
        log_width_below=np.full(many, below),
        log_width_above=np.full(many, above),
        rejections={},
    )


def times(made_up, reaching, allowed=None, **asked):
    query = EstimateQuery("resnet50", 0.75, **{"overheads": "none", **asked})
    everywhere = np.ones(len(made_up.clusters), bool)
    course = Course.of(made_up, query, reaching)
    return training_times(course, everywhere if allowed is None else allowed)


class TestTheQuickest:
    def test_each_cluster_has_its_own(self):
        made_up = matrix([recipe(), recipe()], [[[HOUR, 2 * HOUR], [2 * HOUR, HOUR]]], nodes=(1, 2))
        found = times(made_up, eligible([1, 1]))
        assert (found.recipe.tolist(), found.cluster.tolist(), found.hours.tolist()) == ([0, 1], [0, 1], [1, 1])

    def test_fewer_epochs_of_one_speed(self):
        found = times(matrix([recipe()] * 3, [[[HOUR]]], speed_row=[0, 0, 0]), eligible([3, 2, 4]))
        assert (found.recipe.tolist(), found.epochs.tolist()) == ([1], [2])

    def test_of_equals_what_most_ran_then_the_newest_then_the_first(self):
        years = [recipe(year=year) for year in (2019, 2021, 2022, 2022)]
        made_up = matrix(years, [[[HOUR], [HOUR]]], speed_row=[0, 0, 1, 1])
        assert times(made_up, eligible([1] * 4)).recipe.tolist() == [2]
        most = matrix([recipe(year=2019)] * 3 + [recipe(year=2022)], [[[HOUR], [HOUR]]], speed_row=[0, 0, 0, 1])
        assert times(most, eligible([1] * 4)).recipe.tolist() == [0]

    def test_only_eligible_recipes_on_allowed_clusters(self):
        made_up = matrix([recipe(), recipe()], [[[1, 1], [HOUR, HOUR]]], nodes=(1, 2))
        found = times(made_up, eligible([1, 1], which=[False, True]), np.array([False, True]))
        assert (found.recipe.tolist(), found.cluster.tolist()) == ([1], [1])
        assert len(times(made_up, eligible([1, 1], which=[False, False])).hours) == 0
        assert len(times(made_up, eligible([1, 1]), np.zeros(2, bool)).hours) == 0

    def test_where_nothing_runs_there_is_none(self):
        made_up = matrix([recipe()], [[[HOUR, np.inf]]], nodes=(1, 2))
        assert times(made_up, eligible([1])).cluster.tolist() == [0]


class TestAll:
    def test_nobody_asked_to_scale_so_it_is_one_machine_or_ones_own_number(self):
        recipes = [recipe(system=System("V100", 8, 2)), recipe()]
        made_up = matrix(recipes, [[[HOUR] * 3] * 2], nodes=(1, 2, 4))
        found = times(made_up, eligible([1, 1]), recipes="all")
        assert list(zip(found.recipe, found.cluster, strict=True)) == [(0, 0), (0, 1), (1, 0)]
        every = times(made_up, eligible([1, 1]), recipes="all", nodes=4)
        assert len(every.hours) == 6
        assert len(times(made_up, eligible([1, 1]), recipes="all", accelerators=4).hours) == 6


class TestLogged:
    def test_a_log_stands_in_the_place_of_its_own_system(self):
        made_up = matrix([recipe()], [[[HOUR, HOUR]]], nodes=(1, 2), own=[1])
        found = times(made_up, eligible([2], own_hours=[0.5]))
        assert (found.hours.tolist(), found.logged.tolist()) == ([2, 0.5], [False, True])
        assert found.hours_high.tolist() == pytest.approx([2 * exp(np.float32(WIDTH)), 0.5 * exp(0.03)])

    def test_measured_means_logged(self):
        made_up = matrix([recipe()], [[[HOUR, HOUR]]], nodes=(1, 2), own=[1])
        assert times(made_up, eligible([2], own_hours=[0.5]), evidence="measured").cluster.tolist() == [1]

    def test_a_log_elsewhere_says_nothing(self):
        made_up = matrix([recipe(), recipe()], [[[HOUR, HOUR]] * 2], nodes=(1, 2), own=[1, -1])
        found = times(made_up, eligible([2, 3], own_hours=[0.5, 0.1]), np.array([True, False]))
        assert (found.hours.tolist(), found.logged.tolist()) == ([2], [False])
        unknown = times(made_up, eligible([2, 3]))
        assert not unknown.logged.any()


class TestHours:
    def test_typical_overheads_are_start_up_staging_evaluation_and_checkpoints(self):
        found = times(matrix([recipe()], [[[HOUR]]]), eligible([25]), overheads="typical")
        expected = 25 * EVALUATION_SHARE + overheads.STARTUP_HOURS + STAGING_HOURS + 40 / HOUR
        assert found.train_hours[0] == 25
        assert found.overhead_hours[0] == pytest.approx(expected)

    def test_a_clock_that_counts_evaluation_pays_it_once(self):
        rate = 100 * IMAGES_PER_EPOCH / (50 * HOUR)  # of training alone: 100 epochs in 50 hours
        logged = {"evaluations": (Evaluation(100, 55.0, 0.8, None),), "phases": (Phase(224, 0, 100, rate),)}
        made_up = matrix([recipe(clock="training+evaluation", **logged)], [[[HOUR]]])
        found = times(made_up, eligible([5]), overheads="typical")
        assert found.train_hours[0] == pytest.approx(5.5)
        assert found.overhead_hours[0] == pytest.approx(overheads.STARTUP_HOURS + STAGING_HOURS)

    def test_the_interval_holds_speed_epochs_and_start_up(self):
        made_up, reaching = matrix([recipe()], [[[HOUR]]]), eligible([10], below=0.2, above=0.3)
        width = float(np.float32(WIDTH))
        plain = times(made_up, reaching)
        assert plain.hours_low[0] == pytest.approx(10 * exp(-hypot(width, 0.2)))
        assert plain.hours_high[0] == pytest.approx(10 * exp(hypot(width, 0.3)))
        typical = times(made_up, reaching, overheads="typical")
        below = hypot(10 - plain.hours_low[0], overheads.STARTUP_HOURS - overheads.STARTUP_LOW_HOURS)
        above = hypot(plain.hours_high[0] - 10, overheads.STARTUP_HIGH_HOURS - overheads.STARTUP_HOURS)
        assert typical.hours_low[0] == pytest.approx(typical.hours[0] - below)
        assert typical.hours_high[0] == pytest.approx(typical.hours[0] + above)

    def test_a_set_in_another_format_is_written_once(self):
        ffcv = Feed("ffcv", 500, (), 202, 0.5)
        made_up = replace(matrix([recipe()], [[[HOUR]]]), feeds=(ffcv,))
        usual = times(matrix([recipe()], [[[HOUR]]]), eligible([10]), overheads="typical")
        found = times(made_up, eligible([10]), overheads="typical")
        assert found.overhead_hours[0] - usual.overhead_hours[0] == pytest.approx(404 / HOUR)
        assert times(made_up, eligible([10])).overhead_hours[0] == 0
        three = repeated(made_up, found, EstimateQuery("resnet50", 0.75, runs=3))
        assert three.hours[0] == pytest.approx(3 * found.hours[0] - 2 * (300 - 49 + 298 + 404) / HOUR)
        said = rewritten(ffcv, float(made_up.rewriting_hours[0]))
        assert said == "Staging includes converting the data set for ffcv: 202 GB in 7 min."

    def test_further_runs_go_to_their_end(self):
        found = times(matrix([recipe()], [[[HOUR]]]), eligible([10], probability=0.8, end=[16]))
        assert found.retry_hours[0] == pytest.approx(0.2 / 0.8 * 16)

    def test_repetitions_multiply_hours_alone(self):
        made_up = matrix([recipe()], [[[HOUR]]])
        one = times(made_up, eligible([10], probability=0.8, below=0.1))
        three = repeated(made_up, one, EstimateQuery("resnet50", 0.75, runs=3, overheads="none"))
        for name in ("train_hours", "overhead_hours", "hours", "hours_low", "hours_high", "retry_hours"):
            assert getattr(three, name)[0] == pytest.approx(3 * getattr(one, name)[0])
        assert (three.epochs[0], three.success_probability[0]) == (10, 0.8)

    def test_kept_machines_boot_and_load_once(self):
        made_up = matrix([recipe()], [[[HOUR]]])
        one = times(made_up, eligible([10], below=0.1), overheads="typical")
        three = repeated(made_up, one, EstimateQuery("resnet50", 0.75, runs=3))
        each = 10 * EVALUATION_SHARE + 20 / HOUR
        assert three.train_hours[0] == 30
        assert three.overhead_hours[0] == pytest.approx((300 + 298 + 2 * 49) / HOUR + 3 * each)
        bare = times(
            made_up, eligible([10], below=0.1)
        )  # what is doubted of each run's training, and once of the start-up
        below, above = 3 * (10 - bare.hours_low[0]), 3 * (bare.hours_high[0] - 10)
        assert three.hours_low[0] == pytest.approx(three.hours[0] - hypot(below, 132 / HOUR))
        assert three.hours_high[0] == pytest.approx(three.hours[0] + hypot(above, 252 / HOUR))


class TestInterrupted:
    def test_expected_hours_are_the_usual_and_the_high_end_the_pessimistic(self):
        one = times(matrix([recipe()], [[[HOUR]]]), eligible([10], probability=0.8))
        nodes, unknown = np.array([2]), np.array([0])
        spot = interrupted(one, nodes, unknown)
        assert spot.hours[0] == pytest.approx(overheads.interrupted_hours(one.hours, 48.0 / nodes)[0])
        assert spot.hours_high[0] == pytest.approx(overheads.interrupted_hours(one.hours_high, 12.0 / nodes)[0])
        assert spot.train_hours[0] == one.train_hours[0]
        assert spot.retry_hours[0] == pytest.approx(one.retry_hours[0] * spot.hours[0] / one.hours[0])
        assert spot.hours_low[0] == one.hours_low[0]

    def test_without_an_end_of_the_high_end_there_is_none(self):
        one = times(matrix([recipe()], [[[HOUR]]]), eligible([10]))
        nodes = np.array([2_000])
        assert overheads.interrupted_hours(one.hours, 48.0 / nodes)[0] < overheads.ENDLESS_HOURS
        assert interrupted(one, nodes, np.array([0])).hours[0] == overheads.ENDLESS_HOURS


def test_times_are_joined_and_read_entry_by_entry():
    made_up = matrix([recipe(), recipe()], [[[HOUR, 2 * HOUR]] * 2], nodes=(1, 2))
    one = times(made_up, eligible([1, 2]))
    both = one.followed_by(one)
    assert both.hours.tolist() == [1, 2, 1, 2]
    second = both.at(np.array([3]))[0]
    assert (second.recipe, second.cluster, second.hours, second.logged) == (0, 1, 2.0, False)
