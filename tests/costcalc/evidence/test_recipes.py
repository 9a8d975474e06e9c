"""The packaged recipes, curves, phases and results: whole, consistent, and true to the figures they are known by."""

import csv
import fnmatch
import re
from collections import defaultdict
from itertools import pairwise

import pytest
from packaged_tables import fact_text

from costcalc.convergence.eligibility import STOPPED_REACHED, STOPPED_RUNS

IMAGES_PER_EPOCH = 1_281_167


def rows(table):
    return list(csv.DictReader(fact_text(table.removesuffix(".csv")).splitlines()))


def grouped(table):
    groups = defaultdict(list)
    for row in rows(table):
        groups[row["recipe"]].append(row)
    return groups


RECIPES = {row["recipe"]: row for row in rows("recipes.csv")}
CURVES = grouped("curves.csv")
PHASES = grouped("phases.csv")
RESULTS = rows("results.csv")


def increasing(values):
    return all(before < after for before, after in pairwise(values))


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ("recipes.csv", ("recipe",)),
        ("curves.csv", ("recipe", "epochs")),
        ("phases.csv", ("recipe", "from_epoch")),
        ("results.csv", ("result",)),
        ("rcps.csv", ("model", "target", "optimizer", "global_batch_size")),
        ("seed_noise.csv", ("recipe",)),
    ],
)
def test_keys_are_unique_and_sources_given(table, key):
    keys = [tuple(row[column] for column in key) for row in rows(table)]
    assert keys
    assert len(keys) == len(set(keys))
    assert all(row.get("source", "given") for row in rows(table))
    assert all(None not in row and None not in row.values() for row in rows(table)), "a row is too long or too short"


@pytest.mark.parametrize("table", ["recipes.csv", "results.csv", "seed_noise.csv"])
def test_rows_stand_in_the_order_of_their_key(table):
    keys = [next(iter(row.values())) for row in rows(table)]
    assert keys == sorted(keys)


@pytest.mark.parametrize("column", ["model", "organisation", "family", "framework", "stack", "note"])
def test_recipes_say(column):
    assert [recipe for recipe, row in RECIPES.items() if not row[column]] == []


def test_recipes_use_the_words_of_the_format():
    for recipe, row in RECIPES.items():
        assert 2012 <= int(row["year"]) <= 2026, recipe
        assert int(row["runs"]) >= 1, recipe
        assert row["is_log"] in {"yes", "no"}, recipe
        assert row["clock"] in {"training", "training+evaluation", "as_logged", ""}, recipe
        assert row["precision"] in {"fp32", "tf32", "fp16", "bf16", "amp", ""}, recipe
        assert bool(row["provider"]) == bool(row["instance_type"]), recipe


def test_accelerators_divide_among_machines():
    for recipe, row in RECIPES.items():
        known = bool(row["accelerator"])
        assert bool(row["accelerators"]) == bool(row["nodes"]) == known, recipe
        assert not known or int(row["accelerators"]) % int(row["nodes"]) == 0, recipe


def test_curves_run_forward():
    for recipe, curve in CURVES.items():
        hours = [point["hours"] for point in curve]
        assert increasing([float(point["epochs"]) for point in curve]), recipe
        assert all(hours) or not any(hours), recipe
        assert increasing([float(hour) for hour in hours if hour]), recipe
        assert bool(RECIPES[recipe]["clock"]) == any(hours), recipe


def test_accuracies_are_fractions_and_five_guesses_beat_one():
    for recipe, curve in CURVES.items():
        for point in curve:
            known = [float(point[metric]) for metric in ("top1", "top5") if point[metric]]
            assert known, recipe
            assert increasing([0, *known, 1]), (recipe, point)


def test_phases_are_contiguous_and_cover_the_curve():
    for recipe, phases in PHASES.items():
        edges = [(float(phase["from_epoch"]), float(phase["to_epoch"])) for phase in phases]
        assert edges[0][0] == 0, recipe
        assert all(start < end for start, end in edges), recipe
        assert all(before[1] == after[0] for before, after in pairwise(edges)), recipe
        assert edges[-1][1] >= float(CURVES[recipe][-1]["epochs"]), recipe
        assert all(32 <= int(phase["image_size"]) <= 700 for phase in phases), recipe


