"""The laws of tokens per second.

Tuned code and pretraining: FLOP x tokens/s = e x peak, e being a median of published rates: by chip, else by kind of model, after
what precision, stack and narrow layers do to it was taken out. Medians of organisations are medians of their rows first.

Plain fine-tuning: seconds of a micro step = ((a x layers)^3 + (FLOP / (e x peak))^3 + (moved / link)^3)^(1/3): the processor that
launches kernels, arithmetic with recomputation, and sharded weights that travel, of which the slowest hides the others.

What width and stack do is learned from what differs within one organisation on one chip, and from what two stacks reach on one
chip; precision is by rule, so that no row decides about itself.

The peak is the dense one in 16 bits. Scores, with every organisation left out in turn: `costcalc validate`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import exp, hypot, log
from statistics import fmean, median
from typing import Literal, NamedTuple

from msgspec import Struct

from costcalc.hardware import Accelerator
from costcalc.throughput.language.memory import most_sequences, shards
from costcalc.throughput.language.networks import LanguageNetwork, TokenPrecision, TokenWork
from costcalc.training import Method, Stack

Kind = Literal["dense", "mixture"]
WITHOUT_TF32 = 0.3125
"""What is left of that in fp32 proper: an eighth of the peak in 16 bits, as data sheets of V100 and T4 say."""
LAUNCH_OF_MIXTURE = 16e-3
"""Seconds of a layer of experts that nothing makes shorter: of NVIDIA's untuned runs of mixtures."""
LAUNCH_SECONDS, OF_PEAK = 5e-3, 0.45
"""The same of other layers, and the share of the peak, recomputation counted, where no row of plain fine-tuning is known."""
HOME = "A100-80GB"
LINK_BYTES = {True: 200e9, False: 15e9}
"""Bytes per second between accelerators with a fast link and without one."""
WIDTHS = {"pretrain dense": log(1.36), "pretrain mixture": log(1.7), "fine-tuning": log(1.7)}
"""Half-widths in ln(time), at 80 %: of organisations that were left out."""
UNKNOWN_CHIP, UNKNOWN_STACK = log(1.25), log(1.15)
WHOLE_TRAINING = log(2.6)
"""How much longer than published rates say a whole pretraining may take: 9 in 10 of 25 with stated hours take less."""


class TokenRate(Struct, frozen=True, dict=True):
    """A published rate: tokens per second of one of the `accelerators`, each with `micro_batch` sequences at once. Its memory,
    where that was stated, is one accelerator's."""

    organisation: str
    method: Method
    model: str
    parameters_millions: float
    active_millions: float
    precision: TokenPrecision
    accelerator: str
    tokens_per_second: float
    stack: Stack
    published: str
    source: str
    layers: int | None = None
    hidden: int | None = None
    length: int | None = None
    accelerators: int | None = None
    micro_batch: float | None = None
    recomputed: bool | None = None
    memory_gib: float | None = None

    @cached_property
    def network(self) -> LanguageNetwork:
        of_size = LanguageNetwork.of_size(self.model, self.parameters_millions, self.active_millions, self.layers)
        named = self.hidden or of_size.hidden
        return LanguageNetwork(self.model, self.parameters_millions, self.active_millions, of_size.layers, named)

    @cached_property
    def work(self) -> TokenWork:
        return TokenWork(self.network, self.method, self.length or 2048, None, self.precision, self.stack)


class Rate(NamedTuple):
    """Tokens per second of all accelerators, and how far it may be off, as a half-width in ln at 80 %; a whole training may be
    `slower` by so much."""

    tokens_per_second: float
    width: float
    slower: float


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


