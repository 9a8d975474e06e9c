"""What a question about a run of the asker's own may ask: its own metric and data set, and a target that it reached."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from marshmallow import Schema, ValidationError

from api.questions.errors import BadParameters, Errors
from api.questions.fields import Choice, Flag, Moment, Number, Text
from api.questions.parsing import Arguments
from api.questions.suggestions import clip, squeeze
from costcalc.training import Crossing
from own_runs.asking import OwnModel

OF_THE_RUN = ("target", "metric", "dataset")
SHORT_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,47}")
TARGET = Number(float, -1e300, 1e300, "value to reach", example=2.1)


class Word(Text):
    """A name of letters, digits and - . _ alone."""

    def parse(self, text: str) -> str:
        """The name."""
        if not SHORT_WORD.fullmatch(text):
            raise ValidationError(
                f"must have at most 48 letters, digits and - . _, a letter or digit first; got {clip(text)}"
            )
        return text


class RunSchema(Schema):
    """What the owner of a log says of its run."""

    name = Word("name of the run, which questions use as model; default the name of the file", example="my-run")
    model = Text(
        "network; a known one is scaled to other machines as that network; default the name", example="resnet50"
    )
    dataset = Word("data set that it was trained on; imagenet is known", example="my-data")
    metric = Text("column of the log that counts; default the only one", example="val_accuracy")
    better = Choice(("lower", "higher"), "which values of the metric are better; default by its name: lower for a loss")
    accelerator = Text("what it ran on: count x accelerator, of all machines together", example="8xA100-80GB")
    nodes = Number(int, 1, 10_000, "number of machines; default 1", example=1)
    instance_type = Text(
        "machine that it ran on, as its provider names it, instead of accelerator; its log is then replayed there",
        example="p4d.24xlarge",
    )
    batch_size = Number(int, 1, 10**9, "samples in a step of all accelerators together", example=256)
    samples_per_epoch = Number(int, 1, 10**12, "samples of the data set", example=1_281_167)
    steps_are = Choice(("epochs", "batches"), "what a log counts that counts steps alone; default batches")
    hours = Number(float, 0, 8784, "hours that the whole log took, if it has no times", open_low=True, example=3.5)
    date = Moment("day of the run; default today", example="2026-11-20")
    precision = Choice(("fp32", "tf32", "fp16", "bf16", "amp"), "precision of the training", example="bf16")
    image_size = Number(int, 1, 10_000, "pixels a side, of images", example=224)
    scheduled_epochs = Number(
        float, 0, 10**6, "epochs of the whole schedule, if the run is not finished", open_low=True, example=90
    )
    data_set_gb = Number(float, 0, 10**6, "GB copied to a machine before training; default none", example=149)
    file = Text("name of the log's file, if the log is not sent as a file", example="log.csv")
    keep = Flag("false reads the log, answers its curve and what it costs elsewhere, and stores nothing; default true")
    target = Number(
        float, -1e300, 1e300, "value to reach, with keep=false; default the best that the log reached", example=0.757
    )
    shared = Flag("whether everybody sees it, not only the sender's token; default false", example="true")
    token = Text("API token, for clients that cannot send an Authorization header")


def without_its_own(schema: Schema, own: OwnModel, arguments: Arguments) -> Arguments:
    """The arguments that mean the same whatever the model. Raises BadParameters where neither target nor budget is asked for."""
    if not {"target", "budget"} & schema.fields.keys():
        raise BadParameters(
            {"model": [f"{own.run.name} is your own run: ask /cost with a target, or /accuracy with a budget"]}
        )
    return without(OF_THE_RUN, arguments)


def without(names: Collection[str], arguments: Arguments) -> Arguments:
    """The arguments of other names."""
    return {name: texts for name, texts in arguments.items() if name not in names}


def of_the_run(
    schema: Schema, own: OwnModel, arguments: Arguments, values: Mapping[str, Any]
) -> tuple[dict[str, Any], Errors]:
    """The target, the metric and the data set of a question about a run, and the errors of those that are not its own. Where
    the best value within a budget is asked for, the target is the first that the run passed."""
    given = {name: [text.strip() for text in arguments.get(name, ()) if text.strip()] for name in OF_THE_RUN}
    errors: Errors = {}
    for name in ("metric", "dataset"):
        its_own = str(getattr(own.run, name))
        wrong = [text for text in given[name] if squeeze(text) != squeeze(its_own)]
        if wrong:
            errors[name] = [f"{own.run.name} has {its_own} alone: leave {name} out; got {clip(wrong[0])}"]
    crossing = values.get("crossing", Crossing.ISOTONIC)
    target = own.values(crossing)[0]
    try:
        if "target" in schema.fields:
            target = _target(own, given["target"], crossing)
        elif given["target"]:
            errors["target"] = ["the answer is the best value within budget= and max_hours=: leave it out"]
    except ValidationError as error:
        errors["target"] = [str(message) for message in error.messages]
    return {"target": target, "metric": own.run.metric, "dataset": own.run.dataset}, errors


def _target(own: OwnModel, texts: list[str], crossing: Crossing) -> float:
    reached = f"{own.reached(crossing):.6g}"
    if len(texts) != 1:
        raise ValidationError(
            f"{'give it once' if texts else 'missing'}: add target={reached}, which {own.run.name} reached"
        )
    target: float = TARGET.parse(texts[0])
    if not own.reaches(target, crossing):
        most = "least" if own.run.lower_is_better else "most"
        raise ValidationError(f"{own.run.name} reached {reached} {own.run.metric}; ask for at {most} that")
    return target