def test_every_table_speaks_of_known_recipes():
    assert set(CURVES) == set(PHASES) == set(RECIPES)
    assert {row["recipe"] for row in RESULTS} - {""} <= set(RECIPES)
    assert {row["recipe"] for row in rows("seed_noise.csv")} <= set(RECIPES)


def test_logs_of_equal_runs_end_where_their_ends_say():
    ends = {row["recipe"]: sorted(row["top1_of_runs"].split(";")) for row in rows("seed_noise.csv")}
    logged = defaultdict(list)
    for row in rows("seed_curves.csv"):
        epochs = [float(each) for each in row["epochs"].split(";")]
        assert epochs == sorted(set(epochs)), row
        logged[row["recipe"]].append(row["top1"].rpartition(";")[2])
    assert logged.keys() == ends.keys()
    assert [name for name in ends if sorted(map(float, logged[name])) != sorted(map(float, ends[name]))] == []


def test_models_and_accelerators_are_those_of_the_other_tables():
    models = {row["model"] for row in rows("models.csv")}
    accelerators = {row["accelerator"] for row in rows("accelerators.csv")} | {""}
    for row in [*RECIPES.values(), *RESULTS]:
        assert row["model"] in models, row
        assert row["accelerator"] in accelerators, row


def test_many_kinds_of_network_have_a_recipe():
    wanted = (
        "resnet18 resnet34 resnet50 resnet101 resnet152 vgg16 inception_v3 mobilenet mobilenet_v2 mobilenet_v3_large"
    )
    wanted += (
        " efficientnet_b0 efficientnet_b4 efficientnetv2_s vit_s16 xception65 darknet53 resnext101_32x4d amoebanet_d"
    )
    assert set(wanted.split()) <= {row["model"] for row in RECIPES.values()}


FIXED = [
    "riseml-2018-tpuv2",
    "riseml-2018-v100",
    "dawnbench-intel-rn50-128xc5",
    "dawnbench-intel-rn50-64xc5",
    "dawnbench-intel-rn56-128xc5",
    "dawnbench-alibaba-rn50-16xgn6e",
    "dawnbench-alibaba-rn50-1xgn6e",
    "dawnbench-dawn-rn152-4xm60",
    "dawnbench-dawn-rn152-8xk80",
    "dawnbench-diux-rn50-p3-tensorpack",
    "dawnbench-fastai-rn50-p3",
    "dawnbench-fastai-rn50-16xp3",
    "dawnbench-fastai-rn50-4xp3",
    "dawnbench-fastai-rn50-8xp3",
    "dawnbench-google-amoeba-quarterpod",
    "dawnbench-google-amoeba-16thpod",
    "dawnbench-google-amoeba-tpuv2",
    "dawnbench-google-rn50-tpuv2-tf111-fastai",
    "dawnbench-google-rn50-tpuv2-tf17",
    "dawnbench-google-rn50-tpuv2-tf18",
    "dawnbench-google-rn50-halfpod",
    "dawnbench-huawei-rn50-16n-mxnet",
    "dawnbench-lambda-rn50-4x1080ti",
    "dawnbench-ppwwyyxx-rn152-8xp100",
    "dawnbench-zte-rn50-8nx8p100",
    "ffcv-rn50-16ep",
    "ffcv-rn50-32ep",
    "ffcv-rn50-40ep",
    "ffcv-rn50-88ep",
    "ffcv-rn18-16ep",
    "ffcv-rn18-24ep",
    "ffcv-rn18-32ep",
    "ffcv-rn18-56ep",
    "ffcv-rn18-88ep",
]


@pytest.mark.parametrize("recipe", FIXED)
def test_fixed_names_are_present(recipe):
    assert recipe in RECIPES


@pytest.mark.parametrize(
    ("recipe", "epochs", "hours", "top1"),
    [
        ("riseml-2018-tpuv2", 64, 8.146, 0.757),
        ("riseml-2018-tpuv2", 86, 10.946, 0.764),
        ("riseml-2018-v100", 84, 10.530, 0.757),
    ],
)
def test_riseml_hours_follow_from_epochs_and_rate(recipe, epochs, hours, top1):
    point = next(point for point in CURVES[recipe] if float(point["epochs"]) == epochs)
    rate = float(RECIPES[recipe]["images_per_second"])
    assert float(point["top1"]) == top1
    assert float(point["hours"]) == pytest.approx(hours, abs=0.0005)
    assert float(point["hours"]) == pytest.approx(epochs * IMAGES_PER_EPOCH / rate / 3600, rel=1e-6)


