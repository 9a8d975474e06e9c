"""What a question is about, which settles what the question need not say: a user's own run, a published task, a training
that the question describes itself, or a network on ImageNet."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from marshmallow import Schema, ValidationError
from msgspec import Struct

from api.questions.errors import BadParameters, Errors, NotFound
from api.questions.fields import Number
from api.questions.language import OF_TOKENS, LanguageSubject
from api.questions.parsing import Arguments
from api.questions.suggestions import clip, squeeze, unknown
from costcalc.convergence.usual_target import usual_target
from costcalc.evidence import Evidence
from costcalc.evidence.published_runs import PublishedRun, find_published, published_runs
from costcalc.evidence.timed_networks import TimedNetwork, find_timed_network
from costcalc.hardware import Accelerator
from costcalc.ordinary import ordinary_groups
from costcalc.query import ANY, EPOCHS, OWN_DATA_SET, EstimateQuery, parameters_of
from costcalc.tasks.goals import goal_in_words, metric_name, task_of, value_in_words
from costcalc.tasks.known import find_task, qualities, quality_on
from costcalc.tasks.tables import Task, benchmark_of
from costcalc.training import IMAGES_PER_EPOCH, Crossing, Metric, Model
from own_runs.asking import OwnModel
from own_runs.own_images import BATCH, usual_epochs, usual_steps

GOAL = ("target", "metric", "dataset")
SIZES = ("parameters", "gmacs")
NO_SPEED = "missing: add images_per_second=1100@1xA100-80GB, or parameters= and gmacs="
ONLY_FULL = (
    "a network of images trains with method=full on samples_per_epoch= images of your own; lora is for language models"
)
NO_METRIC = "says what a target is measured in: leave it out, or add target="
NO_8_BITS = "nobody is known to train image networks in fp8: write amp, bf16 or fp32"
NO_TRAINING = "missing: add target=0.757; no training of this network has been published"
ANY_NETWORK = Model(ANY, (), ANY, None, None, None, "your question")
VALUE = Number(float, -1e300, 1e300, "value to reach", example=2.1)

Values = dict[str, Any]


class OwnRunSubject(Struct, frozen=True):
    """A user's own run: its own metric and data set, and a target that it reached."""

    own: OwnModel
    task: ClassVar = None
    may_lack: ClassVar = GOAL

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
        return _without_goal(arguments)

    def settled(self, schema: Schema, arguments: Arguments, values: Values, errors: Errors) -> tuple[Values, Errors]:
        """The values with the goal. Where the best value within a budget is asked for, the target is the first that the run
        passed."""
        run, crossing = self.own.run, values.get("crossing", Crossing.ISOTONIC)
        wrong, texts = _not_its_own(run.name, run, arguments), _given("target", arguments)
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
        return values, errors | wrong | _not_described(schema, values)

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


class TaskSubject(Struct, frozen=True):
    """A published task: its own metric and data set; without a target it is the task's quality on the day asked about."""

    task: Task
    now: datetime
    may_lack: ClassVar = GOAL

    @property
    def metric(self) -> str:
        return self.task.metric

    def common(self, _: Schema, arguments: Arguments) -> Arguments:
        return _without_goal(arguments)

    def settled(self, schema: Schema, arguments: Arguments, values: Values, errors: Errors) -> tuple[Values, Errors]:
        """The values with the goal. Raises BadParameters where neither target nor budget is asked for."""
        task = self.task
        if "target" not in schema.fields:
            raise BadParameters(
                {"model": [f"{task.name} is a task with one target: ask /cost, with max_cost= for a budget"]}
            )
        wrong, texts = _not_its_own(task.name, task, arguments), _given("target", arguments)
        if "images_per_second" in values:
            wrong["images_per_second"] = [f"speeds of {task.name} follow from its published results: leave it out"]
        target = quality_on(task, (values.get("as_of") or self.now).date())
        try:
            target = self._target(texts, target)
        except ValidationError as error:
            wrong["target"] = [str(message) for message in error.messages]
        goal = {"target": target, "metric": task.metric, "dataset": task.dataset}
        values = values | goal | ({} if texts else {"target_of": benchmark_of(task)})
        return values, errors | wrong | _not_described(schema, values)

    def _target(self, texts: list[str], usual: float) -> float:
        """The target asked for; a percentage where the metric is a share, or a share where it counts in percent."""
        if not texts:
            return usual
        if len(texts) > 1:
            raise ValidationError(f"give it once: {self.task.name} has {value_in_words(self.task.metric, usual)}")
        target: float = VALUE.parse(texts[0])
        targets = {target for _, target in qualities(self.task)}
        shifted = (target / 100, target * 100)
        meant = (each for each in targets for other in shifted if abs(each - other) < 1e-9)
        return target if target in targets else next(meant, target)


