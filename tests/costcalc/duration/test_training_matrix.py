"""Hours of training by hand, and which clusters a question asks about."""

import tracemalloc

import numpy as np
import pytest
from fakes.matrices import matrix
from fakes.offers import offer
from fakes.recipes import recipe
from msgspec.structs import replace

from costcalc.catalogue.catalogue import Catalogue
from costcalc.convergence.curves import EpochsToTarget
from costcalc.duration.making import model_recipes, training_matrix
from costcalc.duration.offered_clusters import NOWHERE, MachinesAsked, OfferedCluster
from costcalc.duration.ways import Way
from costcalc.hardware import Machine
from costcalc.throughput.own_speeds import OWN, asked_speed
from costcalc.throughput.speed_model import SpeedModel
from costcalc.training import IMAGES_PER_EPOCH, OwnSpeed, Phase, System

TWO_PHASES = (Phase(160, 0, 10), Phase(224, 10, 30))
EVERYWHERE = np.array([0, 1])


def hours(made_up, epochs, recipes=(0,), clusters=EVERYWHERE):
    return made_up.training_hours(made_up.work(np.array(epochs, float)), np.array(recipes), np.array(clusters))


class TestTrainingHours:
    def test_each_phase_takes_its_epochs_at_its_speed(self):
        made_up = matrix([recipe(phases=TWO_PHASES)], [[[36, 72]], [[360, 720]]], nodes=(1, 2))
        assert hours(made_up, [8]).tolist() == [pytest.approx([0.08, 0.16])]
        assert hours(made_up, [12]).tolist() == [pytest.approx([0.1 + 0.2, 0.2 + 0.4])]

    def test_the_last_phase_goes_on(self):
        made_up = matrix([recipe(phases=TWO_PHASES)], [[[36]], [[360]]])
        assert hours(made_up, [50], clusters=[0])[0, 0] == pytest.approx(0.1 + 40 * 0.1)

    def test_some_clusters_are_columns_of_all(self):
        made_up = matrix([recipe(phases=TWO_PHASES)], [[[36, 72]], [[360, 720]]], nodes=(1, 2))
        assert hours(made_up, [12], clusters=[1]).tolist() == hours(made_up, [12])[:, [1]].tolist()

    def test_recipes_of_fewer_phases_stand_beside(self):
        made_up = matrix([recipe(phases=TWO_PHASES), recipe()], [[[36], [180]], [[360], [0]]])
        assert hours(made_up, [12, 12], (1, 0), [0])[:, 0].tolist() == pytest.approx([0.6, 0.3])

    def test_mlperf_takes_a_power_of_its_training_beside(self):
        made_up = matrix([recipe(tuned_to=0.759), recipe()], [[[100, 200], [100, 200]]], nodes=(1, 2))
        found = hours(made_up, [40, 40], (0, 1)) * 3600
        for cluster, seconds in ((0, 4000), (1, 8000)):
            assert found[0, cluster] == pytest.approx(seconds + 0.5 * seconds**0.75)
            assert found[1, cluster] == pytest.approx(seconds)
        assert hours(made_up, [40, 40], (0, 1), [1])[:, 0].tolist() == (found[:, 1] / 3600).tolist()

    def test_costly_optimizers_and_the_open_division_run_on_their_own_system_only(self):
        made_up = matrix([recipe(expensive_optimizer=True), recipe(division="open"), recipe()], [[[1]] * 3])
        assert np.isinf(hours(made_up, [1, 1, 1], (0, 1, 2), [0])[:, 0]).tolist() == [True, True, False]

    def test_a_recipe_that_never_reaches_the_target_takes_no_time_here(self):
        assert hours(matrix([recipe()], [[[36]]]), [np.nan], clusters=[0])[0, 0] == 0


