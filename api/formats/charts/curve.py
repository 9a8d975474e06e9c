"""The accuracy curve of a recipe with the target and the epochs at which it is reached."""

from __future__ import annotations

from api.formats import words
from api.formats.charts.figure import Figure, Place, Scale, line, nothing, sign, text
from api.questions.suggestions import many
from api.reports.cost import EstimateReport

ROOM = 0.05


def figure(report: EstimateReport) -> Figure:
    """The picture of an estimate's curve."""
    estimate, recipe = report.estimate, report.recipe
    if estimate is None or recipe is None:
        return nothing()
    points = [(each.epochs, each.in_metric(estimate.metric)) for each in recipe.evaluations]
    known = [(epochs, accuracy) for epochs, accuracy in points if accuracy is not None]
    values = [estimate.target, *(accuracy for _, accuracy in known)]
    lowest = min(values)
    x = Scale.around([estimate.epochs, *(epochs for epochs, _ in known)], 0.0)
    y = Scale.around(values, max(lowest - ROOM, min(lowest, 0.0)))
    places = [Place.of(x.at(epochs), y.at(accuracy)) for epochs, accuracy in known]
    across, up = x.at(estimate.epochs), y.at(estimate.target)
    signs = (
        sign(place, "circle", "p1", f"{accuracy:.4g} after {epochs:g} epochs")
        for place, (epochs, accuracy) in zip(places, known, strict=True)
    )
    measure = words.measure(estimate.metric)
    return Figure(
        f"{recipe.name}: {measure} by epoch",
        f"{many(len(recipe.evaluations), 'point')}, {recipe.organisation}, {recipe.year}",
        [(Place.of(x.at(tick.value), 0).x, tick.label) for tick in x.ticks()],
        [(Place.of(0, y.at(tick.value)).y, tick.label) for tick in y.ticks()],
        "epochs",
        measure,
        line(places, "p1 faint")
        + "".join(signs)
        + line([Place.of(0, up), Place.of(1, up)], "ink dashed")
        + text(Place.of(0, up), f"target {estimate.target:g}", "ink", 6, -5)
        + line([Place.of(across, 0), Place.of(across, 1)], "ink dashed")
        + sign(Place.of(across, up), "circle", "ink")
        + text(Place.of(across, 0), f"{estimate.epochs:.4g} epochs", "ink end", -7, -8),
    )
