"""The answer to a question about cost, with what to make of it: the verdict, and the changes of the question that find more."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from typing import Any, get_args

from msgspec.structs import replace

from api.questions.regions import located
from api.reports.by_tokens import what_is_trained
from api.reports.glance import Counted, Points
from api.reports.goal import goal, work
from api.reports.left_out import Hints, nothing
from api.reports.next_step import next_step
from api.reports.paging import OfQuery
from api.reports.unused import unused
from api.reports.verdict import verdict
from costcalc.answers import Answer
from costcalc.catalogue.catalogue import OfferFilter
from costcalc.estimate import Asked
from costcalc.evidence.published_runs import find_published
from costcalc.query import EstimateQuery
from costcalc.units import in_words
from pricing.packaged.providers import provider


class Advice(OfQuery):
    """A question's answer in words, and all its estimates at a glance."""

    @cached_property
    def answer(self) -> Answer:
        """The estimates and the verdict; where there are none or a few, with the changes of the question that bring more."""
        hints = Hints(self._asked.evidence, self._answer_instead, self._last_seen)
        answer = hints.added(self._plain)
        missing = "" if answer.count else nothing(answer)
        step = next_step(answer, self.service.evidence.accelerators)
        last = f"Next: {step.text}." if step else ""
        return replace(answer, verdict=verdict(answer, self.notes, missing, last), next=step)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What to know before the figures: what part of a training it is, whose target it is where the question names none,
        that regions asked about have no rates and which ones stand in, and what the question states in vain."""
        as_of = self.query.as_of or self.service.clock()
        catalogue = self.service.at(self.catalogue, self.query.as_of)
        stand_ins = located(self.query, catalogue, as_of, self.service.sources).notes
        about = " ".join((*goal(self.query), *work(self.query), *what_is_trained(self.query), *self._stated_bill()))
        return tuple(filter(None, (about, *stand_ins, " ".join(self.in_vain()))))

    def in_vain(self) -> Iterator[str]:
        return unused(self.query, lambda query: [self._plain if query == self.query else self._answer_instead(query)])

    def _stated_bill(self) -> Iterator[str]:
        """What the hours that the question states cost where they were spent: now, and on the day that it names."""
        query = self.query
        if query.took is None:
            return
        [home] = query.on
        if run := find_published(query.model):
            yield run.sentence
        there = {"accelerator": (home.accelerator,), "accelerators": home.accelerators, "limit": 1, "pick": "cheapest"}
        moments = [*filter(None, (query.took_on,)), query.as_of]
        costs = [*filter(None, (self._least_cost(replace(query, as_of=moment, **there)) for moment in moments))]
        on = f"{home.accelerators} {home.accelerator}"
        if costs:
            yield f"{in_words(query.took)} on {on} cost {', and '.join(costs)}."
            yield "Whether it fits fewer or smaller cards is not known."
        else:
            yield f"No provider is known to rent out {on} on demand."

    def _least_cost(self, query: EstimateQuery) -> str:
        """`$829.44 on 2023-06-30 at Lambda`; empty where nobody rents it."""
        answer = self.service.answer(query, self.catalogue)
        least, when = answer.picked.get("cheapest"), f"on {query.as_of:%Y-%m-%d}" if query.as_of else "now"
        return f"{least.price(answer.basis)} {when} at {provider(least.provider).name}" if least else ""

    @cached_property
    def _plain(self) -> Answer:
        return self.service.answered(self._asked)

    @cached_property
    def _asked(self) -> Asked:
        return self.service.asked(self.query, self.catalogue)

    def _answer_instead(self, query: EstimateQuery) -> Answer:
        """The answer to a changed question, for which another region than for this one may stand in."""
        instead = replace(query, region=self.query.region) if query.region else query
        return self.service.answer(instead, self.catalogue)

    def _last_seen(self, query: EstimateQuery) -> datetime | None:
        now, wanted = self.service.clock(), OfferFilter.of(query)
        return self.catalogue.last_seen(query.as_of or now, wanted) or self.catalogue.last_seen(now, wanted)

    @property
    def nothing(self) -> str:
        """Why there is no estimate, and which changes of the question find some; empty where there is one."""
        answer = self.answer
        return "" if answer.count else " ".join([f"{nothing(answer)}.", *(hint.sentence for hint in answer.hints)])

    @cached_property
    def points(self) -> Points:
        """All estimates at a glance."""
        return Points(self._asked)

    def counts(self) -> dict[str, list[tuple[str, int]]]:
        """By filter, every name that it may have with the number of estimates that it would leave, most first."""
        return {name: self._counted(name) for name in get_args(Counted)}

    def _counted(self, name: Counted) -> list[tuple[str, int]]:
        query, points = self._asked.query, self.points
        if chosen := getattr(query, name):
            dropped: dict[str, Any] = {name: ()}
            points = Points(self.service.asked(replace(query, **dropped), self.catalogue))
        counted = {**dict.fromkeys(map(str, chosen), 0), **points.counted(name)}
        return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
