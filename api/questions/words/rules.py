"""What numbers with a sign, a unit or a word beside them mean: amounts of money, time, dates, counts and shares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from api.questions import amounts
from api.questions.amounts import COUNTS, MONEY, NUMBER, SPAN, plain
from api.questions.schemas import CostSchema
from api.questions.spellings import term
from api.questions.suggestions import Guesses, called
from api.questions.words.dates import DATE_RULES
from api.questions.words.scan import COUNT_WORDS, END, Scan, Understand

Found = re.Match[str]
MOST = (
    r"(?:(?:in\s+|for\s+|costs?\s+)?(?:(?:no|not)\s+(?:more|longer)\s+than|(?:less|fewer|cheaper|faster|shorter|quicker)\s+than|"
    r"under|below|up\s+to|at\s+most|not\s+(?:over|above|exceeding)|max(?:imum|\.)?(?:\s+of)?|(?:a\s+)?limit\s+of)|within|inside|"
    r"<=?|≤)"
)
LEAST = (
    r"(?:(?:more|longer|greater|higher|bigger|larger)\s+than|over|above|at\s+least|min(?:imum|\.)?(?:\s+of)?|exceeding|beyond|"
    r">=?|≥)"
)
PERCENT = rf"(?P<percent>{NUMBER})\s*(?:%|percent\b|per\s?cent\b|pct\b|percentage\s+points\b)"
N = rf"(?P<n>\d{{1,7}}|{COUNT_WORDS})"
PERIOD = r"(?:h|hr|hrs|hours?|days?|weeks?|months?|quarters?|years?|min|minutes?)"
OF_GPUS = r"(?P<kind>gpus?|tpus?(?:\s+chips?)?|(?:tpu\s+)?chips?|cards?|accelerators?)"
OF_NODES = r"(?:nodes?|machines?|instances?|servers?|boxes|hosts?|vms?)"
EACH = rf"(?:\d{{1,2}}(?!\d)|{COUNT_WORDS})\s*[x×*]?\s*(?!gi?b)[a-z]"
LIMIT_HOURS = {"month": Decimal(730), "year": Decimal(8760)}
OTHER_UNITS = (
    r"(?:gi?b|tb|mb|epochs?|images?|samples?|v?cpus?|cores?|kwh|watts?|w|px|pixels?|tflops|flops|gflops|steps?|iterations?|params|"
    r"parameters|classes|images?/s|img/s)"
)
_AMOUNT = re.compile(rf"\s*{NUMBER}{END}")
PARAMETERS = CostSchema().fields


def _pair(scan: Scan, found: Found) -> bool:
    """Any parameter as name=value; names that people use for one of ours are that one."""
    name, value = found[1].lower().replace("-", "_"), found[2].strip("\"'")
    if name == "share":
        scan.reading.shared = value.lower() in ("true", "yes", "1")
        return True
    meant = [name] if name in PARAMETERS else [each for each in called(name) if each in PARAMETERS]
    if len(meant) == 1:
        return scan.add(meant[0], value)
    told = Guesses().unknown_parameter("parameter", name, PARAMETERS, "the reference lists all of them")
    return scan.ask(found[0], told)


def _share(scan: Scan, _: Found) -> bool:
    scan.reading.shared = True
    return True


def _fraction(found: Found, of: Decimal = Decimal(0)) -> str:
    amount = amounts.number(found["percent"])
    assert amount is not None
    return plain(abs(of - amount) / 100)


def _share_of(name: str) -> Understand:
    return lambda scan, found: scan.add(name, _fraction(found))


def _discount(scan: Scan, found: Found) -> bool:
    provider = found.groupdict().get("provider")
    if provider and not scan.words.is_provider(provider):
        return False
    return scan.add("discount", f"{provider.lower()}:{_fraction(found)}" if provider else _fraction(found))


def _error(scan: Scan, found: Found) -> bool:
    if found["top"]:
        scan.add("metric", f"top{found['top']}")
    return scan.add("target", _fraction(found, Decimal(100)))


def _target(scan: Scan, found: Found) -> bool:
    share = Decimal(_fraction(found))
    if not 0 < share <= 1:
        return scan.ask(found[0], "an accuracy is above 0 and at most 100%")
    return scan.add("target", plain(share))


def _top(scan: Scan, found: Found) -> bool:
    return scan.add("metric", f"top{ {'one': '1', 'five': '5'}.get(found[1].lower(), found[1]) }")


def _ask(told: str) -> Understand:
    return lambda scan, found: scan.ask(found[0], told)


def _money(scan: Scan, found: Found) -> bool:
    """An amount with its currency, or as a budget; declined where a number has neither."""
    money = amounts.money(found["money"])
    if money is None or (money.code is None and not found.groupdict().get("budget") and not found["thousand"]):
        return False
    if (
        found["after"]
        and "target" not in scan.reading.values
        and (money.amount < 1 or _AMOUNT.match(scan.text, found.end()))
    ):
        return False  # the target, and of `76 CHF 100` the currency is that of the second number
    if money.code and money.code != "USD":
        scan.add("currency", money.code)
    return scan.add("max_cost", plain(money.amount))


def _money_but_not_most(scan: Scan, found: Found) -> bool:
    money = amounts.money(found["money"])
    if money is None or money.code is None:
        return False
    return scan.ask(found[0], "only the most that it may cost is asked for, as in under $50")


def _per_hour(scan: Scan, found: Found) -> bool:
    money = amounts.money(found["money"])
    if money is None or money.code is None:
        return False
    return scan.ask(found[0], "a limit on a rate is not asked for; write under $50 for the whole run")


def _electricity(scan: Scan, found: Found) -> bool:
    money = amounts.money(found["money"])
    assert money is not None
    if money.code and money.code != "USD":
        scan.add("currency", money.code)
    return scan.add("electricity", plain(money.amount))


def _hours(scan: Scan, found: Found) -> bool:
    hours = amounts.hours(found["span"])
    assert hours is not None
    return scan.add("max_hours", plain(hours))


def _and_a_half(scan: Scan, found: Found) -> bool:
    parts = (amounts.hours(found["span"]), amounts.hours(f"half a {found['span'].split()[-1]}"))
    return scan.add("max_hours", plain(sum(filter(None, parts), Decimal(0))))


def _hours_and_minutes(scan: Scan, found: Found) -> bool:
    return scan.add("max_hours", plain(int(found["hours"]) + Decimal(found["minutes"]) / 60))


def _long(scan: Scan, found: Found) -> bool:
    count = _count(found["n"])
    return scan.add("max_hours", plain(count * LIMIT_HOURS[found["unit"].lower()]))


def _count(text: str) -> int:
    return int(text) if text.isdigit() else COUNTS[text.casefold()]


def _term(scan: Scan, found: Found) -> bool:
    count = _count(found["n"])
    known = term(f"{count} {found['unit']}")
    return scan.add("term", known) if known else False


def _accelerators(scan: Scan, found: Found) -> bool:
    longer = scan.words.find(scan.text, found.start("kind"), ("accelerator",))
    if (longer and longer.end > found.end()) or scan.words.find(scan.text, found.end() + 1, ("accelerator",)):
        return False  # 8 TPU v3, 8 GPUs of a name that follows
    kind = found["kind"].lower()[:3]
    if scan.mine:
        return scan.ask(f"my {found[0]}", "which? Name them, as in own=2xRTX4090")
    if kind in ("gpu", "tpu"):
        scan.add("accelerator", kind.upper())
    return scan.add("accelerators", str(_count(found["n"])))


def _nodes(scan: Scan, found: Found) -> bool:
    """`4 nodes of 8 A100`, `4 x 8 A100`: the number of accelerators that follows is that of each."""
    scan.reading.each = True
    return scan.add("nodes", str(_count(found["n"])))


def _counts(name: str) -> Understand:
    return lambda scan, found: scan.add(name, str(_count(found["n"])))


def _age(scan: Scan, found: Found) -> bool:
    hours = amounts.hours(found["span"])
    assert hours is not None
    return scan.add("max_price_age", plain(hours / 24)) if hours >= 24 else False


def _no_unit(scan: Scan, found: Found) -> bool:
    return scan.ask(found[0], f"dollars or hours? Write under ${found[1]} or within {found[1]}h")


def _compiled(*rules: tuple[str, Understand]) -> Iterator[tuple[re.Pattern[str], Understand]]:
    yield from ((re.compile(text, re.IGNORECASE), understand) for text, understand in rules)


def _rules() -> Iterator[tuple[re.Pattern[str], Understand]]:
    money, span = rf"(?P<money>{MONEY})", rf"(?P<span>{SPAN})"
    apart = rf"(?!\s*(?:of|is|:)?\s*{NUMBER}\s*%\s*(?:[,;]|$|on\b|at\b|and\b|for\b))"  # `76% aws discount 20%`
    often = "how often is part of another question: costcalc commitments with --runs-per-month"
    yield from _compiled(
        (rf"top[-_ ]?([15])\s*[=:]\s*(?={NUMBER})", _top),
        (r"([A-Za-z_][\w-]*)\s*=\s*(\"[^\"]*\"|'[^']*'|\S*)", _pair),
        (rf"share{END}", _share),
        (rf"(?:cloud\s+)?tpu\s+(?=v\d\w?-\d+{END})", lambda scan, found: True),
        (rf"{PERCENT}\s*(?:off|discount){apart}{END}", _discount),
        (rf"{PERCENT}\s*(?P<provider>[\w-]+)\s+discount{apart}{END}", _discount),
        (rf"discount\s*(?:of|is|:)?\s*{PERCENT}", _discount),
        (rf"{PERCENT}\s*(?:confiden(?:ce|t)|sure|certain(?:ty)?|probability|chance|likely){END}", _share_of("confidence")),
        (rf"(?:confidence|probability|certainty|chance)\s*(?:of|is|:|level of)?\s*{PERCENT}", _share_of("confidence")),
        (rf"{PERCENT}\s*utili[sz](?:ation|ed){END}", _share_of("utilization")),
        (rf"utili[sz]ation\s*(?:of|is|:|at)?\s*{PERCENT}", _share_of("utilization")),
        (rf"(?:(?:{MOST}|{LEAST})\s*)?{PERCENT}\s*(?:top[-_ ]?(?P<top>[15])\s*)?err(?:or)?(?:\s*rate)?{END}", _error),
        (rf"(?:top[-_ ]?(?P<top>[15])\s*)?err(?:or)?(?:\s*rate)?\s*(?:of|at|is|:|to|{MOST})?\s*{PERCENT}", _error),
        (rf"up\s+to\s+{PERCENT}", _target),
        (rf"{MOST}\s*{PERCENT}", _ask("the target is the accuracy to reach, as in 76%")),
        (rf"(?:(?:{LEAST}|[~≈=]|about|around|approximately|approx\.?)\s*)?{PERCENT}", _target),
        (rf"top[-_ ]?([15]|one|five){END}", _top),
        (rf"(?:{LEAST}|[~≈=])\s*(?=0?[.,]\d+{END})", lambda scan, found: True),
        (rf"(?:between|from)?\s*{MONEY}\s*(?:and|to|-)\s*".replace("?P<", "?P<first_") + rf"{money}{END}", _money_but_not_most),
        (rf"(?:electricity\s+(?:at|of|is|costs?|price)?\s*)?{money}\s*(?:/|per|an?)\s*(?:kwh|kilowatt[\s-]?hour){END}",
         _electricity),
        (rf"(?P<cents>{NUMBER})\s*(?:cents?|¢)\s*(?:/|per|an?)\s*(?:kwh|kilowatt[\s-]?hour){END}",
         lambda scan, found: scan.add("electricity", plain(Decimal(found["cents"].replace(",", ".")) / 100))),
        (rf"(?:{MOST}\s*)?{NUMBER}\s*(?:cents?|¢){END}", _ask("write it as under $0.50")),
        (rf"(?:{MOST}\s*)?{money}\s*(?:/|per|an?|each)\s*(?:gpus?|cards?|chips?|nodes?|machines?|{PERIOD})(?:[\s/-]*{PERIOD})?"
         rf"{END}", _per_hour),
        (rf"{LEAST}\s*{money}{END}", _money_but_not_most),
        (rf"(?P<budget>budget|spend|afford|max[_ ]cost)\s*(?:is|of|:|only|with|for|~|{MOST})*\s*{money}{END}", _money),
        (rf"{money}\s*(?P<budget>budget){END}", _money),
        (rf"(?:(?:{MOST}|for|only|just|about|around|~)\s*)?{money}(?!\s*/){END}", _money),
        (rf"{N}\s*(?:runs?|times|trainings|experiments|jobs|models)\s*(?:a|an|per|every|each|/)\s*{PERIOD}{END}",
         _ask(often)),
        (rf"(?:once|twice|every)\s+(?:a\s+|other\s+)?{PERIOD}{END}",
         _ask(often)),
    )  # fmt: skip
    yield from DATE_RULES
    within = rf"(?:(?:{MOST}|in|for|takes?|deadline(?:\s+of)?)\s*)"
    yield from _compiled(
        (rf"(?:no|not)\s+older\s+than\s*{span}{END}", _age),
        (rf"(?:{MOST}\s*)?{span}\s+old{END}", _age),
        (rf"(?:from|of|in)\s+(?:the\s+)?(?:last|past)\s+{span}{END}", _age),
        (rf"{within}?(?P<span>(?:an?|\d{{1,3}}|{COUNT_WORDS})\s+(?:hour|day|week)s?)\s+and\s+a\s+half{END}", _and_a_half),
        (rf"{within}?(?P<hours>\d{{1,3}})\s?h(?:ours?\s*(?:and\s+)?)?\s*(?P<minutes>[0-5]?\d)\s*(?:m|min|minutes?)?{END}",
         _hours_and_minutes),
        (rf"{LEAST}\s*{span}{END}", _ask("only the longest that it may take is asked for, as in within 8 hours")),
        (rf"{span}\s*(?:/|a|per)\s*{PERIOD}{END}", _ask("hours in each day are not asked for; write within 3 days")),
        (rf"{within}(?:the\s+)?{span}{END}", _hours),
        (rf"{MOST}\s*(?P<n>an?|\d{{1,3}}|{COUNT_WORDS})[\s-]*(?P<unit>month|year)s?{END}", _long),
        (rf"(?!an?\s){span}{END}", _hours),
        (rf"(?:for\s+)?(?P<n>\d{{1,4}}|(?:an?|{COUNT_WORDS})(?=[\s-]))[\s-]*(?P<unit>y|yrs?|years?|mos?|months?){END}", _term),
        (rf"(?:{MOST}|{LEAST})\s*{N}[\s-]*(?:{OF_GPUS}|{OF_NODES}){END}",
         _ask("only an exact number is asked for, as in 8 GPUs")),
        (rf"{N}[\s-]*[x×*]?\s*{OF_GPUS}{END}", _accelerators),
        (rf"{N}[\s-]*{OF_NODES}\s*(?:of|with|having|each\s+with|x|×|\*)\s*(?:the\s+)?(?={EACH})", _nodes),
        (rf"{N}\s*[x×*]\s*(?={EACH})", _nodes),
        (rf"{N}[\s-]*{OF_NODES}{END}", _counts("nodes")),
        (rf"{N}\s*(?:runs?|times|trainings|experiments|repetitions|seeds){END}", _counts("runs")),
        (rf"batch[\s-]*(?:sizes?)?\s*(?:of|=|:)?\s*\d+{END}", _ask("the batch size is that of the recipe; recipe= chooses one")),
        (rf"(?:{MOST}|{LEAST})?\s*{NUMBER}[\s-]*{OTHER_UNITS}(?:\s+(?:of\s+)?(?:ram|vram|memory|storage|disk|size))?{END}",
         _ask("this is not asked for here")),
        (rf"{MOST}\s*({NUMBER}){END}", _no_unit),
    )  # fmt: skip


RULES = tuple(_rules())
