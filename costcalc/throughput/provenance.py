"""What a speed rests on, in words: which measurement it was read in or carried over from, and through what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from costcalc.hardware import Cluster
from costcalc.recipes import Recipe
from costcalc.throughput.fitted_parameters import CODE, TRANSFERRED, HalfWidth
from costcalc.throughput.reference_model import UNDATED, ChipPrior, is_reference
from costcalc.throughput.workloads import bits
from costcalc.training import OWN_DATA, THIRTY_TWO_BIT, YOU, YOUR_CODE, System, Throughput

NO_SPEED = "No speed of this network has been published; it is carried over from other networks."
NO_SPEED_OF_CODE = "No speed of this recipe's code has been published"
NO_SPEED_OF_NETWORK = "No speed of this network with this recipe's code has been published"
USUAL_SOFTWARE = (
    "The software is the usual one, the median of what was published for this accelerator; software=recipe takes that of the "
    "recipe's own year."
)
NEWEST_SOFTWARE = (
    "The software is as new as the newest result on this accelerator; software=recipe takes that of the recipe's own "
    "year."
)
BESIDE_LARGER = (
    (),
    ("The speed is that of a larger network of the same series, which the same code trains faster.",),
    ("The same code trains a larger network of the same series faster; the measured speed of this one stands.",),
)  # by `Prediction.beside_larger`
WIDE_BY_RULE = "The range is wide by rule: there are too few results to measure the error of such estimates."
OF_PROCESSOR = (
    "The processor's speed is carried over by cores, clock and vector width from rates measured on other processors.",
    "The range is wide enough to hold 8 in 10 of these rates, each predicted from other organisations' rates.",
    "This recipe's code is not known to have run on a processor; its batch is split to fit the memory.",
)
RUN_OTHERWISE = "The recipe runs differently from its publication: "
DISTILS = (
    "Its training distils {}, which also sees each image: a third of that network's step is added. No speed of both together "
    "has been published."
)
DATA = {"synthetic": "synthetic images", "real": "", "whole run": "a whole run"}


def notes(
    recipe: Recipe, cluster: Cluster, kind: int, base: Throughput | None, anchored: bool, width: HalfWidth
) -> tuple[str, ...]:
    """What the speed of a recipe on a cluster rests on, in a sentence, and what else was assumed about it.

    `base` is the measurement nearest to it, None where there is none, or where the speed follows from the recipe's own log, which
    `anchored` says is known.
    """
    if base and base.is_own:
        return _own_speed(cluster, kind, base), _how_wide(width)
    usual = NEWEST_SOFTWARE if recipe.is_closed else USUAL_SOFTWARE
    software = (usual,) if recipe.year == UNDATED else ()
    return (
        _rests_on(recipe, cluster, kind, base, anchored),
        *software,
        _how_wide(width),
        *([DISTILS.format(recipe.teacher)] if recipe.teacher else []),
        *_run_otherwise(recipe),
    )


def _run_otherwise(recipe: Recipe) -> Iterator[str]:
    """That the recipe shall run in another way than where it was published, or could."""
    if recipe.as_published:
        changes = zip(recipe.as_published, recipe.running, strict=True)
        changed = [f"{spoken(now)} ({spoken(was)})" for was, now in changes if was != now]
        yield (
            f"{RUN_OTHERWISE}{listed(changed)}. The effect on its speed is learned from other "
            "code; its accuracy is assumed not to change."
        )
    elif recipe.precision in THIRTY_TWO_BIT and not is_reference(recipe):
        yield f"The recipe was published in {recipe.precision} only; precision=amp estimates it in 16 bits."


def spoken(way: str | None) -> str:
    """A way of running in words."""
    return way.replace("_", " ") if way else "not stated"


def never_measured(accelerator: str, priors: Mapping[str, ChipPrior]) -> Iterator[str]:
    """What an accelerator's own speed rests on where nobody trained an image classifier on it."""
    if accelerator in priors:
        tasks = [task.replace("_", " ") for task in priors[accelerator].tasks]
        measured = f" and from MLPerf's {listed(tasks)}, which ran on it or on the same silicon" if tasks else ""
        unknown = f"No speed of an image classifier on {accelerator} has been published"
        yield f"{unknown}; it is estimated from the data sheet{measured}."


