import hashlib
import math

import pytest
from msgspec.structs import replace
from packaged_tables import fact_text
from support.mlperf_results import mlperf_row, publish

from costcalc.evidence import TableError
from costcalc.evidence.parsing import evidence_to_fit
from costcalc.training import System
from science.validation.published import (
    FITTED_TO,
    FROZEN,
    TABLES,
    Repetitions,
    fingerprint,
    load_published,
    mlperf_runs,
    parse_published,
)

HEADER = "result,recipe,organisation,accelerator,accelerators,nodes,global_batch_size,epochs,minutes,stack,round"
TIMES = f"""{HEADER}
one,mlperf-x,Ada,A100-80GB,8,1,3264,36,28.5,mlperf,v2.0
two,dawnbench-x,Bob,V100,,,,,13.25,dawnbench,
three,,Cleo,V100,8,1,1024,35,99,dawnbench,
"""
SEEDS = """recipe,runs,reached,top1_of_runs
mlperf-x,2,1,0.7596;0.7571
"""


@pytest.fixture(scope="module")
def texts():
    return {name: fact_text(name) for name in TABLES}


@pytest.fixture(scope="module")
def parsed(texts, packaged_evidence):
    return parse_published(packaged_evidence, {**texts, "results": TIMES, "seed_noise": SEEDS})


class TestTables:
    """From the texts of the tables."""

    def test_a_line_is_a_result(self, parsed):
        first = parsed.results[0]
        assert (first.recipe, first.organisation, first.minutes, first.round) == ("mlperf-x", "Ada", 28.5, "v2.0")
        assert (first.system, first.global_batch_size, first.epochs) == (System("A100-80GB", 8, 1), 3264, 36.0)

    def test_what_was_not_published_is_none(self, parsed):
        second = parsed.results[1]
        assert (second.accelerators, second.global_batch_size, second.epochs) == (None, None, None)
        assert (second.round, second.system) == ("", System("V100", 0, 1))

    def test_a_result_without_a_recipe_is_left_out(self, parsed):
        assert [result.organisation for result in parsed.results] == ["Ada", "Bob"]

    def test_repetitions_keep_the_end_of_each_run(self, parsed):
        assert parsed.repetitions == (Repetitions("mlperf-x", 2, 1, (0.7596, 0.7571)),)

    def test_a_wrong_cell_is_named_with_its_line(self, texts, packaged_evidence):
        with pytest.raises(TableError, match=r"results\.csv, line 2: .*minutes"):
            parse_published(packaged_evidence, {**texts, "results": TIMES.replace("28.5", "soon")})

    @pytest.mark.parametrize("name", FROZEN)
    @pytest.mark.parametrize("change", [lambda text: text + "organisation,New,new\n", lambda text: text.upper()])
    def test_the_frozen_groups_cannot_be_changed(self, texts, packaged_evidence, name, change):
        with pytest.raises(ValueError, match=rf"frozen.*git restore science/data/{name}\.csv"):
            parse_published(packaged_evidence, {**texts, name: change(texts[name])})

    def test_organisations_are_held_out_by_their_groups(self, parsed):
        assert parsed.organisation("nobody heard of") == "nobody heard of"
        assert set(parsed.groups) >= {"organisation", "accelerator", "round", "recipe_family"}
        name, group = next((name, group) for name, group in parsed.groups["organisation"].items() if name != group)
        assert parsed.organisation(name) == group

    def test_a_family_holds_the_recipes_of_its_group_that_exist(self, rows):
        first, second, third = (row.recipe.name for row in rows[:3])
        groups = {"recipe_family": {third: "odd", "unheard of": "odd", first: "odd", second: "even"}}
        published = publish(rows, groups=groups)
        assert [recipe.name for recipe in published.family("odd")] == [third, first]
        assert published.family("none") == []


def test_the_packaged_tables_are_read(packaged_evidence):
    published = load_published()
    assert published.evidence.version == evidence_to_fit().version
    assert len(published.results) > 300
    assert len(published.repetitions) > 80
    assert {point.epochs_mean > 30 for point in published.reference_points} == {True}


def test_every_held_out_organisation_is_listed():
    published = load_published()
    organisations = {result.organisation for result in published.results if result.stack == "mlperf"}
    assert organisations <= set(published.groups["organisation"])


def test_the_fingerprint_is_that_of_the_bytes_that_were_fitted_to():
    together = "".join(map(fact_text, FITTED_TO)).encode()
    assert fingerprint() == hashlib.sha256(together).hexdigest()[:16]


