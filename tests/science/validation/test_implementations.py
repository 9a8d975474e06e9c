import math

import pytest
from msgspec.structs import replace
from support.mlperf_results import ACCELERATORS, accelerator, publish, throughput_row

from science.validation.held_out import HeldOut, Learner
from science.validation.outside_mlperf.implementations import EXAMPLES, RERUN, RERUN_BY, Implementations

NETWORKS = {"resnet50": 1000.0, "resnet101": 600.0, "vgg16": 300.0}
CARDS = {"X100": 1.0, "Y100": 0.5}


def measured(networks=NETWORKS, cards=CARDS, **facts):
    """A network's rate times an accelerator's."""
    return [
        throughput_row(model, name, rate=rate * factor, **facts)
        for model, rate in networks.items()
        for name, factor in cards.items()
    ]


@pytest.fixture
def implementations(rows):
    """Implementations of these rows beside MLPerf's."""

    def build(measured_rows, accelerators=ACCELERATORS):
        published = publish(rows, accelerators)
        reference = Learner(published).reference_model(HeldOut())
        evidence = replace(published.evidence, throughputs=(*published.evidence.throughputs, *measured_rows))
        return Implementations(replace(published, evidence=evidence), reference)

    return build


def changed(rows, test, factor=3.0):
    """The same rows with other rates of some."""
    return [replace(row, images_per_second=row.images_per_second * factor) if test(row) else row for row in rows]


def predictions(cases, rows):
    """ln(images/s) that was predicted and that the baseline says, by name."""
    truth = {row.name: math.log(row.images_per_second) for row in rows}
    return {case.name: (truth[case.name] - case.error, truth[case.name] - case.baseline_error) for case in cases}


class TestUnseenAccelerators:
    """All rates of a stack on an accelerator are held out together."""

    def test_every_rate_outside_mlperf_is_predicted_once(self, implementations):
        rows = measured()
        cases = implementations(rows).unseen_accelerators()
        assert sorted(case.name for case in cases) == sorted(row.name for row in rows)
        assert {case.group for case in cases} == {"tool X100", "tool Y100"}

    def test_what_scales_as_the_reference_does_is_found_again(self, implementations):
        for case in implementations(measured()).unseen_accelerators():
            assert case.error == pytest.approx(0, abs=0.15)
            assert case.baseline_error == pytest.approx(0, abs=0.02)

    def test_the_held_out_rates_say_nothing(self, implementations):
        rows = measured()
        after = changed(rows, lambda row: row.accelerator == "Y100")
        was = predictions(implementations(rows).unseen_accelerators(), rows)
        now = predictions(implementations(after).unseen_accelerators(), after)
        for name in was:
            if "Y100" in name:
                assert now[name] == pytest.approx(was[name])
            else:
                assert now[name][1] == pytest.approx(was[name][1] + math.log(3))

    def test_another_stack_is_no_baseline_but_a_lesson(self, implementations):
        rows = [*measured(cards={"X100": 1.0}), *measured(stack="other")]
        cases = implementations(rows).unseen_accelerators()
        assert {case.group for case in cases} == {"other X100", "other Y100"}

    def test_unknown_networks_are_left_out(self, implementations):
        rows = [*measured(), throughput_row("seen once", rate=10.0)]
        assert not [case for case in implementations(rows).unseen_accelerators() if "seen once" in case.name]

    @pytest.mark.parametrize(("precision", "median"), [("fp32", 105.0), ("fp16", 300.0), ("tf32", 110.0)])
    def test_the_baseline_takes_the_same_precision_if_it_can(self, implementations, precision, median):
        known = [("fp16", 300.0, "Dan"), ("fp32", 100.0, "Dan"), ("fp32", 110.0, "Eve")]
        rows = [throughput_row("vgg16", rate=rate, precision=each, organisation=who) for each, rate, who in known]
        row = throughput_row("vgg16", "Y100", rate=60.0, precision=precision)
        other = throughput_row("resnet101", rate=9.0, precision=precision)
        cases = {case.name: case for case in implementations([*rows, row, other]).unseen_accelerators()}
        assert cases[row.name].baseline_error == pytest.approx(math.log(60 / (0.5 * median)), abs=0.06)


class TestOtherNetworks:
    """All rates of a network by an implementation on a chip in 16 or 32 bits are held out together."""

    def test_each_comes_with_its_bits(self, implementations):
        rows = [*measured(), *measured(precision="fp32"), *measured(precision="tf32", organisation="Eve")]
        found = implementations(rows).other_networks()
        assert {bits for bits, case in found if "fp16" in case.name} == {"16bit"}
        assert {bits for bits, case in found if "fp32" in case.name or "tf32" in case.name} == {"32bit"}
        assert len(found) == len(rows)

    def test_the_baseline_adds_network_and_system(self, implementations):
        for _, case in implementations(measured()).other_networks():
            assert case.baseline_error == pytest.approx(0, abs=1e-9)

    def test_the_held_out_rates_say_nothing(self, implementations):
        rows = measured()

        def test(row):
            return (row.model, row.accelerator) == ("vgg16", "Y100")

        after = changed(rows, test)
        was = predictions((case for _, case in implementations(rows).other_networks()), rows)
        now = predictions((case for _, case in implementations(after).other_networks()), after)
        held_out = next(row.name for row in rows if test(row))
        assert now[held_out] == pytest.approx(was[held_out])
        assert now != was

    def test_parts_of_one_chip_are_held_out_together(self, implementations):
        parts = [*ACCELERATORS, replace(accelerator("X100-big"), chip="X100", twin="X100")]
        rows = measured(cards={**CARDS, "X100-big": 1.0})
        after = changed(rows, lambda row: row.model == "vgg16" and row.accelerator == "X100")
        name = "tool Dan vgg16 fp16 X100-big 1"
        was = predictions((case for _, case in implementations(rows, parts).other_networks()), rows)
        now = predictions((case for _, case in implementations(after, parts).other_networks()), after)
        assert now[name] == pytest.approx(was[name])

    def test_what_nothing_ties_together_is_left_out(self, implementations):
        rows = [throughput_row("resnet50", rate=1000.0), throughput_row("vgg16", "Y100", rate=100.0)]
        assert implementations(rows).other_networks() == []


