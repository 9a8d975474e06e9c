"""What to do with the pick to act on: the command that rents it, where a launcher can, or what to look at first."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from urllib.parse import parse_qsl

from api.questions.links import pairs
from api.reports.launch import Launcher, LaunchSchema, first_launched, launchers, start_on
from api.reports.verdict import PLACES, in_short
from costcalc.answers import Answer, Estimate
from costcalc.hardware import Accelerator, counted
from costcalc.money import money
from costcalc.offers import BY_THE_TERM, PurchaseOption
from costcalc.query import EstimateQuery
from costcalc.units import in_words
from pricing.packaged.providers import provider

GOAL = ("model", "target")
PAGES = ("limit", "offset")
MACHINES = (
    "provider",
    "region",
    "instance_type",
    "accelerator",
    "accelerators",
    "max_accelerators",
    "max_nodes",
    "nodes",
)
CHOSEN_BY = ("purchase", "sort", "pick", "hour_worth", "max_cost", "frontier", "regions", "available")
"""What of a question a command that names the machine need not repeat, beside the filters of machines."""
LAUNCHED = frozenset(LaunchSchema().fields)


def next_step(answer: Answer, accelerators: Mapping[str, Accelerator]) -> str:
    """One sentence with a command or an address; empty where a past date is asked about. A command that rents starts what the
    verdict begins with, or says what it starts instead, and why."""
    if answer.query.as_of:
        return ""
    if answer.query.epochs is not None:
        return "Next: costcalc watch follows its log while it runs, and costcalc recipes add makes a recipe of it."
    step = _with(answer, answer.lead, accelerators) if answer.picks else _without_picks(answer)
    return f"Next: {step}." if step else ""


def _with(answer: Answer, lead: Estimate, accelerators: Mapping[str, Accelerator]) -> str:
    goal = _goal(answer.query)
    if lead.purchase_option is PurchaseOption.OWNED:
        return f"costcalc measure {answer.query.model} says how fast your machine is"
    if lead.purchase_option in BY_THE_TERM:
        return f"{shlex.join(['costcalc', 'commitments', *goal])} says from how many runs that pays"
    page = provider(lead.provider).page
    is_to_check = page and "confirmed" in answer.missed
    if not is_to_check and (by := launchers(lead)):
        return _launch(answer, lead, by, accelerators)
    if page:
        return f"{page} has today's rates" if lead.billed_cost else page
    return f"{shlex.join(['costcalc', 'cost', *goal, '--provider', lead.provider, '--explain'])} names the source of the rate"


def _without_picks(answer: Answer) -> str:
    """The first hint as a command; where no recipe is known, how to bring one."""
    if answer.hints:
        parameters = dict(parse_qsl(answer.hints[0].query_string.lstrip("?")))
        goal = [parameters.pop(name) for name in GOAL if name in parameters]
        words = [word for name, value in parameters.items() for word in (f"--{name.replace('_', '-')}", value)]
        return shlex.join(["costcalc", "cost", *goal, *words])
    return "" if answer.best_reached else "costcalc recipes add LOG estimates it from your own training log"


def _launch(answer: Answer, lead: Estimate, tools: list[Launcher], accelerators: Mapping[str, Accelerator]) -> str:
    """The command that rents it and starts its code; else one that starts another machine, which it names; else one that rents
    it alone."""
    if by := next((each for each in tools if start_on(each, lead.rented, accelerators)), None):
        return _command(answer.query, lead, by)
    for launcher in tools:
        other = first_launched(launcher, answer, accelerators)
        if other and other.estimate != lead:
            return _instead(answer, other.estimate, launcher)
    return f"{_command(answer.query, lead, tools[0])} rents it; --run takes the command that trains"


def _instead(answer: Answer, other: Estimate, launcher: Launcher) -> str:
    """The command that starts another machine, which it names, and why it is another."""
    lead, cost = answer.lead, money(other.cost(answer.basis).cost, other.currency)
    missing = counted(lead.accelerators, lead.accelerator).removeprefix("1 ")
    started = f"starts {in_short(other)}, {in_words(other.hours)}, {cost} (no known image for {missing})"
    return f"{_command(answer.query, other, launcher)} {started}"


def _command(query: EstimateQuery, each: Estimate, launcher: Launcher) -> str:
    """The command that launches it: the question itself, or where a launcher can't be asked that, the machine."""
    given = {name: text for name, text in pairs(query) if name not in (*GOAL, *PAGES)}
    if not {*given} & {"max_cost", "hour_worth"}:
        given.pop("currency", None)
    bought = each.purchase_option.value
    if "region" in given or not given.keys() <= LAUNCHED or given.get("purchase", "on_demand") != bought:
        given = {name: text for name, text in given.items() if name in LAUNCHED - {*MACHINES, *CHOSEN_BY}}
        given |= {"provider": each.provider, "instance_type": each.instance_type}
        given |= {"region": each.region} if query.region and each.region not in PLACES else {}
        given |= {"nodes": str(each.nodes)} if each.nodes > 1 else {}
        given |= {"purchase": bought} if query.purchase else {}
    words = [word for name, text in given.items() for word in (f"--{name.replace('_', '-')}", text)]
    return shlex.join(["costcalc", "launch", *_goal(query), *words, "--to", launcher])


def _goal(query: EstimateQuery) -> list[str]:
    return [query.model, f"{query.target:.12g}"]
