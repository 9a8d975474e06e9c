import math
from collections import Counter

import pytest
from msgspec.structs import replace
from support.speeds import MODELS, PARTS, TRANSFER, rate, recipe

from costcalc.hardware import Cluster
from costcalc.throughput import TIERS, SpeedModel
from costcalc.throughput.fitted_parameters import KINDS
from costcalc.throughput.reference_model import step_overhead, terms_of
from costcalc.throughput.workloads import (
    GMACS_EXPONENT,
    SIGNS,
    Implementation,
    Transfer,
    Workload,
    bits,
    count_steps,
    hardware_terms,
    implementation,
    own_rates,
    precision_class,
    software_terms,
    training_rate,
    workload,
)
from costcalc.training import IMAGES_PER_EPOCH, Evaluation, Phase, Tier
from science.fitting.transfer import Ratio, terms


def row(evidence, name):
    return next(row for row in evidence.throughputs if row.name == name)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("vgg16_bn", "vgg"),
        ("se_resnext50_32x4d", "resnext"),
        ("efficientnetv2_s", "efficientnet"),
        ("inception_resnet_v2", "inception"),
        ("googlenet", "googlenet"),
    ],
)
def test_networks_of_one_architecture_are_of_one_family(packaged_evidence, model, family):
    assert packaged_evidence.models[model].family == family


def test_the_examples_of_one_maker_are_several_codes(packaged_evidence):
    names = {
        implementation(row)
        for row in packaged_evidence.throughputs
        if row.organisation == "NVIDIA" and row.stack != "mlperf"
    }
    assert {name.framework_family for name in names} == {"jax", "mxnet", "paddle", "pytorch", "tensorflow"}
    assert len({implementation(row) for row in packaged_evidence.throughputs if row.stack == "lambda-tf"}) == 1


def test_a_recipe_and_the_rates_of_its_code_are_filed_alike(packaged_evidence):
    rates = {implementation(row) for row in packaged_evidence.throughputs}
    stacks = {row.stack for row in packaged_evidence.throughputs} - {"mlperf", "dawnbench"}
    recipes = {implementation(recipe) for recipe in packaged_evidence.recipes if recipe.stack in stacks}
    assert recipes <= rates


def test_what_nobody_stated_is_taken_as_16_bits_and_as_resnet_50(packaged_evidence):
    done = next(row for row in packaged_evidence.throughputs if row.precision is None and row.model == "resnet50")
    assert workload(done, 224, {}).precision == "16bit"
    assert workload(done, 224, {}).parameters == workload(done, 224, {}).gmacs == workload(done, 224, {}).offset == 0


def test_larger_images_and_networks_take_longer(packaged_evidence):
    models = packaged_evidence.models
    done = row(packaged_evidence, "nvidia-tf2-efficientnet-b0-a100-80gb-x1-amp")
    small, large = workload(done, 112, models), workload(done, 224, models)
    assert small.offset - large.offset == pytest.approx(1.6 * math.log(2))
    assert large.gmacs == pytest.approx(math.log(0.4 / 4.1))
    assert large.offset > 0 > large.parameters > -math.log(2)


def test_what_a_row_computes_is_what_its_columns_say():
    made = workload(rate(1, precision="fp32"), 112, MODELS)
    assert (made.model, made.family, made.image_size, made.precision) == ("small", "tiny", 112, "fp32")
    assert made.implementation == Implementation("ours", "pytorch", "us")
    assert made.parameters == pytest.approx(math.log((1 + 0.2) / 2))
    assert made.gmacs == pytest.approx(math.log(0.1))
    assert made.offset == pytest.approx(1.6 * math.log(2) + 0.7 * math.log(10))


def test_a_network_that_is_not_listed_is_a_family_of_its_own():
    made = workload(rate(1, model="unheard-of"), 224, MODELS)
    assert (made.family, made.parameters, made.gmacs) == ("unheard-of", 0.0, 0.0)


