"""What to do with the pick to act on: the command that rents it, where a launcher can, or what to look at first."""

from __future__ import annotations

import shlex

from api.reports.launch import launchers
from costcalc.answers import Answer, Estimate
from costcalc.offers import PurchaseOption
from costcalc.training import Metric


def next_step(answer: Answer) -> str:
    """One sentence with a command; empty where nothing was found or a past date is asked about."""
    if not answer.picks or answer.query.as_of:
        return ""
    lead = answer.lead
    if lead.purchase_option is PurchaseOption.OWNED:
        return f"Next: costcalc measure {answer.query.model} says how fast your machine is."
    if lead.purchase_option is PurchaseOption.FREE:
        return "Next: --explain says how long its sessions last."
    if known := launchers(lead):
        return f"Next: {_launch(answer, lead)} --to {known[0]}."
    return f"Next: ask {lead.provider} for the rate of today; --explain names the source of this one."


def _launch(answer: Answer, each: Estimate) -> str:
    query = answer.query
    words = ["costcalc", "launch", query.model, f"{query.target:.12g}", "--provider", each.provider]
    words += ["--instance-type", each.instance_type]
    words += ["--nodes", str(each.nodes)] if each.nodes > 1 else []
    words += ["--metric", query.metric] if query.metric == Metric.TOP5 else []
    words += ["--purchase", each.purchase_option.value] if query.purchase else []
    return shlex.join(words)
