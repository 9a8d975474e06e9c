"""Readers of spans of money: budgets, discounts, what an own machine costs, what a month may cost."""

from __future__ import annotations

import re
from decimal import Decimal

from api.questions import amounts
from api.questions.amounts import NUMBER, Money, plain
from api.questions.words.of_time import a_month
from api.questions.words.of_training import share
from api.questions.words.patterns import ABOUT, END, Match, compiled
from api.questions.words.reading import CURRENCIES, MONEY_A_MONTH, RUN_COST
from api.questions.words.scan import Scan

LEAST_PRICE, MOST_OF_ELECTRICITY = 300, 2  # of a machine, and of a kWh
THOUSANDS = ("k", "thousand", "grand")
_AMOUNT = re.compile(rf"\s*{NUMBER}{END}")
_OTHER_UNIT = compiled(r" ?(%|({period}|{of_gpus}|{of_nodes}|wks?|epochs?)\b)...")
_NO_MONEY = compiled(
    r" (?!(for|on|in|to|with|at|within|by|max|total|tops|or|and|budget|limit|all|until|only|is)\b)[a-z]..."
)


def money(_: Scan, match: Match) -> bool:
    """An amount with its currency, of which no parameter has the meaning."""
    return bool(_coded(match))


def of_a_machine(scan: Scan, match: Match) -> bool:
    """What a rented machine costs, `if an H100 costs $2`, is no limit of a run."""
    return bool(_coded(match) and {"accelerator", "instance_type"} & {*scan.reading.values})


def max_cost(scan: Scan, match: Match) -> bool:
    """The upper end of a range of money."""
    most = _coded(match)
    return bool(most) and _add(scan, "max_cost", most)


def budget(scan: Scan, match: Match) -> bool:
    """An amount with its currency, or as a budget; declined where a number has neither. Much of it, without words that limit it,
    is what a user's own machine cost."""
    most, is_budget = amounts.money(match["money"]), "budget" in match.groupdict()
    is_scaled = (match["scale"] or "").casefold() in THOUSANDS and (match.start("money") > match.start() or _owns(scan))
    if most is None or not (most.code or is_budget or is_scaled):
        return False
    if _owns(scan) and most.amount >= LEAST_PRICE and match.start("money") == match.start():
        return _add(scan, "own_price", most)
    if not most.code and (_OTHER_UNIT if is_budget else _NO_MONEY).match(scan.text, match.end()):
        return False  # `budget: 2 weeks`, `20k labelled images`
    if not most.amount:
        return scan.add("purchase", "free")
    return not _is_target(scan, match, most) and _add(scan, "max_cost", most)


def _is_target(scan: Scan, match: Match, most: Money) -> bool:
    """Of `76 CHF 100` the currency is that of the second number."""
    follows = match["after"] and (most.amount < 1 or _AMOUNT.match(scan.text, match.end()))
    return bool(follows) and "target" not in scan.reading.values


def own_price(scan: Scan, match: Match) -> bool:
    """What a user's own machine costs; declined where none is named before and nothing was paid."""
    price, paid = amounts.money(match["money"]), bool(match["paid"])
    is_budget = match[0].casefold().startswith("for") and not scan.reading.owned
    scan.reading.owned |= paid
    if price is None or is_budget or not _owns(scan) or not (price.amount >= LEAST_PRICE or price.code or paid):
        return False
    return _add(scan, f"{ABOUT}own_price" if paid else "own_price", price)


def electricity(scan: Scan, match: Match) -> bool:
    """The price of a kWh."""
    if "cents" in match.groupdict():
        return scan.add(f"{ABOUT}electricity", plain((amounts.number(match["cents"]) or Decimal()) / 100))
    price = amounts.money(match["money"])
    is_one = price and (price.code or price.amount < MOST_OF_ELECTRICITY)
    return bool(is_one) and _add(scan, f"{ABOUT}electricity", price)


def discount(scan: Scan, match: Match) -> bool:
    """A discount, at one provider where it is named."""
    provider = match.groupdict().get("provider") or ""
    at = f"{provider.lower()}:" if scan.words.is_provider(provider) else ""
    return scan.add("discount", f"{at}{plain(share(match))}")


def cost_of_a_run(scan: Scan, match: Match) -> bool:
    """What each of several runs may cost."""
    most = _coded(match)
    return bool(most) and _add(scan, RUN_COST, most)


def monthly_budget(scan: Scan, match: Match) -> bool:
    """What a month may cost, of a sum for any period."""
    most = amounts.money(match["money"])
    if most is None or not (most.code or most.amount >= LEAST_PRICE):
        return False
    return _add(scan, MONEY_A_MONTH, most._replace(amount=most.amount * a_month(match["every"])))


def _coded(match: Match) -> Money | None:
    """The amount that has a currency."""
    sum_of_money = amounts.money(match["money"])
    return sum_of_money if sum_of_money and sum_of_money.code else None


def _owns(scan: Scan) -> bool:
    return scan.reading.owned or "own" in scan.reading.values


def _add(scan: Scan, name: str, price: Money | None) -> bool:
    """Adds an amount as a parameter, in the currency written with it."""
    assert price is not None
    if price.code:
        scan.add(CURRENCIES, price.code)
    return scan.add(name, plain(price.amount))