def test_a_rate_that_counts_evaluation_is_raised_by_its_share():
    assert training_rate(rate(1000)) == 1000
    assert training_rate(rate(1000, includes_evaluation=True)) == pytest.approx(1006)


@pytest.mark.parametrize(
    ("stated", "as_class", "in_bits"),
    [
        ("amp", "16bit", "16bit"),
        ("fp16", "16bit", "16bit"),
        ("bf16", "16bit", "16bit"),
        ("tf32", "tf32", "32bit"),
        ("fp32", "fp32", "32bit"),
        (None, None, None),
    ],
)
def test_precisions_that_run_alike(stated, as_class, in_bits):
    assert (precision_class(stated), bits(stated)) == (as_class, in_bits)


TWO_SIZES = (Phase(128, 0, 3), Phase(256, 3, 4))


def test_rates_of_every_phase_are_the_recipes_own():
    phases = (Phase(128, 0, 3, 900.0), Phase(256, 3, 4, 300.0))
    assert own_rates(recipe(phases=phases, images_per_second=500)) == [900.0, 300.0]


def test_a_rate_for_some_phases_alone_says_nothing():
    assert own_rates(recipe(phases=(Phase(128, 0, 3, 900.0), Phase(256, 3, 4)))) == []
    assert own_rates(recipe()) == []


def test_a_mean_is_shared_out_so_that_the_whole_takes_as_long():
    small, large = own_rates(recipe(phases=TWO_SIZES, images_per_second=600))
    assert small / large == pytest.approx(2**1.6)
    assert 3 / small + 1 / large == pytest.approx(4 / 600)


def test_a_mean_whose_clock_counts_evaluation_is_of_less_training():
    """Four epochs at 600 images/s took 10 % longer with evaluation: training alone ran 10 % faster."""
    phases = tuple(Phase(p.image_size, p.from_epoch, p.to_epoch, None) for p in TWO_SIZES)
    plain = recipe(phases=phases, images_per_second=600)
    counting = recipe(phases=phases, images_per_second=600, clock="training+evaluation")
    assert own_rates(counting)[0] == pytest.approx(own_rates(plain)[0] * counting.clock_factor)
    assert counting.clock_factor > 1


def test_mlperf_states_no_mean_to_share_out():
    assert own_rates(recipe(phases=TWO_SIZES, images_per_second=600, tuned_to=0.759)) == []


def test_a_log_tells_how_much_longer_its_clock_ran():
    hours = 10 * IMAGES_PER_EPOCH / 1000 / 3600
    phases = (Phase(224, 0, 12, 1000.0),)
    logged = recipe(phases=phases, clock="training+evaluation", evaluations=(Evaluation(10, 1.1 * hours, 0.7, None),))
    assert logged.clock_factor == pytest.approx(1.1)


@pytest.fixture(scope="module")
def done(packaged_evidence):
    return next(row for row in packaged_evidence.throughputs if row.stack == "lambda-tf" and row.model == "vgg16")


def values(done, evidence, accelerator, per_node):
    made, chip = workload(done, 224, evidence.models), evidence.accelerators[accelerator]
    found = Counter({key: value for key, value, _ in hardware_terms(made, chip, 1.0)})
    for key, value, _ in terms_of(count_steps(made, chip, per_node)):
        found[key] += value
    return found


def test_sharing_gradients_costs_more_cards_and_larger_networks_more(done, packaged_evidence):
    one, eight = (values(done, packaged_evidence, "V100", count) for count in (1, 8))
    assert not any(key[0] == "count" for key in one)
    assert eight["count", "parameters"] == pytest.approx(3 * (math.log1p(138.36 / 25.6) - math.log(2)))


