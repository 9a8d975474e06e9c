"""The protocol: which cases make each experiment, what is asked of it, and what its errors calibrate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from msgspec import Struct
from msgspec.structs import replace

from costcalc.throughput.fitted_parameters import (
    LEVEL,
    OF_TRANSFORMERS,
    ORDERS,
    FittedParameters,
    HalfWidth,
    calibrated,
)
from costcalc.throughput.reference_model import ChipPrior, ReferenceModel
from costcalc.throughput.workloads import bits
from costcalc.training import Code, Throughput
from science.fitting.chip_priors import Missed, chip_priors, left_out, missed
from science.fitting.network import fit_overlap, over_networks
from science.fitting.reference_model import fit_reference_model, observations
from science.fitting.spot_rates import listed_series
from science.fitting.transfer import fit_transfer, ratios, with_loops
from science.validation.backtest import backtest
from science.validation.chosen_answers import Chosen, chosen_answers, on_one_device
from science.validation.convergence.chances import brier_scores
from science.validation.convergence.epochs import batches_left_out, borrowed, curves_left_out, lengths_left_out
from science.validation.convergence.own_runs import SEEN, own_run_ends, own_run_scores, reliability
from science.validation.convergence.partial_runs import SHARES, ends, ffcv_logs, longer, mlperf_logs, watched_scores
from science.validation.deadlines import limits_exceeded
from science.validation.end_to_end import EndToEnd, by_tier, regret_of_picks
from science.validation.held_out import HeldOut, Learner
from science.validation.language import token_cases
from science.validation.outside_mlperf.hosts import organisations_left_out, sources_left_out
from science.validation.outside_mlperf.implementations import RERUN, RERUN_BY, Implementations
from science.validation.outside_mlperf.scaled_speeds import ScaledSpeeds
from science.validation.outside_mlperf.whole_runs import epochs_by_other_recipes, hours
from science.validation.published import FROZEN, Published, fingerprint, mlperf_runs
from science.validation.regret import regret_of_lengths, regret_of_systems
from science.validation.report import Report
from science.validation.scores import SCORED_LEVELS, WIDER, Case, Goal, half_width, score, with_half_widths
from science.validation.speeds import (
    SMALL,
    later_rounds,
    many_machines,
    other_count,
    own_system,
    same_system,
    unseen_accelerator,
)
from science.validation.spot_rates import spot_coverage
from science.validation.stated_hours import ratios as ratios_of_chips
from science.validation.stated_hours import whole_language_runs
from science.validation.strangers import strangers

SAME_SYSTEM = "same accelerator and count, other organisation"
LENGTHS = Goal(0.035, 3.5 / 3.8)
NAMES = {
    "transferred": "same accelerator and count",
    "interpolated": "other count in one node",
    "machines": "one node to many",
    "accelerator": "accelerator never measured",
}
PICKS = "/cost: the pick's range, all rates of its system being hidden"
ONE_DEVICE = "the answer that is shown, by plain loops of PyTorch on one"
DEVICES = ("H100", "H200")
STRANGERS = "whole runs and rates of strangers' plain loops, epochs named"
WHOLE_RUNS = "whole runs of strangers' plain loops, epochs named"
CHOSEN = "the chosen recipe on chips it never ran on, by anybody's code"
LIMITED = (CHOSEN, ONE_DEVICE, "/cost, organisation left out: all")
"""Answers whose limits are scored: they bring the ranges that people see."""
UNSEEN_SILICON = "accelerator never measured, nor one of its silicon: data sheet and other tasks"
ANY_CODE = "code never measured, organisation left out"
CODES: dict[Code, str] = {
    "vendor_example": "examples of makers and clouds",
    "library": "libraries",
    "research": "papers",
    "contest": "contests",
    "ordinary_user": "ordinary users",
}
SCALED = {
    "other_count": "other count in one machine, code that is not MLPerf's",
    "several_machines": "several machines over 10 to 100 Gb/s",
    "one_network_known": "other networks of a code known with one (MindSpore)",
    "host_limited": "networks below 1 GMAC, which the host may limit (MindSpore)",
}
MINDSPORE = ("one_network_known", "host_limited")  # of SCALED
BEST_OF_ALL = "transformers, the best that any model could do without knowing the code"
TRANSFORMERS = {
    "transformers on a measured accelerator": OF_TRANSFORMERS["network"],
    "transformers, accelerator never measured": OF_TRANSFORMERS["stack"],
}
BITS = {"16bit": "16 bits", "32bit": "32 bits"}


class Experiment(Struct, frozen=True):
    """A row of the report: its cases, what is asked for, the kind of interval that its errors calibrate, if any, and whether each
    group counts once in it."""

    name: str
    cases: Sequence[Case]
    goal: Goal | None = None
    kind: str | None = None
    by_group: bool = False


def experiments(published: Published, one_in: int = 1) -> tuple[Experiment, ...]:
    """Those of docs/method.md: the estimator on every published result we hold, each held out with its group.

    Other implementations are learned anew without each group, which takes longest: of many small groups one in so many is
    held out.
    """
    learner = Learner(published)
    implementations = Implementations(published, learner.reference_model(HeldOut()), one_in)
    return (
        *_speeds(learner),
        *_implementations(implementations),
        *_scaled_speeds(ScaledSpeeds(learner, one_in)),
        *_chosen(chosen_answers(published, one_in)),
        *_on_devices(on_one_device(published.evidence)),
        *_of_strangers(strangers(published), published.evidence.throughputs),
        *(Experiment(name, cases) for name, cases in token_cases(published.evidence.accelerators)),
        Experiment(
            "language models, hours of whole pretrainings, organisation left out",
            [*whole_language_runs(published.evidence.accelerators)],
        ),
        Experiment(
            "hours stated on one chip, on another: ratios of MLPerf's tasks",
            [*ratios_of_chips(published.chip_ratios, published.evidence.accelerators)],
        ),
        *_epochs(published),
        *_partial_runs(published),
        *_end_to_end(EndToEnd(learner)),
    )


def report(published: Published, experiments: Sequence[Experiment]) -> Report:
    """The scores of the experiments, with the regret of picks and the honesty of chances."""
    cases = {experiment.name: experiment.cases for experiment in experiments}
    return Report(
        evidence=published.evidence.version,
        splits=" ".join(digest[:12] for digest in FROZEN.values()),
        scores=tuple(
            score(experiment.name, experiment.cases, experiment.goal, experiment.by_group) for experiment in experiments
        ),
        regrets={
            "same accelerator and count (MLPerf)": regret_of_systems(published, cases[SAME_SYSTEM]),
            "same accelerator and count, as /cost picks (MLPerf)": regret_of_picks(
                tuple(mlperf_runs(published)), [case.name for case in cases.get(PICKS, ())]
            ),
            "schedule length (FFCV)": regret_of_lengths(published, ("ffcv-rn50", "ffcv-rn18")),
        },
        chances=(*brier_scores(published), *own_run_scores(published), *watched_scores(published)),
        reliability={
            **reliability(published),
            **{
                f"limits exceeded, {name}": found for name in LIMITED if (found := limits_exceeded(cases.get(name, ())))
            },
        },
        spot=spot_coverage(listed_series()),
        rounds=backtest(published),
    )


def fitted_parameters(published: Published, experiments: Sequence[Experiment]) -> FittedParameters:
    """Everything learned from all the tables, the half-widths from the out-of-group errors of the experiments."""
    evidence = published.evidence
    reference = fit_reference_model(observations(evidence.throughputs, evidence.accelerators), evidence.accelerators)
    reference = replace(reference, priors=_chip_priors(published, reference))
    measured = ratios(evidence.throughputs, reference, evidence.models)
    transfer = fit_transfer(measured, evidence.models, evidence.accelerators)
    transfer = with_loops(transfer, ratios(evidence.device_speeds, reference, evidence.models))
    elapsed_time, gradients = Learner(published).elapsed_time(None), evidence.gradients
    overlap = fit_overlap(over_networks(measured, gradients), transfer, gradients)
    return FittedParameters(fingerprint(), reference, transfer, calibrated_widths(experiments), elapsed_time, overlap)


def _chip_priors(published: Published, reference: ReferenceModel) -> dict[str, ChipPrior]:
    evidence = published.evidence
    parts = (evidence.accelerators.get(row.accelerator) for row in evidence.throughputs)
    return chip_priors(reference, _missed(published), published.chip_ratios, {part.chip for part in parts if part})


def _missed(published: Published) -> list[Missed]:
    evidence = published.evidence
    return missed(
        observations(evidence.throughputs, evidence.accelerators), published.chip_ratios, evidence.accelerators
    )


def calibrated_widths(experiments: Sequence[Experiment]) -> dict[str, HalfWidth]:
    """The half-width of each kind of evidence, none narrower than that of more evidence."""
    widths = {
        experiment.kind: width._replace(ln=round(width.ln, 4))
        for experiment in experiments
        if experiment.kind and (width := half_width(experiment.cases, LEVEL, experiment.by_group))
    }
    for undated in (True, False):
        for order in ORDERS:
            kinds = [calibrated(kind, undated) for kind in order]
            widths |= zip(kinds, accumulate((widths[kind] for kind in kinds), max), strict=True)
    kinds = list(TRANSFORMERS.values())
    return widths | dict(zip(kinds, accumulate((widths[kind] for kind in kinds), max), strict=True))


def _speeds(learner: Learner) -> Iterator[Experiment]:
    """MLPerf's network, what is known of the run being given."""
    small = {run.name for run in learner.runs if run.accelerators <= SMALL}
    own, with_others_epochs = own_system(learner, own_epochs=True), own_system(learner, own_epochs=False)
    own_small = [case for case in own if case.name in small]
    yield Experiment("own system, up to 16 accelerators", own_small, Goal(0.015, 1.5 / 1.9))
    yield Experiment(
        "own system, up to 16, others' epochs", [case for case in with_others_epochs if case.name in small]
    )
    yield Experiment("own system, all sizes", own, kind="own")
    yield Experiment(SAME_SYSTEM, same_system(learner), Goal(0.045, 4.5 / 5.3))
    yield Experiment("other count in one node", other_count(learner), Goal(0.045, 4.5 / 5.1))
    yield Experiment("one node to many", many_machines(learner), Goal(0.075, 7.5 / 8.7))
    unseen, accelerators = unseen_accelerator(learner), learner.published.evidence.accelerators
    nvidia = [case for case in unseen if accelerators[case.group].vendor == "NVIDIA"]
    yield Experiment("accelerator never measured", unseen, Goal(0.09, 9 / 10.8))
    yield Experiment("accelerator never measured, NVIDIA", nvidia)
    yield Experiment(UNSEEN_SILICON, [*_as_cases(_missed(learner.published))])
    yield Experiment("rounds v3.0 on from v2.1 and before", later_rounds(learner))


