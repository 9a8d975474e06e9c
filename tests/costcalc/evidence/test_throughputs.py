"""The speed side of the evidence: accelerators, models, throughputs. Figures are compared with their sources."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from itertools import combinations

import pytest
from packaged_tables import FACTS, fact_text

from costcalc.evidence import Evidence, load_evidence, normalised
from costcalc.training import known_on

KEYS = {"accelerators": "accelerator", "models": "model", "throughputs": "throughput"}
SLUG = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")
PRECISIONS = {"fp32", "tf32", "fp16", "bf16", "amp", ""}
NAMED_MACHINE = re.compile(r"-(gce|p2\.8xlarge|dgx[12]|cloud)(-|$)")
SIXTEEN_BIT = {"fp16", "bf16", "amp"}


def table(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(fact_text(name).splitlines()))


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return load_evidence()


@pytest.fixture(scope="module")
def throughputs() -> list[dict[str, str]]:
    return table("throughputs")


@pytest.mark.parametrize("name", KEYS)
def test_every_row_is_unique_sorted_and_sourced(name: str) -> None:
    rows = table(name)
    keys = [row[KEYS[name]] for row in rows]
    assert keys == sorted(set(keys))
    assert all(row["source"].strip() and not row["source"].startswith("/") for row in rows)


@pytest.mark.parametrize("name", KEYS)
def test_tables_have_plain_line_ends_and_no_byte_order_mark(name: str) -> None:
    raw = (FACTS / f"{name}.csv").read_bytes()
    assert b"\r" not in raw
    assert raw.endswith(b"\n")
    assert not raw.startswith(b"\xef\xbb\xbf")


def test_everything_named_exists(throughputs: list[dict[str, str]]) -> None:
    accelerators = {row["accelerator"] for row in table("accelerators")}
    models = {row["model"] for row in table("models")}
    assert {row["accelerator"] for row in throughputs} <= accelerators
    assert {row["model"] for row in throughputs} <= models
    assert {row["accelerator"] for row in table("recipes")} - {""} <= accelerators
    assert {row["model"] for row in table("recipes")} <= models


def test_throughputs_are_dated_and_in_range(throughputs: list[dict[str, str]]) -> None:
    for row in throughputs:
        assert SLUG.fullmatch(row["throughput"]), row
        assert 2017 <= int(row["year"]) <= 2026, row
        assert float(row["images_per_second"]) > 0, row
        assert 96 <= int(row["image_size"]) <= 600, row
        assert row["precision"] in PRECISIONS, row
        assert row["includes_evaluation"] in {"yes", "no"}, row
        assert row["data"] in {"synthetic", "real", "whole run"}, row
        assert row["framework"], row
        assert row["stack"], row
        assert row["organisation"], row
        assert not row["instance_type"] or row["provider"], row


def test_every_code_has_a_kind() -> None:
    listed = {row["stack"] for row in table("codes")}
    used = {
        row["stack"] for name in ("throughputs", "device_speeds", "recipes", "unseen_speeds") for row in table(name)
    }
    assert used == listed
    assert all(row["note"] for row in table("codes"))


def test_counts_are_whole_machines(throughputs: list[dict[str, str]]) -> None:
    for row in throughputs:
        count, nodes = int(row["accelerators"]), int(row["nodes"])
        assert nodes >= 1, row
        assert count % nodes == 0, row
        assert (count == 0) == row["accelerator"].startswith("Xeon"), row


def test_rounds_belong_to_mlperf(throughputs: list[dict[str, str]]) -> None:
    for row in throughputs:
        mlperf = "mlcommons/training_results_" in row["source"]
        assert bool(row["round"]) == mlperf, row
        if mlperf:
            assert row["throughput"].startswith(f"mlperf-{row['round']}-"), row
            assert f"training_results_{row['round']}@" in row["source"], row


def test_no_fact_stands_twice(throughputs: list[dict[str, str]]) -> None:
    facts = Counter(tuple(value for key, value in row.items() if key != "throughput") for row in throughputs)
    assert [fact for fact, count in facts.items() if count > 1] == []
    runs = Counter(
        (row["accelerator"], row["accelerators"], row["global_batch_size"], row["images_per_second"])
        for row in throughputs
        if row["round"]
    )
    assert [run for run, count in runs.items() if count > 1] == []


def test_no_run_stands_twice_under_two_names(throughputs: list[dict[str, str]]) -> None:
    """One publication, network, chip, count and bits, and rates within 1 %: rates of two machines name one of them."""
    chips = {row["accelerator"]: row["chip"] for row in table("accelerators")}
    same = ("model", "image_size", "accelerators", "nodes", "organisation", "framework_family", "data")
    found: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for row in throughputs:
        if not row["round"]:
            publication = re.search(r"arXiv:[0-9.]+", row["source"])
            bits = "16" if row["precision"] in SIXTEEN_BIT else row["precision"]
            source = publication[0] if publication else row["source"]
            found[source, chips[row["accelerator"]], bits, *(row[each] for each in same)].append(row)
    pairs = [
        (one["throughput"], other["throughput"])
        for rows in found.values()
        for one, other in combinations(rows, 2)
        if abs(float(one["images_per_second"]) / float(other["images_per_second"]) - 1) < 0.01
        and not (one["global_batch_size"] and one["global_batch_size"] != other["global_batch_size"])
        and not any(NAMED_MACHINE.search(row["throughput"]) for row in (one, other))
    ]
    assert pairs == []


@pytest.mark.parametrize(
    ("instance_type", "chips"),
    [("v2-8", 4), ("v2-32", 16), ("v3-8", 4), ("v3-32", 16), ("v3-2048", 1024), ("v4-8", 4), ("v4-128", 64)],
)
def test_tpus_are_counted_in_chips(throughputs: list[dict[str, str]], instance_type: str, chips: int) -> None:
    counts = {int(row["accelerators"]) for row in throughputs if row["instance_type"] == instance_type}
    assert counts == {chips}


def test_no_accelerator_is_faster_than_its_arithmetic(throughputs: list[dict[str, str]]) -> None:
    """Training needs about three times the multiply-adds of a forward pass.

    Fast (Winograd) convolutions save some and cards run above their stated clock: half above the 16-bit peak is let pass,
    while a miscounted machine or chip is off by two or more.
    """
    peak = {row["accelerator"]: row["dense_16bit_tflops"] for row in table("accelerators")}
    models = {row["model"]: row for row in table("models")}
    checked = 0
    for row in throughputs:
        model = models[row["model"]]
        if not (peak[row["accelerator"]] and model["gmacs"] and int(row["accelerators"])):
            continue
        pixels = (int(row["image_size"]) / int(model["image_size"])) ** 2
        per_accelerator = float(row["images_per_second"]) / int(row["accelerators"])
        used = per_accelerator * 3 * 2 * float(model["gmacs"]) * pixels / 1000
        assert used < 1.5 * float(peak[row["accelerator"]]), row
        checked += 1
    assert checked > 1000


def test_accelerators_are_plausible() -> None:
    for row in table("accelerators"):
        assert row["vendor"], row
        assert 2013 <= int(row["introduced"]) <= 2026, row
        assert bool(row["released"]) == bool(row["released_source"]), row
        assert known_on(row["released"] or None, int(row["introduced"])).year >= int(row["introduced"]), row
        for column in ("memory_gib", "dense_16bit_tflops", "memory_bandwidth_gb_per_s", "power_watts"):
            assert not row[column] or float(row[column]) > 0, row
    assert len(table("accelerators")) > 90


def test_aliases_are_unique_over_all_models() -> None:
    names = Counter(
        normalised(name) for row in table("models") for name in (row["model"], *filter(None, row["aliases"].split(";")))
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_models_are_plausible() -> None:
    for row in table("models"):
        assert 64 <= int(row["image_size"]) <= 600, row
        assert not row["parameters_millions"] or 0 < float(row["parameters_millions"]) < 400, row
        assert not row["gmacs"] or 0 < float(row["gmacs"]) < 100, row


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("rn50", "resnet50"),
        ("ResNet-50", "resnet50"),
        ("resnet50_v1.5", "resnet50"),
        ("ResNet50-v1d", "resnet50_v1d"),
        ("InceptionV3", "inception_v3"),
        ("mobilenetv1", "mobilenet"),
        ("MobileNet-V3-Large", "mobilenet_v3_large"),
        ("effnet-b0", "efficientnet_b0"),
        ("vit-s/16", "vit_s16"),
        ("seresnext101", "se_resnext101_32x4d"),
        ("RegNetX-1.6GF", "regnetx_1600mf"),
        ("RegNetX-16GF", "regnetx_16gf"),
        ("MobileNet_V2_0.5", "mobilenet_v2_0_5"),
        ("gluoncv-xception", "xception65"),
        (" resnet.50 ", "resnet50"),
    ],
)
def test_what_people_type_is_understood(evidence: Evidence, typed: str, name: str) -> None:
    model = evidence.find_model(typed)
    assert model is not None
    assert model.name == name


@pytest.mark.parametrize("typed", ["resnet", "", "regnetx_1.600mf", "resnet50_v15"])
def test_other_names_find_nothing(evidence: Evidence, typed: str) -> None:
    assert evidence.find_model(typed) is None


OTHER_NAMES = {
    "Dell EMC",
    "IEI",
    "Habana Labs",
    "HabanaLabs",
    "Intel-HabanaLabs",
    "Supermicro-RedHat",
    "NVIDIA+CoreWeave",
}


@pytest.mark.parametrize("name", ["recipes", "throughputs", "results"])
def test_an_organisation_has_one_spelling(name: str) -> None:
    """Leaving one organisation out must leave all of it out: later names and joint entries count as the first one's."""
    organisations = {row["organisation"] for row in table(name)}
    assert len({organisation.casefold() for organisation in organisations}) == len(organisations)
    assert not organisations & OTHER_NAMES
    assert {row["organisation"] for row in table(name) if row["accelerator"].startswith("Gaudi")} == {
        "Habana",
        "Supermicro",
    }


