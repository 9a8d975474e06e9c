"""The subjects that were published or logged: a user's own run, a task, and a network on ImageNet."""

from __future__ import annotations

from datetime import datetime

from marshmallow import Schema, ValidationError

from api.questions.errors import BadParameters, Errors
from api.questions.fields import Number
from api.questions.parsing import Arguments
from api.questions.subject import (
    GOAL,
    Subject,
    Values,
    given,
    in_8_bits,
    not_described,
    not_its_own,
    without_goal,
)
from costcalc.convergence.usual_target import usual_target
from costcalc.evidence import Evidence
from costcalc.ordinary import ordinary_groups
from costcalc.tasks.goals import value_in_words
from costcalc.tasks.known import qualities, quality_on
from costcalc.tasks.tables import Task, benchmark_of
from costcalc.training import Crossing, Metric
from own_runs.asking import OwnModel

NO_TRAINING = "missing: add target=0.757; no training of this network has been published"
VALUE = Number(float, -1e300, 1e300, "value to reach", example=2.1)


class OwnRunSubject(Subject, frozen=True):
    """A user's own run: its own metric and data set, and a target that it reached."""

    own: OwnModel

    @property
    def metric(self) -> str:
        return self.own.run.metric

    def common(self, schema: Schema, arguments: Arguments) -> Arguments:
        """The arguments that mean the same whatever the model. Raises BadParameters where neither target nor budget is asked
        for."""
        if not {"target", "budget"} & schema.fields.keys():
            raise BadParameters(
                {"model": [f"{self.own.run.name} is a run: ask /cost with a target, or /accuracy with a budget"]}
            )
        return without_goal(arguments)

    def settled(self, schema: Schema, arguments: Arguments, values: Values, errors: Errors) -> tuple[Values, Errors]:
        """The values with the goal. Where the best value within a budget is asked for, the target is the first that the run
        passed."""
        run, crossing = self.own.run, values.get("crossing", Crossing.ISOTONIC)
        wrong, texts = not_its_own(run.name, run, arguments), given("target", arguments)
        target = self.own.values(crossing)[0]
        try:
            if "target" in schema.fields:
                target = self._target(texts, crossing)
            elif texts:
                wrong["target"] = ["the answer is the best value within budget= and max_hours=: leave it out"]
        except ValidationError as error:
            wrong["target"] = [str(message) for message in error.messages]
        goal = {"target": target, "metric": run.metric, "dataset": run.dataset}
        values = {"recipes": "best" if "confidence" in values else "all", **values, **goal}
        return values, errors | wrong | not_described(schema, values)

    def _target(self, texts: list[str], crossing: Crossing) -> float:
        run, reached = self.own.run, f"{self.own.reached(crossing):.6g}"
        if len(texts) != 1:
            raise ValidationError(
                f"{'give it once' if texts else 'missing'}: add target={reached}, which {run.name} reached"
            )
        target: float = VALUE.parse(texts[0])
        if not self.own.reaches(target, crossing):
            most = "least" if run.lower_is_better else "most"
            raise ValidationError(f"{run.name} reached {reached} {run.metric}; ask for at {most} that")
        return target


class TaskSubject(Subject, frozen=True):
    """A published task: its own metric and data set; without a target it is the task's quality on the day asked about."""

    task: Task
    now: datetime

    @property
    def metric(self) -> str:
        return self.task.metric

    def common(self, _: Schema, arguments: Arguments) -> Arguments:
        return without_goal(arguments)

    def settled(self, schema: Schema, arguments: Arguments, values: Values, errors: Errors) -> tuple[Values, Errors]:
        """The values with the goal. Raises BadParameters where neither target nor budget is asked for."""
        task = self.task
        if "target" not in schema.fields:
            raise BadParameters(
                {"model": [f"{task.name} is a task with one target: ask /cost, with max_cost= for a budget"]}
            )
        wrong, texts = not_its_own(task.name, task, arguments), given("target", arguments)
        if "images_per_second" in values:
            wrong["images_per_second"] = [f"speeds of {task.name} follow from its published results: leave it out"]
        target = quality_on(task, (values.get("as_of") or self.now).date())
        try:
            target = self._target(texts, target)
        except ValidationError as error:
            wrong["target"] = [str(message) for message in error.messages]
        goal = {"target": target, "metric": task.metric, "dataset": task.dataset}
        values = values | goal | ({} if texts else {"target_of": benchmark_of(task)})
        return values, errors | wrong | not_described(schema, values)

    def _target(self, texts: list[str], usual: float) -> float:
        """The target asked for; a percentage where the metric is a share, or a share where it counts in percent."""
        if not texts:
            return usual
        if len(texts) > 1:
            raise ValidationError(f"give it once: {self.task.name} has {value_in_words(self.task.metric, usual)}")
        target: float = VALUE.parse(texts[0])
        targets = {target for _, target in qualities(self.task)}
        shifted = (target / 100, target * 100)
        meant = (known for known in targets for other in shifted if abs(known - other) < 1e-9)
        return target if target in targets else next(meant, target)


class ImageNetSubject(Subject, frozen=True):
    """A network on ImageNet, or whatever has no goal. A question about one target may leave it out: `usual` says so."""

    evidence: Evidence
    usual: bool

    @staticmethod
    def of(evidence: Evidence, schema: Schema, arguments: Arguments) -> ImageNetSubject:
        about_one = {"target", "recipe"} <= schema.fields.keys() and not getattr(
            schema.fields["target"], "listed", False
        )
        return ImageNetSubject(evidence, about_one and not given("target", arguments))

    @property
    def may_lack(self) -> tuple[str, ...]:
        return GOAL if self.usual else ()

    def settled(self, schema: Schema, _: Arguments, values: Values, errors: Errors) -> tuple[Values, Errors]:
        """The values with the target, of the recipes named or of all; an error where nobody published a training."""
        if self.usual and isinstance(values.get("model"), str):
            model, metric = self.evidence.find_model(values["model"]), values.get("metric", Metric.TOP1)
            named, moment = values.get("recipe", ()), values.get("as_of")
            evidence = self.evidence.known_on(moment.date()) if moment else self.evidence
            recipes = (
                [recipe for recipe in evidence.recipes_of(model.name) if not named or recipe.is_named(named)]
                if model
                else []
            )
            usual = usual_target(recipes, ordinary_groups(recipes, self.evidence.usual_scripts[0]).as_published, metric)
            if usual:
                values = values | {"target": usual.accuracy, "target_of": usual.recipe}
            elif model:
                errors = errors | {"target": [NO_TRAINING]}
        return values, errors | in_8_bits(values) | not_described(schema, values)
