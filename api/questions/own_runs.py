"""The facts that the owner of a log states about its run."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from marshmallow import Schema
from msgspec import Struct

from api.questions.declared import fields_of
from api.questions.schemas.layout import Access
from costcalc.parameters import Param


class RunFacts(Struct):
    """What is said of a run beside its log."""

    # fmt: off
    name: Annotated[str | None, Param(
        "name of the run, which questions use as model; default the name of the file",
        "run", "my-run", "word", use="everyday")] = None
    model: Annotated[str | None, Param(
        "network; a known one is scaled to other machines as that network; default the name",
        "goal", "resnet50", use="everyday")] = None
    dataset: Annotated[str | None, Param(
        "data set that it was trained on; imagenet is known",
        "goal", "my-data", "word", use="everyday")] = None
    metric: Annotated[str | None, Param(
        "column of the log to use; default the only one",
        "goal", "val_accuracy", use="everyday")] = None
    better: Annotated[Literal["lower", "higher"] | None, Param(
        "which values of the metric are better; default by its name: lower for a loss",
        "run", use="usual")] = None
    accelerator: Annotated[str | None, Param(
        "what it ran on: count x accelerator, of all machines together",
        "machine", "8xA100-80GB", use="everyday")] = None
    nodes: Annotated[int | None, Param(
        "number of machines; default 1",
        "count", 1, low=1, high=10_000, use="usual")] = None
    instance_type: Annotated[str | None, Param(
        "machine that it ran on, as its provider names it, instead of accelerator; its log is then replayed there",
        "machine", "p4d.24xlarge")] = None
    batch_size: Annotated[int | None, Param(
        "samples in a step of all accelerators together",
        "run", 256, low=1, high=10**9, use="everyday")] = None
    samples_per_epoch: Annotated[int | None, Param(
        "samples of the data set",
        "described", 1_281_167, low=1, high=10**12)] = None
    steps_are: Annotated[Literal["epochs", "batches"] | None, Param(
        "what the steps of a log without epochs are; default batches",
        "run")] = None
    hours: Annotated[float | None, Param(
        "hours that the whole log took, if it has no times",
        "run", 3.5, above=0, high=8784, use="usual")] = None
    date: Annotated[datetime | None, Param("day of the run; default today", "run", "2026-11-20", use="usual")] = None
    precision: Annotated[Literal["fp32", "tf32", "fp16", "bf16", "amp"] | None, Param(
        "precision of the training",
        "recipe", "bf16")] = None
    image_size: Annotated[int | None, Param("image size in pixels", "recipe", 224, low=1, high=10_000)] = None
    scheduled_epochs: Annotated[float | None, Param(
        "epochs of the whole schedule, if the run is not finished",
        "run", 90, above=0, high=10**6, use="usual")] = None
    data_set_gb: Annotated[float | None, Param(
        "GB copied to a machine before training; default none",
        "run", 149, low=0, high=10**6, use="usual")] = None
    # fmt: on


class Upload(Struct):
    """What becomes of a log that is sent."""

    # fmt: off
    file: Annotated[str | None, Param(
        "name of the log's file, if the log is not sent as a file",
        "run", "log.csv")] = None
    keep: Annotated[bool, Param(
        "false reads the log, answers its curve and what it costs elsewhere, and stores nothing; default true",
        "run")] = True
    target: Annotated[float | None, Param(
        "value to reach, with keep=false; default the best that the log reached",
        "goal", 0.757, low=-1e300, high=1e300)] = None
    shared: Annotated[bool, Param(
        "whether everybody sees it, not only the sender's token; default false",
        "run", "true")] = False
    # fmt: on


class FactsSchema(Schema):
    """The parameters of `costcalc recipes add`."""

    class Meta:
        """Those of the log's owner, who is alone."""

        include = fields_of(RunFacts)


class RunSchema(FactsSchema):
    """The parameters of `POST /recipes`."""

    class Meta:
        """The sender is one of several."""

        include = fields_of(Upload) | fields_of(Access)
