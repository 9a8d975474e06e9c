import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.speeds import MODELS, PARTS, REFERENCE, RESNET, SMALL, TRANSFER, on, rate, recipe, reference_recipe

from costcalc.hardware import Cluster
from costcalc.throughput.cluster_features import ClusterFeatures
from costcalc.throughput.fitted_parameters import KINDS
from costcalc.throughput.measurements import Measurements
from costcalc.throughput.memory import densest, most_images
from costcalc.throughput.prediction import REFUSALS, predict
from costcalc.throughput.reference_model import UNDATED, Setup, step_overhead
from costcalc.throughput.work_on_clusters import global_batch, shortest_step
from costcalc.throughput.workloads import workload
from costcalc.training import Phase

EIGHT = Cluster("new", 8)


def predicted(one, *clusters, rows=(), images_per_gib=0.0, reference=REFERENCE, transfer=TRANSFER):
    features = ClusterFeatures(clusters, reference, transfer)
    return predict(one, features, Measurements(dict(enumerate(rows)), features), images_per_gib)


def reasons(prediction):
    return [REFUSALS[code] for code in prediction.refusal]


def kinds(prediction):
    return [KINDS[code] for code in prediction.kind]


def each(setup):
    return REFERENCE.log_rate(setup)


def test_the_reference_network_runs_as_the_reference_model_says():
    found = predicted(reference_recipe(), EIGHT, Cluster("new", 4))
    for cluster, log_rate, batch in zip((EIGHT, Cluster("new", 4)), found.log_rate[:, 0], (128, 200), strict=True):
        setup = Setup("new", cluster.accelerators, 1, batch, 2022, "mxnet")  # 200 is the largest that people chose
        assert log_rate == pytest.approx(each(setup) + math.log(cluster.accelerators))


def test_another_network_runs_by_what_was_learned_of_it():
    one = recipe(phases=(Phase(224, 0, 1), Phase(112, 1, 2)))
    found = predicted(one, EIGHT).log_rate[0]
    steeper = TRANSFER.slope(one) * step_overhead(128)
    for log_rate, size in zip(found, (224, 112), strict=True):
        made = workload(one, size, MODELS)
        learned = TRANSFER.software(made) + TRANSFER.hardware(made, "new", 8)
        setup = Setup("new", 8, 1, 128, 2022, "pytorch")
        assert log_rate == pytest.approx(each(setup) + steeper + learned + math.log(8))
    assert found[1] - found[0] == pytest.approx(1.6 * math.log(2))


def test_a_rate_on_its_own_system_sets_the_level_elsewhere():
    one = recipe(system=on("new"), images_per_second=4000.0)
    there, elsewhere = predicted(one, EIGHT, Cluster("new", 4)).log_rate[:, 0]
    assert math.exp(there) == pytest.approx(4000)
    hardware = [TRANSFER.hardware(workload(one, 224, MODELS), "new", count) for count in (8, 4)]
    steeper = [TRANSFER.slope(one) * step_overhead(batch) for batch in (128, 256)]
    model = [each(Setup("new", count, 1, batch, 2022, "pytorch")) for count, batch in ((8, 128), (4, 256))]
    change = hardware[1] - hardware[0] + steeper[1] - steeper[0] + model[1] - model[0] + math.log(4 / 8)
    assert elsewhere - there == pytest.approx(change)


def test_a_network_of_which_nothing_is_known_has_no_rate():
    assert reasons(predicted(recipe(model="unheard-of"), EIGHT)) == ["no_throughput"]
    anchored = recipe(model="unheard-of", system=on("old"), images_per_second=4000.0)
    assert reasons(predicted(anchored, EIGHT, Cluster("old", 8))) == ["", ""]
    unanchored = recipe(model="unheard-of", system=on("silent"), images_per_second=4000.0)
    assert reasons(predicted(unanchored, EIGHT, Cluster("silent", 8))) == ["no_throughput", ""]  # its own rate is known


