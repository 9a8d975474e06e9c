"""A training run as it is stored: its curve, the machine that it ran on, and the log that it was read from."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import NamedTuple

import msgspec
from msgspec import Struct

from costcalc.text import in_lines
from costcalc.units import SECONDS_PER_HOUR
from pricing.store.local_file import OwnRun

RUN = "run"
OWNER_SIGNS = 8  # of a digest, to tell apart runs of one name
LOWER = re.compile(
    r"(?<![a-z])(loss|err(or)?|ppl|perplexity|wer|cer|mae|r?mse|fid|nll|bpb|bpc|cross_?entropy)(?![a-z])", re.I
)
"""Metrics of which lower values are better."""
HIGHER = re.compile(
    r"acc(?:uracy)?|top[-_ /]?[1-9]|(?<![a-z])(?:f1|bleu|rouge|(?:m|roc|pr)?[-_]?auc|m?ap(?:@?\d+)?|miou|iou|dice|recall|"
    r"precision|psnr|ssim|r2|chrf|ndcg|mrr)(?![a-z])|bbox_map|map50",
    re.I,
)
"""Metrics of which higher values are better."""


class CurvePoint(NamedTuple):
    """The value of the metric after so many `epochs`, `seconds` after the start, None where the log has no time."""

    epochs: float
    seconds: float | None
    value: float


class Run(Struct, frozen=True):
    """One training run of a user's own. Its `name` is what answers are asked for as `model=`.

    `model` is the network, by our name of it where we know it. `curve` has the values of one metric in order of their epochs,
    which are at most `scheduled_epochs`, None where the schedule ended with the log. `accelerators` counts those of all `nodes`;
    `provider` and `instance_type` are None where the machine was not named. `batch_size` is that of all accelerators together,
    `samples_per_second` what they made on average, evaluations included. `ran_on` is the day of the run. `source` is the name of
    the log's file and `digest` that of its content; `notes` say in sentences how it was understood.
    """

    name: str
    model: str
    dataset: str
    metric: str
    lower_is_better: bool
    curve: tuple[CurvePoint, ...]
    accelerator: str
    accelerators: int
    nodes: int
    batch_size: int
    samples_per_epoch: int
    samples_per_second: float
    ran_on: date
    added_at: datetime
    source: str
    digest: str
    written_by: str
    precision: str | None = None
    image_size: int | None = None
    provider: str | None = None
    instance_type: str | None = None
    scheduled_epochs: float | None = None
    data_set_gb: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def reached(self) -> float:
        """The best value of its curve."""
        values = [point.value for point in self.curve]
        return min(values) if self.lower_is_better else max(values)

    @property
    def epochs(self) -> float:
        return self.curve[-1].epochs

    @property
    def hours(self) -> float:
        """How long the whole log took, by its own clock if it has one."""
        logged = self.curve[-1].seconds
        taken = self.epochs * self.samples_per_epoch / self.samples_per_second if logged is None else logged
        return taken / SECONDS_PER_HOUR

    def stored(self, owner: str | None = None) -> OwnRun:
        """As a row of the store, which `owner` alone sees, or everybody."""
        document = msgspec.json.encode(self).decode()
        return OwnRun(run_id(self.name, owner), RUN, owner, self.added_at.astimezone(UTC), document)


def run_id(name: str, owner: str | None) -> str:
    """The id under which a run of this name is stored: several owners may have one each."""
    return f"{name}.{owner[:OWNER_SIGNS]}" if owner else name


def stored_run(row: OwnRun) -> Run:
    """The run in a stored row, as lines. Raises ValueError if it holds none."""
    return in_lines(msgspec.json.decode(row.document, type=Run))


def is_lower_better(metric: str) -> bool:
    """Whether the name of a metric is that of a loss or an error."""
    return LOWER.search(metric) is not None


def is_higher_better(metric: str) -> bool:
    """Whether the name of a metric is that of an accuracy or a score of which everybody knows that more is better."""
    return HIGHER.search(metric) is not None and not is_lower_better(metric)
