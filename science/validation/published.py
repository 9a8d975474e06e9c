"""Published results that estimates are scored against, and the frozen groups by which they are held out."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import resources

from msgspec import Struct, field

from costcalc.evidence import Evidence, TableError
from costcalc.evidence.parsing import evidence_to_fit
from costcalc.evidence.tables import cells, typed
from costcalc.recipes import Recipe
from costcalc.throughput.reference_model import Setup
from costcalc.training import Evaluation, System, Throughput
from science.fitting.chip_priors import TaskRatio
from science.fitting.reference_model import observation

FROZEN = {
    "splits": "0f9cf10b1f68c00803d0f3aa049dc8011a75057eba6b9bc443886221c66981be",
    "splits_2": "c2ad24edff3669e9492e6919619aaf6eee7a3904895d08d54766b707b4add578",
    "splits_3": "273859b7c817c87f7b0cc38dd001f9df7890a84e84e38421bdea9eef21a8a62f",
    "splits_4": "c53676fac67b628930ba55624f0caf5766db43fc1fb231058debc74e1718d838",
    "splits_5": "28624b3f22db12cdd9d3f01fd62a7ceed5379c7d697015968933e496460294ff",
}
"""The tables of groups, with their SHA-256: the later ones were added in November 2026, before anything was scored with them."""
TABLES = (
    "results",
    "rcps",
    "chip_ratios",
    "seed_noise",
    "unseen_speeds",
    "unseen_runs",
    "unseen_curves",
    "seed_curves",
    "codes",
    "device_speeds",
    *FROZEN,
)
PACKAGED = frozenset(
    {
        *("codes", "seed_noise", "accelerators", "models", "phases", "recipes", "system_networks", "throughputs"),
        "device_speeds",
    }
)
"""The tables that estimates rest on too; the others stand in `science/data/`."""
FITTED_TO = (
    *(
        "accelerators",
        "chip_ratios",
        "codes",
        "device_speeds",
        "models",
        "phases",
        "rcps",
        "recipes",
        "results",
        "splits",
        "system_networks",
    ),
    "throughputs",
)
USUAL_MAKERS = frozenset({"NVIDIA", "Intel", "Google"})  # of whose chips several entered MLPerf's ResNet-50
FIRST_ROUND = "v0.7"  # earlier MLPerf rounds had another target or other rules


class Result(Struct, frozen=True):
    """A published time: `minutes` to the recipe's target on so many accelerators in so many nodes; None where unknown.

    `round` is MLPerf's, empty for other stacks.
    """

    recipe: str
    organisation: str
    accelerator: str
    accelerators: int | None
    nodes: int | None
    global_batch_size: int | None
    epochs: float | None
    minutes: float
    stack: str
    round: str

    @property
    def system(self) -> System:
        """The machines it was run on; one machine where their number was not published."""
        return System(self.accelerator, self.accelerators or 0, self.nodes or 1)


class ReferencePoint(Struct, frozen=True):
    """MLPerf's reference convergence point: mean epochs to the target at a global batch."""

    global_batch_size: float
    epochs_mean: float


class Repetitions(Struct, frozen=True):
    """Several runs of one recipe: how many reached its target, and the accuracy that each ended at."""

    recipe: str
    runs: int
    reached: int
    top1_of_runs: tuple[float, ...]


class WholeRun(Struct, frozen=True):
    """A published run from start to end, to which nothing is fitted: the network, the epochs and the top-1 accuracy that it ended
    at (a fraction). `throughput` names its rate among the unseen speeds, None where that is not known."""

    run: str
    model: str
    organisation: str
    epochs: float
    top1: float
    throughput: str | None


class Published(Struct, frozen=True, dict=True):
    """The evidence, the results and the groups: `groups[split][item]` names the group that an item is held out with.

    Nothing is fitted to `unseen_speeds` and `unseen_runs`, and no answer rests on them. `unseen_curves[shape][name]` are logs of
    a kind of schedule, or of a family; their errors make widths, and nothing else rests on them. `seed_curves[recipe]` are the
    logs of its equal runs.
    """

    evidence: Evidence
    results: tuple[Result, ...]
    reference_points: tuple[ReferencePoint, ...]
    repetitions: tuple[Repetitions, ...]
    groups: Mapping[str, Mapping[str, str]]
    chip_ratios: tuple[TaskRatio, ...] = ()
    unseen_speeds: tuple[Throughput, ...] = ()
    unseen_runs: tuple[WholeRun, ...] = ()
    unseen_curves: Mapping[str, Mapping[str, tuple[Evaluation, ...]]] = field(default_factory=dict)
    seed_curves: Mapping[str, tuple[tuple[Evaluation, ...], ...]] = field(default_factory=dict)

    @cached_property
    def recipes(self) -> dict[str, Recipe]:
        """The recipes of the evidence by name."""
        return {recipe.name: recipe for recipe in self.evidence.recipes}

    @cached_property
    def throughputs(self) -> dict[str, Throughput]:
        """The measured rates of the evidence by name."""
        return {row.name: row for row in self.evidence.throughputs}

    def organisation(self, name: str) -> str:
        """The group of an organisation; its own name where the file does not list it."""
        return self.groups["organisation"].get(name, name)

    def family(self, name: str) -> list[Recipe]:
        """The recipes of a group of recipe families, in the order of the groups' file."""
        members = (recipe for recipe, group in self.groups["recipe_family"].items() if group == name)
        return [self.recipes[recipe] for recipe in members if recipe in self.recipes]


