"""What an estimate takes for granted, in sentences a reader can check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, exp

import numpy as np

from costcalc.convergence.eligibility import SEED_SIGMA
from costcalc.duration import overheads
from costcalc.duration.training_times import TrainingTime
from costcalc.machine_limits.host import Feed, assumed_vcpus
from costcalc.machine_limits.known_limits import LimitTables
from costcalc.machine_limits.limits import InstanceType
from costcalc.machine_limits.storage import best_volume, read_again
from costcalc.query import EstimateQuery
from costcalc.recipes import EVALUATION_COUNTED, ClosedRecipe, LawRecipe, OwnRecipe, Recipe
from costcalc.throughput.data_sheets import part
from costcalc.training import Code, Metric

SEED_POINTS = SEED_SIGMA[Metric.TOP1] * 100
WHOLE = 0.995
EVEN = 0.5  # the chance of a run whose expected end is the target
SCHEDULE_ALONE = "Only the recipe's schedule is used; the speed is that of the usual MLPerf code on this accelerator."
SCHEDULE_AND_OWN_CODE = "Only the recipe's schedule is used; the speed is that of your own code."
SCHEDULE_OF_TASK = (
    "Only this entry's batch size is used; work and speed are fitted to all results of the task, on layouts that somebody has "
    "trained with."
)
SCHEDULE_OF_RECORD = "The work is that of the record; its speed on other accelerators follows from their data sheets."
NETWORK_OF_TASK = "The network between machines is assumed to be as fast as in the published systems."
SCHEDULE_AND_CODE = "The recipe's schedule and code are used, on a different machine."
WHOSE: Mapping[Code, str] = {
    "mlperf": "code tuned for MLPerf by chip and server makers",
    "contest": "code written for a contest or a benchmark",
    "vendor_example": "example code from a chip maker or a cloud",
    "library": "a library's own training code",
    "research": "a paper's code",
    "ordinary_user": "published code, run by somebody else",
    "own": "your own code",
    "unknown": "typical published code",
}
FED = "processors and disks are assumed to keep the accelerators fed, as in the published runs."


def accumulated(recipe: Recipe, batch: float, steps: int, accelerators: int) -> Iterator[str]:
    """How an accelerator splits its share of the global batch when memory cannot hold it at once."""
    if steps > 1:
        unknown = "" if recipe.global_batch_size else " (assumed; none was published)"
        yield (
            f"Batch {batch:,.0f}{unknown} is split into {steps:,} steps of at most {ceil(batch / accelerators / steps):,} "
            f"{recipe.sample_name} per accelerator, to fit its memory."
        )


def fed(tables: LimitTables, feed: Feed | None, kind: InstanceType, nodes: int) -> tuple[str, ...]:
    """How images are prepared, how many the machines' vCPUs can prepare, and what is read from disk."""
    machine = kind[2]
    if feed is None:
        return (f"The data pipeline is unknown or not counted: {FED}",)
    vcpus = (machine.vcpus or assumed_vcpus(kind) or 0) * nodes
    if not vcpus or tables.has_own_host(machine.accelerator):
        return (f"The number of vCPUs that feed these accelerators is unknown: {FED}",)
    introduced = part(tables.accelerators, machine.accelerator).introduced
    rate, factor = feed.rate(machine.accelerator, introduced), exp(feed.half_width(introduced))
    have = (
        f"{vcpus:,.0f} vCPUs"
        if machine.vcpus
        else "the 8 to 16 vCPUs an accelerator that are assumed (own_vcpus says how many)"
    )
    prepared = (
        f"Data pipeline {feed.pipeline}: {rate:,.0f} images/s per vCPU (known to a factor of {factor:.1f}), so "
        f"{rate * vcpus:,.0f} on {have}."
    )
    again = read_again(kind, feed.stored_gb)
    if not again:
        return (prepared,)
    volume, size = best_volume(tables.volumes, kind, feed.stored_gb), f"{feed.stored_gb:,.0f} GB"
    disk = f"{volume.volume} at {volume.megabytes_per_second:,.0f} MB/s" if volume else "a disk of unknown speed"
    return (
        prepared,
        f"{again:,.0f} of the data set's {size} do not fit in memory, so each epoch reads them from {disk}.",
    )


