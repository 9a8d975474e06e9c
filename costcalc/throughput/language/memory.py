"""The memory that training a language model needs of each accelerator.

GiB = MORE x (states + gathered layers + activations + logits) / 2^30 + FRAMEWORK

States: 18 bytes a trained weight (in 16 bits; in 32 a copy, its gradient and two moments of Adam), 2 of a frozen one, 0.55 in NF4
with its scales (Dettmers et al. 2023). They are sharded over all accelerators where one cannot hold them. Activations
are recomputed: what stays is the input of each layer and one layer at work (Korthikanti et al. 2022, with FlashAttention).
MORE is learned from the rows of `language_speeds.csv` that state their memory; `costcalc validate` scores it.
"""

from __future__ import annotations

from costcalc.throughput.language.networks import TokenWork

BYTES_OF_WEIGHT = {"pretrain": 18.0, "full": 18.0, "lora": 2.0, "qlora": 0.55}
ADAPTER_SHARE, ADAPTER_BYTES = 0.01, 16
"""Trained weights of an adapter of usual rank over those of its model."""
OF_LAYER_AT_WORK = 34
"""Bytes that a layer at work holds for each hidden unit of a token."""
BYTES_OF_LOGIT = 12
"""In 16 bits, in 32 for the loss, and its gradient."""
MORE, FRAMEWORK_GIB = 1.2, 1.0
GIB = 2**30
SAFE_SHARE = 0.9
"""Of an accelerator's memory, what a training may count on: none of 63 rows that state theirs needs a larger card than that."""
MOST_SEQUENCES = 8
"""Sequences that an accelerator takes at once where memory would hold more; beyond that, speed hardly grows."""


def needed_gib(work: TokenWork, sequences: float, shards: int = 1) -> float:
    """What each accelerator needs for so many sequences at once, of states in so many shards."""
    of = work.network
    weights, embedding = of.parameters_millions * 1e6, 2.0 * of.vocabulary * of.hidden
    states = weights * BYTES_OF_WEIGHT[work.method]
    if work.precision == "fp32" and work.method == "lora":
        states *= 2
    if work.is_frozen:
        states += ADAPTER_SHARE * weights * ADAPTER_BYTES
    if work.method == "qlora":
        states += 2 * embedding  # stays in 16 bits
    gathered = 4.0 * weights / of.layers if shards > 1 else 0.0
    tokens, unit = sequences * work.length, 2 if work.precision != "fp32" else 4
    held = of.hidden * (unit * of.layers + OF_LAYER_AT_WORK * unit / 2) + of.vocabulary * BYTES_OF_LOGIT
    return MORE * (states / shards + gathered + tokens * held) / GIB + FRAMEWORK_GIB


def card_gib(work: TokenWork, sequences: float, shards: int = 1) -> float:
    """The memory that an accelerator must have to hold that for sure."""
    return needed_gib(work, sequences, shards) / SAFE_SHARE


def shards(work: TokenWork, accelerators: int, memory_gib: float) -> int:
    """Over how many accelerators the states are sharded: all, unless each holds frozen weights by itself."""
    alone = work.is_frozen and card_gib(work, 1) <= memory_gib
    return 1 if alone else max(accelerators, 1)


def most_sequences(work: TokenWork, accelerators: int, memory_gib: float) -> int:
    """How many sequences each accelerator takes at once, at most MOST_SEQUENCES; 0 where not even one fits."""
    parts = shards(work, accelerators, memory_gib)
    asked = MOST_SEQUENCES if work.batch is None else max(work.batch // max(accelerators, 1), 1)
    sizes = range(min(asked, MOST_SEQUENCES), 0, -1)
    return next((size for size in sizes if card_gib(work, size, parts) <= memory_gib), 0)