def _as_cases(found: Sequence[Missed]) -> Iterator[Case]:
    """Chips as their priors would have them, which bring their own ranges: as wide as the nearer end is far. The baseline is the
    data sheet's roofline."""
    for one, prior in left_out(found):
        low, high = (one.sources.by_prior(one.name, prior) + end for end in (-prior.slower, prior.faster))
        middle, half = (low + high) / 2, (high - low) / 2
        wider = half * WIDER
        roofline = one.sources.reference.data_sheets.roofline(one.name) or 0.0
        yield Case(one.name, one.silicon, middle - one.log_rate, roofline - one.log_rate, half_widths=(half, wider))


def _implementations(implementations: Implementations) -> Iterator[Experiment]:
    """Other networks and other people's implementations."""
    networks = implementations.other_networks()
    yield from _by_bits("other network on a measured accelerator", networks)
    yield Experiment("other network on a measured accelerator, both", [case for _, case in networks], kind="network")
    unseen = implementations.unseen_accelerators()
    yield Experiment("other network or implementation, its accelerator unseen", unseen)
    one_chip = implementations.measured_on_one_chip()
    yield Experiment("implementation measured on one accelerator alone", one_chip, kind="stack")
    found = implementations.code_never_measured()
    others = [case for row, case in found if row.organisation != RERUN_BY]
    same_chip = tuple(half_width([case for _, case in networks], level).ln for level in SCORED_LEVELS)
    other_chip = tuple(half_width(others, level, by_group=True).ln for level in SCORED_LEVELS)
    yield from _by_bits("NVIDIA's examples, run by Lambda", implementations.reruns(same_chip, other_chip))
    yield from _any_code(found)


