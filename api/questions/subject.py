"""What a question is about, which settles what the question need not say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema
from msgspec import Struct

from api.questions.errors import Errors
from api.questions.parsing import Arguments
from api.questions.suggestions import clip, squeeze
from costcalc.hardware import Accelerator
from costcalc.query import ANY
from costcalc.tasks.tables import Task
from costcalc.training import Model

Values = dict[str, Any]
GOAL = ("target", "metric", "dataset")
SIZES = ("parameters", "gmacs")
OF_TOKENS = ("length", "batch", "packed", "stack", "layers", "active")
"""What only a training by tokens has."""
NO_8_BITS = "nobody is known to train image networks in fp8: write amp, bf16 or fp32"
NOT_BY_TOKENS = dict.fromkeys(OF_TOKENS, "is for language models: add method= and tokens=")
NOT_DESCRIBED = {
    "epochs": "follow from published results: leave it out",
    **dict.fromkeys(SIZES, "is for model=any with epochs="),
    **dict.fromkeys(("took_on", "kind"), "is for took= with on=: add both"),
    "samples_per_epoch": "is for your own data: add epochs=",
    **NOT_BY_TOKENS,
}


def unlisted(name: str) -> Model:
    """A network of which only the question says anything."""
    return Model(name, (), name, None, None, None, "your question")


ANY_NETWORK = unlisted(ANY)


class Subject(Struct, frozen=True):
    """What a question is about: of a task, that `task`."""

    @property
    def task(self) -> Task | None:
        return None

    @property
    def metric(self) -> str | None:
        """Its own metric; None where questions name one."""
        return None

    @property
    def may_lack(self) -> tuple[str, ...]:
        """The parameters that a question about it may leave out though they are required."""
        return GOAL

    def common(self, schema: Schema, arguments: Arguments) -> Arguments:
        """The arguments that mean the same whatever the subject. Raises BadParameters for a question that is never about it."""
        return arguments

    def settled(self, schema: Schema, arguments: Arguments, values: Values, errors: Errors) -> tuple[Values, Errors]:
        """The values with what follows from the subject, and what it does not allow."""
        raise NotImplementedError


def given(name: str, arguments: Arguments) -> list[str]:
    """The texts of a parameter that are not blank."""
    return [text.strip() for text in arguments.get(name, ()) if text.strip()]


def without_goal(arguments: Arguments) -> Arguments:
    """The arguments but for target, metric and data set."""
    return {name: texts for name, texts in arguments.items() if name not in GOAL}


def not_its_own(called: str, about: object, arguments: Arguments) -> Errors:
    """The errors of a metric and a data set that the run or the task does not have."""
    errors: Errors = {}
    for name in ("metric", "dataset"):
        its_own = str(getattr(about, name))
        wrong = [text for text in given(name, arguments) if squeeze(text) != squeeze(its_own)]
        if wrong:
            errors[name] = [f"{called} has only {its_own}: leave {name} out; got {clip(wrong[0])}"]
    return errors


def in_8_bits(values: Mapping[str, object]) -> Errors:
    """The errors of a precision that no network of images is known to train in."""
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


def not_described(schema: Schema, values: Mapping[str, object]) -> Errors:
    """The errors of what is said of a training that the question does not describe; a small network has epochs without one."""
    return _errors_of(NOT_DESCRIBED if "metric" in schema.fields else {}, values)


def not_by_tokens(values: Mapping[str, object]) -> Errors:
    """The errors of what is said of a language model, where there is none."""
    return _errors_of(NOT_BY_TOKENS, values)


def _errors_of(messages: Mapping[str, str], values: Mapping[str, object]) -> Errors:
    return {name: [message] for name, message in messages.items() if name in values}