class DescribedSubject(Struct, frozen=True):
    """A training that the question describes itself: so many epochs of a network with a name, a speed or a size."""

    task: ClassVar = None
    metric: ClassVar = None
    may_lack: ClassVar = GOAL

    @staticmethod
    def is_meant(schema: Schema, arguments: Arguments) -> bool:
        """Whether the question says itself how many epochs it takes, or has no name for its network."""
        named = squeeze(arguments.get("model", [""])[0]) == ANY
        return {"epochs", "target"} <= schema.fields.keys() and (bool(_given("epochs", arguments)) or named)

    def common(self, _: Schema, arguments: Arguments) -> Arguments:
        return arguments

    def settled(self, _: Schema, __: Arguments, values: Values, errors: Errors) -> tuple[Values, Errors]:
        """The values with what follows from the description; what it lacks is an error."""
        wrong: Errors = {}
        if "epochs" not in values:
            wrong["epochs"] = ["missing: how many epochs does your training take? Add epochs=90"]
        sizes = [name for name in SIZES if name in values]
        settled: Values = {"recipes": "best"}
        if squeeze(values.get("model", "")) == ANY:
            wrong |= self._unknown_speed(values, sizes)
            settled["model"] = ANY_NETWORK
        else:
            wrong |= {name: ["this describes an unnamed network: leave it out, or write model=any"] for name in sizes}
        if "target" not in values:
            settled |= {"target": values.get("epochs", 1.0), "metric": EPOCHS}
            wrong |= {"metric": [NO_METRIC]} if "metric" in values else {}
        if values.get("samples_per_epoch", IMAGES_PER_EPOCH) != IMAGES_PER_EPOCH:
            settled["dataset"] = OWN_DATA_SET
        return values | settled, wrong | _in_8_bits(values) | _not_by_tokens(values) | errors

    def _unknown_speed(self, values: Values, sizes: list[str]) -> Errors:
        if "target" in values:
            return {"target": ["nobody knows what your network reaches: leave it out; the training ends after epochs="]}
        if "images_per_second" in values or len(sizes) == len(SIZES):
            return {}
        if sizes:
            (other,) = set(SIZES) - set(sizes)
            return {other: [f"missing: {sizes[0]}= alone is not enough; add {other}= too"]}
        return {"images_per_second": [NO_SPEED]}


class OwnImagesSubject(DescribedSubject, frozen=True):
    """A network of images whose published weights are trained on, with `method=full`, on so many images of the user's own."""

    @staticmethod
    def is_meant(schema: Schema, arguments: Arguments) -> bool:
        """Whether the question names a method and counts no tokens."""
        given = [name for name in ("method", "tokens", "examples") if _given(name, arguments)]
        return given == ["method"] and "method" in schema.fields

    def common(self, _: Schema, arguments: Arguments) -> Arguments:
        """The arguments without the method. Raises BadParameters for one that no network of images has, and where the number of
        images is missing."""
        if [squeeze(text) for text in _given("method", arguments)] != ["full"]:
            raise BadParameters({"method": [ONLY_FULL]})
        if not _given("samples_per_epoch", arguments):
            raise BadParameters(
                {"samples_per_epoch": ["missing: how many images have you? Add samples_per_epoch=5000"]}
            )
        return {name: texts for name, texts in arguments.items() if name != "method"}

    def settled(self, schema: Schema, arguments: Arguments, values: Values, errors: Errors) -> tuple[Values, Errors]:
        """The values with the epochs, which a published schedule has where the question has none."""
        if "epochs" not in errors and "samples_per_epoch" in values:
            values.setdefault("epochs", usual_epochs(values["samples_per_epoch"]))
        return super().settled(schema, arguments, values, errors)


