"""Published logs, written as their tools wrote them and read as one's own, give their published dollars and minutes again."""

import json
from datetime import UTC, date, datetime

import pytest
from msgspec.structs import replace
from support.engine import answer
from support.services import packaged_catalogue, packaged_service

from costcalc.offer import PurchaseOption
from costcalc.query import EstimateQuery
from own_runs.adding import Facts, read_run
from own_runs.evidence import evidence_of

THEN = datetime(2018, 10, 1, 23, 59, 59, tzinfo=UTC)
IMAGENET = {"model": "resnet50", "dataset": "imagenet", "samples_per_epoch": 1_281_167}
PUBLISHED = {
    "dawnbench-diux-rn50-p3-tensorpack": (1, "358.22"),
    "dawnbench-fastai-rn50-p3": (1, "72.40"),
    "dawnbench-fastai-rn50-4xp3": (4, "48.48"),
    "dawnbench-fastai-rn50-8xp3": (8, "61.63"),
    "dawnbench-fastai-rn50-16xp3": (16, "118.07"),
}
"""Machines and dollars, as the contest published them (https://dawn.cs.stanford.edu/benchmark/)."""


def tsv_of(recipe):
    """As https://github.com/stanford-futuredata/dawn-bench-entries has them."""
    rows = [(f"{p.epochs:.12g}", p.hours, 100 * (p.top1 or 0), 100 * p.top5) for p in recipe.evaluations if p.top5]
    lines = ["\t".join(map(str, row)) for row in (("epoch", "hours", "top1Accuracy", "top5Accuracy"), *rows)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", PUBLISHED)
def test_logs_of_dawnbench_cost_what_they_cost(tmp_path, name):
    evidence, (nodes, dollars) = packaged_service().evidence, PUBLISHED[name]
    path = tmp_path / "log.tsv"
    path.write_text(tsv_of(next(recipe for recipe in evidence.recipes if recipe.name == name)))
    facts = Facts("my-run", metric="top5Accuracy", accelerator="V100", accelerators=8 * nodes, nodes=nodes, batch_size=1024,
                  provider="aws", instance_type="p3.16xlarge", ran_on=date(2018, 9, 1), **IMAGENET)  # fmt: skip
    run = read_run(path, facts, THEN)
    query = EstimateQuery("my-run", 0.93, metric=run.metric, recipes="all", crossing="first", overheads="none",
                          basis="effective", purchase=(PurchaseOption.ON_DEMAND,), instance_type=("p3.16xlarge",),
                          nodes=nodes, as_of=THEN, limit=1)  # fmt: skip
    [one] = answer(query, evidence_of(run, evidence), packaged_catalogue(), THEN).estimates
    assert f"{one.effective_cost}" == dollars


def test_a_log_of_mlperf_takes_its_published_minutes(tmp_path):
    evidence = packaged_service().evidence
    recipe = next(one for one in evidence.recipes if one.is_mlperf and one.evaluations[-1].hours)
    end = recipe.evaluations[-1]
    said = [(0, "global_batch_size", recipe.global_batch_size, {}), (0, "train_samples", 1_281_167, {}),
            (1000, "run_start", None, {}),
            (1000 + end.hours * 3.6e6, "eval_accuracy", end.top1, {"epoch_num": end.epochs})]  # fmt: skip
    lines = [
        f":::MLLOG {json.dumps({'time_ms': ms, 'key': key, 'value': v, 'metadata': more})}" for ms, key, v, more in said
    ]
    path = tmp_path / "result_0.txt"
    path.write_text("\n".join(lines))
    run = read_run(
        path, Facts("my-run", dataset="imagenet", model="resnet50", accelerator="A100-80GB", accelerators=8), THEN
    )
    assert run.batch_size == recipe.global_batch_size
    assert run.hours * 3600 == pytest.approx(end.hours * 3600, abs=1)
    query = EstimateQuery("my-run", end.top1, metric=run.metric, recipes="all", accelerator=("A100-80GB",), accelerators=8,
                          overheads="none", limit=1)  # fmt: skip
    now = datetime(2026, 11, 20, tzinfo=UTC)
    mine = evidence_of(replace(run, ran_on=date(2026, 11, 1)), evidence)
    [one] = answer(query, mine, packaged_catalogue(), now).estimates
    assert one.hours * 3600 == pytest.approx(end.hours * 3600, abs=1)
