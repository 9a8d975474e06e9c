"""Published results that estimates are scored against, and the frozen groups they are held out by."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from costcalc.evidence import Evidence, load_evidence
from costcalc.training import Recipe, Throughput

SPLITS_SHA256 = "0f9cf10b1f68c00803d0f3aa049dc8011a75057eba6b9bc443886221c66981be"
TABLES = ("results", "rcps", "seed_noise", "splits")
FITTED_TO = ("accelerators", "models", "phases", "rcps", "recipes", "results", "splits", "throughputs")


@dataclass(frozen=True, slots=True)
class Result:
    """An end-to-end time somebody published: minutes to a target on a system, of a recipe that the evidence holds."""

    name: str
    recipe: str
    organisation: str
    metric: str
    target: float
    accelerator: str
    accelerators: int
    nodes: int
    batch: int | None
    epochs: float | None
    minutes: float
    stack: str
    round: str


@dataclass(frozen=True, slots=True)
class ReferencePoint:
    """MLPerf's reference convergence point: epochs to the target at a global batch."""

    model: str
    batch: float
    epochs: float


@dataclass(frozen=True, slots=True)
class Seeds:
    """Many runs of one recipe: how many reached its target, and their end accuracies."""

    recipe: str
    runs: int
    reached: int
    top1_mean: float
    top1_deviation: float


@dataclass(frozen=True, slots=True)
class Published:
    """The evidence, the results and the groups; `groups[split][item]` is who an item is held out with."""

    evidence: Evidence
    results: tuple[Result, ...]
    reference_points: tuple[ReferencePoint, ...]
    seeds: tuple[Seeds, ...]
    groups: Mapping[str, Mapping[str, str]]
    recipes: Mapping[str, Recipe]
    throughputs: Mapping[str, Throughput]

    def organisation(self, name: str) -> str:
        """The group of an organisation; its own name where the file does not list it."""
        return self.groups["organisation"].get(name, name)


def load_published() -> Published:
    """The packaged results. Raises ValueError if the frozen groups were changed."""
    folder = resources.files("costcalc.evidence") / "data"
    return parse_published(load_evidence(), {name: (folder / f"{name}.csv").read_text("utf-8") for name in TABLES})


def fingerprint() -> str:
    """Changes with any byte of the tables that the estimator is fitted to and calibrated on."""
    folder = resources.files("costcalc.evidence") / "data"
    digest = hashlib.sha256()
    for name in FITTED_TO:
        digest.update((folder / f"{name}.csv").read_bytes())
    return digest.hexdigest()[:16]


def parse_published(evidence: Evidence, texts: Mapping[str, str]) -> Published:
    """Results and groups from the texts of their tables. Raises ValueError if the frozen groups were changed."""
    if hashlib.sha256(texts["splits"].encode()).hexdigest() != SPLITS_SHA256:
        raise ValueError(
            "splits.csv differs from the frozen file, whose groups were fixed before anything was fitted: put it back, with "
            "git restore costcalc/evidence/data/splits.csv"
        )
    groups: dict[str, dict[str, str]] = {}
    for row in _rows(texts["splits"]):
        groups.setdefault(row["split"], {})[row["item"]] = row["group"]
    return Published(
        evidence=evidence,
        results=tuple(_result(row) for row in _rows(texts["results"]) if row["recipe"]),
        reference_points=tuple(
            ReferencePoint(row["model"], float(row["global_batch_size"]), float(row["epochs_mean"]))
            for row in _rows(texts["rcps"])
        ),
        seeds=tuple(_seeds(row) for row in _rows(texts["seed_noise"]) if row["top1_mean"]),
        groups=groups,
        recipes={recipe.name: recipe for recipe in evidence.recipes},
        throughputs={row.name: row for row in evidence.throughputs},
    )


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def _result(row: Mapping[str, str]) -> Result:
    return Result(
        name=row["result"],
        recipe=row["recipe"],
        organisation=row["organisation"],
        metric=row["metric"],
        target=float(row["target"]),
        accelerator=row["accelerator"],
        accelerators=int(row["accelerators"] or 0),
        nodes=int(row["nodes"] or 1),
        batch=int(row["global_batch_size"]) if row["global_batch_size"] else None,
        epochs=float(row["epochs"]) if row["epochs"] else None,
        minutes=float(row["minutes"]),
        stack=row["stack"],
        round=row["round"],
    )


def _seeds(row: Mapping[str, str]) -> Seeds:
    counts = int(row["runs"]), int(row["reached"])
    return Seeds(row["recipe"], *counts, float(row["top1_mean"]), float(row["top1_sd"] or "nan"))
