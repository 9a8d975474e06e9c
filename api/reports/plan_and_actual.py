"""What was predicted of the user's own runs beside what they took, term by term, and how far off it was over all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import numpy as np
from msgspec.structs import replace

from api.questions.errors import NotFound
from api.questions.fields import LAST_SECOND
from api.questions.suggestions import unknown
from api.service import Service
from costcalc.answers import Estimate
from costcalc.catalogue.catalogue import EVER, Catalogue
from costcalc.evidence import normalised
from costcalc.offer import YOURS, Offer, PurchaseOption
from costcalc.query import EstimateQuery
from costcalc.throughput.workloads import REFERENCE_SIZE
from costcalc.training import Crossing, Metric
from own_runs.asking import OwnModel
from own_runs.runs import Run

SURE_ENOUGH = 1e-6  # whatever the chance was, the run ended there
PERCENT = 100
MOST_DAYS_APART = 62  # a bill's rate is seen at the end of its month


@dataclass(frozen=True, slots=True)
class Term:
    """A part of the answer: what was predicted, None where nobody could, and what it was, None where the log does not tell."""

    name: str
    predicted: float | None
    took: float | None
    unit: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run beside what would have been answered on its day without it. `predicted_from` names what that rests on, None where
    nothing is known of its network. Hours have their 80 % interval. `paid_by` names the own sheet or bill whose rate the run was
    paid by; without one the dollars are at the same rate."""

    run: str
    predicted_from: str | None
    machine: str | None
    hours_low: float | None
    hours_high: float | None
    terms: tuple[Term, ...]
    paid_by: str | None = None

    @property
    def hours(self) -> Term:
        return next(term for term in self.terms if term.name == "hours")

    @property
    def error(self) -> float | None:
        """How far the predicted hours are off, as a share of what it took."""
        predicted, took = self.hours.predicted, self.hours.took
        return None if predicted is None or not took else predicted / took - 1

    @property
    def is_within(self) -> bool | None:
        if self.hours_low is None or self.hours_high is None or self.hours.took is None:
            return None
        return self.hours_low <= self.hours.took <= self.hours_high


@dataclass(frozen=True, slots=True)
class Score:
    """Over the `predicted` of all `runs`: the mean absolute error of the hours, None without any, and how many took as long as
    their interval says."""

    runs: int
    predicted: int
    mape: float | None
    within: int


def comparisons(service: Service, name: str | None = None) -> tuple[Comparison, ...]:
    """The comparison of the run of that name, or of all runs of the user's own. Raises NotFound."""
    if name is None:
        return tuple(_comparison(service, own) for own in service.own.values() if own.shared_by is None)
    own = service.own.get(normalised(name))
    if own is None:
        names = [each.run.name for each in service.own.values()]
        raise NotFound(unknown("run", name, names, "costcalc recipes list shows them"))
    return (_comparison(service, own),)


def score(compared: Iterable[Comparison]) -> Score:
    """How far off what was predicted is over all runs."""
    every = list(compared)
    errors = [abs(each.error) for each in every if each.error is not None]
    mape = sum(errors) / len(errors) if errors else None
    return Score(len(every), len(errors), mape, sum(each.is_within is True for each in every))


def _comparison(service: Service, own: OwnModel) -> Comparison:
    run, query = own.run, _asked(service, own)
    for estimate in service.answer(query, service.catalogue()).estimates if query else ():
        return _predicted(service, run, estimate)
    paid = _own_rate(service.catalogue(), run, PurchaseOption.ON_DEMAND)
    terms = [Term("epochs", None, run.epochs, ""), Term("hours", None, run.hours, "h")]
    if paid:
        terms.append(Term("dollars", None, float(run.nodes * paid.hourly_rate) * run.hours, paid.currency))
    return Comparison(run.name, None, None, None, None, tuple(terms), _source(paid))


def _predicted(service: Service, run: Run, estimate: Estimate) -> Comparison:
    """A run beside the estimate of its day: of other work than a run of the same task, it predicts the speed alone."""
    knows_epochs = _is_of_same_task(service, run, estimate.model)
    share = 1.0 if knows_epochs else run.epochs * run.samples_per_epoch / _samples(service, estimate)
    overhead, train = estimate.overhead_hours, share * estimate.train_hours
    hours, took = train + overhead, run.hours + overhead
    low, high = (share * (end - overhead) + overhead for end in (estimate.hours_low, estimate.hours_high))
    paid = _own_rate(service.catalogue(), run, estimate.purchase_option, estimate.currency)
    rate = run.nodes * paid.hourly_rate if paid else estimate.hourly_rate
    dollars, same = (float(estimate.bill.billed(Decimal(repr(each)))) for each in (hours, took))
    return Comparison(
        run=run.name,
        predicted_from=f"{estimate.recipe}: {estimate.evidence_notes.throughput}",
        machine=f"{estimate.nodes} x {estimate.instance_type} of {estimate.provider}",
        hours_low=low,
        hours_high=high,
        terms=(
            Term("epochs", estimate.epochs if knows_epochs else None, run.epochs, ""),
            Term("speed", estimate.images_per_second, run.samples_per_second, "samples/s"),
            Term("training", train, run.hours, "h"),
            Term("overhead", overhead, None, "h"),  # the log begins when training does
            Term("hours", hours, took, "h"),
            Term("rate", float(estimate.hourly_rate), float(rate), f"{estimate.currency}/h"),
            Term("dollars", dollars, float(rate) * took if paid else same, estimate.currency),
        ),
        paid_by=_source(paid),
    )