def test_a_run_is_the_same_organisations_in_every_table() -> None:
    by_recipe = {row["recipe"]: row["organisation"] for row in table("recipes")}
    by_throughput = {row["throughput"]: row["organisation"] for row in table("throughputs")}
    pairs = [(row["organisation"], by_recipe[row["recipe"]]) for row in table("results") if row["recipe"]]
    pairs += [(by_recipe[run], by_throughput[run]) for run in by_recipe.keys() & by_throughput.keys()]
    assert len(pairs) > 500
    assert [pair for pair in pairs if pair[0] != pair[1]] == []


def test_a_system_that_a_log_does_not_tell_is_not_guessed_from_its_speed() -> None:
    untold = [row for row in table("recipes") if "its rate does not tell which" in row["note"]]
    assert len(untold) == 18
    assert {row["accelerator"] for row in untold} == {""}


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("mlperf-v0.6-dgx1-ngc19.05-mxnet", 11119),
        ("mlperf-v1.0-nf5488m6-mxnet", 24737),
        ("mlperf-v2.0-dgxa100-ngc22.04-mxnet", 27186),
        ("mlperf-v4.0-eos-ngc24.04-mxnet", 57288),
        ("mlperf-v4.0-h200-ngc24.04-mxnet", 63601),
        ("mlperf-v3.0-2288h-v7x6xl4", 4400),
        ("nvidia-mxnet-resnet50-v100-x8-amp", 10723),
        ("nvidia-tf2-efficientnet-b0-a100-80gb-x8-amp", 20647),
        ("lambda-pytorch-resnet50-a10-x1-amp", 638),
        ("lambda-tf-resnet50-rtx-2080-ti-x1-fp16", 770),
        ("tf-2017-resnet50-k80-x1-p2.8xlarge-synthetic", 51.5),
        ("timm-resnet50-rtx-3090-x1-224px", 1218.01),
        ("flax-resnet50-tpu-v3-8-bf16", 8088),
        ("dawnbench-google-rn50-tpuv2-tf18", 3264),
        ("riseml-resnet50-tpu-v2-8-real", 2796),
        ("riseml-resnet50-v100-x4-real", 2839),
        ("riseml-resnet50-tpu-v2-8-synthetic", 3186),
        ("riseml-resnet50-v100-x4-synthetic", 3128),
        ("riseml-resnet50-v100-x4-synthetic-mxnet", 3280),
        ("ffcv-resnet50-a100-40gb-x8-160px", 28133),
    ],
)
def test_trusted_cells_are_as_published(evidence: Evidence, name: str, rate: float) -> None:
    found = {throughput.name: throughput.images_per_second for throughput in evidence.throughputs}
    assert found[name] == rate