def test_an_unknown_batch_is_256_images_on_each_accelerator():
    assert global_batch(recipe()) == 1024
    assert global_batch(recipe(global_batch_size=None)) == 8 * 256
    assert global_batch(recipe(global_batch_size=None, system=on("new", 16, 2))) == 16 * 256
    assert global_batch(recipe(global_batch_size=None, system=on("Xeon", 0))) == 8 * 256


def test_a_batch_that_does_not_fit_is_taken_in_steps_that_do():
    one = recipe(global_batch_size=100_000)
    held = most_images(np.array([80.0]), SMALL, 224, "amp").item()
    steps = math.ceil(100_000 / 8 / held)
    assert steps > 1
    found = predicted(one, EIGHT)
    assert found.steps.tolist() == [steps]
    rate_in_steps = each(Setup("new", 8, 1, held, 2022, "pytorch"))
    steeper = TRANSFER.slope(one) * step_overhead(held)
    made = workload(one, 224, MODELS)
    learned = TRANSFER.software(made) + TRANSFER.hardware(made, "new", 8)
    assert found.log_rate[0, 0] == pytest.approx(rate_in_steps + steeper + learned + math.log(8))


def test_what_was_seen_in_memory_needs_no_more_steps():
    one = recipe(global_batch_size=100_000)
    assert predicted(one, EIGHT, images_per_gib=1000.0).steps.tolist() == [1]
    mlperf = reference_recipe(global_batch_size=100_000)
    assert (
        predicted(mlperf, EIGHT, images_per_gib=1000.0).steps.tolist() == predicted(mlperf, EIGHT).steps.tolist() != [1]
    )


def test_memory_is_filled_by_the_largest_images():
    held = most_images(np.array([80.0]), SMALL, 448, "amp").item()
    one = recipe(global_batch_size=100_000, phases=(Phase(448, 0, 1), Phase(112, 1, 2)))
    assert predicted(one, EIGHT).steps.tolist() == [math.ceil(100_000 / 8 / held)]


def test_on_its_own_system_a_recipe_holds_its_batch_in_one_step():
    one = recipe(global_batch_size=100_000, system=on("new"), images_per_second=4000.0)
    assert predicted(one, EIGHT, Cluster("new", 4)).steps.tolist()[0] == 1
    assert predicted(one, EIGHT, Cluster("new", 4)).steps.tolist()[1] > 1


def test_reasons_for_refusing_come_in_order():
    tiny = {**PARTS, "new": replace(PARTS["new"], memory_gib=0.05), "old": replace(PARTS["old"], memory_gib=0.05)}
    sheets = replace(REFERENCE.data_sheets, accelerators=tiny)
    found = predicted(
        recipe(global_batch_size=64 * 8),
        *(Cluster("odd", 8), Cluster("old", 8, 2), Cluster("game", 8, 16), Cluster("game", 8, 2), Cluster("game", 8)),
        reference=replace(REFERENCE, data_sheets=sheets),
    )
    assert reasons(found) == ["no_throughput", "does_not_fit_memory", "batch_too_small", "no_network", ""]


@pytest.mark.parametrize(("images", "reason"), [(8, ""), (7, "batch_too_small")])
def test_each_accelerator_gets_eight_images_a_step_at_least(images, reason):
    assert reasons(predicted(recipe(global_batch_size=8 * images), EIGHT)) == [reason]


def test_many_machines_wait_for_each_other():
    """The reference network at 32 images on each of 32 accelerators: the model's step is shorter than the wait."""
    one, four = reference_recipe(global_batch_size=16 * 32), Cluster("new", 8, 4)
    swift = replace(REFERENCE, effects={**REFERENCE.effects, ("mean",): -1.1 + 0.1})
    step = 16 / math.exp(swift.log_rate(Setup("new", 8, 4, 16, 2022, "mxnet")))
    found = predicted(one, four, reference=swift)
    shortest = shortest_step(RESNET)
    assert found.log_rate[0, 0] == pytest.approx(math.log(32 * 16 / max(step, shortest)))