@pytest.mark.parametrize(("card", "alone"), [("RTX 3090", True), ("RTX 4070 Ti", True), ("RTX A6000", False)])
@pytest.mark.parametrize("others", ["RTX 2080 Ti", "RTX 4000 Ada", "RTX 6000 Ada", "V100"])
def test_only_newer_geforce_cards_cannot_reach_each_other(done, packaged_evidence, card, alone, others):
    assert (("no peers",) in values(done, packaged_evidence, card, 2)) == alone
    assert ("no peers",) not in values(done, packaged_evidence, others, 8)


def test_without_matrix_units_precision_is_taken_back(done, packaged_evidence):
    back = values(done, packaged_evidence, "P100", 1)
    assert [value for key, value in back.items() if key[0] == "precision"] == [-1.0]


@pytest.mark.parametrize(("card", "more"), [("RTX 3090", {math.log(4 / 3)}), ("RTX A6000", set())])
def test_a_card_of_half_the_matrix_rate_may_gain_what_the_whole_would_add(done, packaged_evidence, card, more):
    found = values(done, packaged_evidence, card, 1)  # as if it moved data as long as it computes
    assert {value for key, value in found.items() if key == ("half rate",)} == more


def test_everything_is_compiled_where_nothing_else_runs(done, packaged_evidence):
    def times(compilation, card):
        found = values(replace(done, compilation=compilation), packaged_evidence, card, 1)
        return found["compiled", "convolutions"] + SIGNS[compilation]

    assert {times(how, "TPU v3") for how in SIGNS} == {1.0}
    assert {how: times(how, "V100") for how in SIGNS} == SIGNS
    assert ("compiled", "convolutions") not in values(replace(done, stack="mlperf"), packaged_evidence, "TPU v3", 1)


def test_transformers_alone_have_effects_of_the_chip_and_of_its_balance(done, packaged_evidence):
    def own(row, memory_share):
        made = workload(row, 224, packaged_evidence.models)
        found = hardware_terms(made, packaged_evidence.accelerators["A100-40GB"], memory_share)
        return {key: value for key, value, _ in found if key[0] == "transformers"}

    transformer = replace(done, model="vit_b16")
    assert own(done, 2.0) == {}
    assert own(transformer, 1.0) == {("transformers", "A100"): 1.0, ("transformers", "balance"): 0.0}
    assert own(transformer, 2.0)["transformers", "balance"] == pytest.approx(math.log(2))


def test_a_network_has_its_own_cost_of_small_batches(done, packaged_evidence):
    small = replace(done, global_batch_size=16 * done.accelerators)
    found = {key: value for key, value, _ in terms(Ratio(small, workload(done, 224, {}), 0.0), Transfer({}, {}, {}))}
    assert found["batch", "vgg16"] == pytest.approx(step_overhead(16))
    learned = Transfer({}, {}, {("batch", "vgg16"): 0.5, ("batch", "32bit"): -0.4})
    in_16_bits, in_32_bits = (replace(done, precision=each) for each in ("amp", "fp32"))
    assert learned.slope(in_16_bits) == 0.5
    assert learned.slope(in_32_bits) == pytest.approx(0.1)
    assert Transfer({}, {}, {}).slope(in_16_bits) == 0.0


def test_steeper_costs_of_small_batches_slow_small_batches_down(packaged_evidence):
    fitted = packaged_evidence.fitted
    steep = replace(fitted.transfer, effects={**fitted.transfer.effects, ("batch", "vgg16"): 1.0})
    recipes = packaged_evidence.recipes_of("vgg16")
    clusters = [Cluster("H100", 8, 1), Cluster("H100", 1, 1)]
    rows = packaged_evidence.throughputs
    usual, slower = (
        SpeedModel(rows, replace(fitted, transfer=each)).speeds(recipes, clusters).seconds_per_epoch[0, :, 0]
        for each in (fitted.transfer, steep)
    )
    assert slower[0] / slower[1] > 1.05 * usual[0] / usual[1]  # eight share the recipe's batch: a small one each


