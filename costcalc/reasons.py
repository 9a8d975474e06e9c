"""Why each pick is picked: one sentence, which compares it with the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from costcalc.answers import Estimate, Pick
from costcalc.money import money
from costcalc.picks import PickName
from costcalc.query import Basis
from costcalc.units import in_words


def reasoned(picked: Mapping[PickName, Estimate], basis: Basis) -> Iterator[Pick]:
    """The picks with their reasons, by the costs of this basis."""
    for name, each in picked.items():
        yield Pick(name, _reason(name, each, picked, basis), each)


def against(each: Estimate, other: Estimate, basis: Basis, name: str = "") -> str:
    """How much sooner one estimate ends than another of this name, and for how much more: `45 min sooner, for $12.48 more`."""
    more, sooner = each.cost(basis).cost - other.cost(basis).cost, other.calendar_hours - each.calendar_hours
    apart = f"{in_words(abs(sooner))} {'sooner' if sooner > 0 else 'later'}" if sooner else "as soon"
    apart += f" {'than' if sooner else 'as'} {name}" if name else ""
    cost = f"for {money(abs(more), each.currency)} {'more' if more > 0 else 'less'}" if more else "for the same cost"
    return f"{apart}, {cost}"


def _reason(name: PickName, each: Estimate, picked: Mapping[PickName, Estimate], basis: Basis) -> str:
    cheapest, fastest = picked["cheapest"], picked["fastest"]
    if name == "surest":
        return _known(each, cheapest, basis)
    if name == "cheapest" and each is not fastest:
        return f"Costs least, its doubts counted: {against(each, fastest, basis, 'the fastest')}."
    if each is not cheapest:
        return f"{_capital(against(each, cheapest, basis, 'the cheapest'))}."
    return {
        "cheapest": "Costs least, its doubts counted, and nothing else is sure to finish sooner.",
        "fastest": "Nothing else is sure to finish sooner than the cheapest.",
        "balanced": "Nothing else saves hours for less than they are worth.",
    }[name]


def _known(each: Estimate, cheapest: Estimate, basis: Basis) -> str:
    logged = "Its code was logged on this accelerator, so its cost is the best known"
    within, of_cheapest = within_percent(each, basis), within_percent(cheapest, basis)
    if each is cheapest or not within:
        return f"{logged}."
    return f"{logged}: within {within} %, against {of_cheapest} % for the cheapest."


def within_percent(each: Estimate, basis: Basis) -> int:
    """How far the cost is from the farther end of its 80 % range, in percent."""
    cost, low, high = each.cost(basis)
    return round(max(high - cost, cost - low) / cost * 100) if cost else 0


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
