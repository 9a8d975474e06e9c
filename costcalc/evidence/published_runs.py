"""Trainings whose hours and chips were published: papers, model cards, and authors' words in public threads.

Most were found in Epoch AI's list of machine learning systems (CC BY 4.0), which quotes what sources say of hours and chips.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import cache

from msgspec import Struct

from costcalc.evidence import normalised
from costcalc.evidence.tables import packaged
from costcalc.training import TrainingKind

PAPER = "paper:"
"""What a question puts before the name of a published run."""
FEWEST_LETTERS = 4


class PublishedRun(Struct, frozen=True):
    """So many `hours` on `accelerators` of one kind. `unstated` is what the source leaves open of these, which is then assumed to
    be that of the larger ones; `published` stands for the day on which it was paid."""

    slug: str
    title: str
    organisation: str
    published: date
    kind: TrainingKind
    hours: float
    accelerators: int
    accelerator: str
    unstated: str | None
    source: str

    @property
    def name(self) -> str:
        """What a question calls it: `paper:alpaca`."""
        return f"{PAPER}{self.slug}"

    @property
    def sentence(self) -> str:
        """`Alpaca 7B was trained by Stanford, published on 2023-03-13 (https://...).`"""
        assumed = f"; the {self.unstated} of its chips is not stated" if self.unstated else ""
        return f"{self.title} by {self.organisation}, published on {self.published} ({self.source}{assumed})."


def find_published(name: str) -> PublishedRun | None:
    """The run that a question calls so, however it is spelt; None for anything else."""
    return _by_spelling().get(normalised(name))


def published_as(word: str) -> PublishedRun | None:
    """The first run whose name begins with this word, of at least FEWEST_LETTERS letters."""
    start = normalised(word)
    names = (name for name in published_runs() if normalised(name.removeprefix(PAPER)).startswith(start))
    return published_runs().get(next(names, "")) if len(start) >= FEWEST_LETTERS else None


@cache
def _by_spelling() -> Mapping[str, PublishedRun]:
    return {normalised(name): run for name, run in published_runs().items()}


@cache
def published_runs() -> Mapping[str, PublishedRun]:
    """The runs by what questions call them. Raises TableError."""
    return {run.name: run for run in packaged("published_runs.csv", PublishedRun)}