def _any_code(found: Sequence[tuple[Throughput, Case]]) -> Iterator[Experiment]:
    """Code of which nothing is known, each organisation counted once; then by whose code it is."""
    cases = [case for _, case in found]
    yield Experiment(ANY_CODE, cases, kind="code", by_group=True)
    widened = with_half_widths(cases, by_group=True)
    held_out = [(row, case) for (row, _), case in zip(found, widened, strict=True)]
    for code, name in CODES.items():
        yield Experiment(f"{ANY_CODE}: {name}", [case for row, case in held_out if row.code == code], by_group=True)
    for how in ("eager", "compiled"):
        yield Experiment(
            f"{ANY_CODE}: {how}", [case for row, case in held_out if row.compilation == how], by_group=True
        )
    reruns = [(bits(row.precision) or "", case) for row, case in held_out if row.stack == RERUN]
    yield from _by_bits("NVIDIA's examples, run by Lambda, in the usual range", reruns)


def _scaled_speeds(speeds: ScaledSpeeds) -> Iterator[Experiment]:
    """What the splits of November 2026 hold out."""
    pipelines = speeds.published.evidence.limit_tables.pipelines.rates
    yield Experiment("host-limited machines, images/s per vCPU", sources_left_out(pipelines))
    processors = organisations_left_out(speeds.published.evidence.processors)
    yield Experiment("processors without an accelerator", processors, by_group=True)
    for name, kind in TRANSFORMERS.items():
        yield from _transformers(speeds, name, kind)
    yield Experiment(BEST_OF_ALL, speeds.best_without_the_code())
    scaled = {split: speeds.scaled(split) for split in SCALED}
    for split, cases in scaled.items():
        yield Experiment(SCALED[split], cases)
    published = speeds.published
    epochs = epochs_by_other_recipes(published)
    yield Experiment("whole runs of another framework (MindSpore), epochs", epochs)
    yield Experiment(
        "whole runs of another framework (MindSpore), hours",
        hours(published, epochs, [case for split in MINDSPORE for case in scaled[split]]),
    )


