"""`/launch`: the machines of the best estimate that a launcher can rent, and what to expect of the run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from api.questions.errors import BadParameters, NotFound
from api.questions.schemas.trainings import BY_THE_HOUR
from api.questions.suggestions import many
from api.questions.values import Values
from api.reports.left_out import left_out
from api.reports.starts import Start, start_of
from api.service import Service, query_of
from costcalc.answers import Answer, Estimate
from costcalc.catalogue.catalogue import Catalogue
from costcalc.offers import PurchaseOption
from costcalc.picks import PickName
from costcalc.query import EstimateQuery
from costcalc.training import Recipe
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
    """One question, the launcher that rents its answer, the command to run there, and where data set and checkpoints lie.

    Without a command the machines are those on which the recipe's code starts, as far as that is known.
    """

    service: Service
    catalogue: Catalogue
    query: EstimateQuery
    launcher: Launcher
    command: str
    pick: PickName = "cheapest"
    data: str = ""
    checkpoints: str = ""

    @property
    def title(self) -> str:
        """What the launcher calls itself."""
        return TITLES[self.launcher]

    def machines(self) -> tuple[Launchable, ...]:
        """The pick asked for, or the best that the launcher rents, then others that train alike on as many machines, in order.

        There are at most `query.limit`. Raises NotFound if there are none.
        """
        found = self._in_order()
        first = next((each for each in found if self.start(each.estimate)), found[0])
        alike = [each for each in found if each != first and self._like(each.estimate) == self._like(first.estimate)]
        return (first, *dict.fromkeys(alike))[: self.query.limit]

    def passed_over(self) -> Estimate | None:
        """The one that would come first, if its code does not start there."""
        first = self._in_order()[0]
        return None if first == self.machines()[0] else first.estimate

    def start(self, estimate: Estimate) -> Start | None:
        """How the recipe's code starts on these machines; None where that is not known, or where a command was given."""
        chip, start = self.service.evidence.accelerators.get(estimate.accelerator), start_of(estimate.recipe)
        machine = launchable(self.launcher, estimate)
        if self.command or start is None or chip is None or machine is None or not machine.name.starts_images:
            return None
        return start if start.runs_on(chip, estimate.nodes) else None

    def recipe(self, estimate: Estimate) -> Recipe | None:
        """The recipe of an estimate, None where it is a task's or one's own word."""
        recipes = self.service.evidence_for(self.query).recipes_of(self.query.model)
        return next((each for each in recipes if each.name == estimate.recipe), None)

    def _like(self, each: Estimate) -> tuple[object, ...]:
        """What another machine must have in common to stand in; the script of a recipe's code counts the accelerators."""
        start = self.start(each)
        script = (start.commit, each.accelerators) if start else ()
        return each.recipe, each.nodes, each.purchase_option, each.confirmed, each.runs_here, script

    def _in_order(self) -> list[Launchable]:
        """All that the launcher rents: the pick, the best, then those with a confirmed rate, by the question's order."""
        answer = self.service.answer(replace(self.question, limit=MOST_SEARCHED), self.catalogue)
        picked = [pick.estimate for pick in answer.picks if pick.name == self.pick]
        others = sorted(answer.estimates, key=lambda each: not (each.confirmed and each.runs_here))
        found = [one for each in (*picked, *answer.best, *others) if (one := launchable(self.launcher, each))]
        if not found:
            raise NotFound(self._nothing(answer), "to")
        return found

    @property
    def question(self) -> EstimateQuery:
        """The question about what the launcher rents: by the hour, from clouds that it knows. Raises NotFound."""
        rented = launchable_providers(self.launcher)
        providers = tuple(name for name in self.query.provider if name in rented) or rented
        if self.query.provider and not set(self.query.provider) & set(rented):
            raise NotFound(f"files for {self.title} are written for {', '.join(rented)}: name one of these", "provider")
        return replace(self.query, provider=providers, purchase=self.query.purchase or (PurchaseOption.ON_DEMAND,))

    def _nothing(self, answer: Answer) -> str:
        if answer.count:
            return f"{self.title} rents none of the machines of {many(answer.count, 'estimate')}: allow more machines"
        return f"no estimate remains: {left_out(answer)}"


def launchable(launcher: Launcher, estimate: Estimate) -> Launchable | None:
    """The estimate as the launcher rents it; None where it does not rent such a machine."""
    name = launch_name(launcher, estimate.provider, estimate.instance_type, estimate.accelerator)
    return Launchable(estimate, name) if name else None


def launchers(estimate: Estimate) -> list[Launcher]:
    """Those that rent an estimate's machines as it buys them."""
    by_the_hour = estimate.purchase_option in BY_THE_HOUR
    return [launcher for launcher in TITLES if by_the_hour and launchable(launcher, estimate)]


def launch_report(service: Service, catalogue: Catalogue, values: Values) -> LaunchReport:
    """The report that parsed parameters of `/launch` ask for."""
    asked = {name: value for name, value in values.items() if name not in ("to", "run", "pick", "data", "checkpoints")}
    places: dict[str, str] = {name: str(values.get(name, "")) for name in ("data", "checkpoints")}
    if wrong := {name: [why] for name, place in places.items() if (why := _not_mounted(place, values["to"]))}:
        raise BadParameters(wrong)
    how = values["to"], values.get("run", ""), values.get("pick", "cheapest"), places["data"], places["checkpoints"]
    return LaunchReport(service, catalogue, query_of(asked, limit=5), *how)


def _not_mounted(place: str, launcher: Launcher) -> str:
    """Why the launcher can't give a machine this place; empty where it can."""
    if launcher == "dstack" and "://" in place:
        return "dstack mounts its volumes, no buckets: name a volume, or a path of the machine, such as /mnt/data"
    if launcher == "skypilot" and place and "://" not in place and not place.startswith("/"):
        return f"write a bucket, such as s3://{place}, or a path, such as /mnt/{place}"
    return ""