def fewer_than_anybody(recipe: Recipe, cluster: Cluster, published: Sequence[Throughput]) -> Iterator[str]:
    """That nobody published a result of a task on so few of an accelerator, or of any where it has none."""
    if not recipe.is_closed:
        return
    used = [row for row in published if row.accelerator == cluster.accelerator] or published
    fewest = min((row.accelerators for row in used if row.accelerators), default=0)
    if cluster.total_accelerators < fewest:
        what = cluster.accelerator if used is not published else "accelerators of any kind"
        yield f"Nobody published a result on fewer than {fewest} {what}; the speed of so few is carried over from more."


def _how_wide(width: HalfWidth) -> str:
    if width.by_rule:
        return WIDE_BY_RULE
    if width.by_organisation:
        return (
            f"The range is wide enough to hold 8 in 10 results of {width.cases:,} organisations, each counted once and predicted "
            "from the others."
        )
    return f"The range is wide enough to hold 8 in 10 of {width.cases:,} results, each predicted from others."


def _rests_on(recipe: Recipe, cluster: Cluster, kind: int, base: Throughput | None, anchored: bool) -> str:
    if base is None and not anchored:
        return NO_SPEED if kind != CODE else f"{NO_SPEED_OF_CODE}; it is modelled from other code and networks."
    home = recipe.system
    log = f"the recipe's own log on {home.accelerators} x {home.accelerator}" if home else "the recipe's own log"
    source, measured = (named(base), base.system) if base else (log, home)
    machines = _other_machines(measured, cluster) if measured else ()
    to = listed([*machines, *(_other_work(recipe, base) if base else ())])
    if is_reference(recipe):
        carried = f", carried over to {to}" if to else ""
        return f"Speed fitted to all of MLPerf's results; nearest: {source}{carried}."
    if kind == TRANSFERRED or not to:
        return f"Speed measured on this accelerator and count: {source}."
    unknown = {True: NO_SPEED_OF_CODE, False: NO_SPEED_OF_NETWORK}[kind == CODE]
    if base and base.stack != recipe.stack:
        return f"{unknown}; it is modelled from other code and networks, the nearest being {source}."
    return f"Speed carried over from {source} to {to}."


def _own_speed(cluster: Cluster, kind: int, base: Throughput) -> str:
    to = listed(list(_other_machines(base.system, cluster)))
    carried = f"carried over to {to}, " if to and kind != TRANSFERRED else ""
    unit = "samples/s" if base.stack == OWN_DATA else "images/s"
    whose = (
        "Your own speed" if base.organisation in (YOU, YOUR_CODE) else f"Speed of a run shared by {base.organisation}"
    )
    return f"{whose}, {carried}{base.images_per_second:,.4g} {unit} on {_where(base)}: {base.source}."


def named(row: Throughput) -> str:
    """A measurement in words: who, with what, when, where and on what."""
    return ", ".join(
        filter(None, (row.organisation, row.framework, row.precision, str(row.year), _where(row), DATA[row.data]))
    )


def _where(row: Throughput) -> str:
    return f"{row.accelerators} x {row.accelerator}" + (f" in {row.nodes} machines" if row.nodes > 1 else "")


def _other_machines(measured: System, cluster: Cluster) -> Iterator[str]:
    if (measured.accelerator, measured.accelerators) != (cluster.accelerator, cluster.total_accelerators):
        yield f"{cluster.total_accelerators} x {cluster.accelerator}"
    if measured.nodes != cluster.nodes:
        yield "one machine" if cluster.nodes == 1 else f"{cluster.nodes} machines"


def _other_work(recipe: Recipe, base: Throughput) -> Iterator[str]:
    sizes = sorted({phase.image_size for phase in recipe.phases})
    if bits(base.precision) != bits(recipe.precision):
        yield recipe.precision or "an unknown precision"
    if sizes != [base.image_size]:
        yield f"{listed([str(size) for size in sizes])} pixels"
    if base.stack != recipe.stack:
        yield "this recipe's code"
    if base.is_synthetic:
        yield "real images"


def listed(words: Sequence[str]) -> str:
    """One thing; one and another; one, another and a third."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
