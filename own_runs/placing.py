"""Where the points of a log lie in its training: which of several runs counts, how much of an epoch was done, and where the
clock paused. Whatever can't be told becomes a question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median

from msgspec import Struct, field
from msgspec.structs import replace

from costcalc.units import SECONDS_PER_HOUR
from own_runs.logs.clock import in_words
from own_runs.logs.log import Point, TrainingLog, times
from own_runs.logs.names import is_evaluation

PAUSE = 10.0
"""How many times the usual time between rows a pause takes at least, and LONG_PAUSE epochs, or an hour and five times as many."""
LONG_PAUSE = 3.0
SEVERAL = 4
"""Rows with a value of one name at one epoch from which on they lie within it: two may be training and evaluation."""
OF_TRAINING = re.compile("train|loss", re.I)
NEARLY_WHOLE = 0.98
"""Of an epoch: where steps are logged now and then, its last ones are not."""
TOLERANCE = 0.03
LAST_RUN = "It has {} runs: counting starts anew at {}. The last one is read."
PAUSED = "Its clock paused for {} before {}: that is left out."
LED = "The {:g} {} before the first value are taken to be as fast as those after it."
RESUMED = "It went on from a checkpoint at {}: epochs that were trained twice count once, without their time."
OTHER_STEPS = "It logs {:,.4g} steps an epoch, and you say {:,.4g}: yours are taken."
INSIDE = "its epochs are those that run, and it has {}"


class Placed(Struct, frozen=True):
    """The points of the last run of a log, at the epochs that were done, each None where only its steps are known. `paused` are
    the seconds that were left out; `steps_per_epoch` is what the log tells of it, None where it doesn't; `notes` say what was
    found, and `doubts` what to ask, by the fact that settles it."""

    points: tuple[Point, ...]
    notes: tuple[str, ...] = ()
    doubts: Mapping[str, str] = field(default_factory=dict)
    paused: float = 0.0
    steps_per_epoch: float | None = None

    @property
    def end(self) -> Point:
        """The point that is furthest."""
        return max(self.points, key=lambda point: (point.epochs or 0.0, point.steps or 0.0))

    @property
    def seconds(self) -> float | None:
        """The last time that is known."""
        return max(times(self.points), default=None)


def placed(log: TrainingLog, steps_per_epoch: float | None = None, *, counts_repeated: bool = False) -> Placed:
    """The points of a log in their places. `steps_per_epoch` is what the owner says; with `counts_repeated` the time of epochs
    that were trained twice, after a crash, counts as what it is: paid."""
    points, notes = _last_run(log.points)
    points, resumed = _once(points, counts_repeated)
    inside = _inside(points, steps_per_epoch)
    points, paused, where = _without_pauses(inside.points)
    if paused:
        notes += [PAUSED.format(in_words(paused), where)]
    points, led = _from_the_start(points)
    return replace(
        inside,
        points=points,
        notes=(*notes, *resumed, *inside.notes, *led),
        doubts={**log.doubts, **inside.doubts},
        paused=paused,
    )


def _count(points: Sequence[Point]) -> list[float]:
    """How far each point is, in epochs if all have them, else in steps; empty where neither can be."""
    if all(point.epochs is not None for point in points):
        return [point.epochs or 0.0 for point in points]
    return [point.steps or 0.0 for point in points] if all(point.steps is not None for point in points) else []


def _timed(points: Sequence[Point]) -> list[tuple[float, Point]]:
    """The points that have a time, behind how far they are; none where that cannot be told."""
    return [(count, point) for count, point in zip(_count(points), points, strict=False) if point.seconds is not None]


def _last_run(points: Sequence[Point]) -> tuple[tuple[Point, ...], list[str]]:
    """The points of the last run of several in one file, timed from its own start."""
    counts = _count(points)
    if len(counts) > 2 and all(after < before for before, after in pairwise(counts)):
        return tuple(reversed(points)), []
    begins, furthest = [0], counts[0] if counts else 0.0
    for index, (previous, count) in enumerate(pairwise(counts), 1):
        if count < previous and count <= counts[0] and count < furthest:
            begins.append(index)
            furthest = count
        furthest = max(furthest, count)
    before, last = points[: begins[-1]], points[begins[-1] :]
    said = {value for point in before for value in point.values.items()}
    if len(begins) > 1 and len(last) == 1 and not said.isdisjoint(last[0].values.items()):  # once more, as summaries do
        points, begins = before, begins[:-1]
    if len(begins) == 1:
        return tuple(points), []
    return _timed_anew(points, begins[-1]), [LAST_RUN.format(len(begins), points[begins[-1]].where)]


def _timed_anew(points: Sequence[Point], begin: int) -> tuple[Point, ...]:
    """The points from one on, with times since the last one before, or since their own first where a pause lies between."""
    run = points[begin:]
    own, before = times(run), times(points[:begin])
    if not own or not before or own[0] < before[-1]:
        return tuple(run)
    usual = median([after - sooner for sooner, after in pairwise(own)] or [own[0] - before[-1]])
    start = before[-1] if own[0] - before[-1] <= LONG_PAUSE * usual else own[0]
    return tuple(point.later(-start) for point in run)


def _once(points: Sequence[Point], counts_repeated: bool) -> tuple[tuple[Point, ...], list[str]]:
    """The points of a run that went on from a checkpoint, with what was trained twice once."""
    counts = _count(points)
    if not any(after < before for before, after in pairwise(counts)):
        return tuple(points), []
    kept: list[tuple[float, Point]] = []
    lost, notes = 0.0, []
    for count, point in zip(counts, points, strict=True):
        if kept and kept[-1][0] > count:
            notes = [RESUMED.format(point.where)]
            pace = _pace(kept)
            while kept and kept[-1][0] >= count:
                kept.pop()
            lost = lost if counts_repeated else _lost(kept, count, point, pace)
        kept.append((count, point.later(-lost)))
    return tuple(point for _, point in kept), notes


def _pace(kept: Sequence[tuple[float, Point]]) -> float:
    """Seconds of an epoch or step on average."""
    (begun, first), (done, last) = kept[0], kept[-1]
    if first.seconds is None or last.seconds is None or done <= begun:
        return 0.0
    return (last.seconds - first.seconds) / (done - begun)


def _lost(kept: Sequence[tuple[float, Point]], count: float, point: Point, pace: float) -> float:
    """Seconds beyond the usual between the last point that counts and the one after it."""
    done, last = kept[-1] if kept else (count, point)
    if last.seconds is None or point.seconds is None:
        return 0.0
    return max(point.seconds - last.seconds - pace * (count - done), 0.0)


def _from_the_start(points: Sequence[Point]) -> tuple[tuple[Point, ...], list[str]]:
    """The points timed from the start of the training, if the clock starts at its first value, and a note on that."""
    timed = _timed(points)
    (begun, first), (done, last) = (timed[0], timed[-1]) if len(timed) > 1 else ((0.0, points[0]), (0.0, points[0]))
    if first.seconds or not last.seconds or not 0 < begun < done:
        return tuple(points), []
    lead, unit = begun * last.seconds / (done - begun), "steps" if first.epochs is None else "epochs"
    return tuple(point.later(lead) for point in points), [LED.format(begun, unit)]


def _inside(points: Sequence[Point], stated: float | None) -> Placed:
    """The points with the shares of epochs that were done, where the log counts the epoch that runs, and steps or rows within."""
    if ends := _ends(points):
        return _shared(points, ends, stated)
    if counted := _counted(points):
        lies = _shared(counted, _ends(counted), None)
        return replace(lies, points=tuple(point._replace(steps=None) for point in lies.points), steps_per_epoch=None)
    if _is_begun(points):
        return Placed(tuple(points), doubts={"samples_per_epoch": INSIDE.format(f"step {points[-1].steps:,.6g} alone")})
    return Placed(tuple(points), steps_per_epoch=_of_whole_epochs(points))


def _shared(points: Sequence[Point], ends: Mapping[float, float], stated: float | None) -> Placed:
    """The points of epochs with these last steps, at the shares that were done: by the steps of an epoch that its owner states,
    or those of epochs that are over."""
    anew, offset, last = _counts_anew(points, ends), _offset(points), max(ends.values())
    logged = _logged_steps(ends, anew, offset)
    steps = stated or logged
    if steps is None:
        return Placed(tuple(points), doubts={"samples_per_epoch": INSIDE.format(f"{last:,.6g} steps of one")})
    if logged is None and last > steps * (1 + TOLERANCE):
        told = f"{last:,.6g} steps of one epoch, though your batch and data set make {steps:,.6g}"
        return Placed(tuple(points), doubts={"samples_per_epoch": INSIDE.format(told)})
    first = next(iter(ends))
    begins = {first: 0.0 if anew else (first - 1) * steps}
    begins |= {after: 0.0 if anew else ends[before] + offset for before, after in pairwise(ends)}

    def at_share(point: Point) -> Point:
        if point.epochs is None or point.steps is None or point.epochs not in ends:
            return point
        share = min((point.steps + offset - begins[point.epochs]) / steps, 1.0)
        is_over = point.steps == ends[point.epochs] and point.epochs != next(reversed(ends))
        done = point.epochs if share >= NEARLY_WHOLE or is_over else max(point.epochs - 1 + share, 0.0)
        return point._replace(epochs=done)

    notes = (OTHER_STEPS.format(logged, stated),) if stated and logged and abs(stated / logged - 1) > TOLERANCE else ()
    return Placed(tuple(map(at_share, points)), notes, steps_per_epoch=logged)


def _counted(points: Sequence[Point]) -> tuple[Point, ...]:
    """The points with the numbers of their rows as steps, if a log without steps has several rows of a value in each epoch; none
    if it has not."""
    rows: Counter[tuple[float | None, str]] = Counter()
    counted = []
    for point in points:
        if point.steps is not None or point.epochs is None or point.epochs % 1:
            return ()
        rows.update((point.epochs, name) for name in point.values)
        counted.append(max(rows[point.epochs, name] for name in point.values))
    often = {name for (_, name), count in rows.items() if count >= SEVERAL}
    stepped = zip(points, counted, strict=True)
    if not often:
        return ()
    return tuple(point._replace(steps=float(row)) if often & {*point.values} else point for point, row in stepped)


def _is_begun(points: Sequence[Point]) -> bool:
    """Whether all points stand at one step of one epoch, and are of training alone, which does not say that it is over."""
    places = {(point.epochs, point.steps) for point in points}
    (epoch, step), *more = places
    names = {name for point in points for name in point.values}
    of_training = all(OF_TRAINING.search(name) and not is_evaluation(name) for name in names)
    return not more and bool(step) and epoch is not None and not epoch % 1 and of_training


def _ends(points: Sequence[Point]) -> dict[float, float]:
    """The last step of each epoch; empty unless epochs are whole numbers, and one has points at several steps."""
    steps: dict[float, set[float]] = {}
    for point in points:
        if point.epochs is not None and point.steps is not None:
            steps.setdefault(point.epochs, set()).add(point.steps)
    if not any(len(step) > 1 for step in steps.values()) or any(epoch % 1 for epoch in steps):
        return {}
    return {epoch: max(each) for epoch, each in sorted(steps.items())}


def _of_whole_epochs(points: Sequence[Point]) -> float | None:
    """Steps of an epoch, from points that have both."""
    both = list({point.epochs: point.steps for point in points if point.epochs and point.steps}.items())
    if not both:
        return None
    (first, begun), (last, ended) = both[0], both[-1]
    steps = (ended - begun) / (last - first) if last > first else ended / last
    return steps if steps > 0 else None


def _offset(points: Sequence[Point]) -> float:
    """1 if steps count from 0: step 49 comes after 50 of them."""
    steps = sorted({point.steps for point in points if point.steps is not None})
    if steps and steps[0] == 0:
        return 1.0
    every = min((after - before for before, after in pairwise(steps)), default=0.0)
    return float(every > 1 and all((step + 1) % every == 0 for step in steps[:3]))


def _counts_anew(points: Sequence[Point], ends: Mapping[float, float]) -> bool:
    """Whether steps count from the start of each epoch."""
    begins = dict(ends)
    for point in points:
        if point.epochs is not None and point.steps is not None:
            begins[point.epochs] = min(point.steps, begins[point.epochs])
    return any(begins[after] < ends[before] for before, after in pairwise(ends))


def _logged_steps(ends: Mapping[float, float], anew: bool, offset: float) -> float | None:
    """Steps of an epoch: of those that are over, which the last may not be."""
    if len(ends) < 2:
        return None
    over = list(ends.items())[:-1]
    if anew:
        return max(end for _, end in over) + offset or None
    between = [(end - begun) / (after - before) for (before, begun), (after, end) in pairwise(over)]
    (first, end), *_ = over
    return median(between) if between else (end + offset) / first if first else None


def _without_pauses(points: Sequence[Point]) -> tuple[tuple[Point, ...], float, str]:
    """The points without times far beyond those of an epoch, the seconds of these, and before what they were."""
    timed = [(count, point.seconds or 0.0) for count, point in _timed(points)]
    paces = [
        (end - begun) / (after - before)
        for (before, begun), (after, end) in pairwise(timed)
        if after > before and end > begun
    ]
    if len(paces) < 3:
        return tuple(points), 0.0, ""
    usual, epochs = median(paces), all(point.epochs is not None for point in points)
    kept, paused, last, where, clock = [], 0.0, timed[0], "", iter(timed)
    for point in points:
        if point.seconds is not None:
            count, seconds = next(clock)
            left_out = _pause(count - last[0], seconds - last[1], usual, epochs)
            paused, where = paused + left_out, point.where if left_out else where
            last = max(count, last[0]), seconds
        kept.append(point.later(-paused))
    return tuple(kept), paused, where


def _pause(trained: float, gap: float, usual: float, epochs: bool) -> float:
    """The seconds of a gap between two points that are none of the training, of which an epoch or step takes the `usual`."""
    expected = usual * max(trained, 0.0)
    is_long = gap > LONG_PAUSE * usual if epochs else gap > SECONDS_PER_HOUR
    is_very_long = gap > SECONDS_PER_HOUR and gap > 5 * PAUSE * expected
    return gap - expected if gap > PAUSE * expected and (is_long or is_very_long) else 0.0