def _transformers(speeds: ScaledSpeeds, name: str, kind: str) -> Iterator[Experiment]:
    """The rates that were held out first, trained and benchmarks; then all that were trained, each organisation counted once.

    The ranges come from chips of makers whose next chip would be answered too: the others are hardly for rent.
    """
    cases = speeds.transformers(measured=kind == OF_TRANSFORMERS["network"])
    first = [case for case in cases if case.name in speeds.published.groups["transformers"]]
    yield Experiment(name, first)
    yield Experiment(f"{name}, trained", [case for case in first if not speeds.is_synthetic(case)])
    benchmarks = [replace(case, group=case.name) for case in first if speeds.is_synthetic(case)]  # all of one author
    yield Experiment(f"{name}, benchmarks", benchmarks)
    trained = [case for case in cases if not speeds.is_synthetic(case)]
    yield Experiment(f"{name}, trained, all codes", trained, by_group=True)
    usual = [case for case in trained if speeds.is_of_usual_maker(case)]
    yield Experiment(f"{name}, trained, all codes, chips of NVIDIA and Google", usual, kind=kind, by_group=True)


def _chosen(found: Sequence[Chosen]) -> Iterator[Experiment]:
    """The recipe that is chosen beside what anybody's code was measured at, with the ranges of the answers."""
    yield Experiment(CHOSEN, [one.case for one in found if one.never_ran], by_group=True)
    transformers = [one.case for one in found if one.never_ran and one.is_transformer]
    yield Experiment(f"{CHOSEN}: transformers", transformers, by_group=True)


