"""What is answered where a sentence leaves something open: it names ImageNet but no network; it compares several networks,
accuracies or machines; it asks for the highest accuracy, or names none and the usual one is not reached on what it allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from decimal import Decimal
from functools import cached_property
from weakref import ref

from msgspec.structs import replace

from api.questions.words.elsewhere import MOST_ACCURACY
from api.questions.words.in_words import side_in_words
from api.questions.words.settling import which
from api.questions.words.understanding import Understanding
from api.reports.advice import Advice
from api.reports.paging import OfQuery
from api.reports.verdict import in_short
from api.reports.within_reach import last_that, most_allowed
from api.service import Service
from costcalc.answers import Answer
from costcalc.catalogue.catalogue import Catalogue
from costcalc.money import money
from costcalc.networks import Networks
from costcalc.offer import PurchaseOption
from costcalc.query import EstimateQuery
from costcalc.tasks.goals import percent_in_words
from costcalc.units import in_words

ANY = "resnet50"
LIMITS = {"max_cost", "max_hours"}
TARGETS = tuple(thousandths / 1000 for thousandths in range(500, 1000, 5))
FINE_TARGETS = tuple(thousandths / 1000 for thousandths in range(300, 1000))
ENERGY = "energy_kwh"


def with_a_network(service: Service, catalogue: Catalogue, meant: Understanding) -> Understanding:
    """A sentence about ImageNet that lacks only its network with one; as it is where nothing is said that could choose it. Raises
    BadParameters for a value that no question takes."""
    given = meant.parameters
    if "dataset" not in given or not given.keys() & {"target", *LIMITS}:
        return meant
    query, _ = service.question({"target": ["0.5"], **given, "model": [ANY]}, catalogue)
    unnamed = _Unnamed(service, catalogue, of_own_machine(query))
    before, best = "", query.target if "target" in given else most_allowed(unnamed.answer, TARGETS)
    if "target" not in given:
        before = "{} is the most within these limits, and "
    elif not unnamed.reaching(query.target):
        best = last_that(lambda each: bool(unnamed.reaching(each)), TARGETS)
        before = f"none is known to reach {percent_in_words(query.metric, query.target)}; {{}} is the most, and "
    if best is None:
        return meant
    return _answered(unnamed, meant, best, before.format(percent_in_words(query.metric, best)))


def of_own_machine(query: EstimateQuery) -> EstimateQuery:
    """The query about the user's own machine alone, where one is named: what this reaches is meant."""
    return replace(query, purchase=(PurchaseOption.OWNED,)) if query.own and not query.purchase else query


def _answered(unnamed: _Unnamed, meant: Understanding, target: float, before: str) -> Understanding:
    first, *others = networks = unnamed.reaching(target)
    reached = "it" if before else percent_in_words(unnamed.query.metric, target)
    reason = f"{first} alone reaches {reached}"
    if others:
        second = " and ".join(others[:2])
        reason = f"of {len(networks)} that reach {reached}, {first} takes the least computing, then {second}"
    chosen = {"model": [first], "target": [f"{target:g}"]}
    choice = (f"No network is named: {before}{reason}.",)
    return replace(meant, chosen=chosen, choice=choice, is_question=True, asked=())


@dataclass(frozen=True)
class _Unnamed(OfQuery):
    """The networks that a query may be about, whose own network and target count for nothing."""

    @cached_property
    def _networks(self) -> Networks:
        evidence, moment = self.service.evidence, self.query.as_of or self.service.clock()
        day = evidence.last_publication(moment.astimezone(UTC).date())
        shelf = self.service.memory.shelf(evidence.of_own_run)
        return shelf.recall((ref(evidence), day, "networks"), lambda: Networks.of(evidence.known_on(day)))

    def reaching(self, target: float) -> tuple[str, ...]:
        """The networks that reach it, the least computing first."""
        names = ("metric", "confidence", "training", "crossing", "recipe")
        alike = {name: getattr(self.query, name) for name in names}
        return self._networks.by_computing(EstimateQuery(ANY, target, **alike))

    def answer(self, target: float) -> Answer | None:
        """The answer for the network that reaches it with the least computing."""
        networks = self.reaching(target)
        return self.ask(model=networks[0], target=target) if networks else None


