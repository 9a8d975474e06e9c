"""The evidence as one object, with models found by any of their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from costcalc.hardware import Accelerator
from costcalc.throughput.fitted import Fitted
from costcalc.training import Model, Recipe, Throughput

_IGNORED = re.compile(r"(?<!\d)\.|\.(?!\d)|_|[^\w.]")


def normalised(name: str) -> str:
    """A model's name as it is compared: letters without case, digits, and dots between digits (1.6GF is not 16GF)."""
    return _IGNORED.sub("", name.casefold())


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything measured that the engine may use, and what was fitted to it. `version` changes with any byte of the tables."""

    accelerators: Mapping[str, Accelerator]
    models: Mapping[str, Model]
    recipes: tuple[Recipe, ...]
    throughputs: tuple[Throughput, ...]
    fitted: Fitted
    version: str

    @cached_property
    def _by_alias(self) -> dict[str, Model]:
        return {normalised(name): model for model in self.models.values() for name in (*model.aliases, model.name)}

    @cached_property
    def _by_model(self) -> dict[str, tuple[Recipe, ...]]:
        ordered = sorted(self.recipes, key=lambda recipe: recipe.model)
        return {model: tuple(group) for model, group in groupby(ordered, key=lambda recipe: recipe.model)}

    def find_model(self, text: str) -> Model | None:
        """The model of that name or alias, however it is spelt; None if there is none."""
        return self._by_alias.get(normalised(text))

    def recipes_of(self, model: str) -> tuple[Recipe, ...]:
        """The recipes that train the model of this exact name."""
        return self._by_model.get(model, ())
