"""Trainings that a question describes itself: so many epochs of a network, perhaps on images of one's own."""

from __future__ import annotations

from marshmallow import Schema

from api.questions.errors import BadParameters, Errors
from api.questions.parsing import Arguments
from api.questions.subject import (
    ANY_NETWORK,
    SIZES,
    Subject,
    Values,
    given,
    in_8_bits,
    not_by_tokens,
)
from api.questions.suggestions import squeeze
from costcalc.evidence.timed_networks import TimedNetwork, find_timed_network
from costcalc.query import ANY, EPOCHS, OWN_DATA_SET, parameters_of
from costcalc.tasks.known import find_task
from costcalc.training import IMAGES_PER_EPOCH, Model
from own_runs.by_word import usual_epochs

NO_SPEED = "missing: add images_per_second=1100@1xA100-80GB, or parameters= and gmacs="
ONLY_FULL = (
    "a network of images trains with method=full on samples_per_epoch= images of your own; lora is for language models"
)
NO_METRIC = "says what a target is measured in: leave it out, or add target="
KNOWN_OF_TIMED = {"model", "epochs", "samples_per_epoch", "method", "overheads", "evidence"}
NOT_OF_TIMED = {*parameters_of("goal", "recipe", "described", "language", "stated")} - KNOWN_OF_TIMED
SPEED_ALONE = "of {} on images of your own nothing but the speed is known, in {}, and no accuracy: leave it out"
MISSING_OF_TIMED = {
    "epochs": "missing: how many epochs? Add epochs=12",
    "samples_per_epoch": "missing: how many images have you? Add samples_per_epoch=5000",
}


class DescribedSubject(Subject, frozen=True):
    """A training that the question describes itself: so many epochs of a network with a name, a speed or a size."""

    @staticmethod
    def is_meant(schema: Schema, arguments: Arguments) -> bool:
        """Whether the question says itself how many epochs it takes, or has no name for its network."""
        named = squeeze(arguments.get("model", [""])[0]) == ANY
        return {"epochs", "target"} <= schema.fields.keys() and (bool(given("epochs", arguments)) or named)

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
        return values | settled, wrong | in_8_bits(values) | not_by_tokens(values) | errors

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
        named = [name for name in ("method", "tokens", "examples") if given(name, arguments)]
        return named == ["method"] and "method" in schema.fields

    def common(self, _: Schema, arguments: Arguments) -> Arguments:
        """The arguments without the method. Raises BadParameters for one that no network of images has, and where the number of
        images is missing."""
        if [squeeze(text) for text in given("method", arguments)] != ["full"]:
            raise BadParameters({"method": [ONLY_FULL]})
        if not given("samples_per_epoch", arguments):
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
        is_own = any(given(each, arguments) for each in ("epochs", "samples_per_epoch"))
        return cls(timed) if timed and (is_own or not find_task(name)) else None

    def common(self, _: Schema, arguments: Arguments) -> Arguments:
        """The arguments without the method, which says no more than that the images are one's own. Raises BadParameters for what
        is not known of it."""
        name, method = self.timed.name, [squeeze(text) for text in given("method", arguments)]
        wrong = {
            each: [SPEED_ALONE.format(name, self.timed.precision)] for each in NOT_OF_TIMED if given(each, arguments)
        }
        wrong |= {each: [says] for each, says in MISSING_OF_TIMED.items() if not given(each, arguments)}
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
