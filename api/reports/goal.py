"""Sentences that say what is trained and to what, where the question does not."""

from __future__ import annotations

from costcalc.evidence.timed_networks import find_timed_network
from costcalc.query import EPOCHS, EstimateQuery
from costcalc.tasks.goals import goal_in_words, metric_name, task_of
from own_runs.own_images import BATCH, usual_epochs, usual_steps


def what_part(query: EstimateQuery) -> tuple[str, ...]:
    """The sentence that says of a task that is not a whole training what the whole took, or what is trained before it."""
    task = task_of(query)
    begins = task.starts_from if task else None
    if task and task.whole_training:
        after = f", which starts from {begins}" if begins else ""
        return (f"The whole training took {task.whole_training}; this is a part of it{after}.",)
    if begins and ", whose" in begins:
        return (f"This starts from {begins}.",)
    return (f"This part starts from {begins}, whose training is not counted.",) if begins else ()


def whose_target(query: EstimateQuery) -> tuple[str, ...]:
    """The sentence that says what is reached where the question doesn't."""
    if query.target_of is None:
        return ()
    if task_of(query):
        return (f"No target named: {query.target_of}'s, {goal_in_words(query)}.",)
    reached = f"{query.target * 100:.1f} % {metric_name(query.metric)}"
    return (f"No target named: {reached}, as {query.target_of} reaches in 9 of 10 runs.",)


def whose_epochs(query: EstimateQuery) -> tuple[str, ...]:
    """The sentence that says of so many epochs on a user's own images that a published schedule has them."""
    images = query.samples_per_epoch
    if images is None or query.took is not None or query.method is not None or query.epochs != usual_epochs(images):
        return ()
    return (
        f"{query.epochs:g} epochs, {usual_steps(images):,} steps of {BATCH} images, are Big Transfer's schedule for so many.",
    )


def whose_speed(query: EstimateQuery) -> tuple[str, ...]:
    """The sentence that says how fast a network was timed to train."""
    timed = find_timed_network(query.model) if query.epochs is not None and query.took is None else None
    return (timed.sentence,) if timed and query.metric == EPOCHS else ()
