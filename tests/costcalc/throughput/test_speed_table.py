"""What the engine gets: figures, intervals, refusals and sentences of a small world worked out by hand."""

import math

import numpy as np
import pytest
from msgspec.structs import replace
from support.speeds import REFERENCE, TRANSFER, on, rate, recipe, reference_recipe

from costcalc.hardware import Cluster
from costcalc.throughput import REFUSALS, TIERS, WIDE_BY_RULE, FittedParameters, SpeedModel, signature, undated
from costcalc.throughput.fitted_parameters import KINDS, HalfWidth, calibrated
from costcalc.throughput.provenance import NO_SPEED, NO_SPEED_OF_CODE, USUAL_SOFTWARE
from costcalc.throughput.reference_model import UNDATED, ChipPrior
from costcalc.throughput.speed_model import COLUMNS
from costcalc.training import IMAGES_PER_EPOCH, Phase, Tier

WIDTH = {
    "transferred": 0.05,
    "interpolated": 0.1,
    "machines": 0.2,
    "accelerator": 0.3,
    "network": 0.15,
    "stack": 0.4,
    "code": 0.6,
}
WIDTHS = {kind: HalfWidth(width, by_rule=False) for kind, width in WIDTH.items()} | {
    calibrated(kind, True): HalfWidth(2 * WIDTH[kind], by_rule=False) for kind in KINDS[:4]
}
FITTED = FittedParameters("", REFERENCE, TRANSFER, WIDTHS)
EIGHT, FOUR, PODS, OLD = Cluster("new", 8), Cluster("new", 4), Cluster("new", 8, 4), Cluster("old", 8)


def large():
    """A recipe whose batch is large enough for many machines."""
    return recipe(global_batch_size=32_768)


def speeds(recipes, clusters, rows=()):
    return SpeedModel(rows, FITTED).speeds(recipes, clusters)


def test_an_epoch_lasts_as_long_as_its_images():
    table = speeds([recipe()], [EIGHT], [rate(5000.0)])
    assert table.seconds_per_epoch[0, 0, 0] == pytest.approx(IMAGES_PER_EPOCH / 5000)


def test_phases_that_a_recipe_lacks_have_no_time():
    two = recipe(phases=(Phase(224, 0, 1), Phase(160, 1, 2)))
    table = speeds([recipe(), two], [EIGHT, Cluster("odd", 8)])
    assert np.isnan(table.seconds_per_epoch).tolist() == [[[False, True], [True, True]], [[False, False], [True, True]]]


def test_tiers_and_refusals_have_their_names():
    table = speeds([large()], [EIGHT, FOUR, PODS, OLD, Cluster("game", 8, 2)], [rate(5000.0)])
    assert [TIERS[tier] for tier in table.tier[0, :4]] == [
        *(Tier.TRANSFERRED, Tier.INTERPOLATED, Tier.MODELLED, Tier.MODELLED)
    ]
    assert table.tier[0, 4] == -1
    assert [REFUSALS[code] for code in table.refusal[0]] == ["", "", "", "", "no_network"]


def as_modelled():
    """A rate on eight accelerators that is just what is modelled there."""
    [[[seconds]]] = speeds([large()], [EIGHT]).seconds_per_epoch
    return rate(IMAGES_PER_EPOCH / seconds)


def test_other_peoples_code_is_no_surer_than_with_other_networks_nor_on_a_chip_it_never_ran_on_than_any_code():
    table = speeds([large()], [EIGHT, Cluster("new", 6), PODS, OLD], [as_modelled()])
    assert table.width_80[0] == pytest.approx([0.15, 0.15, 0.2, WIDTH["code"]])


def test_a_chip_nobody_measured_is_known_as_well_as_its_prior_and_no_faster_than_its_data_sheet():
    prior = ChipPrior(0.0, slower=0.8, faster=0.3)
    known = replace(FITTED, reference=replace(FITTED.reference, priors={"old": prior}))
    table = SpeedModel([as_modelled()], known).speeds([large()], [EIGHT, OLD])
    assert table.width_80[0, 1] == pytest.approx(math.hypot(WIDTH["code"], 0.8))
    assert table.width_faster[0, 1] == pytest.approx(math.hypot(WIDTH["code"], 0.3))
    assert table.width_faster[0, 0] == table.width_80[0, 0]
    assert len(table.notes(0, 1)) == len(table.notes(0, 0)) + 1