def test_a_step_shorter_than_any_measured_is_refused_on_many_machines_only():
    one = reference_recipe(global_batch_size=10 * 32)
    swift = replace(REFERENCE, effects={**REFERENCE.effects, ("mean",): 3.0})
    assert reasons(predicted(one, Cluster("new", 8, 4), EIGHT, reference=swift)) == ["batch_too_small", ""]


def test_what_was_measured_there_is_the_answer():
    found = predicted(recipe(), EIGHT, Cluster("new", 4), rows=[rate(5000.0)])
    assert math.exp(found.log_rate[0, 0]) == pytest.approx(5000)
    assert kinds(found) == ["transferred", "interpolated"]
    assert not found.spread_out.any()


def test_a_measured_rate_answers_where_no_model_does_but_not_for_another_batch():
    rows = [rate(5000.0, "odd")]
    assert reasons(predicted(recipe(), Cluster("odd", 8), rows=rows)) == [""]
    assert reasons(predicted(recipe(global_batch_size=7 * 8), Cluster("odd", 8), rows=rows)) == ["no_throughput"]


def test_the_reference_is_fitted_even_where_it_was_measured():
    found = predicted(reference_recipe(), EIGHT, rows=[rate(99_999.0, model="resnet50", stack="mlperf")])
    assert found.log_rate.tolist() == predicted(reference_recipe(), EIGHT).log_rate.tolist()
    assert kinds(found) == ["transferred"]


def each_of(prediction, clusters):
    """Images per second of one accelerator on each cluster."""
    counts = [cluster.total_accelerators for cluster in clusters]
    return (np.exp(prediction.log_rate[:, 0]) / counts).tolist()


SIZES = tuple(Cluster("new", count) for count in (1, 2, 4, 8, 16))


def test_a_rate_measured_on_many_is_the_least_that_fewer_do_each():
    plain = each_of(predicted(recipe(), *SIZES), SIZES)
    raised = each_of(predicted(recipe(), *SIZES, rows=[rate(8 * 2 * plain[0])]), SIZES)
    assert raised[:4] == pytest.approx([2 * plain[0]] * 4)
    assert raised[4] == pytest.approx(plain[4])


def test_a_rate_measured_on_few_is_the_most_that_more_do_each():
    plain = each_of(predicted(recipe(), *SIZES), SIZES)
    capped = each_of(predicted(recipe(), *SIZES, rows=[rate(2 * plain[4] / 2, accelerators=2)]), SIZES)
    assert capped == pytest.approx([plain[0], *[plain[4] / 2] * 4])


def test_of_two_measured_rates_the_larger_cluster_decides():
    """Both were measured, but by different people: two cannot do less each than eight."""
    rows = [rate(1000.0, accelerators=2), rate(8000.0, accelerators=8)]
    assert each_of(predicted(recipe(), *SIZES, rows=rows), SIZES)[1:4] == pytest.approx([1000.0] * 3)


def test_the_recipes_own_log_stands_whatever_else_was_measured():
    own = recipe(system=on("new", 2), images_per_second=1000.0)
    found = each_of(predicted(own, *SIZES, rows=[rate(8000.0, accelerators=8)]), SIZES)
    assert found[1:4] == pytest.approx([500.0] * 3)
    assert found[0] >= 500.0
    assert found[4] <= 500.0


def test_counts_of_machines_and_in_a_machine_are_not_compared_with_each_other():
    clusters = (Cluster("new", 8, 2), Cluster("new", 16), Cluster("new", 8, 4), Cluster("new", 8))
    plain = each_of(predicted(recipe(), *clusters), clusters)
    raised = each_of(predicted(recipe(), *clusters, rows=[rate(32 * 99_000.0, accelerators=32, nodes=4)]), clusters)
    assert [raised[0], raised[2], raised[3]] == pytest.approx([99_000] * 3)
    assert raised[1] == pytest.approx(plain[1])


