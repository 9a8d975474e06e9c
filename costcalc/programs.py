"""The programs that recipes are run with: how much care is in them, where they are published, and on which chips they run."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from costcalc.hardware import Accelerator, Host

RecipeKind = Literal["ordinary", "tuned", "record", "own", "stated", "law"]
"""How much care is in a recipe: the script that most people run, with its own loader; public code made for speed; a benchmark
submission, tuned to one system; a user's own run; a training of which only the hours are stated; one by a law of tokens."""
NOBODYS: frozenset[RecipeKind] = frozenset({"own", "stated", "law"})
"""The kinds that are no published recipe."""
Training = Literal["ordinary", "tuned", "record"]
"""Up to how much care recipes are chosen."""
UP_TO: Mapping[Training, frozenset[RecipeKind]] = {
    "ordinary": NOBODYS | {"ordinary"},
    "tuned": NOBODYS | {"ordinary", "tuned"},
    "record": NOBODYS | {"ordinary", "tuned", "record"},
}


class Program(Struct, frozen=True):
    """The code of a stack. `repository` is None where it is not published; `amp` is the option that makes the script compute in
    16 bits, None where it has none."""

    stack: str
    kind: RecipeKind
    repository: str | None
    licence: str | None
    source: str
    amp: str | None = None


PER_MACHINE = re.compile(
    r"((?:--nproc[_-]per[_-]node|--num-gpus|--ngpus|NUM_GPUS|(?:composer|runner) -n|distributed_train\.sh|dist_train\.sh \S+)"
    r"[ =])\d+"
)
NUMBERED = re.compile(r"((?:--gpus|--devices)=)\d+(?:,\d+)*")
MACHINES = re.compile(r"((?:--nnodes|--nodes|NNODES)[ =])\d+")
ALTOGETHER = re.compile(r"(mpirun -np )\d+")
LAUNCHERS = (
    (re.compile(r"(torchrun|-m torch\.distributed\.launch)(?= )"), "--node_rank=RANK --master_addr=HOST"),
    (re.compile(r"(-m paddle\.distributed\.launch)(?= )"), "--master=HOST:PORT"),
)
"""How launchers of programs are told their accelerators and machines."""


class Command(Struct, frozen=True):
    """What runs the recipes whose name matches `recipe`: one line in a copy of the repository that the source names, for as many
    accelerators as its authors had.

    Words in capitals, such as IMAGENET, stand for what only the reader knows.
    """

    recipe: str
    line: str
    source: str

    def filled(self, model: str, epochs: float | None) -> Command:
        """The line with a recipe's network, its depth and its epochs."""
        depth = "".join(filter(str.isdigit, model))
        return replace(self, line=self.line.format(model=model, depth=depth, epochs=f"{epochs or 0:.0f}"))

    def on(self, accelerators: int, machines: int) -> str:
        """The line for these machines, with so many accelerators each."""
        line = PER_MACHINE.sub(rf"\g<1>{accelerators}", self.line)
        line = NUMBERED.sub(rf"\g<1>{','.join(map(str, range(accelerators)))}", line)
        line = ALTOGETHER.sub(rf"\g<1>{accelerators * machines}", line)
        if machines > 1 and not MACHINES.search(line):
            for launcher, others in LAUNCHERS:
                line = launcher.sub(rf"\1 --nnodes={machines} {others}", line)
        return MACHINES.sub(rf"\g<1>{machines}", line)

    @property
    def clone(self) -> tuple[str, str]:
        """The repository's address and the commit, from a source such as `github OWNER/NAME@COMMIT:FILE`."""
        name, _, commit = self.source.removeprefix("github ").partition(":")[0].partition("@")
        return f"https://github.com/{name}", commit


class UsualScript(Struct, frozen=True):
    """What most people train with on chips of a vendor: patterns of the names of recipes, separated by spaces, that of the script
    they begin with first; and the framework of the others."""

    vendor: str
    framework_family: str
    recipes: str
    source: str

    def steps_to(self, recipe: str, framework_family: str) -> int:
        """How far a recipe is from what most people run: 0 where it is named here, 1 where it is of that framework, else 2."""
        named = any(fnmatchcase(recipe, pattern) for pattern in self.recipes.split())
        return 0 if named else 1 + (framework_family != self.framework_family)


class Support(Struct, frozen=True):
    """Whether programs of a framework run on `chips`, all of a vendor, of a die or of a name, in machines with processors of a
    kind, introduced by a year where `until` names one; `runs` is None where nobody was seen to run them.

    `framework` is a stack, a stack and a family such as mlperf-mxnet, or a family for all its stacks without a row of their own.
    """

    framework: str
    chips: str
    host: Host
    until: int | None
    runs: bool | None
    date: str
    source: str


class ProgramSupport(Struct, frozen=True, dict=True):
    """On which accelerators programs run: `logged` has the chips, with the kind of their processors, on which a stack of a
    framework family was seen to run."""

    rows: tuple[Support, ...]
    accelerators: Mapping[str, Accelerator]
    logged: Mapping[tuple[str, str], Collection[tuple[str, Host]]]

    def runs(self, stack: str, framework_family: str, accelerator: str) -> bool | None:
        """Whether a program runs on an accelerator: it was logged on that chip, or a row of the table says so; None if
        unknown."""
        chip = self.accelerators.get(accelerator)
        if chip is None:
            return None
        if (chip.chip, chip.host) in self.logged.get((stack, framework_family), ()):
            return True
        for framework in (f"{stack}-{framework_family}", stack, framework_family):
            for chips in filter(None, (chip.chip, chip.silicon, chip.vendor)):
                for row in self._stated.get((framework, chips, chip.host), ()):
                    if row.until is None or (chip.introduced is not None and chip.introduced <= row.until):
                        return row.runs
        return None

    @cached_property
    def _stated(self) -> Mapping[tuple[str, str, Host], list[Support]]:
        """The rows of each framework, its chips and their processors, in the order of the table."""
        stated: dict[tuple[str, str, Host], list[Support]] = defaultdict(list)
        for row in self.rows:
            stated[row.framework, row.chips, row.host].append(row)
        return stated