def _source(paid: Offer | None) -> str | None:
    return paid.source if paid else None


def _own_rate(catalogue: Catalogue, run: Run, option: PurchaseOption, currency: str | None = None) -> Offer | None:
    """The rate of the user's own sheet or bill for such a machine, bought so, that was seen nearest to the day of the run."""
    flags = [code for code, text in enumerate(catalogue.vocabulary.flags) if YOURS in text.split(";")]
    own = map(catalogue.offer, np.flatnonzero(np.isin(catalogue.columns.flags, flags)).tolist())
    size = run.accelerator, run.accelerators // run.nodes
    near = [
        (abs((offer.observed_at.date() - run.ran_on).days), offer)
        for offer in own
        if (offer.machine.accelerator, offer.machine.accelerators) == size
        and run.instance_type in (None, offer.instance_type)
        and run.provider in (None, offer.provider)
        and (offer.purchase_option, offer.currency) == (option, currency or offer.currency)
    ]
    days, offer = min(near, key=lambda each: each[0], default=(0, None))
    return offer if days <= MOST_DAYS_APART else None


def _samples(service: Service, estimate: Estimate) -> float:
    """What the predicted training goes through."""
    recipes = service.evidence_about(estimate.model).recipes_of(estimate.model)
    per_epoch = next(recipe.samples_per_epoch for recipe in recipes if recipe.name == estimate.recipe)
    return estimate.epochs * per_epoch


def _is_of_same_task(service: Service, run: Run, model: str) -> bool:
    """Whether the epochs of what it is predicted from say something of its own: the same data set and metric."""
    other = service.own.get(normalised(model))
    if other:
        return (other.run.dataset, other.run.metric) == (run.dataset, run.metric)
    return _metric(run) is not None


def _metric(run: Run) -> Metric | None:
    """ImageNet's metric that a run on it logged."""
    named, metrics = run.metric.casefold().replace("-", ""), Metric if run.dataset == "imagenet" else ()
    return next((metric for metric in metrics if metric.value in named or f"acc{metric.value[-1]}" in named), None)


def _asked(service: Service, own: OwnModel) -> EstimateQuery | None:
    """The question on the day of the run: about an earlier run of the same network, data set and metric, else about the network
    itself where it is known; None where neither is."""
    same = (own.run.model, own.run.dataset, own.run.metric)
    before = (other.run for other in service.own.values() if other.run.added_at < own.run.added_at)
    alike = [run for run in before if (run.model, run.dataset, run.metric) == same]
    run, earlier = own.run, max(alike, key=lambda run: run.added_at, default=None)
    query = EstimateQuery(
        model=run.model,
        target=0.0,
        accelerator=(run.accelerator,),
        accelerators=run.accelerators,
        nodes=run.nodes,
        confidence=SURE_ENOUGH,
        as_of=datetime.combine(run.ran_on, LAST_SECOND),
        max_price_age=EVER,
        limit=1,
        sort="time",
        provider=tuple(filter(None, [run.provider])),
        instance_type=tuple(filter(None, [run.instance_type])),
    )
    if earlier is None:
        return _of_network(service, run, query)
    target = max(run.reached, earlier.reached) if earlier.lower_is_better else min(run.reached, earlier.reached)
    return replace(query, model=earlier.name, target=target, metric=run.metric, dataset=run.dataset, recipes="all")


def _of_network(service: Service, run: Run, query: EstimateQuery) -> EstimateQuery | None:
    """About the network's recipes on images of the run's size; on other data for the sake of their speed alone."""
    network = service.evidence.find_model(run.model)
    recipes = service.evidence.recipes_of(network.name) if network else ()
    sizes = {run.image_size or (network and network.image_size) or REFERENCE_SIZE}
    recipes = tuple(recipe for recipe in recipes if {phase.image_size for phase in recipe.phases} == sizes) or recipes
    metric = _metric(run)
    values = [point.in_metric(metric or Metric.TOP1) or 0.0 for recipe in recipes for point in recipe.evaluations]
    if not values:
        return None
    reached = run.reached / PERCENT if run.reached > 1 else run.reached
    target = min(reached, max(values)) if metric else sorted(values)[len(values) // 2]
    names = tuple(recipe.name for recipe in recipes)
    return replace(query, target=target, metric=metric or Metric.TOP1, crossing=Crossing.FIRST, recipe=names)