def rewritten(feed: Feed, hours: float) -> str:
    """The sentence that a pipeline with its own format converts the data set."""
    return f"Staging includes converting the data set for {feed.pipeline}: {feed.stored_gb:,.0f} GB in {hours * 60:.0f} min."


def own_noise(metric: str, low: float, high: float) -> str:
    """Where 8 in 10 further runs of the user are expected to end."""
    return (
        f"8 in 10 further runs end between {low:.4g} and {high:.4g} in {metric}, if runs differ by as much as the later half of "
        "this log scatters around its trend. The chance of reaching a target says no more than that: on 1,419 logged runs it was "
        "no better a forecast than the share of other runs that came as close."
    )


def whose_code(code: Code | None, recipe: Recipe) -> Iterator[str]:
    """Whose program the speed is; nothing for a user's own recipe."""
    if recipe.shared_by:
        yield f"The speed is that of {recipe.shared_by}'s code."
    elif code:
        yield f"The speed is that of {WHOSE[code]}."


TOKENS_ALONE = "What so many tokens reach is not estimated."
EPOCHS_OF_OTHERS = (
    "Its accuracy was published but its epochs were not; they are assumed to be those of similar networks."
)


def curve_note(recipe: Recipe) -> str:
    """Whose runs a recipe's accuracy curve was read from."""
    if recipe.by_word:
        named = f"You named the {recipe.scheduled_epochs:g} epochs; nothing says what accuracy they reach."
        return TOKENS_ALONE if isinstance(recipe, LawRecipe) else named
    if isinstance(recipe, OwnRecipe):
        return f"{recipe.title[0].upper()}{recipe.title[1:]}: {recipe.metric} in {recipe.note}."
    if isinstance(recipe, ClosedRecipe) and recipe.code == "contest":
        return f"The work is that of the record, set in {_runs(recipe)}."
    if isinstance(recipe, ClosedRecipe):
        return f"The work is fitted across the task's batch sizes; this batch size was used in {_runs(recipe)}."
    if recipe.is_interpolated or recipe.epochs_width:
        return f"Nobody has run this schedule: {recipe.note}." if recipe.is_interpolated else EPOCHS_OF_OTHERS
    origin = "Accuracy logged in" if recipe.is_log else "Accuracy published for"
    borrowed = "; earlier errors follow logs of similar schedules" if recipe.has_borrowed_curve else ""
    return f"{origin} {_runs(recipe)}{borrowed}."


def _runs(recipe: Recipe) -> str:
    """How many runs there were, and whose, on what and when."""
    runs = "one run" if recipe.runs == 1 else f"{recipe.runs:,} runs"
    home = recipe.home
    where = f" on {home.accelerators:,} x {home.accelerator}" if recipe.system else ""
    return f"{runs} by {recipe.organisation}{where}, {recipe.year}"


def _evaluated(recipe: Recipe) -> Iterator[str]:
    """How its accuracy was measured, if not at the image size of its training."""
    if recipe.evaluated_size:
        mirrored = ", averaged over each image and its mirror image" if recipe.mirrored_copies else ""
        yield (
            f"Accuracy was measured at {recipe.evaluated_size} pixels{mirrored}, after training at "
            f"{max(phase.image_size for phase in recipe.phases)} or fewer: evaluate the same way."
        )


def _task(recipe: ClosedRecipe, time: TrainingTime) -> Iterator[str]:
    """The further conditions of a task, what its logs say of an easier target, and how single runs scatter about its minutes."""
    yield from recipe.rules
    share = time.epochs / recipe.evaluations[-1].epochs
    if share < WHOLE:
        yield (
            f"Published runs go on to {recipe.tuned_to:g}; their logs pass this target after {share:.0%} of the work. A schedule "
            "that ends there would take less."
        )
    if recipe.run_spread:
        yield (
            f"Published minutes average several runs; single runs differ from them by {recipe.run_spread:.1%}, which the range "
            "includes, as it does what software changes from one round to the next."
        )


