"""What a question about a published task may ask: its own metric and data set; its target may be left out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from marshmallow import Schema, ValidationError

from api.questions.errors import BadParameters, Errors
from api.questions.fields import Number
from api.questions.parsing import Arguments
from api.questions.suggestions import clip, squeeze
from costcalc.tasks.goals import value_in_words
from costcalc.tasks.known import qualities, quality_on
from costcalc.tasks.tables import Task, benchmark_of

TARGET = Number(float, -1e300, 1e300, "value to reach", example=3.3)


def of_the_task(
    schema: Schema, task: Task, arguments: Arguments, values: Mapping[str, Any], day: date
) -> tuple[dict[str, Any], Errors]:
    """The target, the metric and the data set of a question about a task on a day, and the errors of those that are not its own.
    Raises BadParameters where neither target nor budget is asked for."""
    if "target" not in schema.fields:
        raise BadParameters(
            {"model": [f"{task.name} is a task with one target: ask /cost, with max_cost= for a budget"]}
        )
    errors: Errors = {}
    if "images_per_second" in values:
        errors["images_per_second"] = [f"speeds of {task.name} follow from its published results: leave it out"]
    for name in ("metric", "dataset"):
        its_own = str(getattr(task, name))
        wrong = [text for text in arguments.get(name, ()) if text.strip() and squeeze(text) != squeeze(its_own)]
        if wrong:
            errors[name] = [f"{task.name} has {its_own} alone: leave {name} out; got {clip(wrong[0].strip())}"]
    target = quality_on(task, day)
    try:
        target = _target(task, [text.strip() for text in arguments.get("target", ()) if text.strip()], target)
    except ValidationError as error:
        errors["target"] = [str(message) for message in error.messages]
    named = any(text.strip() for text in arguments.get("target", ()))
    found = {"target": target, "metric": task.metric, "dataset": task.dataset}
    return found if named else {**found, "target_of": benchmark_of(task)}, errors


def _target(task: Task, texts: list[str], usual: float) -> float:
    """The target asked for; a percentage where the metric is a share, or a share where it counts in percent."""
    if not texts:
        return usual
    if len(texts) > 1:
        raise ValidationError(f"give it once: {task.name} has {value_in_words(task.metric, usual)}")
    asked: float = TARGET.parse(texts[0])
    known = {target for _, target in qualities(task)}
    shifted = [asked / 100, asked * 100]
    return (
        asked if asked in known else next((each for each in known for one in shifted if abs(each - one) < 1e-9), asked)
    )
