"""Trainings of which it is stated how long they took, and on what: by the question, or by a publication."""

from __future__ import annotations

from marshmallow import Schema

from api.questions.errors import BadParameters, Errors, NotFound
from api.questions.parsing import Arguments
from api.questions.subject import (
    ANY_NETWORK,
    GOAL,
    Subject,
    Values,
    given,
)
from api.questions.suggestions import unknown
from costcalc.evidence.published_runs import PublishedRun, find_published, published_runs
from costcalc.query import EPOCHS, OWN_DATA_SET, parameters_of
from costcalc.training import Model

PUBLISHED = {"took", "on", "took_on", "kind"}
"""What a published run states."""

SETTLED_BY_HOURS: Values = {
    "epochs": 1.0, "target": 1.0, "metric": EPOCHS, "dataset": OWN_DATA_SET, "samples_per_epoch": 1, "overheads": "none",
    "recipes": "best",
}  # fmt: skip
"""What a question about hours need not say: the hours hold everything, and one pass over one sample is the training."""


class StatedSubject(Subject, frozen=True):
    """A training of which the question says how long it took, and on what."""

    @property
    def may_lack(self) -> tuple[str, ...]:
        return ("model", *GOAL)

    @staticmethod
    def is_meant(schema: Schema, arguments: Arguments) -> bool:
        """Whether the question says how long a training took, or on what."""
        return "took" in schema.fields and any(given(name, arguments) for name in ("took", "on"))

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
            if given(name, arguments)
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


class PublishedSubject(Subject, frozen=True):
    """A training whose hours and chips were published."""

    run: PublishedRun

    @property
    def may_lack(self) -> tuple[str, ...]:
        return ("model", *GOAL)

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
        stated = {name: [f"{self.run.name} states it: leave it out"] for name in PUBLISHED if given(name, arguments)}
        beside = {name: texts for name, texts in arguments.items() if name != "model"}
        values, errors = StatedSubject().settled(schema, beside, values, errors)
        network = Model(self.run.name, (), self.run.name, None, None, None, self.run.source)
        return values | {"model": network}, stated | errors