def test_the_same_chip_with_more_memory_is_not_slower():
    clusters = (EIGHT, Cluster("new-big", 8), Cluster("new-big", 4), Cluster("new-big", 16))
    plain = each_of(predicted(recipe(), *clusters), clusters)
    less = each_of(predicted(recipe(), *clusters, rows=[rate(8 * 2 * plain[0])]), clusters)
    assert less == pytest.approx([2 * plain[0]] * 3 + [plain[3]])
    more = each_of(predicted(recipe(), *clusters, rows=[rate(8 * plain[0] / 2, "new-big")]), clusters)
    assert more == pytest.approx([plain[0] / 2, plain[0] / 2, plain[2], plain[0] / 2])
    swift = replace(REFERENCE, effects={**REFERENCE.effects, ("accelerator", "new-big"): -1.0})
    one, big = each_of(predicted(reference_recipe(), *clusters[:2], reference=swift), clusters[:2])
    assert big == one


def test_no_modelled_rate_is_above_the_arithmetic_of_the_data_sheet():
    one = recipe(phases=(Phase(224, 0, 1), Phase(448, 1, 2)))
    swift = replace(REFERENCE, effects={**REFERENCE.effects, ("mean",): 9.0})
    peak = 400e12 / (6 * 0.41e9)
    found = np.exp(predicted(one, Cluster("new", 1), Cluster("new", 8), reference=swift).log_rate)
    assert found == pytest.approx(np.outer([1, 8], [peak, peak / 4]))
    measured = predicted(one, Cluster("new", 8), rows=[rate(1e9), rate(1e9, image_size=448)], reference=swift)
    assert np.exp(measured.log_rate) == pytest.approx(np.array([[1e9, 1e9]]))
    resnet = predicted(reference_recipe(), Cluster("new", 1), reference=swift)
    assert np.exp(resnet.log_rate[0, 0]) == pytest.approx(400e12 / (6 * 4.1e9))


def test_without_a_data_sheet_or_known_arithmetic_there_is_no_such_limit():
    swift = replace(REFERENCE, years={**REFERENCE.years, "silent": (2022, 2022)}, default_intercept=30.0)
    assert predicted(recipe(), Cluster("silent", 1), reference=swift).log_rate[0, 0] > 25
    unheard_of = recipe(model="unheard-of", system=on("new"), images_per_second=1e9)
    assert predicted(unheard_of, Cluster("new", 1)).log_rate[0, 0] > math.log(1e8)


KIND_CLUSTERS = (
    EIGHT,
    Cluster("new", 4),
    Cluster("new", 8, 4),
    Cluster("new-big", 8),
    Cluster("old", 8),
    Cluster("game", 8),
)


def test_kinds_of_evidence_from_most_to_least():
    rows = [rate(5000.0)]
    assert kinds(predicted(recipe(), *KIND_CLUSTERS, rows=rows)) == [
        *("transferred", "interpolated", "machines", "network", "stack", "stack")
    ]


def test_a_chip_known_to_the_implementation_with_another_network_is_related():
    assert kinds(predicted(recipe(), *KIND_CLUSTERS, rows=[rate(900.0, "old")])) == [
        *("network", "network", "network", "network", "transferred", "stack")
    ]
    assert kinds(predicted(recipe(), *KIND_CLUSTERS)) == ["stack"] * 6


def test_many_machines_measured_say_nothing_of_one():
    assert kinds(predicted(recipe(), EIGHT, Cluster("new", 8, 4), rows=[rate(900.0, accelerators=64, nodes=8)])) == [
        *("machines", "machines")
    ]