def test_logged_hours_go_before_those_at_the_mean_rate():
    made_up = matrix([recipe(), recipe(images_per_second=1000.0), recipe(images_per_second=1000.0)], [[[1]] * 3])
    nothing = np.zeros(3)
    reach = EpochsToTarget(np.array([5.0, 5, 5]), np.array([2.0, 3, np.nan]), nothing, nothing, nothing)
    expected = [2, 3, 5 * IMAGES_PER_EPOCH / 1000 / 3600]
    assert made_up.logged_hours(reach).tolist() == pytest.approx(expected)
    unknown = EpochsToTarget(np.array([5.0]), np.array([np.nan]), *[np.zeros(1)] * 3)
    assert np.isnan(matrix([recipe()], [[[1]]]).logged_hours(unknown)[0])


def test_recipes_of_one_speed_are_counted():
    assert matrix([recipe()] * 3, [[[1], [1]]], speed_row=[0, 1, 0]).same_speed.tolist() == [2, 1, 2]
    assert matrix([], [np.zeros((0, 1))]).same_speed.tolist() == []


def test_machines_of_a_recipes_own_system():
    systems = [recipe(system=System("V100", 32, 4)), recipe()]
    assert matrix(systems, [[[1], [1]]]).own_nodes.tolist() == [4, 1]


@pytest.fixture(scope="module")
def two_shapes():
    """Machines of one and of eight V100."""
    return Catalogue.from_offers([offer(), offer(instance_type="eight", machine=Machine("V100", 8, 16.0))], "made up")


def matrix_of(evidence, catalogue, model, *asked):
    """The matrix of all recipes of a model."""
    return training_matrix(evidence, catalogue, model_recipes(evidence, model), *asked)