def test_every_code_knows_the_chips_it_was_measured_on(packaged_evidence):
    chips = packaged_evidence.fitted.transfer.chips_of
    seen = {
        implementation(row)
        for row in packaged_evidence.throughputs
        if row.stack == "nvidia-tf2" and row.model == "efficientnet_b0"
    }
    pycls = next(implementation(row) for row in packaged_evidence.throughputs if row.stack == "pycls")
    assert chips[pycls] == {"V100"}
    assert seen
    assert all(chips[each] >= {"V100"} for each in seen)


def test_a_code_known_on_the_chip_is_surer_than_one_carried_to_it(packaged_evidence):
    recipes = packaged_evidence.recipes_of("regnety_32gf")
    table = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted).speeds(
        recipes, [Cluster("V100", 8), Cluster("V100-32GB", 2), Cluster("H100", 8)]
    )
    assert [KINDS[kind] for kind in table.kind[0]] == ["transferred", "network", "stack"]
    tiers = [TIERS[tier] for tier in table.tier[0]]
    assert tiers == [Tier.TRANSFERRED, Tier.INTERPOLATED, Tier.MODELLED]  # by its like on the die
    assert table.width_80[0, 1] < 0.7 * table.width_80[0, 2]
    assert table.notes(0, 1)[0] == "Speed carried over from the recipe's own log on 8 x V100 to 2 x V100-32GB."


def test_a_network_its_code_was_never_measured_with_stays_unsure(packaged_evidence):
    recipes = [recipe for recipe in packaged_evidence.recipes_of("mobilenet_v2") if recipe.stack == "gluoncv"]
    table = SpeedModel(packaged_evidence.throughputs, packaged_evidence.fitted).speeds(recipes, [Cluster("V100", 8)])
    assert [KINDS[kind] for kind in table.kind[:, 0]] == ["stack"] * len(recipes)
    assert recipes


@pytest.fixture
def small():
    return workload(rate(1), 224, MODELS)


def test_software_is_the_networks_and_the_implementations_effects_and_the_offset(small):
    assert TRANSFER.software(small) == pytest.approx(1.0 + 0.2 - 0.1 + small.offset)
    slow = workload(rate(1, precision="fp32"), 224, MODELS)
    assert TRANSFER.software(slow) == pytest.approx(TRANSFER.software(small) - 0.7)


@pytest.mark.parametrize(
    ("accelerator", "count", "effects"),
    [
        ("new", 1, 0.05 + 0.01),
        ("new-big", 1, 0.05 + 0.01),
        ("new", 8, 0.05 + 0.01 - 0.06 * 3),
        ("game", 8, -0.06 * 3 - 0.2 * 3),
        ("game", 1, 0.0),
        ("bare", 1, 0.0),
        ("nowhere", 4, -0.06 * 2),
    ],
)
def test_hardware_is_the_chips_and_the_counts_effects(small, accelerator, count, effects):
    assert TRANSFER.hardware(small, accelerator, count) == pytest.approx(effects)


def test_32_bits_cost_nothing_without_matrix_units():
    slow = workload(rate(1, precision="fp32"), 224, MODELS)
    assert TRANSFER.hardware(slow, "bare", 1) == pytest.approx(0.7)
    assert TRANSFER.software(slow) + TRANSFER.hardware(slow, "bare", 1) == pytest.approx(
        TRANSFER.software(workload(rate(1), 224, MODELS))
    )


def test_effects_of_software_and_of_count_have_these_names(small):
    ours = ("ours", "pytorch", "us")
    assert [key for key, value, _ in software_terms(small) if value == 1.0] == [
        *(("family", "tiny"), ("family", "tiny", "16bit"), ("model", "small"), ("model", "small", "16bit")),
        *(("precision", "16bit"), ("stack", "ours"), ("stack", "ours", "16bit")),
        *(("implementation", *ours), ("implementation", *ours, "tiny", "16bit")),
    ]
    assert {key: value for key, value, _ in hardware_terms(small, PARTS["game"], 1.0)} == {
        ("chip", "game"): 1.0,
        ("chip", "game", *ours, "16bit"): 1.0,
    }
    two, four = count_steps(small, PARTS["game"], 4)
    for step, size in ((two, "2"), (four, "4")):
        assert {key: value for key, value, _ in step.terms} == {
            ("count", "tiny"): 1.0,
            ("count", "model", "small"): 1.0,
            ("count", "parameters"): small.parameters,
            ("count", "parameters", "game", size): small.parameters,
            ("count", "game", *ours, "16bit", size): 1.0,
            ("no peers",): 1.0,
            ("no peers", "parameters"): small.parameters,
        }