def test_the_reference_is_as_sure_as_its_accelerators_rates_lie_close():
    rows = [rate(5000.0, model="resnet50", stack="mlperf")]
    table = speeds([reference_recipe(global_batch_size=100_000)], [EIGHT, FOUR, PODS], rows)
    assert table.width_80[0] == pytest.approx([0.8 * 0.05, 0.8 * 0.1, 0.2])  # many machines add errors of their own


def log_each(table, clusters):
    """ln(images/s of one accelerator) [C]."""
    return -np.log(table.seconds_per_epoch[0, :, 0] * [cluster.total_accelerators for cluster in clusters])


def test_a_speed_is_known_no_better_than_half_of_what_twice_as_many_would_lose():
    """Whether or not the question asks about twice as many."""
    machines = [Cluster("new", 8, count) for count in (2, 4, 8)]
    [alone] = [reference_recipe(global_batch_size=2048)]
    table = speeds([alone], machines)
    lost = -np.diff(log_each(table, machines))
    assert (table.width_80[0, :2] >= lost / 2).all()
    assert table.width_80[0, 1] > 1.5 * WIDTH["machines"]
    for cluster, width in zip(machines, table.width_80[0], strict=True):
        assert speeds([alone], [cluster]).width_80[0, 0] == width


def test_ranges_reach_what_was_measured_with_half_or_twice_as_many():
    clusters = [FOUR, EIGHT, Cluster("new", 16)]
    table = speeds([large()], clusters, [rate(200.0)])
    apart = np.abs(np.diff(log_each(table, clusters)))
    assert table.width_80[0, 1] == pytest.approx(0.15)
    assert table.width_80[0, 0] == pytest.approx(max(apart[0] - 0.15, 0.15))
    both = speeds([large()], clusters, [rate(200.0), rate(100_000.0, accelerators=4)])
    assert both.width_80[0, :2] == pytest.approx([0.15, 0.15])  # measured apart


def test_what_was_measured_with_fewer_or_half_as_many_counts_whether_or_not_the_question_asks_about_them():
    rows = [rate(200.0), rate(100.0, nodes=2, accelerators=32)]
    asked = [FOUR, EIGHT, Cluster("new", 16), Cluster("new", 16, 2), PODS]
    table = speeds([large()], asked, rows)
    for number, cluster in enumerate(asked):
        alone = speeds([large()], [cluster], rows)
        for column in COLUMNS:
            assert getattr(alone, column)[0, 0].tolist() == getattr(table, column)[0, number].tolist(), column


def test_without_a_year_intervals_are_wider():
    rows = [rate(5000.0, model="resnet50", stack="mlperf")]
    table = speeds([undated(reference_recipe())], [EIGHT], rows)
    assert table.width_80[0] == pytest.approx([0.8 * 0.1])
    assert table.notes(0, 0)[1] == USUAL_SOFTWARE


def test_machines_modelled_on_top_of_another_kind_add_their_error():
    table = speeds([large()], [Cluster("new", 16), PODS], [as_modelled()])
    sixteen, pods = table.width_80[0].tolist()
    assert sixteen == pytest.approx(math.hypot(0.15, 0.2))
    assert pods == pytest.approx(0.2)


def test_an_interval_covers_what_only_others_measured():
    far = rate(100.0, "old", stack="theirs")
    alone, beside = (speeds([recipe()], [OLD, FOUR], rows) for rows in ((), (far,)))
    answered = IMAGES_PER_EPOCH / beside.seconds_per_epoch[0, 0, 0]
    assert answered == pytest.approx(IMAGES_PER_EPOCH / alone.seconds_per_epoch[0, 0, 0])
    assert beside.width_80[0, 0] == pytest.approx(1.05 * math.log(answered / 100), rel=1e-5)
    assert beside.width_80[0, 1] == alone.width_80[0, 1]
    near = rate(answered * 1.01, "old", stack="theirs")
    assert speeds([recipe()], [OLD, FOUR], [near]).width_80.tolist() == alone.width_80.tolist()


