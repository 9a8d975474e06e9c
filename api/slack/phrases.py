"""Estimates in a few words: what one costs and takes, where, and how it is bought; the frontier by three of its points."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from costcalc.answers import Answer, Estimate

SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}


@dataclass(frozen=True, slots=True)
class Outlook:
    """The frontier in three estimates: no other beats the first on cost, nor the second on time."""

    cheapest: Estimate
    fastest: Estimate
    balanced: Estimate


def outlook(frontier: Answer) -> Outlook | None:
    """The ends of the frontier and its best of both: the one with the least cost times hours. None for no estimates."""
    points = frontier.estimates
    if not points:
        return None
    return Outlook(
        cheapest=min(points, key=lambda each: (judged(each, frontier), each.hours)),
        fastest=min(points, key=lambda each: (each.hours, judged(each, frontier))),
        balanced=min(points, key=lambda each: max(float(judged(each, frontier)), 0.01) * each.hours),
    )


def judged(each: Estimate, answer: Answer) -> Decimal:
    """The cost that the question goes by."""
    return each.effective_cost if answer.query.basis == "effective" else each.billed_cost


def money(amount: Decimal, currency: str) -> str:
    """An amount with two decimals and its currency."""
    sign = SIGNS.get(currency)
    return f"{sign}{amount:,.2f}" if sign else f"{amount:,.2f} {currency}"


def machine(each: Estimate) -> str:
    """Where, and how many of what."""
    nodes = f"{each.nodes} × " if each.nodes > 1 else ""
    region = "" if each.region == "unspecified" else f", {each.region}"
    return f"{each.provider} {nodes}{each.instance_type}{region}"


def bought(each: Estimate) -> str:
    """How it is bought, for how long, paid when."""
    words = (each.purchase_option.value, each.term, each.payment.value if each.payment else None)
    return " ".join(word.replace("_", " ") for word in words if word)


def short(each: Estimate, answer: Answer) -> str:
    """Its cost by the question's basis, time and place."""
    cost = money(judged(each, answer), each.currency)
    return f"{cost} in {each.hours:,.2f} h on {machine(each)} ({bought(each)})"


def short_billed(each: Estimate) -> str:
    """What must be paid for it, with its range, time and place."""
    low, high = money(each.billed_cost_low, each.currency), money(each.billed_cost_high, each.currency)
    cost = f"{money(each.billed_cost, each.currency)} ({low}–{high})"
    return f"{cost} in {each.hours:,.2f} h on {machine(each)} ({bought(each)})"
