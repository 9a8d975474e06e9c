"""Ordinary scripts beside what leads: an ordinary loop of today, the usual script as published, and frameworks out of use."""

import pytest
from support.services import packaged_service

import costcalc
from costcalc.ordinary import ordinary_groups
from costcalc.recipes import IN_16_BITS


@pytest.fixture(scope="module")
def evidence():
    return packaged_service().evidence


def names(recipes, flags):
    return {recipe.name for recipe, one in zip(recipes, flags.tolist(), strict=True) if one}


def test_today_is_in_16_bits_and_what_was_published_in_32_stays_so(evidence):
    recipes = evidence.recipes_of("resnet50")
    groups = ordinary_groups(recipes, evidence.usual_scripts[0])
    begins, today = names(recipes, groups.as_published[0]), names(recipes, groups.today[0])
    assert "torchvision-resnet50-90ep" in begins
    assert f"torchvision-resnet50-90ep{IN_16_BITS}" in today
    assert not begins & today
    assert not any(name.startswith("gluoncv-") for name in today)


def test_a_script_in_16_bits_says_what_it_was_published_in_and_runs_with_its_option(evidence):
    one = next(each for each in evidence.in_16_bits if each.name.startswith("torchvision-resnet50-90ep"))
    assert one.as_published.precision == "fp32"
    assert one.command.line.endswith(" --amp")
    assert one.evaluations == next(
        each.evaluations for each in evidence.recipes if f"{each.name}{IN_16_BITS}" == one.name
    )


@pytest.mark.parametrize("model", ["mobilenet_v2", "resnet50", "resnet101", "vgg16", "mobilenet_v3_large"])
def test_a_framework_out_of_use_leads_nowhere_that_another_is_known(model):
    answer = costcalc.cost(model)
    assert not any(
        each.recipe.startswith(("gluoncv-", "flax-")) for each in answer.estimates if "TPU" not in each.accelerator
    )


def test_both_figures_have_their_ranges():
    client = pytest.importorskip("api.web.app").create_app(packaged_service()).test_client()
    found = client.get("/cost?model=resnet50&target=0.757").json
    for name in ("ordinary", "as_published"):
        one = found[name]
        assert list(one) == [
            *("recipe", "hours", "hours_low", "hours_high"),
            *("billed_cost", "billed_cost_low", "billed_cost_high", "command"),
        ]
        assert one["hours_low"] < one["hours"] < one["hours_high"]
        assert float(one["billed_cost_low"]) < float(one["billed_cost"]) < float(one["billed_cost_high"])
    assert found["as_published"]["recipe"] == "torchvision-resnet50-90ep"
    assert found["ordinary"]["hours"] < found["as_published"]["hours"]