class TokenLaw:
    """The law of published rates, on the chips of these data sheets."""

    def __init__(self, rates: Sequence[TokenRate], chips: Mapping[str, Accelerator]) -> None:
        self._chips = chips
        shares = list(self._shares(rates))
        self._usual = Usual.of_shares([_share(rate, share) for rate, share in shares if not rate.network.is_mixture])
        by_chip: dict[tuple[Kind, str], dict[tuple[str, Stack], list[float]]] = defaultdict(lambda: defaultdict(list))
        for rate, share in shares:
            for chip in (rate.accelerator, ""):
                by_chip[_kind(rate.network), chip][rate.organisation, rate.stack].append(
                    share / self._usual.factor(rate.work)
                )
        self._known = {key: median(map(median, of.values())) for key, of in by_chip.items()}
        self._launch, self._of_peak = self._of_plain(rates)

    def rate(self, work: TokenWork, chip: Accelerator, accelerators: int) -> Rate | None:
        """How fast so many of a chip train; None where nobody knows, or where they lack the arithmetic."""
        peak = (chip.dense_16bit_tflops or 0) * 1e12
        if not (peak and chip.device_memory and chip.predicted_unmeasured) or (
            work.precision in ("fp8", "fp4") and not chip.eight_bit
        ):
            return None
        if work.precision == "fp32" and not chip.computes_in("tf32"):
            peak *= WITHOUT_TF32
        one = self._tuned(work, chip.name, peak) if work.is_tuned else self._plain(work, chip, peak, accelerators)
        width = self._width(work, chip.name)
        return Rate(one * accelerators, width, max(width, WHOLE_TRAINING) if work.method == "pretrain" else width)

    def _tuned(self, work: TokenWork, chip: str, peak: float) -> float:
        flop = work.network.flop_per_token(work.length, work.is_frozen, is_recomputed=False)
        return self._reached(_kind(work.network), chip) * self._usual.factor(work) * peak / flop

    def _plain(self, work: TokenWork, chip: Accelerator, peak: float, accelerators: int) -> float:
        of, memory = work.network, chip.memory_gib or 0.0
        sequences, parts = max(most_sequences(work, accelerators, memory), 1), shards(work, accelerators, memory)
        reached = self._of_peak * self._beside_home(chip.name) * OF_PRECISION[work.precision]
        flop = of.flop_per_token(work.length, work.is_frozen, is_recomputed=True) * sequences * work.length
        launch = self._launch.get(work.method, LAUNCH_SECONDS)
        launched = of.layers * (max(LAUNCH_OF_MIXTURE, launch) if of.is_mixture else launch)
        moved = (3 - work.is_frozen) * 2e6 * of.parameters_millions * (parts > 1) / LINK_BYTES[chip.cluster_network]
        slowest: float = (launched**3 + (flop / (reached * peak)) ** 3 + moved**3) ** (1 / 3)
        return sequences * work.length / slowest

    def _of_plain(self, rates: Iterable[TokenRate]) -> tuple[dict[Method, float], float]:
        """Seconds of a layer, of micro steps that arithmetic does not fill, and the share of the peak, of those that it does."""
        launch, of_peak = defaultdict[Method, list[float]](list), list[float]()
        for rate in rates:
            chip, of = self._chips.get(rate.accelerator), rate.network
            is_alone = rate.stack == "plain" and rate.accelerators == 1 and not of.is_mixture
            if rate.method == "pretrain" or not is_alone or not (chip and chip.dense_16bit_tflops):
                continue
            tokens = rate.work.length * (rate.micro_batch or 1)
            flop = of.flop_per_token(rate.work.length, rate.work.is_frozen, rate.recomputed is not False) * tokens
            seconds = tokens / rate.tokens_per_second
            reached = flop / (seconds * chip.dense_16bit_tflops * 1e12)
            if reached < OF_PEAK / 2:
                launch[rate.method].append(seconds / of.layers)
            elif reached > OF_PEAK * 0.8:
                of_peak.append(reached / self._beside_home(chip.name))
        return {of: median(each) for of, each in launch.items()}, median(of_peak or [OF_PEAK])

    def _beside_home(self, chip: str) -> float:
        """How many times the share of its peak a chip reaches that HOME does."""
        return self._reached("dense", chip) / self._reached("dense", HOME)

    def _shares(self, rates: Iterable[TokenRate]) -> Iterator[tuple[TokenRate, float]]:
        """The rates of pretraining with the share of the peak in 16 bits that each is."""
        for rate in rates:
            chip = self._chips.get(rate.accelerator)
            if rate.method == "pretrain" and chip and chip.dense_16bit_tflops:
                flop = rate.network.flop_per_token(rate.work.length, is_frozen=False, is_recomputed=False)
                yield rate, rate.tokens_per_second * flop / (chip.dense_16bit_tflops * 1e12)

    def _reached(self, kind: Kind, chip: str) -> float:
        return self._known.get((kind, chip)) or self._known.get((kind, "")) or 0.4

    def _width(self, work: TokenWork, chip: str) -> float:
        kind = _kind(work.network)
        known = WIDTHS[f"pretrain {kind}" if work.is_tuned else "fine-tuning"]
        of_chip = 0.0 if (kind, chip) in self._known else UNKNOWN_CHIP
        return hypot(known, of_chip, UNKNOWN_STACK if work.stack == "any" else 0.0)


def _kind(network: LanguageNetwork) -> Kind:
    return "mixture" if network.is_mixture else "dense"


def _share(rate: TokenRate, share: float) -> Share:
    ln = log(share / OF_PRECISION[rate.precision])
    return Share(rate.organisation, rate.accelerator, rate.stack, rate.network.hidden, ln)
