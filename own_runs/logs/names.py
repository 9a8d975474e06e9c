"""What a name says of the figure beside it: how far training was, a time, a metric, or something else."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*|\d+|[/%]")
BEFORE_PLACE = r"(?:(?:trainer|train|training|current|cur|completed)[/_ .]+){0,3}"
EPOCH = re.compile(rf"{BEFORE_PLACE}_?epochs?(?:[_ ](?:num|number|idx|index|no|id))?", re.I)
GLOBAL_STEP = re.compile(rf"{BEFORE_PLACE}(?:global[_ ]?steps?|global[_ ]?iter(?:ation)?s?|num[_ ]updates|_step)", re.I)
STEP = re.compile(rf"{BEFORE_PLACE}(?:steps?|updates?)", re.I)
BATCH = re.compile(rf"{BEFORE_PLACE}(?:mini)?batch(?:[_ ](?:num|number|idx|index|no|id))?", re.I)
ITERATION = re.compile(rf"{BEFORE_PLACE}(?:n_|num_)?(?:iter|iters|iterations?)", re.I)
"""Steps too, but beside an epoch some tools count them anew in each, as mmcv does."""

UNITS = {
    **dict.fromkeys(("us", "usec", "microseconds"), 1e-6),
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86_400.0),
}
"""Seconds of each unit of time, as it is written."""
UNITS_ALONE = {"sec", "secs", "seconds", "msec", "msecs", "milliseconds", "mins", "minutes", "hrs", "hours", "days"}
"""Of these a name may consist: min may be a minimum."""
BESIDE_UNITS = {"total", "epoch", "train", "training", "in", "taken", "per", "_", "/"}
MS_A_BATCH = ("ms", "/", "batch")
TIME = {"time", "elapsed", "duration", "runtime", "wall", "walltime", "wallclock", "took", "takes"}
DATES = {"timestamp", "_timestamp", "datetime", "date", "wall_time", "wall time", "created_at", "asctime", "logged_at"}
NO_TIME = {"eta", "remaining", "remain", "left", "per_second", "samples"}
NO_TIME |= {"data", "load", "loading", "compile", "wait", "save"}  # whose time is none of training
THROUGHPUT = re.compile(r"(?:per[_ ]?|/ ?)(?:s|secs?|seconds?|min|minute|hour|h|day)(?![a-z])", re.I)
RUNNING = {"elapsed", "total", "cumulative", "cum", "since", "accumulated", "overall"}
RUNNING |= {"wall", "walltime", "wallclock", "runtime"}
STEPS = {"step", "steps", "iter", "iters", "iteration", "batch", "it"}
EVALUATION = re.compile(r"(?<![a-z])(val|valid|validation|eval|evaluation|test|dev|testing|validating)(?![a-z])", re.I)
COUNTED = {"time/epoch": "epochs", "time/batch": "steps", "time/sample": "batches", "time/token": "batches"}
"""What Composer counts in place of time."""
EVALUATIONS = {"val", "valid", "validation", "eval", "evaluation", "test", "dev"}
METRIC = re.compile(
    r"loss|acc|top-?\d|err|ppl|perplex|(?<![a-z])f1|bleu|rouge|auc|(?<![a-z])m?ap(?![a-z])|map(?![a-z])|iou|dice|(?<![a-z])[wc]er(?![a-z])"
    r"|mse|mae|score|reward|return|recall|precision|psnr|ssim|(?<![a-z])fid|elbo|nll|bp[bcd]|corr|r2|chrf|meteor|cider|hit|ndcg|mrr",
    re.I,
)
"""Of these a log has one; other lines with a number behind a word are prose."""
BESIDE = re.compile(
    r"\bstep|steps$|iter|\btime|time$|\beta\b|^lr|_lr|[-/]lr|\blr|learning|mem|batch|seed|v_num|rank|per.?sec|"
    r"(?<![a-z])sec(ond)?s?$|speed|through|flops?|\btps|mfu|sample|token|norm|scale|skipped|\bnan\b|number|consumed|(?<![a-z])size|worker|"
    r"num_|param|patience|momentum|decay|dropout|\bbest|seqlen|\bimages?$|percentage|progress|weights$|gpu|cpu|util|temperature|"
    r"elapsed|remaining|runtime|duration|version|"
    r"\.(?:py|cpp|cc|cu|c|h|go|rs|js|java)$",
    re.I,
)
"""Names of what stands beside metrics."""
NEVER_A_METRIC = re.compile(r"^(lr|learning_rate|momentum|grad_norm|weight_decay)(?![a-z])|^lr[-/]", re.I)


class Of(StrEnum):
    """What a span of time is the time of."""

    START = "since the start"
    ROW = "of a row"
    EPOCH = "of an epoch"
    STEP = "of a step"
    EVALUATION = "of an evaluation"


IN_SECONDS = {"_runtime": Of.START, "accumulated_submission_time": Of.START, "dur": Of.EPOCH}
"""Names under which W&B, MLPerf's algorithms and skorch write seconds."""


class TimeName(NamedTuple):
    """A name of a time: what it is `of`, where the name says so, and the seconds of its `unit`, None where it has none."""

    of: Of
    unit: float | None


def words(name: str) -> tuple[str, ...]:
    """The words of a name, in small letters: valLoss, val_loss and val/loss have the same two."""
    return tuple(word.lower() for word in PARTS.findall(name))


@lru_cache(maxsize=4096)
def place_of(name: str) -> str:
    """`epochs`, `global`, `steps`, `iterations` or `batches` for a name of how far training was; empty for another."""
    if name in COUNTED:
        return COUNTED[name]
    kinds = {"epochs": EPOCH, "global": GLOBAL_STEP, "steps": STEP, "iterations": ITERATION, "batches": BATCH}
    return next((kind for kind, pattern in kinds.items() if pattern.fullmatch(name.strip())), "")


@lru_cache(maxsize=4096)
def time_named(name: str) -> TimeName | None:
    """What a name says of the time beside it; None if it is the name of no time."""
    if name in IN_SECONDS:
        return TimeName(IN_SECONDS[name], 1.0)
    parts = words(name)
    if not parts or THROUGHPUT.search(name) or not NO_TIME.isdisjoint(parts):
        return None
    has_word = not TIME.isdisjoint(parts)
    is_unit = not UNITS_ALONE.isdisjoint(parts) and {*parts} <= UNITS_ALONE | BESIDE_UNITS
    if not (has_word or is_unit or parts == MS_A_BATCH):
        return None
    known = UNITS if has_word or parts == MS_A_BATCH else UNITS_ALONE
    return TimeName(_of(name, parts), next((UNITS[part] for part in reversed(parts) if part in known), None))


def _of(name: str, parts: tuple[str, ...]) -> Of:
    if not STEPS.isdisjoint(parts):
        return Of.STEP
    if EVALUATION.search(name):
        return Of.EVALUATION
    if "epoch" in parts:
        return Of.EPOCH
    return Of.ROW if RUNNING.isdisjoint(parts) else Of.START


def is_evaluation(name: str) -> bool:
    """Whether a name is that of a value of an evaluation: val_loss, ValLoss, loss (test)."""
    parts = words(name)
    return not EVALUATIONS.isdisjoint(parts) or ("metrics" in parts and "train" not in parts)


def is_date(name: str) -> bool:
    """Whether a name is that of the moment at which a row was written."""
    return name.strip().casefold() in DATES


def is_metric(name: str) -> bool:
    """Whether something under this name may be what a training is judged by."""
    of_epochs = "epoch" in name.lower() and not METRIC.search(name)
    return not (of_epochs or BESIDE.search(name) or NEVER_A_METRIC.search(name))