def test_riseml_v100_never_reached_the_accuracy_of_the_tpu():
    assert max(float(point["top1"]) for point in CURVES["riseml-2018-v100"]) == 0.757


@pytest.mark.parametrize(
    ("recipe", "cluster_rate", "dollars"),
    [
        ("dawnbench-diux-rn50-p3-tensorpack", 24.48, 358.22),
        ("dawnbench-fastai-rn50-p3", 24.48, 72.40),
        ("dawnbench-fastai-rn50-4xp3", 97.92, 48.48),
        ("dawnbench-fastai-rn50-8xp3", 195.84, 61.63),
        ("dawnbench-fastai-rn50-16xp3", 391.68, 118.07),
        ("dawnbench-google-rn50-tpuv2-tf18", 6.595, 58.53),
        ("dawnbench-google-amoeba-tpuv2", 6.595, 49.30),
        ("dawnbench-google-rn50-tpuv2-tf111-fastai", 4.595, 12.60),
        ("dawnbench-alibaba-rn50-1xgn6e", 20.6, 7.43),
    ],
)
def test_dawnbench_dollars_come_back_to_the_cent(recipe, cluster_rate, dollars):
    hours = next(float(point["hours"]) for point in CURVES[recipe] if float(point["top5"]) >= 0.93)
    assert round(hours * cluster_rate, 2) == dollars


def test_mlperf_scores_are_the_hours_of_the_last_evaluation():
    scores = [row for row in RESULTS if row["round"].startswith("v") and row["recipe"]]
    assert len(scores) > 250
    for score in scores:
        crossing = next(point for point in CURVES[score["recipe"]] if float(point["top1"]) >= float(score["target"]))
        assert crossing is CURVES[score["recipe"]][-1]
        assert float(crossing["hours"]) * 60 == pytest.approx(float(score["minutes"]), rel=1e-5)


def test_mlperf_targets_are_those_of_the_round():
    targets = {(row["round"], row["target"]) for row in RESULTS if row["round"].startswith("v")}
    assert {target for season, target in targets if season == "v0.5"} == {"0.749"}
    assert {target for season, target in targets if season != "v0.5"} == {"0.759"}


@pytest.mark.parametrize(
    ("recipe", "accelerators"),
    [("mlperf-v0.6-tpu-v3-32", 16), ("mlperf-v0.7-tpu-v4-16-tf", 8), ("dawnbench-google-rn50-halfpod", 128)],
)
def test_tpus_are_counted_in_chips(recipe, accelerators):
    assert int(RECIPES[recipe]["accelerators"]) == accelerators


@pytest.mark.parametrize(
    ("epochs", "minutes", "top1"), [(16, 14.8, 0.737), (32, 28.7, 0.759), (40, 35.5, 0.772), (88, 71.7, 0.759)]
)
def test_ffcv_minutes_to_a_target(epochs, minutes, top1):
    crossing = next(point for point in CURVES[f"ffcv-rn50-{epochs}ep"] if float(point["top1"]) >= top1)
    assert float(crossing["hours"]) * 60 == pytest.approx(minutes, abs=0.05)


def test_no_two_recipes_share_a_log():
    logs = {}
    for recipe, curve in CURVES.items():
        if RECIPES[recipe]["is_log"] == "yes":
            logs.setdefault(tuple((point["epochs"], point["top1"]) for point in curve), []).append(recipe)
    assert [names for names in logs.values() if len(names) > 1] == []


def test_batches_grow_epochs_grow():
    points = [(int(row["global_batch_size"]), float(row["epochs_mean"])) for row in rows("rcps.csv")]
    assert increasing([batch for batch, _ in points])
    assert dict(points)[3264] == pytest.approx(35.2, abs=0.05)
    assert dict(points)[67840] == pytest.approx(85.9, abs=0.06)


