"""The protocol: which cases make each tier, what is asked of it, and what the errors calibrate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from costcalc.fitting.reference_model import fit_reference_model, observations
from costcalc.fitting.transfer import fit_transfer, ratios
from costcalc.throughput.fitted_parameters import LEVELS, ORDERS, FittedParameters, Widths, calibrated
from costcalc.validation.end_to_end import Product, by_accelerator, by_label, regret_of_picks
from costcalc.validation.epochs import batches_left_out, borrowed, lengths_left_out
from costcalc.validation.implementations import Implementations
from costcalc.validation.published import SPLITS_SHA256, Published, load_published
from costcalc.validation.regret import brier, regret_of_lengths, regret_of_systems
from costcalc.validation.report import Report
from costcalc.validation.scores import SCORED, Case, Goal, half_width, score
from costcalc.validation.speeds import SMALL, Systems

NOBODY = ""  # an organisation name that excludes none
SAME_SYSTEM = "same accelerator and count, other organisation"
LENGTHS = Goal(0.035, 3.5 / 3.8)
NAMES = {
    "transferred": "same accelerator and count",
    "interpolated": "other count in one node",
    "machines": "one node to many",
    "accelerator": "accelerator never measured",
}


@dataclass(frozen=True, slots=True)
class Tier:
    """A row of the report: its cases, what is asked for, and the kind of interval its errors calibrate, if any."""

    name: str
    cases: tuple[Case, ...]
    goal: Goal | None = None
    kind: str | None = None


def validate(published: Published | None = None) -> Report:
    """The estimator scored on every published result we hold, each held out with its group."""
    published = published or load_published()
    tiers = protocol(published)
    by_name = {tier.name: tier.cases for tier in tiers}
    return Report(
        evidence=published.evidence.version,
        splits=SPLITS_SHA256,
        scores=tuple(score(tier.name, tier.cases, tier.goal) for tier in tiers),
        regrets={
            "same accelerator and count (MLPerf)": regret_of_systems(published, by_name[SAME_SYSTEM]),
            "same accelerator and count, as /cost picks (MLPerf)": regret_of_picks(Systems(published)),
            "schedule length (FFCV)": regret_of_lengths(published, ("ffcv-rn50", "ffcv-rn18")),
        },
        brier=brier(published),
    )


def protocol(published: Published) -> tuple[Tier, ...]:
    """The tiers of docs/method.md."""
    systems = Systems(published)
    implementations = Implementations(published, systems.reference_of_all)
    return (*_systems(systems), *_implementations(implementations), *_recipes(published), *_product(Product(systems)))


def _product(product: Product) -> Iterator[Tier]:
    """What `/cost` answers: by the kinds of evidence that calibrate its intervals, then as it comes."""
    for usual, asked in ((True, "/cost"), (False, "/cost, round named")):
        for kind, name in NAMES.items():
            known = calibrated(kind, usual)
            yield Tier(f"{asked}: {name}", tuple(product.by_kind[known]), kind=known)
    found = product.natural(product.runs, usual=True)
    yield Tier("/cost, organisation left out: all", tuple(case for _, case in found))
    for label, cases in (by_label(found) | by_accelerator(found)).items():
        yield Tier(f"/cost, organisation left out: {label}", tuple(cases))
    named = product.natural(product.runs, usual=False)
    yield Tier("/cost, organisation left out, round named: all", tuple(case for _, case in named))
    early = product.natural(product.before, usual=False)
    yield Tier("/cost, organisation left out, round named: v0.7", tuple(case for _, case in early))


def _systems(systems: Systems) -> tuple[Tier, ...]:
    small = {run.result.recipe for run in systems.runs if run.total <= SMALL}
    chips = systems.published.evidence.accelerators
    own, borrowing = systems.own(own_curve=True), systems.own(own_curve=False)
    unseen = systems.accelerator()
    nvidia = tuple(case for case in unseen if chips[case.group].vendor == "NVIDIA")
    return (
        Tier("own system, up to 16 accelerators", tuple(c for c in own if c.name in small), Goal(0.015, 1.5 / 1.9)),
        Tier("own system, up to 16, others' epochs", tuple(c for c in borrowing if c.name in small)),
        Tier("own system, all sizes", tuple(own), kind="own"),
        Tier(SAME_SYSTEM, tuple(systems.transferred()), Goal(0.045, 4.5 / 5.3)),
        Tier("other count in one node", tuple(systems.interpolated()), Goal(0.045, 4.5 / 5.1)),
        Tier("one node to many", tuple(systems.machines()), Goal(0.075, 7.5 / 8.7)),
        Tier("accelerator never measured", tuple(unseen), Goal(0.09, 9 / 10.8)),
        Tier("accelerator never measured, NVIDIA", nvidia),
        Tier("rounds v3.0 on from v2.1 and before", tuple(systems.later_rounds())),
    )


def _implementations(implementations: Implementations) -> Iterator[Tier]:
    """Other networks and other people's code."""
    cells = implementations.networks()
    for width in ("16", "32"):
        some = tuple(case for known, case in cells if known == f"{width}bit")
        yield Tier(f"other network on a measured card, {width} bits", some)
    yield Tier("other network on a measured card, both", tuple(case for _, case in cells), kind="network")
    yield Tier("other network or code, its accelerator unseen", tuple(implementations.accelerators()))
    homes = tuple(implementations.homes())
    yield Tier("code known on one accelerator alone", homes, kind="stack")
    reruns = implementations.reruns(tuple(half_width(homes, level) for level in SCORED))
    for width in ("16", "32"):
        some = tuple(case for known, case in reruns if known == f"{width}bit")
        yield Tier(f"NVIDIA's examples, run by Lambda, {width} bits", some)