class TestWhole:
    def test_every_recipe_has_a_row_and_every_cluster_a_column(self, packaged_evidence, two_shapes):
        whole = matrix_of(packaged_evidence, two_shapes, "resnet50", MachinesAsked(nodes=1))
        assert whole.recipes.recipes == packaged_evidence.recipes_of("resnet50")
        assert len(whole.speed_row) == len(whole.own_cluster) == len(whole.recipes.recipes)
        assert all(phase.shape == whole.speeds.refusal.shape for phase in whole.seconds_per_epoch)
        assert whole.speeds.refusal.shape[1] == len(whole.clusters) == 2
        assert np.isinf(whole.seconds_per_epoch[0][whole.speeds.refusal != 0]).all()

    def test_an_instance_on_which_a_recipe_was_run_has_a_column_of_its_own(self, packaged_evidence):
        machine = Machine("V100", 8, 16.0)
        prices = [offer(provider="aws", instance_type="p3.16xlarge", machine=machine), offer(machine=machine)]
        catalogue = Catalogue.from_offers(prices, "made up")
        whole = matrix_of(packaged_evidence, catalogue, "resnet50", MachinesAsked(nodes=1))
        assert whole.clusters[0] == OfferedCluster(0, 8, 1)
        p3 = catalogue.instance_code["aws", "p3.16xlarge"]
        assert [cluster.instance for cluster in whole.clusters] == [-1, p3]
        assert whole.own_cluster.max() == 1
        by_instance = whole.clusters_of_instances
        assert by_instance[1][p3] == 1
        assert by_instance[1][catalogue.instance_code["acme", "one"]] == 0

    def test_a_schedule_nobody_ran_has_no_system_of_its_own(self, packaged_evidence):
        catalogue = Catalogue.from_offers([offer(provider="aws", instance_type="one")], "made up")
        home = System("V100", 1, 1, "aws", "one")
        pair = recipe(name="ran", system=home), recipe(name="between", system=home, is_interpolated=True)
        evidence = replace(packaged_evidence, recipes=pair)
        found = matrix_of(evidence, catalogue, "resnet50", MachinesAsked(nodes=1))
        own = {one.name: cluster for one, cluster in zip(found.recipes.recipes, found.own_cluster, strict=True)}
        assert own["between"] == NOWHERE
        assert found.clusters[own["ran"]].instance == catalogue.instance_code["aws", "one"]

    def test_nothing_runs_on_a_processor(self, packaged_evidence):
        catalogue = Catalogue.from_offers([offer(machine=Machine("Xeon", 0, None, 64))], "made up")
        whole = matrix_of(packaged_evidence, catalogue, "resnet50", MachinesAsked(nodes=1))
        assert (whole.clusters, whole.refusals) == ((), {0: "no_throughput"})
        assert whole.clusters_of_instances == {}
        assert (whole.own_cluster == NOWHERE).all()

    def test_every_known_speed_takes_time(self, packaged_evidence, packaged_prices):
        whole = matrix_of(packaged_evidence, packaged_prices, "resnet50")
        assert (whole.seconds_per_epoch[0] > 0).all()

    def test_speeds_of_no_more_care_are_the_same_alone(self, packaged_evidence, packaged_prices):
        of = model_recipes(packaged_evidence, "resnet50")
        asked = MachinesAsked(nodes=1)
        few = training_matrix(packaged_evidence, packaged_prices, of, asked, care="tuned")
        every = training_matrix(packaged_evidence, packaged_prices, of, asked)
        assert ((few.speed_row != NOWHERE) == of.of_care["tuned"]).all()
        wanted = np.flatnonzero(of.of_care["tuned"])
        place = {cluster: number for number, cluster in enumerate(every.speeds.clusters)}
        there = np.array([place[cluster] for cluster in few.speeds.clusters])
        refusal = every.speeds.refusal[every.speed_row[wanted]][:, there]
        np.testing.assert_array_equal(few.speeds.refusal[few.speed_row[wanted]], refusal)
        np.testing.assert_array_equal(few.global_batch, every.global_batch)

    def test_code_runs_on_chips_of_the_vendors_it_was_seen_on(self, packaged_evidence):
        machines = [Machine("V100", 8, 16.0, 64), Machine("TPU v3", 8, 16.0, 96)]
        offers = [offer(instance_type=machine.accelerator, machine=machine) for machine in machines]
        whole = training_matrix(
            packaged_evidence,
            Catalogue.from_offers(offers, "made up"),
            model_recipes(packaged_evidence, "resnet50"),
            MachinesAsked(nodes=1),
        )
        place = {recipe.name: row for recipe, row in zip(whole.recipes.recipes, whole.speed_row, strict=True)}
        chips = [cluster.accelerator for cluster in whole.speeds.clusters]
        refused = whole.speeds.refusal[place["ffcv-rn50-32ep"]] != 0
        assert dict(zip(chips, refused.tolist(), strict=True)) == {"V100": False, "TPU v3": True}

    def test_where_all_speeds_follow_from_the_askers_own_no_other_is_worked_out(
        self, monkeypatch, packaged_evidence, packaged_prices
    ):
        asked, usual = [], SpeedModel.speeds

        def seen(self, recipes, *rest):
            asked.append({recipe.stack for recipe in recipes})
            return usual(self, recipes, *rest)

        monkeypatch.setattr(SpeedModel, "speeds", seen)
        way = Way(own_speeds=(asked_speed(OwnSpeed(1450, 1, "A100-80GB"), "resnet18", 2026),))
        training_matrix(
            packaged_evidence,
            packaged_prices,
            model_recipes(packaged_evidence, "resnet18"),
            MachinesAsked(nodes=1),
            way,
        )
        assert asked == [{OWN}]


def test_it_says_how_much_memory_it_holds(packaged_evidence, packaged_prices):
    matrix_of(packaged_evidence, packaged_prices, "resnet18")  # what all matrices share is worked out now
    tracemalloc.start()
    try:
        held = matrix_of(packaged_evidence, packaged_prices, "resnet18")
        assert held.about_bytes == pytest.approx(tracemalloc.get_traced_memory()[0], rel=0.3)
    finally:
        tracemalloc.stop()