class TestMLPerfRuns:
    """Results of MLPerf as things to predict."""

    def test_a_run_knows_how_it_was_run(self):
        (run,) = mlperf_runs(publish([mlperf_row("Ada", count=16, nodes=2, batch=4096, year=2021)]))
        assert run.setup == ("X100", 8, 2, 256.0, 2021, "mxnet")
        assert (run.system, run.accelerators, run.global_batch_size) == (System("X100", 16, 2), 16, 4096)
        assert (run.name, run.group, run.family) == (run.result.recipe, "Ada", "mlperf-lars")
        assert (run.on_one_machine, run.steady) == (False, True)
        assert run.log_rate == pytest.approx(math.log(2500))

    def test_its_time_is_in_seconds(self):
        (run,) = mlperf_runs(publish([mlperf_row("Ada", minutes=2.0)]))
        assert run.log_seconds == pytest.approx(math.log(120))

    def test_its_group_is_that_of_its_organisation(self):
        (run,) = mlperf_runs(publish([mlperf_row("Ada")], groups={"organisation": {"Ada": "ada and bob"}}))
        assert run.group == "ada and bob"

    def test_without_a_log_it_has_no_rate_and_is_not_steady(self):
        (run,) = mlperf_runs(publish([mlperf_row("Ada")], logged=False))
        assert (run.log_rate, run.steady) == (None, False)

    def test_a_log_that_includes_evaluations_is_not_steady(self):
        (run,) = mlperf_runs(publish([mlperf_row("Ada", note="rate end to end")]))
        assert not run.steady
        assert run.log_rate is not None

    @pytest.mark.parametrize(
        "row",
        [
            mlperf_row("Ada", division="open"),
            mlperf_row("Ada", round="v0.6"),
            mlperf_row("Ada", "unheard of"),
        ],
    )
    def test_other_rules_rounds_and_unknown_accelerators_are_left_out(self, row):
        assert [run.group for run in mlperf_runs(publish([row, mlperf_row("Bob", round="v0.7")]))] == ["Bob"]

    @pytest.mark.parametrize("unknown", ["accelerators", "global_batch_size"])
    def test_so_is_what_leaves_out_its_count_or_batch(self, unknown):
        row = mlperf_row("Ada")
        silent = replace(row, result=replace(row.result, **{unknown: None}))
        assert list(mlperf_runs(publish([silent]))) == []

    def test_other_stacks_are_left_out(self):
        row = mlperf_row("Ada")
        other = replace(row, result=replace(row.result, stack="dawnbench"))
        assert list(mlperf_runs(publish([other]))) == []


CONTRADICTED = "flagperf-vit-b16-a100-40gb-x1-amp"
"""Its own table has 664 and 629 images/s a card on eight and sixteen with the same code and batch, and 1,144 on one alone."""


def test_unseen_speeds_are_sourced_in_no_fit_and_each_is_scored_or_scaled_from():
    published = load_published()
    known = published.throughputs
    unseen = {row.name: row for row in published.unseen_speeds}
    assert len(unseen) == len(published.unseen_speeds)
    assert not unseen.keys() & known.keys()
    assert all(row.source and row.year and row.images_per_second > 0 for row in unseen.values())
    splits = ("other_count", "several_machines", "one_network_known", "host_limited")
    pairs = [pair for split in splits for pair in published.groups[split].items()]
    transformers = published.groups["transformers"].keys() | published.groups["more_transformers"].keys()
    named = {name for pair in pairs for name in pair} | transformers
    assert unseen.keys() <= named <= unseen.keys() | known.keys() | {CONTRADICTED}
    assert CONTRADICTED not in unseen.keys() | known.keys()
    for name, base in pairs:
        one, other = ((known | unseen)[each] for each in (name, base))
        assert (one.stack, one.accelerator) == (other.stack, other.accelerator), name


def test_repeated_schedules_are_published_ends_of_one_network():
    published = load_published()
    groups = {}
    for name, group in published.groups["repeated"].items():
        recipe = published.recipes[name]
        groups.setdefault(group, []).append(
            (recipe.model, recipe.stack, recipe.scheduled_epochs, recipe.global_batch_size)
        )
        assert recipe.evaluations[-1].top1
    assert all(len(recipes) > 1 and len(set(recipes)) == 1 for recipes in groups.values())
