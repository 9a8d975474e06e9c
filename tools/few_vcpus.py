"""How fast machines with few vCPUs are, by their accelerators alone and as a whole: `python -m tools.few_vcpus`.

Of two questions the twenty machines that lose most: ResNet-18 by FFCV's own code, and ResNet-50 by the same with PyTorch's
DataLoader (`pipeline=pytorch`). Beside the answer stand the images per second that the processors prepare at the lowest and at
the highest rate that was measured of this pipeline. Writes `docs/few-vcpus.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from costcalc import load_evidence
from costcalc.answers import Estimate
from costcalc.catalogue.catalogue import Catalogue
from costcalc.estimate import answer
from costcalc.evidence import Evidence
from costcalc.machine_limits.host import known_feeds
from costcalc.query import EstimateQuery
from costcalc.training import PipelineAsked
from pricing.packaged.catalogue import packaged_catalogue

PAGE = Path(__file__).parents[1] / "docs" / "few-vcpus.md"
AS_OF = datetime(2026, 11, 20, tzinfo=UTC)
MACHINES = 20
HEAD = """# Machines with few vCPUs

Images per second with the accelerators alone (`pipeline=none`) and with the whole machine, for the same recipe. The last column
is what the vCPUs prepare at the lowest and at the highest rate per vCPU that was measured of this pipeline, in
`costcalc/evidence/data/data_pipelines.csv`, for processors a year older than the accelerator. `python -m tools.few_vcpus`
writes this page.
"""


class Question(NamedTuple):
    """A model, a target, a recipe, the data pipeline asked for, and those of the table whose rates are like it."""

    model: str
    target: float
    recipe: str
    pipeline: PipelineAsked
    pipelines: tuple[str, ...]


QUESTIONS = (
    Question("resnet18", 0.69, "ffcv-rn18-32ep", "recipe", ("ffcv", "ffcv_jpeg")),
    Question("resnet50", 0.757, "ffcv-rn50-32ep", "pytorch", ("pytorch",)),
)


class Row(NamedTuple):
    """One machine by its accelerators alone, and as a whole."""

    alone: Estimate
    whole: Estimate

    @property
    def share(self) -> float:
        """What is left of the speed."""
        return self.whole.images_per_second / self.alone.images_per_second


def estimates(
    question: Question, evidence: Evidence, catalogue: Catalogue, pipeline: PipelineAsked
) -> dict[str, Estimate]:
    """The estimate of each machine, by provider and instance type."""
    asked: dict[str, Any] = {
        "recipe": (question.recipe,),
        "recipes": "all",
        "pipeline": pipeline,
        "nodes": 1,
        "confidence": 0.01,
        "limit": 10_000,
    }
    query = EstimateQuery(question.model, question.target, **asked)
    found = answer(query, evidence, catalogue, AS_OF).estimates
    return {f"{one.provider} {one.instance_type}": one for one in found if one.vcpus}


def rows(question: Question, evidence: Evidence, catalogue: Catalogue) -> list[Row]:
    """The machines that lose most."""
    alone, whole = (estimates(question, evidence, catalogue, pipeline) for pipeline in ("none", question.pipeline))
    pairs = [Row(alone[name], whole[name]) for name in sorted(alone.keys() & whole.keys())]
    return sorted(pairs, key=lambda row: row.share)[:MACHINES]


def measured(question: Question, evidence: Evidence, accelerator: str) -> list[float]:
    """The measured rates per vCPU of the pipeline, as if of processors of this accelerator's year."""
    tables = evidence.limit_tables
    feed = known_feeds(tables.pipelines.rates)[question.pipelines[0]]
    newer = tables.rate(feed, accelerator) / feed.in_base_year
    return [one.in_base_year * newer for one in tables.pipelines.rates if one.pipeline in question.pipelines]


def lines(question: Question, evidence: Evidence, catalogue: Catalogue) -> Iterator[str]:
    """The table of a question."""
    yield f"\n## {question.model} by {question.recipe}, {question.pipelines[0]}\n"
    yield (
        "| machine | accelerators | vCPUs | accelerators alone | whole machine "
        "| 80 % range | limited by | measured pipelines allow |"
    )
    yield "|---|---|---:|---:|---:|---:|---|---:|"
    for alone, whole in rows(question, evidence, catalogue):
        vcpus, speed, rates = whole.vcpus or 0, whole.images_per_second, measured(question, evidence, whole.accelerator)
        low, high = (speed * whole.hours / hours for hours in (whole.hours_high, whole.hours_low))
        yield (
            f"| {whole.provider} {whole.instance_type} | {whole.accelerators} {whole.accelerator} | {vcpus} "
            f"| {alone.images_per_second:,.0f} | {speed:,.0f} | {low:,.0f}–{high:,.0f} | {whole.limited_by} "
            f"| {min(rates) * vcpus:,.0f}–{max(rates) * vcpus:,.0f} |"
        )


def page(evidence: Evidence, catalogue: Catalogue) -> str:
    """The whole page."""
    tables = ("\n".join(lines(question, evidence, catalogue)) for question in QUESTIONS)
    return HEAD + "\n".join(tables) + "\n"


def main() -> None:
    """Writes the page."""
    PAGE.write_text(page(load_evidence(), packaged_catalogue()), "utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