class TimedSubject(DescribedSubject, frozen=True):
    """A network that was timed on images, on so many epochs of images of the user's own."""

    timed: TimedNetwork

    @classmethod
    def find(cls, schema: Schema, arguments: Arguments) -> TimedSubject | None:
        """The subject where a question names such a network, and not the task of that name."""
        name = arguments.get("model", [""])[0]
        timed = find_timed_network(name) if {"samples_per_epoch", "target"} <= schema.fields.keys() else None
        is_own = any(_given(each, arguments) for each in ("epochs", "samples_per_epoch"))
        return cls(timed) if timed and (is_own or not find_task(name)) else None

    def common(self, _: Schema, arguments: Arguments) -> Arguments:
        """The arguments without the method, which says no more than that the images are one's own. Raises BadParameters for what
        is not known of it."""
        name, method = self.timed.name, [squeeze(text) for text in _given("method", arguments)]
        wrong = {
            each: [SPEED_ALONE.format(name, self.timed.precision)] for each in NOT_OF_TIMED if _given(each, arguments)
        }
        wrong |= {each: [says] for each, says in MISSING_OF_TIMED.items() if not _given(each, arguments)}
        if wrong := wrong | (
            {"method": [ONLY_FULL]} if any(each not in f"full {squeeze(name)}" for each in method) else {}
        ):
            raise BadParameters(wrong)
        return {each: texts for each, texts in arguments.items() if each != "method"} | {"model": [name]}

    def settled(self, schema: Schema, arguments: Arguments, values: Values, errors: Errors) -> tuple[Values, Errors]:
        """The values with the network."""
        values, errors = super().settled(schema, arguments, values, errors)
        name = self.timed.name
        network = Model(name, (), name, None, None, None, self.timed.source)
        return values | {"model": network, "dataset": OWN_DATA_SET}, errors


class StatedSubject(Struct, frozen=True):
    """A training of which the question says how long it took, and on what."""

    task: ClassVar = None
    metric: ClassVar = None
    may_lack: ClassVar = ("model", *GOAL)

    @staticmethod
    def is_meant(schema: Schema, arguments: Arguments) -> bool:
        """Whether the question says how long a training took, or on what."""
        return "took" in schema.fields and any(_given(name, arguments) for name in ("took", "on"))

    def common(self, schema: Schema, arguments: Arguments) -> Arguments:
        """The arguments as they are. Raises BadParameters where an accuracy is asked about."""
        if "target" not in schema.fields:
            raise BadParameters({"took": ["says nothing of an accuracy: ask /cost what the hours cost"]})
        return arguments

    def settled(self, _: Schema, arguments: Arguments, values: Values, errors: Errors) -> tuple[Values, Errors]:
        """The values with what follows from the hours; what says more of the training is refused."""
        wrong: Errors = {
            name: ["what is trained follows from took= and on=: leave it out"]
            for name in parameters_of("goal", "recipe", "described", "language")
            if _given(name, arguments)
        }
        if "took" not in values:
            wrong |= {
                "took": [
                    f"missing: how long did it take on {'that' if 'on' in values else 'which'} machine? Add took=72h"
                ]
            }
        if len(machines := values.get("on", ())) != 1 and "on" not in errors:
            wrong |= {
                "on": ["write one machine, such as on=8xA100-80GB" if machines else "missing: add on=8xA100-80GB"]
            }
        return values | SETTLED_BY_HOURS | {"model": ANY_NETWORK}, wrong | errors


