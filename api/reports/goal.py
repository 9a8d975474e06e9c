"""Sentences that say what is trained and to what, where the question does not."""

from __future__ import annotations

from collections.abc import Iterator

from costcalc.evidence.timed_networks import find_timed_network
from costcalc.query import EPOCHS, EstimateQuery
from costcalc.tasks.goals import goal_in_words, metric_name, task_of
from costcalc.tasks.tables import Task
from own_runs.by_word import BATCH, usual_epochs, usual_steps


def goal(query: EstimateQuery) -> Iterator[str]:
    """Of a task that is not a whole training what the whole took, or what is trained before it; and whose target it is, where the
    question names none."""
    task = task_of(query)
    if task:
        yield from _what_part(task)
    if query.target_of is not None and task:
        yield f"No target named: {query.target_of}'s, {goal_in_words(query)}."
    elif query.target_of is not None:
        reached = f"{query.target * 100:.1f} % {metric_name(query.metric)}"
        yield f"No target named: {reached}, as {query.target_of} reaches in 9 of 10 runs."


def work(query: EstimateQuery) -> Iterator[str]:
    """Whose schedule has so many epochs on a user's own images, and how fast a network was timed to train."""
    images = query.samples_per_epoch
    if query.took is not None or query.epochs is None:
        return
    if images is not None and query.method is None and query.epochs == usual_epochs(images):
        steps = f"{usual_steps(images):,} steps of {BATCH} images"
        yield f"{query.epochs:g} epochs, {steps}, are Big Transfer's schedule for so many."
    timed = find_timed_network(query.model)
    if timed and query.metric == EPOCHS:
        yield timed.sentence


def _what_part(task: Task) -> Iterator[str]:
    begins = task.starts_from
    if task.whole_training:
        after = f", which starts from {begins}" if begins else ""
        yield f"The whole training took {task.whole_training}; this is a part of it{after}."
    elif begins and ", whose" in begins:
        yield f"This starts from {begins}."
    elif begins:
        yield f"This part starts from {begins}, whose training is not counted."
