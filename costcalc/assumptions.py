"""What an estimate takes for granted, in sentences a reader can check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, exp

import numpy as np

from costcalc.convergence.eligibility import SEED_SIGMA
from costcalc.duration import overheads
from costcalc.duration.training_times import TrainingTime
from costcalc.machine_limits.host import Feed
from costcalc.machine_limits.known_limits import LimitTables
from costcalc.machine_limits.limits import InstanceType
from costcalc.machine_limits.storage import best_volume, read_again
from costcalc.query import EstimateQuery
from costcalc.training import EVALUATION_COUNTED, ClosedRecipe, Code, Metric, OwnRecipe, Recipe

SEED_POINTS = SEED_SIGMA[Metric.TOP1] * 100
WHOLE = 0.995
EVEN = 0.5  # the chance of a run whose expected end is the target
SCHEDULE_ALONE = (
    "Only the schedule of the recipe is used: the speed is that of MLPerf's usual code on this accelerator."
)
SCHEDULE_AND_OWN_CODE = "Only the schedule of the recipe is used: the speed is that of your own code."
SCHEDULE_OF_TASK = (
    "Only the batch size of this entry is used: its work and its speed follow from all results of the task, on layouts that "
    "somebody trained with."
)
SCHEDULE_OF_RECORD = (
    "The record's own work is used; how fast it goes on other accelerators follows from their data sheets."
)
NETWORK_OF_TASK = "The network between the machines is assumed to be as fast as those of the published systems."
SCHEDULE_AND_CODE = "The schedule and the code of the recipe are used, on a machine other than its own."
WHOSE: Mapping[Code, str] = {
    "mlperf": "code tuned for MLPerf by makers of chips and servers",
    "contest": "code written for a contest or a benchmark",
    "vendor_example": "an example by a maker of chips or a cloud",
    "library": "a library's own training code",
    "research": "the code of a paper",
    "ordinary_user": "published code as somebody else ran it",
    "own": "your own code",
    "unknown": "the middle of all known codes",
}
FED = "processors and disks are assumed to keep the accelerators fed, as those of the published runs did."


def accumulated(recipe: Recipe, batch: float, steps: int, accelerators: int) -> Iterator[str]:
    """How each accelerator takes its share of the recipe's global batch, which its memory does not hold at once."""
    if steps > 1:
        unknown = "" if recipe.global_batch_size else " (taken, none being published)"
        of_what = "samples" if isinstance(recipe, OwnRecipe) else "images"
        yield (
            f"Batch {batch:,.0f}{unknown} in {steps:,} steps of at most {ceil(batch / accelerators / steps):,} {of_what} on each "
            "accelerator: in fewer, they would not fit its memory."
        )


def fed(tables: LimitTables, feed: Feed | None, kind: InstanceType, nodes: int) -> tuple[str, ...]:
    """How images are prepared, how many of them the vCPUs of so many machines can prepare, and what is read from disk."""
    machine = kind[2]
    if feed is None:
        return (f"The data pipeline is not known or not counted: {FED}",)
    if not machine.vcpus or tables.has_own_host(machine.accelerator):
        return (f"How many vCPUs feed these accelerators is not known: {FED}",)
    rate, vcpus = tables.rate(feed, machine.accelerator), machine.vcpus * nodes
    factor = exp(tables.half_width(feed, machine.accelerator))
    prepared = (
        f"Data pipeline {feed.pipeline}: {rate:,.0f} images/s per vCPU, known to a factor of {factor:.1f}, are "
        f"{rate * vcpus:,.0f} on {vcpus:,} vCPUs."
    )
    return (prepared, *_read_again(tables, feed.stored_gb, kind))


def rewritten(feed: Feed, hours: float) -> str:
    """That the data set is written anew for a pipeline with a format of its own."""
    return f"Staging also writes the data set as {feed.pipeline} reads it: {feed.stored_gb:,.0f} GB in {hours * 60:.0f} min."


def _read_again(tables: LimitTables, stored_gb: float, kind: InstanceType) -> Iterator[str]:
    again = read_again(kind, stored_gb)
    if again:
        volume = best_volume(tables.volumes, kind, stored_gb)
        disk = f"{volume.volume} at {volume.megabytes_per_second:,.0f} MB/s" if volume else "a disk of unknown speed"
        yield f"Of the data set's {stored_gb:,.0f} GB, {again:,.0f} do not fit the memory: each epoch reads them from {disk}."


def own_noise(metric: str, low: float, high: float) -> str:
    """Where another run of the asker's own is taken to end in 8 of 10 cases."""
    return (
        f"Another run of it ends between {low:.4g} and {high:.4g} in {metric} in 8 of 10 cases: runs are taken to differ as the "
        "later half of this log scatters about its own course. A chance to reach a target tells no more: on 1,419 logged runs it "
        "was no better than the share of other runs that came as close."
    )


def whose_code(code: Code | None) -> Iterator[str]:
    """Whose program the speed is; nothing of a recipe of the asker's own."""
    if code:
        yield f"The speed is that of {WHOSE[code]}."


EPOCHS_OF_OTHERS = "Its accuracy was published, its epochs were not: they are taken to be those of networks like it."