def test_the_own_system_counts_as_measured():
    one = recipe(system=on("new"), images_per_second=4000.0)
    assert kinds(predicted(one, *KIND_CLUSTERS))[:3] == ["transferred", "interpolated", "machines"]
    pod = recipe(system=on("new", 32, 4), images_per_second=4000.0)
    assert kinds(predicted(pod, *KIND_CLUSTERS))[:3] == ["machines", "machines", "transferred"]


def test_the_reference_on_a_chip_like_those_measured_is_surer_than_on_another():
    rows = [rate(5000.0, model="resnet50", stack="mlperf")]
    found = predicted(reference_recipe(), EIGHT, Cluster("old", 8), Cluster("bare", 8), rows=rows)
    like = [REFERENCE.resembles_measured(name) for name in ("old", "bare")]
    assert kinds(found)[1:] == ["accelerator" if alike else "stack" for alike in like]


def test_sizes_whose_rates_are_guessed_are_never_sure():
    sizes = (Phase(224, 0, 1), Phase(160, 1, 2))
    assert kinds(predicted(recipe(phases=sizes), *KIND_CLUSTERS[:2], rows=[rate(5000.0)])) == ["stack", "stack"]
    known = recipe(phases=sizes, system=on("new"), images_per_second=4000.0)
    assert kinds(predicted(known, *KIND_CLUSTERS[:2])) == ["transferred", "interpolated"]


def test_a_range_holds_half_of_what_twice_as_many_may_lose_at_most():
    """Where a batch fills every memory, a doubling takes off what sharing costs: of the reference network 4 % in a machine and
    3 % between machines at most, of this one 6 % more. With a smaller batch each accelerator has half as many images besides."""
    clusters = [*(Cluster("new", count) for count in (1, 2, 4, 8)), *(Cluster("new", 8, nodes) for nodes in (2, 4, 8))]
    filled = predicted(recipe(global_batch_size=2**20), *clusters)
    assert filled.least_width.tolist() == pytest.approx([(0.04 + 0.03 + 0.06) / 2] * 7)
    for batch in (2**20, 8192, 1024, 512):
        found = predicted(recipe(global_batch_size=batch), *clusters)
        each = found.log_rate[:, 0] - np.log([cluster.total_accelerators for cluster in clusters])
        assert (each[:-1] - each[1:] <= 2 * found.least_width[:-1] + 1e-9).all()


def test_what_is_modelled_on_top_of_one_machine_is_marked():
    found = predicted(recipe(), *KIND_CLUSTERS, Cluster("new", 16), rows=[rate(5000.0)])
    assert found.spread_out.tolist() == [False, False, True, False, False, False, True]  # sixteen in a machine as well
    pod = recipe(system=on("new", 32, 4), images_per_second=4000.0)
    assert predicted(pod, EIGHT, Cluster("new", 8, 4), Cluster("new", 8, 8)).spread_out.tolist() == [False, False, True]


def test_software_of_no_year_is_the_usual_one():
    dated, undated = (predicted(reference_recipe(year=year), EIGHT).log_rate[0, 0] for year in (2022, UNDATED))
    assert undated - dated == pytest.approx(0.07 - 0.0)


@pytest.mark.parametrize(("images", "reason"), [(1.5, "batch_too_small"), (0.9, "does_not_fit_memory")])
def test_a_memory_of_one_image_holds_the_network_but_no_batch_worth_training(images, reason):
    gib = (images * 0.08 / 10**0.75 + 0.6 + 5.12e6 * 16 / 2**30) / 0.95
    small = {**PARTS, "new": replace(PARTS["new"], memory_gib=gib)}
    reference = replace(REFERENCE, data_sheets=replace(REFERENCE.data_sheets, accelerators=small))
    assert reasons(predicted(recipe(), EIGHT, reference=reference)) == [reason]


GIB_OF_RESNET = 25.6e6 * 16 / 2**30 + 0.6  # weights, gradients and two moments, and the framework
MEMORY = np.array([80.0])


def images(gib, *asked):
    return most_images(np.array([gib]), *asked).item()