def _recipes(published: Published) -> tuple[Tier, ...]:
    fifty, eighteen = (lengths_left_out(published, f"ffcv-rn{depth}") for depth in (50, 18))
    return (
        Tier(
            "recipe borrowed within its family (DAWNBench)",
            tuple(borrowed(published)),
            Goal(0.11, 11 / 13.3),
            "borrowed",
        ),
        Tier("schedule length interpolated (FFCV ResNet-50)", tuple(fifty), LENGTHS),
        Tier("schedule length interpolated (FFCV ResNet-18)", tuple(eighteen), LENGTHS),
        Tier("schedule length interpolated (both)", tuple(fifty + eighteen), LENGTHS, "length"),
        Tier("batch to epochs (MLPerf reference points)", tuple(batches_left_out(published)), None, "batch"),
    )


def fitted(published: Published, fingerprint: str) -> FittedParameters:
    """Everything learned from all the tables, the half-widths from the out-of-group errors of the protocol."""
    evidence = published.evidence
    reference = fit_reference_model(observations(evidence.throughputs, evidence.accelerators), evidence.accelerators)
    found = ratios(evidence.throughputs, reference, evidence.models)
    transfer = fit_transfer(found, evidence.models, evidence.accelerators)
    widths = {
        tier.kind: tuple(round(half_width(tier.cases, level), 4) for level in LEVELS)
        for tier in protocol(published)
        if tier.kind
    }
    for usual in (True, False):
        for order in ORDERS:
            widths |= _never_narrower(widths, [calibrated(kind, usual) for kind in order])
    return FittedParameters(fingerprint, reference, transfer, Widths(widths), Systems(published).elapsed_time(NOBODY))


def _never_narrower(widths: Mapping[str, tuple[float, ...]], kinds: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """The widths of kinds of evidence from most to least, none narrower than that of more evidence."""
    wider = np.maximum.accumulate([widths[kind] for kind in kinds])
    return {kind: tuple(row) for kind, row in zip(kinds, wider.tolist(), strict=True)}