def test_what_its_own_implementation_made_is_not_widened_by_others():
    rows = [rate(5000.0), rate(100.0, stack="theirs")]
    assert speeds([recipe()], [EIGHT], rows).width_80[0] == pytest.approx([0.15])


def test_the_nearest_row_and_the_sentence_belong_to_each_pair():
    rows = [rate(5000.0), rate(900.0, "old", 4, organisation="them", precision="fp16", year=2019)]
    table = speeds([recipe()], [EIGHT, OLD, Cluster("odd", 8)], rows)
    assert table.source(0, 0) == rows[0]
    assert table.source(0, 1) == rows[1]
    assert table.notes(0, 0)[0] == "Speed measured on this accelerator and count: us, PyTorch, amp, 2022, 8 x new."
    assert table.notes(0, 1)[0] == "Speed carried over from them, PyTorch, fp16, 2019, 4 x old to 8 x old."
    assert table.notes(0, 2) == ()


def test_a_sentence_counts_machines_and_falls_back_on_the_recipes_own_log():
    pods = speeds([recipe()], [PODS], [rate(15_000.0, accelerators=32, nodes=4)])
    assert pods.notes(0, 0)[0].endswith("32 x new in 4 machines.")
    own = speeds([recipe(system=on("new"), images_per_second=4000.0)], [EIGHT])
    assert own.notes(0, 0)[0].endswith(": the recipe's own log on 8 x new.")
    assert own.source(0, 0) is None


def test_a_recipe_without_a_log_of_its_speed_names_none():
    assert speeds([recipe()], [EIGHT]).notes(0, 0)[0] == NO_SPEED
    strange = speeds([recipe(stack="nobody's")], [EIGHT], [rate(5000.0, data="synthetic", precision="fp32")])
    assert strange.notes(0, 0)[0] == (
        f"{NO_SPEED_OF_CODE}; it is modelled from other code and networks, the nearest being us, PyTorch, fp32, 2022, 8 x new, "
        "synthetic images."
    )
    assert KINDS[strange.kind[0, 0]] == "code"
    assert strange.width_80[0, 0] == pytest.approx(0.6)


def test_a_speed_scaled_from_the_recipes_own_log_names_no_other_row():
    own = recipe(system=on("new"), images_per_second=4000.0)
    table = speeds([own], [OLD, PODS], [rate(900.0, "old", 4)])
    assert table.source(0, 0) is None
    assert table.notes(0, 0)[0] == "Speed carried over from the recipe's own log on 8 x new to 8 x old."
    assert table.notes(0, 1)[0].endswith(" to 32 x new and 4 machines.")


def test_the_range_says_how_many_results_it_comes_from():
    many = replace(FITTED, widths=WIDTHS | {"network": HalfWidth(0.15, by_rule=False, cases=607)})
    table = SpeedModel([rate(5000.0)], many).speeds([recipe()], [EIGHT])
    assert "8 in 10 of 607 results" in table.notes(0, 0)[1]
    by_organisation = replace(
        FITTED, widths=WIDTHS | {"network": HalfWidth(0.15, False, cases=14, by_organisation=True)}
    )
    table = SpeedModel([rate(5000.0)], by_organisation).speeds([recipe()], [EIGHT])
    assert "8 in 10 results of 14 organisations, each counted once" in table.notes(0, 0)[1]


def test_other_peoples_code_takes_as_long_as_the_middle_of_all_codes():
    ours, theirs = speeds([recipe(), recipe(stack="theirs")], [EIGHT], [rate(5000.0)]), WIDTH["code"]
    middle = (ours.usual_low + ours.usual_high)[:, 0] / 2 + np.log(ours.seconds_per_epoch[:, 0, 0])
    assert middle[0] == pytest.approx(middle[1], rel=1e-5)
    assert (ours.usual_high - ours.usual_low)[:, 0] == pytest.approx([2 * theirs] * 2, rel=1e-5)


def test_other_peoples_code_is_no_faster_than_the_data_sheet_allows():
    quick = replace(FITTED, transfer=replace(TRANSFER, effects={**TRANSFER.effects, ("model", "small"): 9.0}))
    table = SpeedModel([], quick).speeds([recipe()], [EIGHT])
    assert (table.usual_low[0, 0], table.usual_high[0, 0] > 0) == (0, False)  # at the peak, as its own code is


