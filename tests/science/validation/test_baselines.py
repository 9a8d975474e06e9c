import math

import pytest
from msgspec.structs import replace
from support.mlperf_results import ACCELERATORS, accelerator, mlperf_row, publish

from costcalc.throughput.workloads import implementation, workload
from costcalc.training import IMAGES_PER_EPOCH
from science.fitting.transfer import Ratio
from science.validation.baselines import Baselines, additive_errors
from science.validation.published import ReferencePoint, mlperf_runs

POINTS = (ReferencePoint(4096, 40.0), ReferencePoint(2048, 36.0))  # in any order


def baselines(*rows, accelerators=ACCELERATORS, logged=True):
    """The baselines for these runs, and the runs."""
    published = publish(rows, accelerators, logged=logged)
    runs = tuple(mlperf_runs(published))
    return Baselines(runs, POINTS, published.evidence.accelerators), runs


def seconds(images_per_second, epochs=36.0):
    return math.log(epochs * IMAGES_PER_EPOCH / images_per_second * 1.014)


class TestBaselines:
    """Each by hand."""

    def test_its_own_rate(self):
        found, (run,) = baselines(mlperf_row("Ada", rate=2000.0))
        assert found.own(run) == pytest.approx(seconds(16_000))

    def test_epochs_lie_between_those_of_the_reference_points(self):
        found, (run,) = baselines(mlperf_row("Ada", rate=2000.0, batch=3072))
        assert found.own(run) == pytest.approx(seconds(16_000, epochs=38))

    def test_no_log_no_answer(self):
        found, (ada, _) = baselines(mlperf_row("Ada"), mlperf_row("Bob"), logged=False)
        assert [found.own(ada), found.transferred(ada), found.machines(ada)] == [None] * 3

    def test_the_median_of_other_organisations_equal_systems(self):
        rates = {"Ada": 9000.0, "Bob": 1000.0, "Cleo": 2000.0, "Dan": 2500.0}
        rows = [mlperf_row(who, rate=rate) for who, rate in rates.items()]
        found, runs = baselines(*rows, mlperf_row("Eve", count=4, rate=7.0), mlperf_row("Eve", "Y100", rate=7.0))
        assert found.transferred(runs[0]) == pytest.approx(seconds(8 * 2000))
        assert found.transferred(runs[-1]) is None

    def test_the_median_of_other_counts_in_one_machine(self):
        found, runs = baselines(
            mlperf_row("Ada"),
            mlperf_row("Bob", rate=1.0),
            mlperf_row("Bob", count=4, rate=2000.0),
            mlperf_row("Cleo", count=16, nodes=2, rate=1.0),
            mlperf_row("Ada", count=2, rate=1.0),
        )
        assert found.interpolated(runs[0]) == pytest.approx(seconds(8 * 2000))

    def test_one_machines_rate_with_longer_steps(self):
        found, runs = baselines(
            mlperf_row("Ada", count=16, nodes=2, batch=4096),
            mlperf_row("Bob", rate=2000.0),
            mlperf_row("Bob", count=16, nodes=2, rate=1.0),
        )
        step = 256 / 2000 * 1.137 + 0.003
        steps = 40 * IMAGES_PER_EPOCH / 4096
        assert found.machines(runs[0]) == pytest.approx(math.log(steps * step + 1.6))

    def test_the_roofline_of_compute_and_bandwidth(self):
        found, (run,) = baselines(mlperf_row("Ada"))
        per_image = 0.0395 / 300 + 0.322 / 1500
        assert found.accelerator(run) == pytest.approx(seconds(8 / per_image))

    @pytest.mark.parametrize("sheet", [{"tflops": None}, {"bandwidth": None}])
    def test_no_data_sheet_no_roofline(self, sheet):
        found, (run,) = baselines(mlperf_row("Ada"), accelerators=[accelerator("X100", **sheet)])
        assert found.accelerator(run) is None

    def test_earlier_recipes_of_one_machine_or_of_several(self):
        found, runs = baselines(
            mlperf_row("Ada"),
            mlperf_row("Ada", rate=2000.0, round="v1.0"),
            mlperf_row("Bob", rate=9.0),
            mlperf_row("Bob", count=16, nodes=2, rate=9.0, round="v1.0"),
            mlperf_row("Bob", "Y100", rate=9.0, round="v1.0"),
        )
        old = {run.name for run in runs if run.result.round == "v1.0"}
        assert found.earlier(runs[0], old) == pytest.approx(seconds(8 * 2000))
        assert found.earlier(runs[0], ()) is None

    def test_an_organisations_own_rates_say_nothing_of_it(self):
        def guesses(rate):
            rows = [mlperf_row("Ada", rate=rate), mlperf_row("Ada", count=4, rate=rate)]
            rows += [mlperf_row("Bob"), mlperf_row("Bob", count=4)]
            found, runs = baselines(*rows)
            return [found.transferred(runs[0]), found.interpolated(runs[0]), found.machines(runs[0])]

        assert guesses(2500.0) == guesses(5000.0)
        assert None not in guesses(2500.0)


def ratio(row, network, card, rate):
    made = replace(
        row,
        name=f"{network} {card}",
        model=network,
        accelerator=card,
        accelerators=1,
        nodes=1,
        images_per_second=rate,
        includes_evaluation=False,
    )
    return Ratio(made, workload(made, 224, {}), 0.0)


def by_name(ratio):
    return ratio.row.name


@pytest.fixture(scope="module")
def row(packaged_evidence):
    return next(row for row in packaged_evidence.throughputs if row.stack == "lambda-tf")


def test_a_network_and_a_card_that_multiply_are_predicted_exactly(row):
    rates = {"a": 100.0, "b": 300.0, "c": 40.0}
    found = [ratio(row, n, card, rate * f) for n, rate in rates.items() for card, f in (("V100", 1), ("A10", 0.5))]
    errors = additive_errors(found, by_name)
    assert len(errors) == 6
    assert list(errors.values()) == pytest.approx([0.0] * 6, abs=1e-9)


def test_what_nothing_ties_together_is_not_predicted(row):
    alone = [ratio(row, "a", "V100", 100.0), ratio(row, "b", "A10", 50.0), ratio(row, "b", "V100", 90.0)]
    assert additive_errors(alone, by_name) == {}


def test_implementations_do_not_mix(row, packaged_evidence):
    other = next(r for r in packaged_evidence.throughputs if r.stack == "nvidia-tf2")
    assert implementation(other) != implementation(row)
    found = [ratio(row, "a", "V100", 100.0), ratio(row, "a", "A10", 50.0), ratio(row, "b", "A10", 60.0)]
    assert additive_errors([*found, ratio(other, "b", "V100", 7.0)], by_name) == {}
