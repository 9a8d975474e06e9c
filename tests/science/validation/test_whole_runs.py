"""Whole runs of another framework against the recipes of the same network, all made up."""

import math

import pytest
from fakes.recipes import recipe
from msgspec.structs import replace
from support.mlperf_results import publish

from costcalc.training import Evaluation
from science.validation.outside_mlperf.whole_runs import epochs_by_other_recipes, hours
from science.validation.published import WholeRun, load_published
from science.validation.scores import Case

RUN = WholeRun("theirs-200ep", "vgg13", "Them", 200.0, 0.72, "theirs-vgg13-x8")


def ending_at(name, model, epochs, top1, organisation="us"):
    """A recipe known at its end alone."""
    return recipe(
        name=name, model=model, organisation=organisation, evaluations=(Evaluation(epochs, None, top1, None),)
    )


def scored(rows, *recipes, run=RUN):
    published = publish(rows, groups={"whole_runs": {run.run: run.model}})
    evidence = replace(published.evidence, recipes=recipes)
    return epochs_by_other_recipes(replace(published, evidence=evidence, unseen_runs=(run,)))


def test_it_takes_the_median_of_the_recipes_that_reach_the_accuracy(rows):
    recipes = [ending_at(str(epochs), "vgg13", epochs, 0.73) for epochs in (90.0, 100.0, 300.0)]
    (case,) = scored(rows, *recipes, ending_at("short", "vgg13", 30.0, 0.70), ending_at("other", "vgg16", 400.0, 0.75))
    assert case.name == RUN.run
    assert case.group == "vgg13"
    assert case.error == pytest.approx(math.log(100 / 200))
    assert case.baseline_error == pytest.approx(math.log(400 / 200))


def test_the_organisation_s_own_recipes_do_not_tell(rows):
    own = ending_at("own", "vgg13", 200.0, 0.72, organisation="Them")
    other = ending_at("other", "vgg16", 400.0, 0.75)
    assert scored(rows, own, other) == []
    (case,) = scored(rows, own, other, ending_at("ours", "vgg13", 100.0, 0.72))
    assert case.error == pytest.approx(math.log(0.5))


def test_hours_err_by_the_epochs_and_by_the_speed():
    published = replace(load_published(), unseen_runs=(RUN, replace(RUN, run="no rate", throughput=None)))
    epochs = [Case(name, "vgg13", -0.5, 0.3) for name in (RUN.run, "no rate")]
    (case,) = hours(published, epochs, [Case("theirs-vgg13-x8", "any", 0.2, 0.1)])
    assert (case.name, case.group) == (RUN.run, "vgg13")
    assert case.error == pytest.approx(-0.3)
    assert case.baseline_error == pytest.approx(0.4)


def test_packaged_runs_are_sourced_frozen_and_no_recipe():
    published = load_published()
    runs = published.unseen_runs
    frozen = published.groups["whole_runs"]
    unseen = {row.name: row for row in published.unseen_speeds}
    assert {run.run: run.model for run in runs} == frozen
    assert all(run.model in published.evidence.models and 0 < run.top1 < 1 and run.epochs >= 90 for run in runs)
    assert all(unseen[run.throughput].model == run.model for run in runs if run.throughput)
    assert not {run.organisation for run in runs} & {one.organisation for one in published.evidence.recipes}
