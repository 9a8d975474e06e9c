"""A recipe with more epochs can still be the shortest: on its own system, or because its images are smaller."""

from dataclasses import replace
from itertools import pairwise

import pytest
from fakes.offers import DAY, offer

from costcalc.catalogue.catalogue import Catalogue
from costcalc.estimate import answer
from costcalc.hardware import Machine
from costcalc.query import EstimateQuery
from costcalc.training import Evaluation, Phase

MACHINE = Machine("A100-40GB", 8, 40.0)


def recipe_like(evidence, known, **changes):
    (recipe,) = [recipe for recipe in evidence.recipes if recipe.name == known]
    return replace(recipe, **changes)


def reaching(epochs, hours=None):
    """A curve that is far above the target after so many epochs."""
    return (Evaluation(1, hours and hours / epochs, 0.1, None), Evaluation(epochs, hours, 0.9, None))


@pytest.fixture
def best(packaged_evidence):
    """The best recipe of these on eight A100, and how long each of them takes."""

    def best(one, *recipes):
        asked = EstimateQuery("resnet50", 0.75, as_of=DAY, nodes=1, overheads="none")
        prices = Catalogue.from_offers([one], "made up")
        evidence = replace(packaged_evidence, recipes=recipes)
        (chosen,) = answer(asked, evidence, prices, DAY).estimates
        every = answer(replace(asked, recipes="all"), evidence, prices, DAY).estimates
        return chosen.recipe, {estimate.recipe: estimate.hours for estimate in every}

    return best


def test_a_log_of_ones_own_beats_fewer_epochs_elsewhere(packaged_evidence, best):
    home = recipe_like(packaged_evidence, "ffcv-rn50-32ep", name="at home", phases=(Phase(192, 0, 32),))
    home = replace(home, evaluations=reaching(32, hours=0.1))
    home = replace(home, system=replace(home.system, provider="aws", instance_type="p4d.24xlarge"))
    nowhere = replace(home.system, provider=None, instance_type=None)
    away = replace(home, name="away", system=nowhere, evaluations=reaching(20))
    machine = offer(provider="aws", instance_type="p4d.24xlarge", machine=MACHINE)
    name, hours = best(machine, away, home)
    assert hours == pytest.approx({"at home": 0.1, "away": hours["away"]})
    assert hours["away"] > 0.1
    assert name == "at home"


def test_more_epochs_of_smaller_images_may_be_shorter(packaged_evidence, best):
    large = recipe_like(packaged_evidence, "ffcv-rn50-32ep", name="large", evaluations=reaching(19))
    large = replace(large, phases=(Phase(160, 0, 1), Phase(192, 1, 19)), scheduled_epochs=19)
    small = replace(large, name="small", evaluations=reaching(20), phases=(Phase(160, 0, 19), Phase(192, 19, 20)))
    name, hours = best(offer(instance_type="eight", machine=MACHINE), large, small)
    assert hours["small"] < hours["large"]
    assert name == "small"


def test_recipes_are_compared_by_elapsed_time(packaged_evidence):
    """Evaluation and warm-up count in MLPerf's hours: where two recipes are nearly equal a stricter target costs no less."""
    every_chip = [
        offer(instance_type=f"{name} {count}", machine=Machine(name, count, 80.0))
        for name in packaged_evidence.accelerators
        for count in (1, 4, 8, 16)
    ]
    prices = Catalogue.from_offers(every_chip, "one of each")
    hours = []
    for target in (0.756, 0.757, 0.758, 0.759, 0.760, 0.762):
        asked = EstimateQuery("resnet50", target, as_of=DAY, nodes=1, limit=1000)
        hours.append({one.instance_type: one.hours for one in answer(asked, packaged_evidence, prices, DAY).estimates})
    assert all(len(found) > 200 for found in hours)
    for looser, stricter in pairwise(hours):
        assert [name for name in stricter if stricter[name] < looser[name] * (1 - 1e-9)] == []
