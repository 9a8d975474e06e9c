"""How the code of a recipe starts on a rented machine: its image, its commit, what is installed and what is run there."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

import msgspec

from costcalc.hardware import Accelerator
from costcalc.programs import Command

ARM = ("GH200", "GB200", "GB300", "T4G")
"""Chips in machines with Arm processors; all images here are built for x86."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What trains the recipes whose names match.

    `learning_rate` belongs to the recipe's whole batch, of which one accelerator takes at most `largest_batch` samples; where
    it `accumulates`, steps are gathered to the whole batch, otherwise the learning rate follows the batch.
    """

    names: tuple[str, ...]
    train: str
    largest_batch: int
    learning_rate: float | None = None
    accumulates: bool = False


@dataclass(frozen=True, slots=True)
class Start:
    """A published code: the image whose CUDA runs on chips introduced in `years`, the commit, and its command lines.

    `accuracy` is a sed expression that prints the top-1 accuracy out of the line that ends an evaluation, in units of which
    `full` are all; None where the log does not tell. With `--resume` it goes on from the file `checkpoint` of its output
    folder; None where it can't. `errors` says that its log shows the share that is wrong. `config` is the part of the recipe's
    own line that names its configuration. `tried` says where its first minutes ran; empty where only stand-ins did.
    """

    image: str
    years: tuple[int, int]
    repository: str
    commit: str
    folder: str
    full: int
    source: str
    recipe: tuple[CommandLine, ...]
    accuracy: str | None = None
    checkpoint: str | None = None
    install: str = ""
    most_nodes: int | None = None
    errors: bool = False
    config: str | None = None
    tried: str = ""
    networks: dict[str, str] = field(default_factory=dict)

    def line(self, recipe: str) -> CommandLine | None:
        """What trains this recipe, None where the code has no such recipe."""
        return next((line for line in self.recipe if any(fnmatchcase(recipe, name) for name in line.names)), None)

    def configuration(self, command: Command | None) -> str | None:
        """What names the recipe's configuration; None where the code needs none."""
        found = re.search(self.config, command.line) if self.config and command else None
        return found and found[0]

    def runs_on(self, chip: Accelerator, nodes: int) -> bool:
        """Whether the image and the script are made for so many machines with this chip."""
        first, last = self.years
        new_enough = chip.introduced is not None and first <= chip.introduced <= last
        return new_enough and chip.vendor == "NVIDIA" and chip.name not in ARM and nodes <= (self.most_nodes or nodes)


def start_of(recipe: str) -> Start | None:
    """How the code of a recipe starts; None where nobody wrote that down."""
    return next((start for start in _starts() if start.line(recipe)), None)


@cache
def _starts() -> tuple[Start, ...]:
    text = (files("api.reports") / "data" / "starts.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text)["program"], tuple[Start, ...])
