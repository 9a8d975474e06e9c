"""The answer that is shown, against what other people measured on the same accelerators: they see the recipe that was chosen, the
luckiest of many, mostly carried over to a chip that its code never ran on.

Every organisation is left out of speeds and recipes in its turn, the best recipe is chosen on each machine on which it measured
the network, and its rate is brought to the recipe's image sizes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from costcalc import EstimateQuery, answer
from costcalc.answers import Estimate
from costcalc.evidence import Evidence
from costcalc.memory import Memory
from costcalc.recipes import Recipe
from costcalc.throughput.data_sheets import part
from costcalc.throughput.workloads import SIZE_EXPONENT, bits, training_rate
from costcalc.training import Throughput
from science.fitting.transfer import Ratio, fit_transfer, ratios, with_loops
from science.validation.answered_runs import TODAY, made_up_offers
from science.validation.published import Published
from science.validation.scores import WIDER, Case

FOLDS = 8
BELOW_ENDS = 0.005  # of the ordinary recipes' ends, in the median: what is asked for


class Chosen(Struct, frozen=True):
    """What an organisation measured, and the estimate of the recipe that is chosen there without anything of it. `never_ran` says
    whether the recipe's code is not known to have run on that chip."""

    row: Throughput
    recipe: Recipe
    estimate: Estimate
    never_ran: bool
    is_transformer: bool

    @property
    def case(self) -> Case:
        """ln(predicted / measured time) at the recipe's image sizes, from the middle of the answer's range, which it brings. The
        baseline is the middle of all codes, NaN where nobody knows it."""
        shown = self.estimate
        rate = _images_per_second(self.recipe, shown.epochs, self.row)
        measured = math.log(shown.hours * (shown.images_per_second or 0) / rate)
        low, high = math.log(shown.hours_low), math.log(shown.hours_high)
        wide = (high - low) / 2
        others = math.nan
        if shown.usual_hours_low and shown.usual_hours_high:
            others = (math.log(shown.usual_hours_low) + math.log(shown.usual_hours_high)) / 2 - measured
        return Case(self.row.name, self.row.organisation, (low + high) / 2 - measured, others, (wide, wide * WIDER))


def _images_per_second(recipe: Recipe, epochs: float, row: Throughput) -> float:
    """The row's rate if its images had the sizes of the recipe's, up to these epochs."""
    spent = [(max(min(p.to_epoch, epochs) - p.from_epoch, 0.0), p.image_size) for p in recipe.phases]
    cost = sum(share * (size / row.image_size) ** SIZE_EXPONENT for share, size in spent)
    return float(training_rate(row) * sum(share for share, _ in spent) / cost)


def chosen_answers(published: Published, one_in: int = 1) -> list[Chosen]:
    """For every rate of training in one machine, of networks that have recipes; of the folds of organisations one in so many."""
    evidence = published.evidence
    rows = [row for row in evidence.throughputs if row.stack != "mlperf"]
    wanted = [row for row in rows if row.nodes == 1 and row.accelerators and _target(evidence, row.model)]
    organisations = sorted(
        {row.organisation for row in wanted}, key=lambda who: (-sum(r.organisation == who for r in wanted), who)
    )
    measured = ratios(evidence.throughputs, evidence.fitted.reference, evidence.models)
    return [
        found
        for fold in range(0, FOLDS, one_in)
        for hidden in [frozenset(organisations[fold::FOLDS])]
        if hidden
        for found in answered(
            without(evidence, hidden, measured), [row for row in wanted if row.organisation in hidden]
        )
    ]


def on_one_device(evidence: Evidence) -> list[Chosen]:
    """What this evidence answers for the rates of `device_speeds`, without those of the same network. Each network was timed
    in several ways, for a range must hold whatever way somebody runs it."""
    return [
        found
        for model in dict.fromkeys(row.model for row in evidence.device_speeds)
        for found in answered(
            _with_loops(evidence, [row for row in evidence.device_speeds if row.model != model]),
            [row for row in evidence.device_speeds if row.model == model],
        )
    ]


def _with_loops(evidence: Evidence, timed: Sequence[Throughput]) -> Evidence:
    """The evidence with these rates of plain loops alone."""
    fitted = evidence.fitted
    transfer = with_loops(fitted.transfer, ratios(timed, fitted.reference, evidence.models))
    return replace(evidence, device_speeds=tuple(timed), fitted=replace(fitted, transfer=transfer))


def answered(known: Evidence, wanted: Sequence[Throughput]) -> Iterator[Chosen]:
    """What is chosen for each of these rates by this evidence, where its recipe computes in the same bits."""
    by_model: dict[str, list[Throughput]] = defaultdict(list)
    for row in wanted:
        by_model[row.model].append(row)
    for model, rows in by_model.items():
        target = _target(known, model)
        if target and known.fitted.transfer.knows(model):
            yield from _of_model(known, model, target, rows)


def _of_model(evidence: Evidence, model: str, target: float, rows: Sequence[Throughput]) -> Iterator[Chosen]:
    catalogue = made_up_offers(
        evidence.accelerators,
        {(row.accelerator, row.accelerators) for row in rows if row.accelerator in evidence.accelerators},
    )
    query = EstimateQuery(model, target, overheads="none", confidence=0.5, limit=1000, pipeline="none")
    recipes = {recipe.name: recipe for recipe in evidence.recipes_of(model)}
    found = {
        each.instance_type: each
        for each in reversed(answer(query, evidence, catalogue, TODAY, memory=Memory()).estimates)
    }
    for row in rows:
        estimate = found.get(f"{row.accelerator}-{row.accelerators}")
        if estimate and estimate.recipe in recipes and bits(estimate.precision) == bits(row.precision):
            recipe = recipes[estimate.recipe]
            yield Chosen(row, recipe, estimate, not _ran(evidence, recipe, row), evidence.models[model].is_transformer)


def _ran(evidence: Evidence, recipe: Recipe, row: Throughput) -> bool:
    """Whether the recipe's code was seen on the row's chip."""
    seen = [
        one
        for one in evidence.throughputs
        if (one.stack, one.framework_family) == (recipe.stack, recipe.framework_family)
    ]
    names = {one.accelerator for one in seen} | ({recipe.system.accelerator} if recipe.system else set())
    chip = part(evidence.accelerators, row.accelerator).chip
    return chip in {part(evidence.accelerators, name).chip for name in names}


def without(evidence: Evidence, hidden: frozenset[str], measured: Sequence[Ratio]) -> Evidence:
    """All that is known without these organisations, MLPerf's rates of theirs apart."""
    kept = [ratio for ratio in measured if ratio.row.stack == "mlperf" or ratio.row.organisation not in hidden]
    recipes = tuple(one for one in evidence.recipes if one.is_mlperf or one.organisation not in hidden)
    fitted = replace(evidence.fitted, transfer=fit_transfer(kept, evidence.models, evidence.accelerators))
    known = replace(evidence, throughputs=tuple(ratio.row for ratio in kept), recipes=recipes, fitted=fitted)
    return _with_loops(known, evidence.device_speeds)


def _target(evidence: Evidence, model: str) -> float | None:
    ends = [
        one.evaluations[-1].top1 for one in evidence.recipes_of(model) if one.kind == "ordinary" and one.evaluations
    ]
    known = [end for end in ends if end]
    return median(known) - BELOW_ENDS if known else None
