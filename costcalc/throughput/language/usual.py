"""What precision, width and stack of a training usually do to the share of the peak that it reaches.

Width and stack are learned from published rates: from what differs within one organisation on one chip, and from what two stacks
reach on the same chip. Precision is by rule, so that no row decides about itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import exp, log
from statistics import fmean, median
from typing import NamedTuple

from msgspec import Struct

from costcalc.throughput.language.networks import TokenPrecision, TokenWork
from costcalc.training import Stack

OF_PRECISION: Mapping[TokenPrecision, float] = {"bf16": 1.0, "fp16": 1.0, "fp8": 2**0.5, "fp4": 2.0, "fp32": 0.4}
"""How many times as fast as in 16 bits: the root of what data sheets say, since not all of a step is arithmetic; fp32 is TF32."""
HALF_HIDDEN = (0, 150, 300, 450, 600)
"""Hidden units, of which one is chosen, at which half of the efficiency is reached: narrow layers fill no chip."""


class Share(NamedTuple):
    """The share of the peak in 16 bits that a dense model reached in pretraining, in ln, and whose it is on which chip."""

    organisation: str
    chip: str
    stack: Stack
    hidden: int
    ln: float


class Usual(Struct, frozen=True):
    """The hidden units at which half of the efficiency is reached, and how many times as efficient as any stack some are."""

    half_hidden: float
    of_stack: Mapping[Stack, float]

    @classmethod
    def of_shares(cls, shares: Sequence[Share]) -> Usual:
        """What these shares say; nothing of stacks of which no chip has two."""
        half = min(HALF_HIDDEN, key=lambda half: _scatter(shares, half))
        ratio = _plain_over_tuned(shares, half)
        return cls(half, {"any": 1.0, "plain": ratio**0.5, "tuned": ratio**-0.5})

    def factor(self, work: TokenWork) -> float:
        """How many times the share of its peak a chip reaches in this training that it does in 16 bits, wide, by any stack."""
        width = 0.0 if work.network.is_mixture else _ln_of_width(work.network.hidden, self.half_hidden)
        return OF_PRECISION[work.precision] * self.of_stack[work.stack] * exp(width)


def _ln_of_width(hidden: int, half: float) -> float:
    return log(hidden / (hidden + half))


def _grouped(shares: Iterable[Share], half: float, *names: str) -> dict[tuple[str, ...], list[float]]:
    groups = defaultdict[tuple[str, ...], list[float]](list)
    for share in shares:
        groups[tuple(getattr(share, name) for name in names)].append(share.ln - _ln_of_width(share.hidden, half))
    return groups


def _scatter(shares: Sequence[Share], half: float) -> float:
    """How far shares of one organisation on one chip lie from their median, in the mean."""
    groups = _grouped(shares, half, "organisation", "chip").values()
    return fmean([abs(each - middle) for group in groups for middle in [median(group)] for each in group] or [0.0])


def _plain_over_tuned(shares: Sequence[Share], half: float) -> float:
    """The median over chips of what plain code reaches over what tuned code does; 1 where no chip has both."""
    known = _grouped(shares, half, "chip", "stack")
    pairs = [
        median(group) - median(known[chip, "tuned"])
        for (chip, stack), group in known.items()
        if stack == "plain" and (chip, "tuned") in known
    ]
    return exp(median(pairs or [0.0]))
