"""The worked example of docs/method.md: every term of one prediction, so that a reader can add them up."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from costcalc.throughput.fitted_parameters import Fitted
from costcalc.throughput.reference_model import Setting, batch_keys, step_overhead, terms
from costcalc.training import IMAGES_PER_EPOCH

SETTING = Setting("A100-80GB", per_node=8, nodes=1, batch=408, year=2022, framework="MXNet NGC 22.04")
EPOCHS = 35
PUBLISHED = (
    "Published in round v2.0: NVIDIA 28.69, Inspur 27.42 and 27.23, Fujitsu 28.00, H3C 28.11,\nSupermicro 28.11 and 28.30, "
    "Nettrix 27.86 and 30.64 minutes."
)


def worked_example(fitted: Fitted) -> str:
    """The terms, their sum, and what follows: images per second, minutes, interval."""
    core = fitted.core
    log_rate = core.log_rate(SETTING)
    total = SETTING.per_node * SETTING.nodes
    rate = math.exp(log_rate) * total
    train = EPOCHS * IMAGES_PER_EPOCH / rate
    minutes = float(fitted.wall_seconds(np.array(train))) / 60
    usual, scatter = fitted.widths.at("transferred", 0.8), core.scatter(SETTING.accelerator)
    width = usual * scatter
    factor, power = fitted.overhead
    lines = [
        "| term | effect | times | adds |",
        "|---|---:|---:|---:|",
        *(f"| {name} | {effect:.4f} | {value:.4f} | {effect * value:+.4f} |" for name, effect, value in _terms(fitted)),
        f"| **ln X** | | | **{log_rate:.4f}** |",
        "",
        f"X = e^{log_rate:.4f} = {math.exp(log_rate):,.1f} images/s and accelerator, {rate:,.0f} on {total}.",
        f"Training: {EPOCHS} x {IMAGES_PER_EPOCH:,} / {rate:,.0f} = {train:,.0f} s.",
        f"Elapsed: {train:,.0f} + {factor:.4f} x {train:,.0f}^{power:.2f} = {minutes * 60:,.0f} s = {minutes:.2f} min;",
        f"80 % interval x/÷ e^{width:.4f}, as these cards scatter {scatter:.4f} times the usual {usual:.4f}:",
        f"{minutes * math.exp(-width):.2f} to {minutes * math.exp(width):.2f} min.",
        PUBLISHED,
    ]
    return "\n".join(lines) + "\n"


def _terms(fitted: Fitted) -> Iterator[tuple[str, float, float]]:
    core, name = fitted.core, SETTING.accelerator
    chip, chips = core.chips.table[name], core.chips
    costs = f"{chips.compute:.5f}/{chip.dense_16bit_tflops} + {chips.memory:.4f}/{chip.memory_bandwidth_gb_per_s}"
    yield f"roofline: -ln({costs})", chips.roofline(name) or 0.0, 1.0
    for key, value, _ in terms(SETTING, core.chips):
        yield ", ".join(key), core.effects.get(key, 0.0), value
    slope = 1 + sum(core.effects.get(key, 0.0) for key in batch_keys(name))
    parts = ", ".join(f"{core.effects.get(key, 0.0):+.4f}" for key in batch_keys(name))
    yield f"1 + batch effects ({parts}), times s({SETTING.batch:g})", slope, step_overhead(SETTING.batch)