def test_the_reference_is_told_a_row_of_its_year():
    rows = [rate(9000.0 + year, model="resnet50", stack="mlperf", year=year) for year in (2021, 2022, 2023)]
    table = speeds(
        [reference_recipe(year=2021), reference_recipe(year=2022), undated(reference_recipe())], [EIGHT], rows
    )
    assert [table.source(r, 0).year for r in range(3)] == [2021, 2022, 2023]
    assert table.notes(0, 0)[0].startswith("Speed fitted to all of MLPerf's results; nearest: us, PyTorch, amp, 2021")


def test_rows_of_other_networks_stacks_and_precisions_do_not_answer():
    others = [rate(1.0, model="resnet50"), rate(1.0, stack="theirs"), rate(1.0, precision="fp32")]
    table = speeds([recipe()], [EIGHT], others)
    assert table.seconds_per_epoch[0, 0, 0] == speeds([recipe()], [EIGHT]).seconds_per_epoch[0, 0, 0]
    assert table.source(0, 0) == others[2]  # the same code in other bits: the nearest of what was measured


def test_memory_is_as_dense_as_anybody_ran_it_in_these_bits():
    large = recipe(global_batch_size=400_000)
    seen = [rate(1.0, stack="theirs", global_batch_size=8 * 30_000)]
    other_bits = [replace(seen[0], precision="fp32")]
    few, many, same = (speeds([large], [EIGHT], rows).steps[0, 0] for rows in (seen, other_bits, ()))
    assert few == 2 < many == same


def test_recipes_that_run_alike_share_their_speeds():
    alike = replace(recipe(), name="other", evaluations=(), optimizer="lars")
    assert signature(alike) == signature(recipe())
    table = speeds([recipe(), recipe(global_batch_size=512), alike], [EIGHT, OLD], [rate(5000.0)])
    for column in ("seconds_per_epoch", "refusal", "tier", "kind", "steps", "width_80", "row"):
        values = getattr(table, column)
        assert values[0].tolist() == values[2].tolist(), column
    assert table.seconds_per_epoch[0, 1, 0] != table.seconds_per_epoch[1, 1, 0]


@pytest.mark.parametrize(
    "unlike",
    [
        {"stack": "theirs"},
        {"precision": "fp32"},
        {"global_batch_size": 512},
        {"year": 2020},
        {"framework_family": "jax"},
        {"phases": (Phase(160, 0, 10),)},
        {"system": on("new")},
    ],
)
def test_recipes_that_differ_in_what_speeds_rest_on_do_not(unlike):
    assert signature(recipe(**unlike)) != signature(recipe())


def test_recipes_of_the_reference_differ_by_their_software_and_batch_alone():
    one = reference_recipe(system=on("new"), images_per_second=4000.0)
    assert signature(one) == signature(reference_recipe())
    assert signature(replace(one, year=2020)) != signature(one) != signature(replace(one, global_batch_size=512))


def test_only_the_reference_knows_software_by_its_year():
    assert undated(reference_recipe(year=2021)).year == UNDATED
    assert undated(recipe(year=2021)) == recipe(year=2021)


def test_some_clusters_of_a_table_in_another_order():
    table = speeds([recipe()], [EIGHT, FOUR, OLD], [rate(5000.0)])
    some = table.of(np.array([2, 0]))
    assert some.seconds_per_epoch[0, :, 0].tolist() == table.seconds_per_epoch[0, [2, 0], 0].tolist()
    assert some.notes(0, 1) == table.notes(0, 0)
    assert some.source(0, 1) == table.source(0, 0)
    assert some.width_80.shape == some.steps.shape == some.tier.shape == (1, 2)


def test_a_speed_whose_range_is_wide_by_rule_says_so():
    guessed = replace(FITTED, widths=WIDTHS | {"interpolated": HalfWidth(0.3, by_rule=True)})
    table = SpeedModel([rate(5000.0)], guessed).speeds([recipe()], [EIGHT, FOUR])
    assert [WIDE_BY_RULE in table.notes(0, cluster) for cluster in (0, 1)] == [False, True]
