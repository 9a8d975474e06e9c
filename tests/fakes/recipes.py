"""Recipes that nobody published."""

from msgspec.structs import replace

from costcalc.recipes import Recipe
from costcalc.training import Phase

RECIPE = Recipe(
    name="made-up",
    model="resnet50",
    organisation="us",
    family="ours",
    framework="any",
    framework_family="other",
    stack="ours",
    runs=1,
    is_log=True,
    year=2024,
    source="here",
    phases=(Phase(224, 0, 100),),
    evaluations=(),
)


def recipe(**facts) -> Recipe:
    """One with these facts; it was run once, to an end that nobody evaluated."""
    return replace(RECIPE, **facts)