class PublishedSubject(Struct, frozen=True):
    """A training whose hours and chips were published."""

    run: PublishedRun
    task: ClassVar = None
    metric: ClassVar = None
    may_lack: ClassVar = ("model", *GOAL)

    @classmethod
    def of(cls, name: str) -> PublishedSubject:
        """The run of that name. Raises NotFound naming the nearest."""
        if run := find_published(name):
            return cls(run)
        where = (
            f"{len(published_runs())} published runs are known, such as paper:alpaca; took= with on= states any other"
        )
        raise NotFound(unknown("model", name, published_runs(), where), "model")

    def common(self, schema: Schema, arguments: Arguments) -> Arguments:
        """The arguments with its hours, where they were spent, and when. Raises BadParameters where these are not asked about."""
        if not schema.fields.keys() >= {"target", *PUBLISHED}:
            raise BadParameters({"model": [f"{self.run.name} is a published run: ask /cost what it cost"]})
        run = self.run
        return {name: texts for name, texts in arguments.items() if name != "model"} | {
            "took": [f"{run.hours:g}h"],
            "on": [f"{run.accelerators}x{run.accelerator}"],
            "took_on": [run.published.isoformat()],
            "kind": [run.kind],
        }

    def settled(self, schema: Schema, arguments: Arguments, values: Values, errors: Errors) -> tuple[Values, Errors]:
        """The values with what follows from the hours; what says them otherwise is refused."""
        stated = {name: [f"{self.run.name} states it: leave it out"] for name in PUBLISHED if _given(name, arguments)}
        beside = {name: texts for name, texts in arguments.items() if name != "model"}
        values, errors = StatedSubject().settled(schema, beside, values, errors)
        network = Model(self.run.name, (), self.run.name, None, None, None, self.run.source)
        return values | {"model": network}, stated | errors


KNOWN_OF_TIMED = {"model", "epochs", "samples_per_epoch", "method", "overheads", "evidence"}
NOT_OF_TIMED = {*parameters_of("goal", "recipe", "described", "language", "stated")} - KNOWN_OF_TIMED
SPEED_ALONE = "of {} on images of your own nothing but the speed is known, in {}, and no accuracy: leave it out"
MISSING_OF_TIMED = {
    "epochs": "missing: how many epochs? Add epochs=12",
    "samples_per_epoch": "missing: how many images have you? Add samples_per_epoch=5000",
}

PUBLISHED = {"took", "on", "took_on", "kind"}
"""What a published run states."""

SETTLED_BY_HOURS: Values = {
    "epochs": 1.0, "target": 1.0, "metric": EPOCHS, "dataset": OWN_DATA_SET, "samples_per_epoch": 1, "overheads": "none",
    "recipes": "best",
}  # fmt: skip
"""What a question about hours need not say: the hours hold everything, and one pass over one sample is the training."""


class ImageNetSubject(Struct, frozen=True):
    """A network on ImageNet, or whatever has no goal. A question about one target may leave it out: `usual` says so."""

    evidence: Evidence
    usual: bool
    task: ClassVar = None
    metric: ClassVar = None

    @staticmethod
    def of(evidence: Evidence, schema: Schema, arguments: Arguments) -> ImageNetSubject:
        about_one = {"target", "recipe"} <= schema.fields.keys() and not getattr(
            schema.fields["target"], "listed", False
        )
        return ImageNetSubject(evidence, about_one and not _given("target", arguments))

    @property
    def may_lack(self) -> tuple[str, ...]:
        return GOAL if self.usual else ()

    def common(self, _: Schema, arguments: Arguments) -> Arguments:
        return arguments

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
        return values, errors | _in_8_bits(values) | _not_described(schema, values)


Subject = (
    OwnRunSubject
    | TaskSubject
    | DescribedSubject
    | TimedSubject
    | StatedSubject
    | PublishedSubject
    | LanguageSubject
    | ImageNetSubject
)


