"""Readers of spans of money: budgets and discounts."""

from __future__ import annotations

from api.questions import amounts
from api.questions.amounts import Money, plain
from api.questions.words.of_training import share
from api.questions.words.patterns import Match, compiled
from api.questions.words.reading import CURRENCIES
from api.questions.words.scan import MACHINE, Scan

LEAST_PRICE = 300  # of a machine
PRICE = "what your machine cost, or a limit? Write own_price=1500, or under $1500"
THOUSANDS = ("k", "thousand", "grand")
_OTHER_UNIT = compiled(r" ?(%|({period}|{of_gpus}|{of_nodes}|wks?|epochs?)\b)...")
_NO_MONEY = compiled(
    r" (?!(for|on|in|to|with|at|within|by|max|total|tops|or|and|budget|limit|all|until|only|is)\b)[a-z]..."
)


def money(_: Scan, match: Match) -> bool:
    """An amount with its currency, of which no parameter has the meaning."""
    sum_of_money = amounts.money(match["money"])
    return bool(sum_of_money and sum_of_money.code)


def of_a_machine(scan: Scan, match: Match) -> bool:
    """What a rented machine costs, `if an H100 costs $2`, is no limit of a run."""
    return money(scan, match) and not scan.reading.values.keys().isdisjoint(MACHINE)


def budget(scan: Scan, match: Match) -> bool:
    """An amount with its currency, or as a budget; declined where a number has neither. Much of it, without words that limit it,
    may be what a user's own machine cost: beside one, it is asked."""
    most, is_budget = amounts.money(match["money"]), "budget" in match.groupdict()
    is_scaled = (match["scale"] or "").casefold() in THOUSANDS and (match.start("money") > match.start() or _owns(scan))
    if most is None or not (most.code or is_budget or is_scaled):
        return False
    is_limit = match.start("money") > match.start() and not match[0].casefold().startswith("for")
    if _owns(scan) and most.amount >= LEAST_PRICE and not is_limit:
        return scan.ask(match[0], PRICE, stops=True)
    if not most.code and (_OTHER_UNIT if is_budget else _NO_MONEY).match(scan.text, match.end()):
        return False  # `budget: 2 weeks`, `20k labelled images`
    if not most.amount:
        return scan.add("purchase", "free")
    return _add(scan, "max_cost", most)


def discount(scan: Scan, match: Match) -> bool:
    """A discount, at one provider where it is named."""
    provider = match.groupdict().get("provider") or ""
    at = f"{provider.lower()}:" if scan.words.is_provider(provider) else ""
    return scan.add("discount", f"{at}{plain(share(match))}")


def _owns(scan: Scan) -> bool:
    return scan.reading.owned or "own" in scan.reading.values


def _add(scan: Scan, name: str, price: Money) -> bool:
    """Adds an amount as a parameter, in the currency written with it."""
    if price.code:
        scan.add(CURRENCIES, price.code)
    return scan.add(name, plain(price.amount))
