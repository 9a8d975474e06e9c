"""`/launch`: the machines of the best estimate that a launcher can rent, and what to expect of the run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from api.questions.errors import NotFound
from api.questions.schemas import BY_THE_HOUR
from api.questions.suggestions import many
from api.reports.left_out import left_out
from api.service import Service, query_of
from costcalc.answers import Answer, Estimate
from costcalc.catalogue.catalogue import Catalogue
from costcalc.offers import PurchaseOption
from costcalc.picks import PickName
from costcalc.programs import Program
from costcalc.query import EstimateQuery
from pricing.packaged.launchers import LaunchName, launch_name, launchable_providers

Launcher = Literal["skypilot", "dstack"]
MOST_SEARCHED = 1000
TITLES: dict[Launcher, str] = {"skypilot": "SkyPilot", "dstack": "dstack"}


@dataclass(frozen=True, slots=True)
class Launchable:
    """An estimate, and what the launcher calls its machine."""

    estimate: Estimate
    name: LaunchName


@dataclass(frozen=True, slots=True)
class LaunchReport:
    """One question, the launcher that rents its answer, and the command to run there; empty where none was given."""

    service: Service
    catalogue: Catalogue
    query: EstimateQuery
    launcher: Launcher
    command: str
    pick: PickName = "cheapest"

    @property
    def title(self) -> str:
        """What the launcher calls itself."""
        return TITLES[self.launcher]

    def machines(self) -> tuple[Launchable, ...]:
        """The pick asked for, or the best that the launcher rents, then others that train alike on as many machines, in order.

        There are at most `query.limit`. Raises NotFound if there are none.
        """
        answer = self.service.answer(replace(self.question, limit=MOST_SEARCHED), self.catalogue)
        picked = [pick.estimate for pick in answer.picks if pick.name == self.pick]
        found = self._launchable((*picked, *answer.best, *answer.estimates))
        if not found:
            raise NotFound(self._nothing(answer), "to")
        first = found[0].estimate
        others = self._launchable(each for each in answer.estimates if each != first and _like(each) == _like(first))
        return (found[0], *others)[: self.query.limit]

    def program(self, estimate: Estimate) -> Program | None:
        """The code of an estimate's recipe, None where nobody described it."""
        recipes = self.service.evidence_for(self.query).recipes_of(self.query.model)
        return next((each.program for each in recipes if each.name == estimate.recipe), None)

    def _launchable(self, estimates: Iterable[Estimate]) -> list[Launchable]:
        return [one for each in estimates if (one := launchable(self.launcher, each))]

    @property
    def question(self) -> EstimateQuery:
        """The question about what the launcher rents: by the hour, from clouds that it knows. Raises NotFound."""
        rented = launchable_providers(self.launcher)
        providers = tuple(name for name in self.query.provider if name in rented) or rented
        if self.query.provider and not set(self.query.provider) & set(rented):
            raise NotFound(f"{self.title} rents from {', '.join(rented)}: name one of these", "provider")
        return replace(self.query, provider=providers, purchase=self.query.purchase or (PurchaseOption.ON_DEMAND,))

    def _nothing(self, answer: Answer) -> str:
        if answer.count:
            return f"{self.title} rents none of the machines of {many(answer.count, 'estimate')}: allow more machines"
        return f"no estimate remains: {left_out(answer)}"


def _like(each: Estimate) -> tuple[object, ...]:
    """What another machine must have in common to stand in."""
    return each.recipe, each.nodes, each.purchase_option, each.confirmed, each.runs_here


def launchable(launcher: Launcher, estimate: Estimate) -> Launchable | None:
    """The estimate as the launcher rents it; None where it does not rent such a machine."""
    name = launch_name(launcher, estimate.provider, estimate.instance_type, estimate.accelerator)
    return Launchable(estimate, name) if name else None


def launchers(estimate: Estimate) -> list[Launcher]:
    """Those that rent an estimate's machines as it buys them."""
    by_the_hour = estimate.purchase_option in BY_THE_HOUR
    return [launcher for launcher in TITLES if by_the_hour and launchable(launcher, estimate)]


def launch_report(service: Service, catalogue: Catalogue, values: dict[str, Any]) -> LaunchReport:
    """The report that parsed parameters of `/launch` ask for."""
    asked = {name: value for name, value in values.items() if name not in ("to", "run", "pick")}
    how = values["to"], values.get("run", ""), values.get("pick", "cheapest")
    return LaunchReport(service, catalogue, query_of(asked, limit=5), *how)
