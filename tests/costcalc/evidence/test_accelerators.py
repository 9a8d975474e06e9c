"""The columns of facts agree with the rules by which they were filled, and with each other."""

import pytest

from costcalc.hardware import Accelerator

TURING = {"RTX 2060", "RTX 2070", "RTX 2080", "RTX 2080 Ti"}
MOST = {"RTX 3090", "RTX 4090", "RTX 5090", "RTX 4070 Ti Super"}


@pytest.fixture(scope="module")
def parts(packaged_evidence) -> dict[str, Accelerator]:
    return dict(packaged_evidence.accelerators)


def test_matrix_units_begin_at_a_tenth_of_a_tflop_per_watt(parts):
    for part in parts.values():
        if part.dense_16bit_tflops:
            dense = part.dense_16bit_tflops / (part.power_watts or 1.0) >= 0.1
            assert part.matrix_units == dense, part.name
        else:
            assert part.matrix_units, part.name


def test_cluster_networks_come_with_fast_memory_until_there_is_a_source_for_each(parts):
    for part in parts.values():
        assert part.cluster_network == ((part.memory_bandwidth_gb_per_s or 0) >= 1500), part.name


def test_parts_of_one_chip_have_one_vendor_and_arithmetic(parts):
    for part in parts.values():
        alike = [other for other in parts.values() if other.chip == part.chip]
        assert len({(other.vendor, other.matrix_units, other.half_rate, other.peer_to_peer) for other in alike}) == 1, (
            part.name
        )
    assert {name for name, part in parts.items() if part.chip == "A100"} == {"A100-40GB", "A100-80GB"}


def test_a_twin_differs_in_its_memory_alone(parts):
    twins = [part for part in parts.values() if part.twin]
    assert {part.name for part in twins} == {"Quadro RTX 6000", "V100-32GB", "T4G"}
    for part in twins:
        other = parts[part.twin]
        assert part.chip == other.chip
        assert other.twin is None
        assert (part.dense_16bit_tflops, part.memory_bandwidth_gb_per_s, part.power_watts) == (
            other.dense_16bit_tflops,
            other.memory_bandwidth_gb_per_s,
            other.power_watts,
        )


def test_only_newer_geforce_cards_cannot_reach_each_other(parts):
    alone = {name for name, part in parts.items() if not part.peer_to_peer}
    assert alone >= MOST
    assert all(name.startswith(("RTX 30", "RTX 40", "RTX 50")) for name in alone)
    assert not alone & {"RTX 4000 Ada", "RTX 2080 Ti", "RTX A6000"}


def test_newer_geforce_cards_alone_have_matrix_units_of_half_the_rate(parts):
    halved = {name for name, part in parts.items() if part.half_rate}
    assert halved == {name for name, part in parts.items() if "GeForce" in part.source and part.matrix_units} | TURING
    assert not halved & {"RTX 4000 Ada", "RTX A6000", "Titan RTX", "GTX 1080 Ti"}


def test_what_is_not_made_for_the_usual_frameworks_compiles_everything(parts):
    always = {name for name, part in parts.items() if part.always_compiled}
    assert {name.split()[0].rstrip("23") for name in always} == {"TPU", "Gaudi", "Trainium", "Inferentia"}
    assert not {part.vendor for part in parts.values() if not part.always_compiled} & {"Google", "AWS"}


def test_what_was_made_for_training_is_answered_before_anybody_measured_it(parts, packaged_evidence):
    reference = packaged_evidence.fitted.reference
    refused = {part.vendor for part in parts.values() if not part.predicted_unmeasured}
    assert refused == {"Huawei", "Graphcore", "Apple", "AWS"}
    assert {name for name, part in parts.items() if part.vendor == "AWS" and part.predicted_unmeasured} == {
        "Trainium",
        "Trainium2",
        "Trainium3",
    }
    measured = {parts[row.accelerator].chip for row in packaged_evidence.throughputs if row.accelerator in parts}
    for name, part in parts.items():
        if reference.data_sheets.roofline(name) is not None:
            assert (part.chip in measured) != (name in reference.priors), name


def test_parts_of_one_silicon_have_one_vendor(parts):
    for silicon in {part.silicon for part in parts.values() if part.silicon}:
        alike = [part for part in parts.values() if part.silicon == silicon]
        assert len({part.vendor for part in alike}) == 1, silicon
        assert len({part.chip for part in alike}) > 1, silicon


def test_special_memories_and_slices_belong_to_their_makers(parts):
    assert {part.vendor for part in parts.values() if part.rented_in_slices} == {"Google"}
    assert {part.vendor for part in parts.values() if not part.device_memory} == {"Graphcore"}


def test_mlperf_recipes_stop_at_the_target_of_their_round(packaged_evidence):
    for recipe in packaged_evidence.recipes:
        mlperf = recipe.name.startswith("mlperf-")
        assert recipe.is_mlperf == mlperf, recipe.name
        assert recipe.division in ({"open", "closed"} if mlperf else {None}), recipe.name
        if mlperf:
            assert recipe.tuned_to == (0.749 if recipe.name.startswith("mlperf-v0.5-") else 0.759), recipe.name
            assert (recipe.division == "open") == ("-open-" in recipe.family), recipe.name


def test_expensive_optimizers_are_the_second_order_ones(packaged_evidence):
    costly = {recipe.optimizer for recipe in packaged_evidence.recipes if recipe.expensive_optimizer}
    assert costly == {"thor", "shampoo", "shampoo_submission", "caspr_adaptive"}
    assert not costly & {recipe.optimizer for recipe in packaged_evidence.recipes if not recipe.expensive_optimizer}


@pytest.mark.parametrize(
    ("framework", "family"),
    [
        ("MXNet NGC 23.04", "mxnet"),
        ("TensorFlow 2.8.0", "tensorflow"),
        ("tensorpack 0.8.0", "tensorflow"),
        ("fastai / pytorch", "pytorch"),
        ("Intel(R) Optimized Caffe", "other"),
    ],
)
def test_a_framework_is_of_one_family(packaged_evidence, framework, family):
    measured = (*packaged_evidence.recipes, *packaged_evidence.throughputs)
    assert {one.framework_family for one in measured if one.framework == framework} == {family}
