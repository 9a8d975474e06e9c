"""Slack and HTTP train the model that was named, by each of its names and to each target."""

from datetime import UTC, datetime
from itertools import cycle

import pytest
from fakes.kept_runs import KeptRuns
from msgspec.structs import replace
from support.own_training_runs import own_run
from support.sampled import sampled
from support.services import packaged_service

from api.forms.ask import AskReport
from api.slack.reply import Replier
from pricing.store.changes import By

SERVICE = packaged_service()
MODELS = SERVICE.evidence.models
SPELT = (str.upper, str, lambda name: name.replace("_", "-"), str.title)


def targets(model):
    """Some accuracies that a recipe of the model reached, else any."""
    reached = {
        point.top1 for recipe in SERVICE.evidence.recipes_of(model) for point in recipe.evaluations if point.top1
    }
    ordered = sorted(reached) or [0.7]
    return {round(ordered[index], 3) for index in (0, len(ordered) // 2, -1)} | {0.5}


@pytest.mark.parametrize("model", sampled(MODELS, one_in=5))
def test_the_model_named_is_the_model_answered(model):
    """By each of its names, each to one of the targets in one of the spellings."""
    catalogue = SERVICE.catalogue()
    ways = zip(cycle(sorted(targets(model))), cycle(SPELT))
    for name, (target, spell) in zip((model, *MODELS[model].aliases), ways, strict=False):
        over_http, _ = SERVICE.question({"model": [name], "target": [str(target)]}, catalogue)
        in_slack = AskReport(SERVICE, catalogue, f"train {spell(name)} to {target}").answered.cost.query
        assert in_slack == over_http
        assert (in_slack.model, in_slack.target) == (model, target)


MOMENT = datetime(2026, 11, 21, tzinfo=UTC)


def test_a_run_that_everybody_sees_is_asked_about_by_its_name_at_once():
    shared, kept = own_run().stored(), KeptRuns()
    replier = Replier(packaged_service().changed(runs=kept))
    text = "my-run 0.8 on A100-80GB"
    assert "my-run" in replier.reply(text, "").answer.text
    kept.add(shared, By("her", MOMENT))
    assert "$" in replier.reply(text, "").answer.text
    kept.remove(shared.id, By("her", MOMENT))
    kept.add(replace(shared, owner="hers"), By("her", MOMENT))
    assert "$" not in replier.reply(text, "").answer.text
