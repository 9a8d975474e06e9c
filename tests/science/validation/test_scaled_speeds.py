"""Rates that are scaled from another one, and transformers without those of the same organisation, on made-up rates."""

import math

import pytest
from msgspec.structs import replace
from support.mlperf_results import ACCELERATORS, accelerator, publish, throughput_row

from costcalc.training import Model
from science.validation.held_out import Learner
from science.validation.outside_mlperf.scaled_speeds import ScaledSpeeds

NETWORKS = {
    name: Model(name, (), "vit", 86.0, 17.6, 224, "made up", activations_millions=23.9)
    for name in ("vit_b16", "vit_l16")
}


@pytest.fixture
def speeds(rows):
    """These rates beside MLPerf's, some of them unseen, in these splits."""

    def build(learned, unseen=(), **groups):
        published = publish(rows, [*ACCELERATORS, accelerator("N100")], groups=groups, unseen_speeds=tuple(unseen))
        evidence = published.evidence
        known = replace(
            evidence,
            throughputs=(*evidence.throughputs, *learned),
            models={**evidence.models, **NETWORKS},
        )
        return ScaledSpeeds(Learner(replace(published, evidence=known)))

    return build


def rates(per_accelerator, *counts, model="resnet50", **facts):
    """One code's rates at several counts, in proportion to them."""
    return [throughput_row(model, rate=per_accelerator * count, count=count, **facts) for count in counts]


class TestScaled:
    """A rate from another rate of the same code."""

    def test_proportional_rates_are_found_again(self, speeds):
        one, eight = rates(1000.0, 1, 8)
        ((case),) = speeds([one], [eight], other_count={eight.name: one.name}).scaled("other_count")
        assert case.name == eight.name
        assert case.error == pytest.approx(0, abs=0.1)
        assert case.baseline_error == pytest.approx(0)

    def test_the_error_is_ln_of_measured_over_predicted(self, speeds):
        one, eight = rates(1000.0, 1, 8)
        half = replace(eight, images_per_second=eight.images_per_second / 2)
        full_error, half_error = (
            speeds([one], [each], other_count={eight.name: one.name}).scaled("other_count")[0] for each in (eight, half)
        )
        assert half_error.error - full_error.error == pytest.approx(-math.log(2))
        assert half_error.baseline_error == pytest.approx(-math.log(2))

    def test_a_held_out_rate_does_not_move_its_own_prediction(self, speeds):
        one, two, eight = rates(1000.0, 1, 2, 8)
        pairs = {each.name: one.name for each in (two, eight)}

        def predicted(slower):
            learned = [
                one,
                *(replace(each, images_per_second=each.images_per_second * slower) for each in (two, eight)),
            ]
            return [case.error - math.log(slower) for case in speeds(learned, other_count=pairs).scaled("other_count")]

        assert predicted(0.2) == pytest.approx(predicted(1.0))

    def test_groups_are_codes_but_for_one_code_alone(self, speeds):
        mine, others = rates(1000.0, 1, 2, 8), rates(500.0, 1, 8, stack="other")
        pairs = {each.name: mine[0].name for each in mine[1:]}
        both = pairs | {others[1].name: others[0].name}
        split = speeds([*mine, *others], other_count=both, several_machines=pairs)
        assert {case.group for case in split.scaled("other_count")} == {"tool", "other"}
        assert {case.group for case in split.scaled("several_machines")} == set(pairs)

    def test_without_the_split_there_is_nothing(self, speeds):
        assert speeds(rates(1000.0, 1)).scaled("other_count") == []


