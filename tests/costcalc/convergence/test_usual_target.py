"""The target of a question that names none is what a usual training reaches in nine runs of ten, and hardly more."""

import pytest

from costcalc.convergence.eligibility import ModelRecipes, eligible_recipes
from costcalc.convergence.usual_target import CHANCE, usual_target
from costcalc.evidence import load_evidence
from costcalc.ordinary import ordinary_groups
from costcalc.query import EstimateQuery


@pytest.fixture(scope="module")
def evidence():
    return load_evidence()


@pytest.mark.parametrize("metric", ["top1", "top5"])
@pytest.mark.parametrize(
    "model", ["resnet50", "resnet18", "vit_b16", "convnext_tiny", "efficientnet_b0", "densenet121"]
)
def test_the_recipe_reaches_it_in_nine_runs_of_ten(evidence, model, metric):
    recipes = evidence.recipes_of(model)
    found = usual_target(recipes, ordinary_groups(recipes, evidence.usual_scripts[0]).as_published, metric)
    alone = [recipe for recipe in recipes if recipe.name == found.recipe]
    chance, beyond = (
        eligible_recipes(ModelRecipes(tuple(alone), 0.0), EstimateQuery(model, target, metric)).success_probability[0]
        for target in (found.accuracy, found.accuracy + 0.001)
    )
    assert chance >= CHANCE > beyond
    assert round(found.accuracy, 3) == found.accuracy


def test_nobody_s_training_has_no_usual_target(evidence):
    assert usual_target(evidence.recipes_of("hiera_large_224"), (), "top1") is None