def test_the_reference_takes_80_mb_an_image():
    assert images(80.0, RESNET, 224, "amp") == pytest.approx((80 * 0.95 - GIB_OF_RESNET) / 0.08)
    assert images(80.0, None, 224, "amp") == images(80.0, RESNET, 224, "amp")


def test_32_bits_take_twice_the_room():
    assert images(80.0, RESNET, 224, "fp32") == pytest.approx(images(80.0, RESNET, 224, "fp16") / 2)
    assert images(80.0, RESNET, 224, None) == images(80.0, RESNET, 224, "fp32")


def test_images_take_room_by_their_area():
    assert images(80.0, RESNET, 448, "amp") == pytest.approx(images(80.0, RESNET, 224, "amp") / 4)


def test_a_smaller_network_takes_less_room_but_not_in_proportion():
    room = (80 * 0.95 - 0.6 - 5.12e6 * 16 / 2**30) / 0.08
    assert images(80.0, SMALL, 224, "amp") == pytest.approx(room * 10**0.75)


def test_multiply_adds_are_those_at_the_networks_own_size():
    assert images(80.0, replace(RESNET, image_size=448), 448, "amp") == images(80.0, RESNET, 224, "amp")


def test_unknown_memory_holds_everything_and_a_tiny_one_nothing():
    assert images(math.inf, RESNET, 224, "amp") == math.inf
    assert images(0.3, RESNET, 224, "amp") < 0


def test_what_was_seen_in_memory_fits():
    seen = 50.0  # images at 224 px in a GiB
    assert images(80.0, RESNET, 224, "amp", seen) == pytest.approx((80 * 0.95 - GIB_OF_RESNET) * seen)
    assert images(80.0, RESNET, 448, "amp", seen) == pytest.approx((80 * 0.95 - GIB_OF_RESNET) * seen / 4)
    assert images(80.0, RESNET, 224, "amp", 1.0) == images(80.0, RESNET, 224, "amp")


@given(st.floats(1, 200), st.floats(1, 200))
def test_more_memory_never_holds_less(first, second):
    small, large = sorted((first, second))
    assert images(small, RESNET, 224, "amp") <= images(large, RESNET, 224, "amp")


def test_the_densest_row_counts():
    room = 80 * 0.95 - GIB_OF_RESNET
    rows = [rate(1, global_batch_size=8 * 400), rate(1, global_batch_size=8 * 100, image_size=448), rate(1)]
    assert densest(rows[:1], RESNET, PARTS) == pytest.approx(400 / room)
    assert densest(rows[1:], RESNET, PARTS) == pytest.approx(400 / room)
    assert densest(rows, RESNET, PARTS) == pytest.approx(400 / room)
    assert densest([], RESNET, PARTS) == 0


@pytest.mark.parametrize(
    "silent",
    [
        rate(1),
        rate(1, global_batch_size=800, accelerators=0),
        rate(1, "silent", global_batch_size=800),
        rate(1, "Xeon", global_batch_size=800),
    ],
)
def test_rows_that_say_nothing_of_memory(silent):
    assert densest([silent], RESNET, PARTS) == 0


def test_a_chip_that_computes_out_of_its_own_memory_says_nothing_of_others():
    pod = replace(PARTS["new"], device_memory=False)
    assert densest([rate(1, global_batch_size=800)], RESNET, {"new": pod}) == 0


def test_a_memory_too_small_for_the_network_says_nothing():
    tiny = replace(PARTS["new"], memory_gib=0.1)
    assert densest([rate(1, global_batch_size=800)], RESNET, {"new": tiny}) == 0


def test_machines_wait_for_each_other_and_for_the_gradients():
    assert shortest_step(RESNET) == pytest.approx(0.003 + 2 * 25.6e6 * 2 / 50e9)
    assert shortest_step(None) == shortest_step(RESNET)
    assert shortest_step(SMALL) == pytest.approx(0.003 + 2 * 5.12e6 * 2 / 50e9)
