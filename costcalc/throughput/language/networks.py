"""Language models by what decides how fast they train, and how one of them is to be trained."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from costcalc.training import Method, Stack

TokenPrecision = Literal["bf16", "fp16", "fp8", "fp4", "fp32"]
USUAL_WIDTH = 128
"""Hidden units of a layer for each layer, as of Llama 2 7B, where a question states the parameters alone."""
USUAL_VOCABULARY = 128_000
OF_A_LAYER = 12
"""Weights of a layer over the square of its hidden units: four of attention, eight of the rest."""


class LanguageNetwork(Struct, frozen=True):
    """A language model under its name: its parameters, and those `active` for a token, in millions. `hub` is its name with its
    maker's on Hugging Face, None where nobody published it; it is `also` called other names, separated by spaces."""

    name: str
    parameters_millions: float
    active_millions: float
    layers: int
    hidden: int
    vocabulary: int = USUAL_VOCABULARY
    hub: str | None = None
    also: str | None = None
    published: str = ""
    source: str = ""

    @classmethod
    def of_size(cls, name: str, parameters: float, active: float | None, layers: int | None) -> LanguageNetwork:
        """A model of so many millions of parameters, in the usual proportions."""
        computing = (active or parameters) * 1e6
        usual = round((computing / (OF_A_LAYER * USUAL_WIDTH**2)) ** (1 / 3))
        deep = layers or max(usual, 1)
        hidden = max(round((computing / (OF_A_LAYER * deep)) ** 0.5), 1)
        return cls(name, parameters, active or parameters, deep, hidden)

    @property
    def is_mixture(self) -> bool:
        """Whether a token passes through some of its experts alone."""
        return self.active_millions < 0.9 * self.parameters_millions

    def with_layers(self, layers: int | None) -> LanguageNetwork:
        return replace(self, layers=layers) if layers else self

    def flop_per_token(self, length: float, is_frozen: bool, is_recomputed: bool) -> float:
        """Arithmetic of a token in a sequence of this length: two for each active weight forward, two for what comes back, two
        for the weight's own gradient unless it is frozen, and causal attention (Kaplan et al. 2020); forward twice where
        activations are recomputed."""
        weights, attention = 2e6 * self.active_millions, 2.0 * self.layers * self.hidden * length
        return (2 if is_frozen else 3) * weights + 3 * attention + is_recomputed * (weights + attention)


class TokenWork(Struct, frozen=True):
    """One way of training a language model: sequences of `length` tokens, `batch` of them in a step, None where that is left
    open."""

    network: LanguageNetwork
    method: Method
    length: int
    batch: int | None = None
    precision: TokenPrecision = "bf16"
    stack: Stack = "any"

    @property
    def is_frozen(self) -> bool:
        """Whether the weights of the model stay as they are."""
        return self.method in ("lora", "qlora")

    @property
    def is_tuned(self) -> bool:
        """Whether the law of tuned code holds: pretraining's, and where such code is asked for."""
        return self.method == "pretrain" or self.stack == "tuned"
