"""What `costcalc validate --into` writes into docs/method.md: the report, and a worked example whose terms add up."""

from __future__ import annotations

import math
from collections.abc import Iterator

from costcalc.evidence import load_evidence
from costcalc.throughput.fitted_parameters import FittedParameters
from costcalc.throughput.reference_model import Setup, batch_keys, step_overhead
from costcalc.training import IMAGES_PER_EPOCH
from science.fitting.reference_model import setup_terms
from science.validation.report import Report

EXAMPLE, SCORES = "example", "validate"  # sections of the page
SETUP = Setup("A100-80GB", per_node=8, nodes=1, batch=408, year=2022, framework_family="mxnet")
EPOCHS = 35
PUBLISHED = (
    "Published in round v2.0: NVIDIA 28.69, Inspur 27.42 and 27.23, Fujitsu 28.00, H3C 28.11,\nSupermicro 28.11 and 28.30, "
    "Nettrix 27.86 and 30.64 minutes."
)


def require_markers(page: str) -> None:
    """Raises ValueError naming the first marker that the page lacks."""
    for section in (EXAMPLE, SCORES):
        inserted(page, section, "")


def documented(page: str, report: Report) -> str:
    """The page with its worked example and its report written anew. Raises ValueError where it lacks a marker."""
    page = inserted(page, EXAMPLE, worked_example(load_evidence().fitted))
    return inserted(page, SCORES, report.markdown())


def inserted(page: str, section: str, text: str) -> str:
    """The page with the text between the two markers of a section. Raises ValueError if it lacks one."""
    begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
    before, found, rest = page.partition(begin)
    if not found or end not in rest:
        raise ValueError(f"the page needs a line {begin} and, below it, a line {end}")
    return f"{before}{begin}\n{text}{end}{rest.partition(end)[2]}"


def worked_example(fitted: FittedParameters) -> str:
    """The terms, their sum, and what follows: images per second, minutes, interval."""
    reference = fitted.reference
    log_rate = reference.log_rate(SETUP)
    total = SETUP.per_node * SETUP.nodes
    rate = math.exp(log_rate) * total
    train = EPOCHS * IMAGES_PER_EPOCH / rate
    minutes = fitted.elapsed_time.seconds(train) / 60
    usual, scatter = fitted.widths["transferred"].ln, reference.scatter(SETUP.accelerator)
    width = usual * scatter
    factor, power = fitted.elapsed_time
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


def _terms(fitted: FittedParameters) -> Iterator[tuple[str, float, float]]:
    reference, name = fitted.reference, SETUP.accelerator
    chip, sheets = reference.data_sheets.part(name), reference.data_sheets
    costs = f"{sheets.tflop_per_image:.5f}/{chip.dense_16bit_tflops} + {sheets.gb_per_image:.4f}/{chip.memory_bandwidth_gb_per_s}"
    yield f"roofline: -ln({costs})", sheets.roofline(name) or 0.0, 1.0
    for key, value, _ in setup_terms(SETUP, sheets):
        yield ", ".join(key), reference.effects.get(key, 0.0), value
    slope = 1 + sum(reference.effects.get(key, 0.0) for key in batch_keys(name))
    parts = ", ".join(f"{reference.effects.get(key, 0.0):+.4f}" for key in batch_keys(name))
    yield f"1 + batch effects ({parts}), times s({SETUP.batch:g})", slope, step_overhead(SETUP.batch)