class MLPerfRun(Struct, frozen=True):
    """A published result of MLPerf's ResNet-50: how it was run, the group of its organisation, its recipe family, and ln of
    the images/s of one accelerator that its log shows, None without a log. `steady` logs do not include evaluations.
    `global_batch_size` is images per step on all accelerators together."""

    result: Result
    setup: Setup
    global_batch_size: int
    group: str
    family: str
    log_rate: float | None
    steady: bool

    @property
    def name(self) -> str:
        """The recipe's name, which no other run has."""
        return self.result.recipe

    @property
    def system(self) -> System:
        """Its accelerator, how many of them, and in how many machines."""
        return self.result.system

    @property
    def accelerators(self) -> int:
        """How many accelerators it ran on, in all machines together."""
        return self.system.accelerators

    @property
    def on_one_machine(self) -> bool:
        """Whether all its accelerators stood in one machine."""
        return self.system.nodes == 1

    @property
    def log_seconds(self) -> float:
        """ln of the published time in seconds."""
        return math.log(self.result.minutes * 60)


def load_published() -> Published:
    """The packaged results. Raises TableError if the frozen groups were changed."""
    return parse_published(evidence_to_fit(), {name: _table(name).decode() for name in TABLES})


def fingerprint() -> str:
    """Sixteen hexadecimal digits that change with any byte of the tables which the fitted parameters come from."""
    return hashlib.sha256(b"".join(map(_table, FITTED_TO))).hexdigest()[:16]


def _table(name: str) -> bytes:
    folder = resources.files("costcalc.evidence" if name in PACKAGED else "science") / "data"
    return (folder / f"{name}.csv").read_bytes()


def parse_published(evidence: Evidence, texts: Mapping[str, str]) -> Published:
    """Results and groups from the texts of TABLES, by name. Raises TableError if the frozen groups were changed."""
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    for name, digest in FROZEN.items():
        if hashlib.sha256(texts[name].encode()).hexdigest() != digest:
            raise TableError(
                f"{name}.csv differs from the frozen file, whose groups were fixed before anything was fitted: put it back, with "
                f"git restore science/data/{name}.csv"
            )
        for line in _lines(texts, name):
            groups[str(line["split"])][str(line["item"])] = str(line["group"])
    results = [{**line, "round": line["round"] or ""} for line in _lines(texts, "results") if line["recipe"]]
    repetitions = [
        {**line, "top1_of_runs": str(line["top1_of_runs"]).split(";")} for line in _lines(texts, "seed_noise")
    ]
    runs = {line["stack"]: line["compilation"] for line in _lines(texts, "codes")}
    speeds = [
        {**line, "name": line["throughput"], "note": line["note"] or "", "compilation": runs.get(line["stack"])}
        for line in _lines(texts, "unseen_speeds")
    ]
    return Published(
        evidence=evidence,
        results=tuple(typed("results.csv", results, Result)),
        reference_points=tuple(typed("rcps.csv", _lines(texts, "rcps"), ReferencePoint)),
        repetitions=tuple(typed("seed_noise.csv", repetitions, Repetitions)),
        groups=groups,
        chip_ratios=tuple(typed("chip_ratios.csv", _lines(texts, "chip_ratios"), TaskRatio)),
        unseen_speeds=tuple(typed("unseen_speeds.csv", speeds, Throughput)),
        unseen_runs=tuple(typed("unseen_runs.csv", _lines(texts, "unseen_runs"), WholeRun)),
        unseen_curves=_curves(texts),
        seed_curves=_seed_curves(texts),
    )


def _curves(texts: Mapping[str, str]) -> dict[str, dict[str, tuple[Evaluation, ...]]]:
    lines = [{**line, "hours": None, "top5": None} for line in _lines(texts, "unseen_curves")]
    curves: dict[str, dict[str, tuple[Evaluation, ...]]] = defaultdict(lambda: defaultdict(tuple))
    for line, point in zip(lines, typed("unseen_curves.csv", lines, Evaluation), strict=True):
        curves[str(line["schedule_shape"])][str(line["log"])] += (point,)
    return curves


def _seed_curves(texts: Mapping[str, str]) -> dict[str, tuple[tuple[Evaluation, ...], ...]]:
    found: dict[str, tuple[tuple[Evaluation, ...], ...]] = defaultdict(tuple)
    for line in _lines(texts, "seed_curves"):
        points = zip(str(line["epochs"]).split(";"), str(line["top1"]).split(";"), strict=True)
        found[str(line["recipe"])] += (tuple(Evaluation(float(at), None, float(top1), None) for at, top1 in points),)
    return found


def _lines(texts: Mapping[str, str], name: str) -> list[dict[str, str | bool | None]]:
    return cells(f"{name}.csv", texts[name])


def mlperf_runs(published: Published) -> Iterator[MLPerfRun]:
    """Every MLPerf result of the closed division on an accelerator with a data sheet, from FIRST_ROUND on."""
    for result in published.results:
        recipe, logged = published.recipes[result.recipe], published.throughputs.get(result.recipe)
        closed = result.stack == "mlperf" and result.round >= FIRST_ROUND and recipe.division != "open"
        known = result.accelerator in published.evidence.accelerators
        if closed and known and result.accelerators and result.global_batch_size:
            system, batch = result.system, result.global_batch_size / result.accelerators
            yield MLPerfRun(
                result=result,
                setup=Setup(
                    accelerator=system.accelerator,
                    per_node=system.accelerators_per_node,
                    nodes=system.nodes,
                    batch=batch,
                    year=recipe.year,
                    framework_family=recipe.framework_family,
                ),
                global_batch_size=result.global_batch_size,
                group=published.organisation(result.organisation),
                family=recipe.family,
                log_rate=observation(logged).log_rate if logged else None,
                steady=logged is not None and "end to end" not in logged.note,
            )