def with_one_of(service: Service, catalogue: Catalogue, meant: Understanding) -> Understanding:
    """A sentence that compares, with the side that costs least, or ends first where it goes by time; it is said what each takes.
    As it is where none has an answer. Raises BadParameters for a value that one of them does not take."""
    queries = [service.question({**meant.answered, **side}, catalogue)[0] for side in meant.several]
    answers = [service.answer(query, catalogue) for query in queries]
    pairs = [(answer, side) for answer, side in zip(answers, meant.several, strict=True) if answer.picks]
    if not pairs:
        return meant
    by_time = queries[0].sort == "time"
    _, side = min(pairs, key=lambda pair: pair[0].lead.hours if by_time else float(_cost(pair[0])))
    sides = "; ".join(map(_in_short, answers, meant.several))
    if "model" in meant.several[0] and len(pairs) == len(answers) and not by_time:
        sides += f"; together {money(sum(map(_cost, answers), Decimal()), queries[0].currency)}"
    choice = f"{sides}. The answer below is for {side_in_words(side)}, which {'finishes first' if by_time else 'costs least'}."
    others = tuple(each for each in meant.asked if not each.startswith(tuple(map(which, side))))
    chosen = {**meant.chosen, **side}
    return replace(meant, chosen=chosen, choice=(*meant.choice, choice), is_question=True, asked=others)


def _cost(answer: Answer) -> Decimal:
    return answer.lead.cost(answer.basis).cost


def _in_short(answer: Answer, side: Mapping[str, list[str]]) -> str:
    what = side_in_words(side)
    if {"model", "target"} & side.keys():
        goal = percent_in_words(answer.query.metric, answer.query.target)
        what = f"{side['model'][0]} to {goal}" if "model" in side else goal
    if not answer.picks:
        return f"{what}: no estimate (ask for it alone to see why)"
    lead = answer.lead
    return f"{what}: {lead.price(answer.basis)}, {in_words(lead.hours)} on {in_short(lead)}"


def with_a_target(meant: Understanding, report: Advice) -> Understanding:
    """A sentence about a network of ImageNet that names no accuracy with the highest that its conditions allow, where it asks for
    that, or where they do not allow the usual one; as it is otherwise."""
    most = next((each for each in meant.asked if each.startswith(MOST_ACCURACY)), None)
    query, service = report.query, report.service
    if "target" in meant.answered or query.epochs or not service.evidence.find_model(query.model):
        return meant
    if not most and report.answer.count:
        return meant

    limited = query.own or query.accelerators or query.nodes or query.max_cost
    wholes = [{"accelerators": ["1"]}, {}] if most and query.accelerator and not limited else [{}]
    attempts = ((count, _highest(report, 1 if count else query.accelerators)) for count in wholes)
    count, best = next((attempt for attempt in attempts if attempt[1]), ({}, None))
    if best is None:
        return meant
    goal, where = percent_in_words(query.metric, best), "with one of them" if count else "here"
    usual = percent_in_words(query.metric, query.target)
    choice = f"No accuracy is named; the usual {usual} is out of reach here, so this is for {goal}."
    if most:
        lower = f"{most.removeprefix(MOST_ACCURACY).removeprefix(': ask')} shows what lower accuracies cost"
        choice = f"{goal} is the highest accuracy that {query.model} is known to reach {where};{lower}."
    others = tuple(each for each in meant.asked if each != most)
    chosen = {**meant.chosen, **count, "target": [f"{best:g}"]}
    return replace(meant, chosen=chosen, choice=(*meant.choice, choice), asked=others)


def _highest(report: Advice, accelerators: int | None) -> float | None:
    """The highest accuracy that the conditions of a question allow with so many accelerators."""
    report = Advice(report.service, report.catalogue, replace(of_own_machine(report.query), accelerators=accelerators))
    return most_allowed(lambda target: report.ask(target=target), FINE_TARGETS)


def with_its_energy(meant: Understanding, report: Advice) -> Understanding:
    """A sentence that asks for energy or emissions with those of the first pick of which they are known; as it is where they are
    of none."""
    about = [each for each in meant.asked if ENERGY in each]
    if not about:  # most sentences: nothing waits for an answer here
        return meant
    answer = report.answer
    by_cost = sorted(answer.picked.values(), key=lambda estimate: estimate.cost(answer.basis).cost)
    picks = [answer.lead, *by_cost] if by_cost else []
    each = next((estimate for estimate in picks if estimate.energy_kwh is not None), None)
    if each is None or each.energy_kwh is None:
        return meant
    drawn, carbon = (f"{float(f'{amount:.2g}'):,.12g}" for amount in (each.energy_kwh, each.carbon_kg or 0))
    emitted = (
        f" and emits {carbon} kg of CO2" if each.carbon_kg is not None else "; the emissions of its grid are not known"
    )
    unknown = "" if each == answer.lead else f"Its energy on {in_short(answer.lead)} is not known. "
    others = tuple(line for line in meant.asked if line not in about)
    energy = (
        f"{unknown}On {in_short(each)} it uses {drawn} kWh{emitted}; each estimate has its energy_kwh and carbon_kg."
    )
    return replace(meant, choice=(*meant.choice, energy), asked=others)