def of_recipe(recipe: Recipe, time: TrainingTime) -> Iterator[str]:
    """What a recipe's curve and schedule take for granted."""
    yield from _evaluated(recipe)
    if isinstance(recipe, ClosedRecipe):
        yield from _task(recipe, time)
    if recipe.is_interpolated or recipe.epochs_width or recipe.by_word:
        yield curve_note(recipe)
    elif recipe.runs == 1:
        yield "The accuracy curve rests on one run."
    if recipe.tuned_to is None and not recipe.is_own:
        yield (
            f"Runs are assumed to differ by {SEED_POINTS:.2f} points of top-1 from seed to seed, as those of other recipes do."
        )
    if time.success_probability < EVEN:
        run = _run(recipe)
        yield f"{run[0].upper()}{run[1:]} ended below the target; another full run reaches it with the probability given."
    if recipe.has_borrowed_curve:
        yield "Only the end of its accuracy curve was published; earlier errors follow logs of similar schedules."
    elif not (recipe.is_log or recipe.is_own):
        yield "The recipe is known only at its published points, so it runs to the first one that meets the target."
    if recipe.name.startswith("dawnbench-"):
        yield "DAWNBench entries are selected winners, and many stop on reaching the target: read the hours as optimistic."
    scheduled = recipe.scheduled_epochs
    if scheduled and time.epochs < 0.95 * scheduled:
        borrowed = recipe.is_interpolated or recipe.has_borrowed_curve
        passed = "the borrowed curve passes" if borrowed else f"{_run(recipe)} passed"
        yield f"Stops early, after {time.epochs:g} of {scheduled:g} scheduled epochs, where {passed} the target."


def _run(recipe: Recipe) -> str:
    return "the run" if recipe.is_own else "the published run"


def as_it_ran(query: EstimateQuery, recipe: Recipe) -> Iterator[str]:
    """That a recipe is known only as it ran, where the question asks for another way; of the user's own speed the same."""
    asked = query.running
    if query.images_per_second and any(asked):
        names = " and ".join(f"{name}=" for name, value in asked._asdict().items() if value)
        yield f"Your code's speed is as you measured it, whatever {names} says."
        return
    for name in recipe.not_known_in(asked):
        ran = getattr(recipe, name) or "not stated"
        yield f"{name}={getattr(asked, name)} changes nothing: {_entry(recipe)} is known only as it ran ({name}: {ran})."


def _entry(recipe: Recipe) -> str:
    if recipe.is_own:
        return "your log"
    return "the record" if recipe.code == "contest" else "MLPerf's entry"


def of_hours(query: EstimateQuery, recipe: Recipe, overhead: str) -> Iterator[str]:
    """What the hours include. `overhead` is the sentence that `overhead` makes of the recipe."""
    if query.runs > 1:
        yield (
            f"Hours and costs cover {query.runs} runs, one after another on the same machines: these boot and load the data "
            "once, billing increments are rounded up once, and a commitment is bought once. Epochs and probability of success "
            "are per run."
        )
    if query.overheads == "none":
        yield f"Hours by the source's own clock ({recipe.clock or 'training'}), without start-up, staging or checkpoints."
    else:
        yield overhead


def overhead(recipe: Recipe) -> str:
    """What a run takes in addition to training."""
    data_set_gb, counted = recipe.data_set_gb, recipe.clock == EVALUATION_COUNTED
    minutes = overheads.staging_hours(np.array(data_set_gb)) * 60
    speed = f"{overheads.STAGING_MB_PER_SECOND} MB/s"
    staged = f"{minutes:.0f} min staging of {data_set_gb:g} GB at {speed}" if data_set_gb else "no staging of data"
    kept = f"a checkpoint of {overheads.CHECKPOINT_SECONDS} s every {overheads.EPOCHS_PER_CHECKPOINT} epochs"
    return (
        f"Overhead: {overheads.STARTUP_HOURS * 60:.0f} min start-up, {staged}, "
        f"{'' if counted else 'evaluation after every epoch, '}{'no checkpoint' if recipe.is_closed else kept}"
        f"{'; the recipe counts evaluation as training.' if counted else '.'}"
    )
