"""How often somebody trains, and what a month may cost: no conditions of one run, but answered beside it."""

from __future__ import annotations

from decimal import Decimal

from api.questions import amounts
from api.questions.amounts import plain
from api.questions.words.patterns import ABOUT, END, MOST, PERIOD, SUM, WEEKDAYS, Match, N, counted
from api.questions.words.scan import Scan, asks
from api.questions.words.shares_and_money import LEAST_PRICE, add_money

OFTEN = "for how often, ask costcalc commitments with --runs-per-month"
BUDGET = (
    "a limit is for this one run, as in under $50; how often you run it is for costcalc commitments --runs-per-month"
)
RUNS_A_MONTH, MONEY_A_MONTH = f"{ABOUT}runs a month", f"{ABOUT}money a month"
TIMES = {"once": "1", "twice": "2", "thrice": "3", "every other": "0.5"}
_DAYS = dict.fromkeys(("d", "n", "mor", "eve"), "30.42")
A_MONTH = {"month": "1", "quarter": "0.3333", "y": "0.08333", "a": "0.08333", "h": "730", **_DAYS}
"""How often in a month a period comes whose name begins so; weekends and weekdays as weeks do."""
A_WEEK = "4.348"


def _often(scan: Scan, match: Match) -> bool:
    parts = match.groupdict(default="")
    words = " ".join(parts.get("times", "").casefold().split())
    times = counted(parts["n"]) if parts.get("n") else TIMES.get(words, "1")
    scan.add(RUNS_A_MONTH, plain(Decimal(times) * _a_month(match["every"])))
    return scan.ask(match[0], OFTEN, stops=False)


def _seldom(scan: Scan, match: Match) -> bool:
    """`every three months`."""
    scan.add(RUNS_A_MONTH, plain(_a_month(match["every"]) / max(1, counted(match["n"]))))
    return scan.ask(match[0], OFTEN, stops=False)


def _budget(scan: Scan, match: Match) -> bool:
    money = amounts.money(match["money"])
    if money is None or not (money.code or money.amount >= LEAST_PRICE):
        return False
    add_money(scan, MONEY_A_MONTH, money._replace(amount=money.amount * _a_month(match["every"])))
    return scan.ask(match[0], BUDGET, stops=False)


def _a_month(period: str) -> Decimal:
    return Decimal(next((many for start, many in A_MONTH.items() if period.casefold().startswith(start)), A_WEEK))


_PER = r"(?:a|an|per|every|each|/)"
_RUNS = r"(?:runs?|times|x|trainings|experiments|jobs|models)"
_EVERY = r"(?P<every>daily|weekly|monthly|quarterly|yearly|annual)"
_SPELL = rf"(?P<every>{PERIOD}|night|morning|evening|weekend|{WEEKDAYS})"
HOW_OFTEN = (
    (rf"(?:{MOST}\s*)?{SUM}\s*{_PER}\s*(?P<every>day|week|month|quarter|year){END}", _budget),
    (rf"(?:{MOST}\s*)?{SUM}\s+{_EVERY}{END}", _budget),
    (rf"{_EVERY}\s+(?:budget|limit|spending|bill)\s*(?:(?:is|of|:|with|{MOST})\s*)*{SUM}{END}", _budget),
    (rf"{_EVERY}\s+(?:budget|limit|spending|bill){END}", asks(BUDGET)),
    (rf"{N}\s*{_RUNS}\s*{_PER}\s*{_SPELL}{END}", _often),
    (rf"{N}\s*{_RUNS}\s+(?:of|for)\s+(?=[\w./-]+\s+{_PER}\s+{_SPELL}{END})", _often),
    (rf"(?:runs|trainings)\s*{_PER}\s*{PERIOD}{END}", asks(OFTEN)),
    (rf"(?P<times>once|twice|thrice|every\s+other|every|each)\s+(?:{_PER}\s+)?{_SPELL}{END}", _often),
    (rf"{_EVERY}\s+{N}\s*{_RUNS}{END}", _often),
    (rf"every\s+{N}\s+{_SPELL}{END}", _seldom),
    (rf"{_PER}\s+(?:day|week|month|quarter|year){END}", lambda scan, _: "runs" in scan.reading.values),
    (
        rf"(?:costs?\s+{_PER}\s+(?:day|week|month|quarter|year)|{_EVERY}\s+(?:costs?|bill|spend(?:ing)?)){END}",
        asks(OFTEN),
    ),
    (rf"(?P<every>night|dai|week)ly{END}", _often),
)
