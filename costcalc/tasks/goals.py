"""Metrics and targets as people say them, on every surface alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from costcalc.query import ANY, EstimateQuery
from costcalc.tasks.tables import Task, tasks
from costcalc.training import Method, Metric
from costcalc.units import count_in_words, in_words

NAMES = {
    Metric.TOP1: "top-1",
    Metric.TOP5: "top-5",
    "accuracy": "accuracy",
    "auc": "AUC",
    "bleu": "BLEU",
    "box_map": "box mAP",
    "core": "CORE score",
    "f1": "F1",
    "fid": "FID",
    "hit_rate_10": "hit rate at 10",
    "log_perplexity": "log perplexity",
    "loss": "loss",
    "map": "mAP",
    "mean_average_precision": "mean average precision",
    "mean_dice": "mean Dice score",
    "mlm_accuracy": "masked-LM accuracy",
    "ssim": "SSIM",
    "val_loss": "validation loss",
    "wer": "word error rate",
    "win_rate": "win rate",
}
"""What the metrics of ImageNet and of the tasks are called."""


class Goal(Protocol):
    """What questions and estimates say of what is to be reached: the network, and its target in a metric."""

    @property
    def model(self) -> str: ...

    @property
    def target(self) -> float: ...

    @property
    def metric(self) -> str: ...


def task_of(each: Goal) -> Task | None:
    """The published task that a question or an estimate is about; None for ImageNet's networks and for the user's own runs."""
    task = tasks().get(each.model)
    return task if task and task.metric == each.metric else None


def metric_name(metric: str) -> str:
    """`top-1`, `validation loss`; a user's own metric under its own name."""
    return NAMES.get(metric, metric)


def value_in_words(metric: str, value: float) -> str:
    """`0.757 top-1`, `validation loss 3.28`; `28 my_score` in a metric that has no name here."""
    name, figure = metric_name(metric), f"{value:.12g}"
    return f"{figure} {name}" if isinstance(metric, Metric) or metric not in NAMES else f"{name} {figure}"


def percent_in_words(metric: str, value: float) -> str:
    """`75.7 % top-1`; `validation loss 3.28` in a metric that is no accuracy on ImageNet."""
    is_share = metric in tuple(Metric)
    return f"{value * 100:g} % {metric_name(metric)}" if is_share else value_in_words(metric, value)


def goal_in_words(each: Goal) -> str:
    """The target, with its direction if the task states it: `0.757 top-1`, `validation loss 3.28 or lower`."""
    task, value = task_of(each), value_in_words(each.metric, each.target)
    return f"{value} or {task.better}" if task else value


def training_in_words(query: EstimateQuery) -> str:
    """What a question trains: `resnet50 to 0.757 top-1`, `llama-3.1-8b by lora on 50 million tokens`, `3 days on 8x V100`."""
    if query.took is not None:
        return f"{in_words(query.took)} on {query.on[0]}"
    if query.method is None:
        return f"{query.model} to {goal_in_words(query)}"
    named = query.model if query.model != ANY else f"{count_in_words((query.parameters or 0) * 1e6)} parameters"
    return f"{named} by {METHODS[query.method]} on {work_in_words(query)}"


METHODS: Mapping[Method, str] = {
    "pretrain": "pretraining",
    "full": "full fine-tuning",
    "lora": "LoRA",
    "qlora": "QLoRA",
}


def work_in_words(query: EstimateQuery) -> str:
    """`50 million tokens`, `10,000 examples x 3`."""
    if query.tokens is not None:
        return f"{count_in_words(query.tokens)} tokens"
    passes = f" x {query.epochs:g}" if query.epochs not in (None, 1) else ""
    return f"{query.examples:,} examples{passes}"
