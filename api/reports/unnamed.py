"""The network that is answered where a sentence names ImageNet, but none: the one that takes the least computing to its accuracy,
or to the highest accuracy that its limits allow."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from functools import cached_property
from weakref import ref

from msgspec.structs import replace

from api.questions.words.understanding import Understanding
from api.reports.paging import OfQuery
from api.reports.within_reach import last_that, most_allowed
from api.service import Service
from costcalc.answers import Answer
from costcalc.catalogue.catalogue import Catalogue
from costcalc.networks import Networks
from costcalc.offer import PurchaseOption
from costcalc.query import EstimateQuery
from costcalc.tasks.goals import metric_name

ANY = "resnet50"
LIMITS = {"max_cost", "max_hours"}
TARGETS = tuple(thousandths / 1000 for thousandths in range(500, 1000, 5))


def with_a_network(service: Service, catalogue: Catalogue, meant: Understanding) -> Understanding:
    """A sentence about ImageNet that lacks only its network with one; as it is where nothing is said that could choose it. Raises
    BadParameters for a value that no question takes."""
    given = meant.parameters
    if "dataset" not in given or not given.keys() & {"target", *LIMITS}:
        return meant
    query, _ = service.question({"target": ["0.5"], **given, "model": [ANY]}, catalogue)
    unnamed = _Unnamed(service, catalogue, of_own_machine(query))
    if "target" in given:
        return _reaching(unnamed, meant, query.target)
    best = most_allowed(unnamed.answer, TARGETS)
    if best is None:
        return meant
    return _answered(unnamed, meant, best, f"{_in_words(query, best)} is the most within these limits, and ")


def of_own_machine(query: EstimateQuery) -> EstimateQuery:
    """The query about the user's own machine alone, where one is named: what this reaches is meant."""
    return replace(query, purchase=(PurchaseOption.OWNED,)) if query.own and not query.purchase else query


def _reaching(unnamed: _Unnamed, meant: Understanding, target: float) -> Understanding:
    if unnamed.reaching(target):
        return _answered(unnamed, meant, target)
    most = last_that(lambda each: bool(unnamed.reaching(each)), TARGETS)
    if most is None:
        return meant
    wanted, best = (_in_words(unnamed.query, each) for each in (target, most))
    return _answered(unnamed, meant, most, f"none is known to reach {wanted}; {best} is the most, and ")


def _answered(unnamed: _Unnamed, meant: Understanding, target: float, before: str = "") -> Understanding:
    first, *others = networks = unnamed.reaching(target)
    reached = "it" if before else _in_words(unnamed.query, target)
    reason = f"{first} alone reaches {reached}"
    if others:
        second = " and ".join(others[:2])
        reason = f"of {len(networks)} that reach {reached}, {first} takes the least computing, then {second}"
    chosen = {"model": [first], "target": [f"{target:g}"]}
    choice = (f"No network is named: {before}{reason}.",)
    return replace(meant, chosen=chosen, choice=choice, is_question=True, asked=())


def _in_words(query: EstimateQuery, target: float) -> str:
    return f"{target * 100:g} % {metric_name(query.metric)}"


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
