"""What to do with the pick to act on: the command that rents it, where a launcher can, or what to look at first."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

from api.reports.launch import launchers
from costcalc.answers import Answer, Estimate
from costcalc.offers import BY_THE_TERM, PurchaseOption
from costcalc.query import DEFAULT_LIMIT, EstimateQuery
from costcalc.training import Metric
from pricing.packaged.providers import provider

ANYWHERE = ("any", "unspecified")
GOAL = ("model", "target")
PLAIN: dict[str, Any] = {"provider": (), "currency": "USD", "max_cost": None, "max_hours": None, "limit": DEFAULT_LIMIT}
"""What of a question the command need not repeat, or repeats, so that its best answer is the machine that was picked."""


def next_step(answer: Answer) -> str:
    """One sentence with a command or an address; empty where a past date is asked about."""
    if answer.query.as_of:
        return ""
    if answer.query.epochs is not None:
        return "Next: costcalc watch follows its log while it runs, and costcalc recipes add makes a recipe of it."
    told = _with(answer, answer.lead) if answer.picks else _without_picks(answer)
    return f"Next: {told}." if told else ""


def _with(answer: Answer, lead: Estimate) -> str:
    goal = _goal(answer.query)
    if lead.purchase_option is PurchaseOption.OWNED:
        return f"costcalc measure {answer.query.model} says how fast your machine is"
    if lead.purchase_option in BY_THE_TERM:
        return f"{shlex.join(['costcalc', 'commitments', *goal])} says from how many runs on that pays"
    page = provider(lead.provider).page
    is_to_check = page and "confirmed" in answer.missed
    if not is_to_check and (known := launchers(lead)):
        return f"{_launch(answer, lead)} --to {known[0]}"
    if page:
        return f"{page} has today's rates" if lead.billed_cost else page
    return f"{shlex.join(['costcalc', 'cost', *goal, '--provider', lead.provider, '--explain'])} names the source of the rate"


def _without_picks(answer: Answer) -> str:
    """The first hint as a command; where no recipe is known, how to bring one."""
    if answer.hints:
        asked = dict(parse_qsl(answer.hints[0].query_string.lstrip("?")))
        goal = [asked.pop(name) for name in GOAL if name in asked]
        words = [word for name, value in asked.items() for word in (f"--{name.replace('_', '-')}", value)]
        return shlex.join(["costcalc", "cost", *goal, *words])
    return "" if answer.best_reached else "costcalc recipes add LOG estimates it from a log of your own training"


def _launch(answer: Answer, each: Estimate) -> str:
    """The command that rents it: the question itself where that has few conditions and this is its cheapest pick."""
    query = answer.query
    if each == answer.picks[0].estimate and replace(query, **PLAIN) == EstimateQuery(query.model, query.target):
        words = ["--provider", each.provider] if query.provider else []
        words += ["--max-hours", f"{query.max_hours:g}"] if query.max_hours else []
    else:
        words = ["--provider", each.provider, "--instance-type", each.instance_type]
        words += ["--region", each.region] if query.region and each.region not in ANYWHERE else []
        words += ["--nodes", str(each.nodes)] if each.nodes > 1 else []
        words += ["--metric", query.metric] if query.metric == Metric.TOP5 else []
        words += ["--purchase", each.purchase_option.value] if query.purchase else []
    return shlex.join(["costcalc", "launch", *_goal(query), *words])


def _goal(query: EstimateQuery) -> list[str]:
    return [query.model, f"{query.target:.12g}"]
