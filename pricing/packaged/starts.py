"""How the code of recipes starts on rented machines: `starts.toml`, and which machines a launcher rents, `launchers.csv`.

A row without an accelerator stands for all machines that its provider has names for; the others are rented by accelerator, of
RunPod the secure machines alone. SkyPilot's names are those of its release 0.14 (sky/provision/runpod/utils.py) and of its
catalogue (skypilot-org/skypilot-catalog, v6 to v8), dstack's those of its release 0.22 (https://dstack.ai/docs/concepts/backends,
gpuhunt); all read in November 2026. `images` is "no" for clouds on whose machines SkyPilot starts no images (sky/clouds of
0.14.1).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from costcalc.answers import Rented
from costcalc.hardware import Accelerator
from costcalc.offer import PurchaseOption
from costcalc.programs import Command
from costcalc.recipes import IN_16_BITS
from pricing.packaged.tables import Table

LAUNCHERS = Table("launchers.csv", "launcher provider accelerator", "cloud name images")
COMMUNITY = " community"
Launcher = Literal["skypilot", "dstack"]
TITLES: dict[Launcher, str] = {"skypilot": "SkyPilot", "dstack": "dstack"}
BY_THE_HOUR = (PurchaseOption.ON_DEMAND, PurchaseOption.SPOT)
"""How launchers rent."""


class LaunchName(Struct, frozen=True):
    """What a launcher calls a cloud, and one accelerator there; None where it takes the provider's own machine types."""

    cloud: str
    accelerator: str | None
    starts_images: bool = True


def name_of(launcher: Launcher, machine: Rented) -> LaunchName | None:
    """The launcher's name for this machine; None if it does not rent it this way."""
    if machine.purchase_option not in BY_THE_HOUR or machine.instance_type.endswith(COMMUNITY):
        return None
    has_type = " " not in machine.instance_type
    return _names().get((launcher, machine.provider, "" if has_type else machine.accelerator))


def launchable_providers(launcher: str) -> tuple[str, ...]:
    """The providers that the launcher rents from, by name."""
    return tuple(sorted({provider for name, provider, _ in _names() if name == launcher}))


@cache
def _names() -> dict[tuple[str, str, str], LaunchName]:
    rows = LAUNCHERS.read(lambda row: LaunchName(row.text("cloud"), row.maybe("name"), row.is_blank("images")))
    return {(launcher, provider, accelerator): name for (launcher, provider, accelerator), name in rows.items()}


ARM_LAUNCHERS = ("skypilot",)
"""Those whose agents are known to run on Arm: https://github.com/skypilot-org/skypilot/pull/4835"""


class CommandLine(Struct, frozen=True):
    """What trains the recipes whose names match.

    `learning_rate` belongs to the recipe's whole batch, of which one accelerator takes at most `largest_batch` samples; where
    it `accumulates`, steps are gathered to the whole batch, otherwise the learning rate follows the batch.
    """

    names: tuple[str, ...]
    train: str
    largest_batch: int
    learning_rate: float | None = None
    accumulates: bool = False


class Image(Struct, frozen=True):
    """An image of containers whose CUDA runs on NVIDIA's chips introduced in these years, from the first to the last."""

    name: str
    years: tuple[int, int]
    source: str

    def knows(self, chip: Accelerator) -> bool:
        """Whether it runs on this chip."""
        first, last = self.years
        return chip.vendor == "NVIDIA" and chip.introduced is not None and first <= chip.introduced <= last


class Start(Struct, frozen=True):
    """A published code: the image whose CUDA runs on chips introduced in `years`, the commit, and its command lines. `arm` is an
    image for machines with Arm processors; None where nobody is known to have one.

    `accuracy` is a sed expression that prints the top-1 accuracy out of the line that ends an evaluation, in units of which
    `full` are all; None where the log does not tell. With `--resume` it goes on from the file `checkpoint` of its output
    folder; None where it can't. `errors` says that its log shows the share that is wrong. `config` is the part of the recipe's
    own line that names its configuration. `tried` says where its first minutes ran; empty where only stand-ins did. `amp` is
    the option that computes in 16 bits what was published in 32, None where there is none.
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
    arm: Image | None = None
    amp: str | None = None

    def line(self, recipe: str) -> CommandLine | None:
        """What trains this recipe, in 16 bits where its name says so; None where the code has no such recipe."""
        published = recipe.removesuffix(IN_16_BITS)
        line = next((line for line in self.recipe if any(fnmatchcase(published, name) for name in line.names)), None)
        if line is None or published == recipe:
            return line
        return replace(line, train=f"{line.train.rstrip()} {self.amp}\n") if self.amp else None

    def configuration(self, command: Command | None) -> str | None:
        """What names the recipe's configuration; None where the code needs none."""
        match = re.search(self.config, command.line) if self.config and command else None
        return match and match[0]

    def on(self, chip: Accelerator, nodes: int) -> Start | None:
        """How it starts on so many machines with this chip; None where image and script are not made for that."""
        image = Image(self.image, self.years, self.source) if chip.host == "x86" else self.arm
        if image is None or not image.knows(chip) or nodes > (self.most_nodes or nodes):
            return None
        return self if chip.host == "x86" else replace(self, image=image.name, source=image.source, tried="")


def start_on(launcher: Launcher, machine: Rented, accelerators: Mapping[str, Accelerator]) -> Start | None:
    """How the recipe's code starts on these machines, in images that the launcher starts there; None where that is not known."""
    start, chip = _start_of(machine.recipe), accelerators.get(machine.accelerator)
    if start is None or chip is None or (chip.host == "arm" and launcher not in ARM_LAUNCHERS):
        return None
    there = start.on(chip, machine.nodes)
    name = there and name_of(launcher, machine)
    return there if name and name.starts_images else None


def starts(machine: Rented, accelerators: Mapping[str, Accelerator]) -> bool:
    """Whether some launcher starts the recipe's code on these machines."""
    return any(start_on(launcher, machine, accelerators) for launcher in TITLES)


@cache
def _start_of(recipe: str) -> Start | None:
    return next((start for start in _starts() if start.line(recipe)), None)


@cache
def _starts() -> tuple[Start, ...]:
    text = (files("pricing.packaged") / "data" / "starts.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text)["program"], tuple[Start, ...])
