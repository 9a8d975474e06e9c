"""What to do with the pick to act on: the command that rents it, where a launcher can, or what to look at first."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

from api.reports.launch import launchers
from costcalc.answers import Answer, Estimate
from costcalc.offers import PurchaseOption
from costcalc.query import DEFAULT_LIMIT, EstimateQuery
from costcalc.training import Metric
from pricing.packaged.providers import provider

PLAIN: dict[str, Any] = {"provider": (), "currency": "USD", "max_cost": None, "max_hours": None, "limit": DEFAULT_LIMIT}
"""What of a question the command need not repeat, or repeats, so that its best answer is the machine that was picked."""


def next_step(answer: Answer) -> str:
    """One sentence with a command or an address; empty where nothing was found or a past date is asked about."""
    if not answer.picks or answer.query.as_of:
        return ""
    if answer.query.epochs is not None:
        return "Next: costcalc watch follows its log while it runs, and costcalc recipes add makes a recipe of it."
    lead = answer.lead
    if lead.purchase_option is PurchaseOption.OWNED:
        return f"Next: costcalc measure {answer.query.model} says how fast your machine is."
    if known := launchers(lead):
        return f"Next: {_launch(answer, lead)} --to {known[0]}."
    if page := provider(lead.provider).page:
        return f"Next: {page} has today's rates." if lead.billed_cost else f"Next: {page}."
    asked = shlex.join(["costcalc", "cost", *_goal(answer.query), "--provider", lead.provider, "--explain"])
    return f"Next: {asked} names the source of the rate."


def _launch(answer: Answer, each: Estimate) -> str:
    """The command that rents it: the question itself where that has few conditions and this is its cheapest pick."""
    query = answer.query
    if each == answer.picks[0].estimate and replace(query, **PLAIN) == EstimateQuery(query.model, query.target):
        words = ["--provider", each.provider] if query.provider else []
        words += ["--max-hours", f"{query.max_hours:g}"] if query.max_hours else []
    else:
        words = ["--provider", each.provider, "--instance-type", each.instance_type]
        words += ["--region", each.region] if query.region else []
        words += ["--nodes", str(each.nodes)] if each.nodes > 1 else []
        words += ["--metric", query.metric] if query.metric == Metric.TOP5 else []
        words += ["--purchase", each.purchase_option.value] if query.purchase else []
    return shlex.join(["costcalc", "launch", *_goal(query), *words])


def _goal(query: EstimateQuery) -> list[str]:
    return [query.model, f"{query.target:.12g}"]