class TestTransformers:
    """Networks of attention, without those of the same organisation."""

    @pytest.fixture
    def rows_of_two(self):
        ada = rates(100.0, 1, model="vit_b16", organisation="Ada", stack="a")
        bob = rates(200.0, 1, model="vit_b16", organisation="Bob", stack="b", name="Y100")
        return ada, bob

    def test_each_organisation_is_predicted_by_the_others(self, speeds, rows_of_two):
        ada, bob = rows_of_two
        groups = {each.name: each.organisation for each in (*ada, *bob)}
        for measured in (True, False):
            cases = speeds([*ada, *bob], transformers=groups).transformers(measured=measured)
            assert {case.group for case in cases} == {"Ada", "Bob"}

    def test_its_own_rates_do_not_move_a_prediction(self, speeds, rows_of_two):
        ada, bob = rows_of_two
        groups = {each.name: each.organisation for each in (*ada, *bob)}

        def predicted(faster):
            learned = [*(replace(each, images_per_second=faster * each.images_per_second) for each in ada), *bob]
            cases = speeds(learned, transformers=groups).transformers(measured=True)
            return next(case.error - math.log(faster) for case in cases if case.group == "Ada")

        assert predicted(5.0) == pytest.approx(predicted(1.0))

    def test_no_other_transformer_of_its_organisation_moves_it_even_if_the_split_does_not_name_it(
        self, speeds, rows_of_two
    ):
        ada, bob = rows_of_two
        groups = {each.name: each.organisation for each in (*ada, *bob)}
        beside = rates(9000.0, 1, model="vit_l16", organisation="Ada", stack="a")
        without, with_it = (
            next(c.error for c in speeds(each, transformers=groups).transformers(measured=True) if c.group == "Ada")
            for each in ([*ada, *bob], [*ada, *bob, *beside])
        )
        assert with_it == pytest.approx(without)

    def test_benchmarks_on_synthetic_images_are_told_from_training(self, speeds, rows_of_two):
        ada, bob = rows_of_two
        synthetic = [replace(each, data="synthetic") for each in ada]
        known = speeds([*synthetic, *bob], transformers={each.name: each.organisation for each in (*ada, *bob)})
        found = {case.group: known.is_synthetic(case) for case in known.transformers(measured=True)}
        assert found == {"Ada": True, "Bob": False}

    def test_those_of_a_later_split_are_scored_and_held_out_too(self, speeds, rows_of_two):
        ada, bob = rows_of_two
        later = {each.name: "Ada" for each in ada}
        known = speeds([*ada, *bob], transformers={bob[0].name: "Bob"}, more_transformers=later)
        assert {case.group for case in known.transformers(measured=True)} == {"Ada", "Bob"}

    def test_a_network_that_nobody_else_ran_is_left_out(self, speeds, rows_of_two):
        ada, _ = rows_of_two
        assert speeds(ada, transformers={ada[0].name: "Ada"}).transformers(measured=True) == []

    def test_no_rate_of_the_chip_is_known_where_it_was_never_measured(self, speeds, rows_of_two):
        ada, bob = rows_of_two
        groups = {each.name: each.organisation for each in (*ada, *bob)}
        beside = rates(9000.0, 1, stack="beside")  # on Ada's chip

        def errors(measured):
            learned = ([*ada, *bob], [*ada, *bob, *beside])
            return [
                next(
                    case.error
                    for case in speeds(each, transformers=groups).transformers(measured=measured)
                    if case.group == "Ada"
                )
                for each in learned
            ]

        without, with_it = errors(measured=False)
        assert with_it == pytest.approx(without)
        assert errors(measured=True)[0] != pytest.approx(errors(measured=True)[1])

    def test_the_baseline_does_as_many_multiply_adds_as_resnet50(self, speeds, rows_of_two):
        ada, bob = rows_of_two
        groups = {each.name: each.organisation for each in (*ada, *bob)}
        fast = [replace(each, images_per_second=each.images_per_second * 2) for each in ada]
        one, two = (
            next(
                c.baseline_error
                for c in speeds([*mine, *bob], transformers=groups).transformers(measured=True)
                if c.group == "Ada"
            )
            for mine in (ada, fast)
        )
        assert two - one == pytest.approx(math.log(2))


class TestBestWithoutTheCode:
    """What no model can do better that does not know whose code ran."""

    def both(self, slow, fast, **facts):
        ada = rates(slow, 1, model="vit_b16", organisation="Ada", stack="a")
        return [*ada, *rates(fast, 1, model="vit_b16", organisation="Bob", stack="b", **facts)]

    def test_one_prediction_for_two_codes_is_that_which_errs_least(self, speeds):
        """At the faster one's rate the other one is 75 % off; at the slower one's it would be 300 %."""
        cases = speeds(self.both(100.0, 400.0)).best_without_the_code()
        assert [case.error for case in cases] == pytest.approx([-math.log(4), 0.0])
        assert [case.baseline_error for case in cases] == pytest.approx([-math.log(4), 0.0])
        assert len({case.group for case in cases}) == 1

    def test_the_same_code_twice_says_nothing_of_codes(self, speeds):
        assert speeds(rates(100.0, 1, 8, model="vit_b16", stack="a")).best_without_the_code() == []

    def test_other_chips_bits_and_benchmarks_are_not_alike(self, speeds):
        for other in ({"name": "Y100"}, {"precision": "fp32"}):
            assert speeds(self.both(100.0, 400.0, **other)).best_without_the_code() == []
        ada, bob = self.both(100.0, 400.0)
        assert speeds([ada, replace(bob, data="synthetic")]).best_without_the_code() == []