class TestOneChip:
    """All rates of an implementation but those on one chip are held out."""

    def test_the_chip_before_it_in_the_alphabet_is_known(self, implementations):
        rows = measured(cards={"X100": 1.0, "Y100": 0.5, "Z100": 2.0})
        cases = implementations(rows).measured_on_one_chip()
        assert len(cases) == len(rows)
        known_first = {"Y100": "X100", "Z100": "Y100", "X100": "Z100"}
        for card, known in known_first.items():
            after = changed(rows, lambda row, known=known: row.accelerator == known, 2.0)
            moved = predictions(implementations(after).measured_on_one_chip(), after)
            was = predictions(cases, rows)
            name = f"tool Dan vgg16 fp16 {card} 1"
            assert moved[name][1] == pytest.approx(was[name][1] + math.log(2))
            others = [other for other in known_first if other not in (card, known)]
            for other in others:
                after = changed(rows, lambda row, other=other: row.accelerator == other, 2.0)
                assert predictions(implementations(after).measured_on_one_chip(), after)[name] == pytest.approx(
                    was[name]
                )

    def test_an_implementation_on_one_chip_is_none(self, implementations):
        assert implementations(measured(cards={"X100": 1.0})).measured_on_one_chip() == []

    def test_other_implementations_are_no_home(self, implementations):
        rows = [*measured(cards={"X100": 1.0}), *measured(cards={"Y100": 0.5}, organisation="Eve")]
        assert implementations(rows).measured_on_one_chip() == []


class TestReruns:
    """Lambda's rates of NVIDIA's examples, predicted as NVIDIA's own."""

    @pytest.fixture
    def rows_of_both(self):
        examples = measured(stack=EXAMPLES.stack, organisation="NVIDIA")
        examples = [replace(row, framework_family=EXAMPLES.framework_family) for row in examples]
        return [*examples, *measured(stack=RERUN, organisation=RERUN_BY, cards={"Z100": 2.0})]

    @pytest.mark.parametrize(("card", "widths"), [("Z100", (0.3, 0.4)), ("X100", (0.1, 0.2))])
    def test_their_ranges_are_wider_on_chips_that_nvidia_did_not_run_them_on(
        self, implementations, rows_of_both, card, widths
    ):
        rows = [replace(row, accelerator=card) if row.organisation == RERUN_BY else row for row in rows_of_both]
        found = implementations(rows).reruns((0.1, 0.2), (0.3, 0.4))
        assert {bits for bits, _ in found} == {"16bit"}
        assert {case.half_widths for _, case in found} == {widths}
        assert len(found) == len(NETWORKS)

    def test_no_rate_of_lambdas_is_known(self, implementations, rows_of_both):
        cases = [case for _, case in implementations(rows_of_both).reruns((), ())]
        more = [*rows_of_both, *measured(stack="lambda-tf", organisation=RERUN_BY, networks={"vgg16": 9999.0})]
        after = changed(more, lambda row: row.organisation == RERUN_BY)
        was = predictions(cases, rows_of_both)
        now = predictions([case for _, case in implementations(after).reruns((), ())], after)
        assert now == {name: pytest.approx(each) for name, each in was.items()}

    def test_nvidias_own_rates_are(self, implementations, rows_of_both):
        after = changed(rows_of_both, lambda row: row.organisation == "NVIDIA")
        was = predictions([case for _, case in implementations(rows_of_both).reruns((), ())], rows_of_both)
        now = predictions([case for _, case in implementations(after).reruns((), ())], after)
        for name, (ours, baseline) in was.items():
            assert now[name][0] > ours + 0.5
            assert now[name][1] == pytest.approx(baseline + math.log(3))


def test_groups_twenty_apart_are_held_out_together(implementations):
    """Every group is in one of twenty folds: in the alphabet `n10` on X100 is the twentieth after `n00` on X100."""
    rows = measured(networks={f"n{number:02}": 100.0 for number in range(12)})

    def prediction(rows):
        cases = [case for _, case in implementations(rows).other_networks()]
        assert sorted(case.name for case in cases) == sorted(row.name for row in rows)
        return predictions(cases, rows)["tool Dan n00 fp16 X100 1"]

    def moved(model, name):
        return prediction(changed(rows, lambda row: (row.model, row.accelerator) == (model, name)))

    assert moved("n10", "X100")[0] == pytest.approx(prediction(rows)[0], abs=1e-12)
    assert abs(moved("n10", "Y100")[0] - prediction(rows)[0]) > 1e-6
    assert abs(moved("n09", "X100")[0] - prediction(rows)[0]) > 1e-6