def _on_devices(found: Sequence[Chosen]) -> Iterator[Experiment]:
    """The answers that are shown beside what was timed on one device of a chip, to which nothing is fitted."""
    for chip in DEVICES:
        yield Experiment(f"{ONE_DEVICE} {chip}", [one.case for one in found if one.row.accelerator == chip])


def _of_strangers(cases: Sequence[Case], rows: Sequence[Throughput]) -> Iterator[Experiment]:
    """Plain loops of people whose rates are all left out, who name their epochs."""
    whole = {row.name for row in rows if row.data == "whole run"}
    yield Experiment(STRANGERS, cases)
    yield Experiment(WHOLE_RUNS, [case for case in cases if case.name in whole])
    yield Experiment(f"{STRANGERS}, each organisation counted once", cases, by_group=True)


def _by_bits(name: str, cases: Sequence[tuple[str, Case]]) -> Iterator[Experiment]:
    for wanted, spoken in BITS.items():
        yield Experiment(f"{name}, {spoken}", [case for known, case in cases if known == wanted])


def _epochs(published: Published) -> Iterator[Experiment]:
    """Epochs from other recipes."""
    goal = Goal(0.11, 11 / 13.3)
    yield Experiment("recipe borrowed within its family (DAWNBench)", borrowed(published), goal)
    fifty, eighteen = (lengths_left_out(published, f"ffcv-rn{depth}") for depth in (50, 18))
    yield Experiment("schedule length interpolated (FFCV ResNet-50)", fifty, LENGTHS)
    yield Experiment("schedule length interpolated (FFCV ResNet-18)", eighteen, LENGTHS)
    yield Experiment("schedule length interpolated (both)", fifty + eighteen, LENGTHS, "length")
    curves = curves_left_out(published, "deit")
    yield Experiment("accuracy curve known at its end alone (transformers)", curves, kind="curve")
    yield Experiment("batch to epochs (MLPerf reference points)", batches_left_out(published))


def _partial_runs(published: Published) -> Iterator[Experiment]:
    """Runs of which only a part is known."""
    ffcv, mlperf = ffcv_logs(published), mlperf_logs(published)
    for share in SHARES:
        yield Experiment(f"partial run, {100 * share:.0f} % seen: error at its end (FFCV)", ends(ffcv, share))
    for share in SHARES:
        yield Experiment(
            f"partial run, {100 * share:.0f} % seen: error at the end of a longer run (FFCV)", longer(ffcv, share)
        )
    for share in SHARES:
        yield Experiment(f"partial run, {100 * share:.0f} % seen: error at its end (MLPerf)", ends(mlperf, share))
    for share in SEEN:
        yield Experiment(
            f"own run, {100 * share:.0f} % seen: where another run is by then (MLPerf)",
            [*own_run_ends(published, share)],
            by_group=True,
        )


def _end_to_end(end_to_end: EndToEnd) -> Iterator[Experiment]:
    """What `/cost` answers: by the kinds of evidence that calibrate its intervals, then as it comes."""
    for undated, asked in ((True, "/cost"), (False, "/cost, round named")):
        for kind, name in NAMES.items():
            known = calibrated(kind, undated)
            yield Experiment(f"{asked}: {name}", end_to_end.by_kind[known], kind=known)
    left_out, named = "/cost, organisation left out", "/cost, organisation left out, round named"
    usual = end_to_end.without_organisation(end_to_end.runs, any_round=True)
    for name, cases in {"all": _cases(usual), **by_tier(usual)}.items():
        yield Experiment(f"{left_out}: {name}", cases)
    yield Experiment(f"{named}: all", _cases(end_to_end.without_organisation(end_to_end.runs, any_round=False)))
    yield Experiment(PICKS, end_to_end.picks())
    early = end_to_end.without_organisation(end_to_end.earlier_runs, any_round=False)
    yield Experiment(f"{named}: v0.7", _cases(early))


def _cases(answered: Sequence[tuple[object, Case]]) -> list[Case]:
    return [case for _, case in answered]
