"""Schedules of lengths that nobody ran, between measured ones: their fitted ends, and the recipes they make."""

from __future__ import annotations

from dataclasses import dataclass, replace

from costcalc.training import Evaluation, Phase, Recipe


@dataclass(frozen=True, slots=True)
class Schedule:
    """An interpolated schedule: the curve of a measured recipe at the same fractions of its length, its accuracies shifted
    (fractions, None where the metric was not published) so that it ends where `costcalc.fitting.schedules` says."""

    recipe: str
    shape_of: str
    scheduled_epochs: float
    top1_shift: float
    top5_shift: float | None


def stretched(measured: Recipe, schedule: Schedule) -> Recipe:
    """The recipe of an interpolated schedule, `measured` being the one whose shape it has."""
    stretch = schedule.scheduled_epochs / (measured.scheduled_epochs or schedule.scheduled_epochs)
    return replace(
        measured,
        name=schedule.recipe,
        scheduled_epochs=schedule.scheduled_epochs,
        phases=tuple(
            Phase(phase.image_size, phase.from_epoch * stretch, phase.to_epoch * stretch, phase.images_per_second)
            for phase in measured.phases
        ),
        evaluations=tuple(
            Evaluation(
                evaluation.epochs * stretch,
                None if evaluation.hours is None else evaluation.hours * stretch,
                _shifted(evaluation.top1, schedule.top1_shift),
                _shifted(evaluation.top5, schedule.top5_shift),
            )
            for evaluation in measured.evaluations
        ),
        is_interpolated=True,
        note=f"interpolated between measured schedules of this family; curve shape of {measured.name}",
    )


def _shifted(accuracy: float | None, shift: float | None) -> float | None:
    return None if accuracy is None or shift is None else accuracy + shift