def curve_note(recipe: Recipe) -> str:
    """Whose runs a recipe's accuracy curve was read from."""
    if isinstance(recipe, OwnRecipe) and recipe.by_word:
        return (
            f"The {recipe.scheduled_epochs:g} epochs are those that you name: nothing says which accuracy they reach."
        )
    if isinstance(recipe, OwnRecipe):
        return f"Your own run: {recipe.metric} in {recipe.note}."
    if isinstance(recipe, ClosedRecipe) and recipe.code == "contest":
        return f"Work of the record, which was made in {_runs(recipe)}."
    if isinstance(recipe, ClosedRecipe):
        return f"Work by the law of all batches of the task; this one was trained with in {_runs(recipe)}."
    if recipe.is_interpolated or recipe.epochs_width:
        return f"Nobody ran this schedule: {recipe.note}." if recipe.is_interpolated else EPOCHS_OF_OTHERS
    known = "Accuracy logged in" if recipe.is_log else "Accuracy published for"
    borrowed = "; before that, errors as in logs with such a schedule" if recipe.has_borrowed_curve else ""
    return f"{known} {_runs(recipe)}{borrowed}."


def _runs(recipe: Recipe) -> str:
    """How many there were, whose, on what and when."""
    runs = "one run" if recipe.runs == 1 else f"{recipe.runs:,} runs"
    system = recipe.system
    where = f" on {system.accelerators:,} x {system.accelerator}" if system else ""
    return f"{runs} by {recipe.organisation}{where}, {recipe.year}"


def _evaluated(recipe: Recipe) -> Iterator[str]:
    """How its accuracy was measured, where that is not as it was trained."""
    if recipe.evaluated_size:
        mirrored = ", averaged over each image and its mirror image" if recipe.mirrored_copies else ""
        yield (
            f"Its accuracy was measured on images of {recipe.evaluated_size} pixels a side{mirrored}, after training on at most "
            f"{max(phase.image_size for phase in recipe.phases)}: evaluate in the same way."
        )


def _task(recipe: ClosedRecipe, time: TrainingTime) -> Iterator[str]:
    """What else the task asks, how its logs pass an easier target, and how far single runs are from its published minutes."""
    yield from recipe.rules
    share = time.epochs / recipe.evaluations[-1].epochs
    if share < WHOLE:
        yield (
            f"Published runs go on to {recipe.tuned_to:g}: their logs pass this target after {share:.0%} of the work. A schedule "
            "that ends there would take less."
        )
    if recipe.run_spread:
        yield (
            f"Published minutes are means of several runs: single runs scatter around them by {recipe.run_spread:.1%}, which "
            "the range leaves out."
        )


def of_recipe(recipe: Recipe, time: TrainingTime) -> Iterator[str]:
    """What its curve and its schedule take for granted."""
    yield from _evaluated(recipe)
    if isinstance(recipe, ClosedRecipe):
        yield from _task(recipe, time)
    if recipe.is_interpolated or recipe.epochs_width or (isinstance(recipe, OwnRecipe) and recipe.by_word):
        yield curve_note(recipe)
    elif recipe.runs == 1:
        yield "The accuracy curve rests on one run."
    if recipe.tuned_to is None and not isinstance(recipe, OwnRecipe):
        yield (
            f"Its runs are assumed to differ from seed to seed by {SEED_POINTS:.2f} points of top-1, as those of other recipes "
            "did."
        )
    if time.success_probability < EVEN:
        whose = "Your" if isinstance(recipe, OwnRecipe) else "The published"
        yield f"{whose} run ended below the target: another one, run to its end, reaches it with the probability given."
    if recipe.has_borrowed_curve:
        yield "Only the end of its accuracy curve was published: before it, errors fall as in logs with such a schedule."
    elif not recipe.is_log and not isinstance(recipe, OwnRecipe):
        yield "The recipe is known only at its published points; it runs to the first of them that meets the target."
    if recipe.name.startswith("dawnbench-"):
        yield "DAWNBench's entries are selected winners, and many end as they reach the target: read the hours as optimistic."
    scheduled = recipe.scheduled_epochs
    if scheduled and time.epochs < 0.95 * scheduled:
        borrowed = recipe.is_interpolated or recipe.has_borrowed_curve
        run = "your run" if isinstance(recipe, OwnRecipe) else "the published run"
        passed = "the borrowed curve passes" if borrowed else f"{run} passed"
        yield f"Stops early, after {time.epochs:g} of {scheduled:g} scheduled epochs, where {passed} the target."


def of_hours(query: EstimateQuery, recipe: Recipe, overhead: str) -> Iterator[str]:
    """What the hours hold; `overhead` is the sentence of this name about the recipe."""
    if query.runs > 1:
        yield (
            f"Hours and costs are those of {query.runs} runs, one after another on machines that are kept: they boot and load "
            "the data once, billing increments are rounded up once, a commitment is bought once. Epochs and probability of "
            "success are one run's."
        )
    if query.overheads == "none":
        yield f"Hours on the source's own clock ({recipe.clock or 'training'}); start-up, staging and checkpoints left out."
    else:
        yield overhead


def overhead(recipe: Recipe) -> str:
    """What a run takes beside training."""
    data_set_gb, counted = recipe.data_set_gb, recipe.clock == EVALUATION_COUNTED
    minutes = overheads.staging_hours(np.array(data_set_gb)) * 60
    staged = (
        f"{minutes:.0f} min staging of {data_set_gb:g} GB at {overheads.STAGING_MB_PER_SECOND} MB/s"
        if data_set_gb
        else "staging of the data left out"
    )
    kept = f"a checkpoint of {overheads.CHECKPOINT_SECONDS} s every {overheads.EPOCHS_PER_CHECKPOINT} epochs"
    return (
        f"Overhead: {overheads.STARTUP_HOURS * 60:.0f} min start-up, {staged}, "
        f"{'' if counted else 'evaluation after every epoch, '}{'no checkpoint' if recipe.is_closed else kept}"
        f"{'; the recipe counts evaluation as training.' if counted else '.'}"
    )