def what_part(query: EstimateQuery) -> tuple[str, ...]:
    """The sentence that says of a task that is not a whole training what the whole took, or what is trained before it."""
    task = task_of(query)
    begins = task.starts_from if task else None
    if task and task.whole_training:
        after = f", which starts from {begins}" if begins else ""
        return (f"The whole training took {task.whole_training}; this is a part of it{after}.",)
    if begins and ", whose" in begins:
        return (f"This starts from {begins}.",)
    return (f"This part starts from {begins}, whose training is not counted.",) if begins else ()


def whose_target(query: EstimateQuery) -> tuple[str, ...]:
    """The sentence that says what is reached where the question doesn't."""
    if query.target_of is None:
        return ()
    if task_of(query):
        return (f"No target named: {query.target_of}'s, {goal_in_words(query)}.",)
    reached = f"{query.target * 100:.1f} % {metric_name(query.metric)}"
    return (f"No target named: {reached}, as {query.target_of} reaches in 9 of 10 runs.",)


def whose_epochs(query: EstimateQuery) -> tuple[str, ...]:
    """The sentence that says of so many epochs on a user's own images that a published schedule has them."""
    images = query.samples_per_epoch
    if images is None or query.took is not None or query.method is not None or query.epochs != usual_epochs(images):
        return ()
    return (
        f"{query.epochs:g} epochs, {usual_steps(images):,} steps of {BATCH} images, are Big Transfer's schedule for so many.",
    )


def whose_speed(query: EstimateQuery) -> tuple[str, ...]:
    """The sentence that says how fast a network was timed to train."""
    timed = find_timed_network(query.model) if query.epochs is not None and query.took is None else None
    return (timed.sentence,) if timed and query.metric == EPOCHS else ()


def _given(name: str, arguments: Arguments) -> list[str]:
    return [text.strip() for text in arguments.get(name, ()) if text.strip()]


def _without_goal(arguments: Arguments) -> Arguments:
    return {name: texts for name, texts in arguments.items() if name not in GOAL}


def _not_its_own(called: str, about: object, arguments: Arguments) -> Errors:
    """The errors of a metric and a data set that the run or the task does not have."""
    errors: Errors = {}
    for name in ("metric", "dataset"):
        its_own = str(getattr(about, name))
        wrong = [text for text in _given(name, arguments) if squeeze(text) != squeeze(its_own)]
        if wrong:
            errors[name] = [f"{called} has only {its_own}: leave {name} out; got {clip(wrong[0])}"]
    return errors


def _in_8_bits(values: Mapping[str, object]) -> Errors:
    return {"precision": [NO_8_BITS]} if values.get("precision") == "fp8" else {}


def without_precision(values: Values, sheets: Mapping[str, Accelerator]) -> Errors:
    """The errors of a precision that one's own machines lack, or all accelerators that the question names."""
    precision, named = str(values.get("precision", "")), [*values.get("accelerator", ())]
    lacking = [name for name in named if name in sheets and not sheets[name].computes_in(precision)]
    own = {each.accelerator for each in values.get("own", ())}
    mine = sorted(name for name in own if name in sheets and not sheets[name].computes_in(precision))
    if names := mine or (lacking if len(lacking) == len(named) else []):
        return {"precision": [f"{', '.join(names)} cannot compute in {precision}: write amp or fp32"]}
    return {}


def _not_described(schema: Schema, values: Mapping[str, object]) -> Errors:
    """The errors of what is said of a training that the question does not describe; a small network has epochs without one."""
    if "metric" not in schema.fields:
        return {}
    settled = {"epochs": ["follow from published results: leave it out"]} if "epochs" in values else {}
    needs_any = {name: ["is for model=any with epochs="] for name in SIZES if name in values}
    needs_hours = {name: ["is for took= with on=: add both"] for name in ("took_on", "kind") if name in values}
    needs_epochs = {"samples_per_epoch": ["is for your own data: add epochs="]} if "samples_per_epoch" in values else {}
    return settled | needs_any | needs_hours | needs_epochs | _not_by_tokens(values)


def _not_by_tokens(values: Mapping[str, object]) -> Errors:
    return {name: ["is for language models: add method= and tokens="] for name in OF_TOKENS if name in values}
