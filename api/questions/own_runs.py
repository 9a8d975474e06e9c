"""The facts that the owner of a log states about its run."""

from __future__ import annotations

import re

from marshmallow import Schema, ValidationError

from api.questions.fields import Choice, Flag, Moment, Number, Text
from api.questions.suggestions import clip

SHORT_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,47}")


class Word(Text):
    """A name of letters, digits and - . _ alone."""

    def parse(self, text: str) -> str:
        if not SHORT_WORD.fullmatch(text):
            raise ValidationError(
                f"must have at most 48 letters, digits and - . _, a letter or digit first; got {clip(text)}"
            )
        return text


class RunSchema(Schema):
    """The parameters of `POST /recipes` and `costcalc recipes add`."""

    name = Word("name of the run, which questions use as model; default the name of the file", example="my-run")
    model = Text(
        "network; a known one is scaled to other machines as that network; default the name", example="resnet50"
    )
    dataset = Word("data set that it was trained on; imagenet is known", example="my-data")
    metric = Text("column of the log to use; default the only one", example="val_accuracy")
    better = Choice(("lower", "higher"), "which values of the metric are better; default by its name: lower for a loss")
    accelerator = Text("what it ran on: count x accelerator, of all machines together", example="8xA100-80GB")
    nodes = Number(int, 1, 10_000, "number of machines; default 1", example=1)
    instance_type = Text(
        "machine that it ran on, as its provider names it, instead of accelerator; its log is then replayed there",
        example="p4d.24xlarge",
    )
    batch_size = Number(int, 1, 10**9, "samples in a step of all accelerators together", example=256)
    samples_per_epoch = Number(int, 1, 10**12, "samples of the data set", example=1_281_167)
    steps_are = Choice(("epochs", "batches"), "what the steps of a log without epochs are; default batches")
    hours = Number(float, 0, 8784, "hours that the whole log took, if it has no times", open_low=True, example=3.5)
    date = Moment("day of the run; default today", example="2026-11-20")
    precision = Choice(("fp32", "tf32", "fp16", "bf16", "amp"), "precision of the training", example="bf16")
    image_size = Number(int, 1, 10_000, "image size in pixels", example=224)
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
