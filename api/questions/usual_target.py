"""The target of a question about a network on ImageNet that names none, and the sentence that says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema

from api.questions.errors import Errors
from api.questions.parsing import Arguments
from costcalc.convergence.usual_target import usual_target
from costcalc.evidence import Evidence
from costcalc.ordinary import ordinary_groups
from costcalc.query import EstimateQuery
from costcalc.tasks.goals import goal_in_words, metric_name, task_of
from costcalc.training import Metric

UNKNOWN = "missing: add target=0.757; nobody published a training of this network"


def names_no_target(schema: Schema, arguments: Arguments) -> bool:
    """Whether a question about one target leaves it out."""
    one = (
        "target" in schema.fields
        and "recipe" in schema.fields
        and not getattr(schema.fields["target"], "listed", False)
    )
    return one and not any(text.strip() for text in arguments.get("target", ()))


def with_usual_target(evidence: Evidence, values: Mapping[str, Any]) -> tuple[dict[str, Any], Errors]:
    """The target and whose it is: of the recipes named, or of all; an error where nobody published a training."""
    model, metric = evidence.find_model(values["model"]), values.get("metric", Metric.TOP1)
    named, moment = values.get("recipe", ()), values.get("as_of")
    known = evidence.known_on(moment.date()) if moment else evidence
    recipes = [one for one in known.recipes_of(model.name) if not named or one.is_named(named)] if model else []
    found = usual_target(recipes, ordinary_groups(recipes, evidence.usual_scripts[0]), metric)
    if found is None:
        return {}, {"target": [UNKNOWN]} if model else {}
    return {"target": found.accuracy, "target_of": found.recipe}, {}


def whose_target(query: EstimateQuery) -> tuple[str, ...]:
    """The sentence that says what is reached where the question doesn't."""
    if query.target_of is None:
        return ()
    if task_of(query):
        return (f"No target named; {query.target_of}'s is {goal_in_words(query)}.",)
    reached = f"{query.target * 100:.1f} % {metric_name(query.metric)}"
    return (f"No target named: {reached}, which {query.target_of} reaches in nine of ten runs.",)