@pytest.mark.parametrize(
    ("accelerator", "low", "high"),
    [("V100", 4000, 11300), ("A100-40GB", 17000, 24800), ("A100-80GB", 11000, 28700), ("H100", 20000, 58000)],
)
def test_eight_cards_in_one_machine_spread_as_known(
    evidence: Evidence, accelerator: str, low: float, high: float
) -> None:
    """16-bit ResNet-50 at 224 pixels: the software makes 2.5 times the difference, not more."""
    rates = [
        row.images_per_second
        for row in evidence.throughputs
        if (row.model, row.accelerator, row.accelerators, row.nodes) == ("resnet50", accelerator, 8, 1)
        and row.precision in SIXTEEN_BIT
        and row.image_size == 224
        and row.stack != "gluoncv"
        and not row.name.startswith("dawnbench-")
    ]
    assert len(rates) >= 4
    assert low < min(rates)
    assert max(rates) < high


def test_one_stack_is_one_frameworks_code(evidence: Evidence) -> None:
    """What a stack's code reaches on one chip says what it reaches on others: programs of two frameworks are two stacks."""
    frameworks: dict[str, set[str]] = defaultdict(set)
    for measured in (*evidence.throughputs, *evidence.recipes):
        if measured.stack != "mlperf":
            frameworks[measured.stack].add(measured.framework_family)
    assert {stack: names for stack, names in frameworks.items() if len(names) > 1} == {}