def test_seed_noise_counts_failures():
    noise = rows("seed_noise.csv")
    assert all(int(row["reached"]) <= int(row["runs"]) for row in noise)
    assert sum(int(row["reached"]) for row in noise) == STOPPED_REACHED
    assert sum(int(row["diverged"]) for row in noise) == 1
    assert sum(int(row["runs"]) for row in noise) == STOPPED_RUNS
    assert all(RECIPES[row["recipe"]]["tuned_to"] for row in noise)


TRANSFORMERS = (
    "vit_b16",
    "vit_s16",
    "vit_l16",
    "deit_base",
    "swin_tiny",
    "swinv2_base",
    "convnext_base",
    "cait_s24",
    "twins_svt_base",
)


@pytest.mark.parametrize("model", TRANSFORMERS)
def test_transformers_and_their_kin_have_recipes_that_end_above_79_percent(model):
    ends = [float(CURVES[name][-1]["top1"]) for name, row in RECIPES.items() if row["model"] == model]
    assert max(ends) > 0.79


def test_networks_with_recipes_have_a_measured_speed():
    """Their own, or that of a network of the same operations; the one named here has none: its recipes lead to one alike."""
    measured = {row["model"] for row in rows("throughputs.csv")}
    alike = {row["model"] for row in rows("models.csv") if row["speed_of"] in measured}
    assert {row["model"] for row in RECIPES.values()} - measured - alike == {"mobilenet_v2_0_25"}


def test_curves_are_lent_by_several_logs_to_recipes_published_with_their_end_alone():
    shapes = {row["schedule_shape"] for row in RECIPES.values()} - {""}
    assert shapes == {"deit"}
    kind = [recipe for recipe, row in RECIPES.items() if row["schedule_shape"]]
    logs = [recipe for recipe in kind if RECIPES[recipe]["is_log"] == "yes"]
    assert len(logs) == 6
    for recipe in kind:
        [phase] = PHASES[recipe]
        assert (
            float(phase["to_epoch"])
            == float(CURVES[recipe][-1]["epochs"])
            == float(RECIPES[recipe]["scheduled_epochs"])
        )
        assert recipe in logs or len(CURVES[recipe]) == 1


def test_public_code_prints_its_command(packaged_evidence):
    """All but these few of the recipes whose code is public are run with one line, in a copy of a repository at a commit."""
    public = [
        each
        for each in packaged_evidence.recipes
        if each.is_public and each.stack != "timm" and not each.is_interpolated
    ]
    without = [each for each in public if each.command is None]
    assert len(public) > 660
    assert len(without) <= 19, sorted(each.name for each in without)
    for each in public:
        if each.command:
            address, commit = each.command.clone
            assert re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", address), each.command
            assert re.fullmatch(r"[0-9a-f]{7,40}", commit), each.command
            assert not re.search(r"[{}]", each.command.line), each.command


HOW_MANY = re.compile(
    r"nproc\S*[ =](\d+)|num-gpus (\d+)|NUM_GPUS (\d+)|gpus[ =](\d+)|distributed_train\.sh (\d+)|(?:composer|runner) -n (\d+)"
    r"|dist_train\.sh \S+ (\d+)|-np (\d+)|devices=([\d,]+)"
)


def test_every_command_names_the_accelerators_of_the_machine_that_runs_it(packaged_evidence):
    """`gpus=0,1` and the like name each; a line for three machines says so where its launcher can be told."""
    commands = [each.command for each in packaged_evidence.recipes if each.command]
    named = [command for command in commands if HOW_MANY.search(command.line)]
    assert len({command.line for command in named}) > 90
    for command in named:
        one, three = command.on(1, 1), command.on(2, 3)
        counts = ["".join(each) for each in HOW_MANY.findall(one)]
        assert {*counts} <= {"1", "0"}, one
        assert {"".join(each) for each in HOW_MANY.findall(three)} <= {"2", "0,1", "0", "6"}, three
        if "torchrun" in command.line or "distributed.launch" in command.line:
            assert three.count("nnodes=3") == 1, three


def test_every_command_is_of_a_recipe():
    names = {row["recipe"] for table in ("recipes.csv", "hub_recipes.csv") for row in rows(table)}
    assert [row["recipe"] for row in rows("commands.csv") if not fnmatch.filter(names, row["recipe"])] == []