def test_a_doubling_that_would_make_a_network_faster_is_taken_as_free(small):
    quick = replace(
        TRANSFER, effects={**TRANSFER.effects, ("count", "new", "ours", "pytorch", "us", "16bit", "4"): 0.1}
    )
    change = [quick.hardware(small, "new", count) - quick.hardware(small, "new", 1) for count in (2, 4, 8)]
    assert change == pytest.approx([-0.06, -0.06, -2 * 0.06])


def test_a_network_is_known_once_it_was_measured():
    assert TRANSFER.knows("small")
    assert not TRANSFER.knows("resnet50")
    assert TRANSFER.chips_of == {("ours", "pytorch", "us"): {"new"}}
    assert TRANSFER.slope(recipe(model="resnet50")) == 0


class TestBalance:
    """What a chip's arithmetic and memory bandwidth are to a transformer."""

    RESNET = Workload("resnet50", "resnet", 224, "16bit", Implementation("a", "pytorch", "Ada"), activations=1.0)
    DENSE = replace(RESNET, gmacs=math.log(4), activations=2.0)  # per activation twice the arithmetic

    def test_convolutions_have_none(self):
        assert TRANSFER.balance(replace(self.DENSE, activations=None), "old") == 0

    def test_a_network_of_resnet50s_balance_differs_nowhere(self):
        for gmacs in (0.0, math.log(3)):
            like = replace(self.RESNET, gmacs=gmacs, activations=math.exp(gmacs))
            for name in PARTS:
                assert TRANSFER.balance(like, name) == pytest.approx(GMACS_EXPONENT * gmacs - gmacs)

    def test_dense_arithmetic_gains_where_there_is_more_of_it_for_each_byte(self):
        assert TRANSFER.balance(self.DENSE, "new") > TRANSFER.balance(self.DENSE, "old")

    def test_a_time_is_that_of_the_arithmetic_and_of_the_memory(self):
        """ResNet-50 moves for 0.8 seconds for each that it computes: 8 GB for each TFLOP, of 1,000 GB/s and 100 TFLOP/s."""
        longer = (4 + 0.8 * 2) / (1 + 0.8)
        assert TRANSFER.balance(self.DENSE, "old") == pytest.approx(GMACS_EXPONENT * math.log(4) - math.log(longer))

    def test_a_chip_has_one_whatever_memory_it_is_sold_with(self):
        """That of the slowest: with faster memory ResNet-50 gains more, but a transformer must not lose."""
        faster = PARTS | {"new-big": replace(PARTS["new-big"], memory_bandwidth_gb_per_s=4000)}
        both = replace(TRANSFER, accelerators=faster)
        assert (
            both.balance(self.DENSE, "new-big")
            == both.balance(self.DENSE, "new")
            == TRANSFER.balance(self.DENSE, "new")
        )

    def test_a_chip_without_a_data_sheet_is_taken_as_a_usual_one(self):
        usual = {"old": replace(PARTS["old"], dense_16bit_tflops=300, memory_bandwidth_gb_per_s=1500)}
        beside = {"old": replace(PARTS["old"], device_memory=False)}
        known = replace(TRANSFER, accelerators=usual).balance(self.DENSE, "old")
        assert TRANSFER.balance(self.DENSE, "silent") == pytest.approx(known)
        assert replace(TRANSFER, accelerators=beside).balance(self.DENSE, "old") == pytest.approx(known)
