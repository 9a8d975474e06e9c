"""Rules for shares and for amounts of money: targets, discounts, confidence, budgets; and any parameter as name=value."""

from __future__ import annotations

import re
from decimal import Decimal

from api.questions import amounts
from api.questions.amounts import MONEY, NUMBER, Money, plain
from api.questions.schemas.training import CostSchema
from api.questions.suggestions import Guesses, called
from api.questions.words.patterns import ABOUT, END, LEAST, MOST, OF_GPUS, OF_NODES, PERCENT, PERIOD, SUM, Match
from api.questions.words.scan import Scan, Understand, asks

_AMOUNT = re.compile(rf"\s*{NUMBER}{END}")
_OTHER_UNIT = re.compile(rf"\s*(?:%|{PERIOD}\b|{OF_GPUS}\b|{OF_NODES}\b|wks?\b|epochs?\b)", re.IGNORECASE)
_NO_MONEY = re.compile(
    r"\s+(?!(?:for|on|in|to|with|at|within|by|max|total|tops|or|and|budget|limit|all|until|only|is)\b)[a-z]",
    re.IGNORECASE,
)
PARAMETERS = CostSchema().fields


def _pair(scan: Scan, match: Match) -> bool:
    """Any parameter as name=value; names that people use for one of ours are that one."""
    name, value = match[1].lower().replace("-", "_"), match[2].rstrip(",;").strip("\"'")
    if name == "share":
        scan.reading.shared = value.lower() in ("true", "yes", "1")
        return True
    meant = [name] if name in PARAMETERS else [each for each in called(name) if each in PARAMETERS]
    if len(meant) == 1:
        return scan.add(meant[0], value)
    message = Guesses().unknown_parameter("parameter", name, PARAMETERS, "the reference lists all of them")
    return scan.ask(match[0], message)


def _share(scan: Scan, _: Match) -> bool:
    scan.reading.shared = True
    return True


def _fraction(match: Match, of: Decimal = Decimal(0)) -> str:
    amount = amounts.number(match["percent"])
    assert amount is not None
    return plain(abs(of - amount) / 100)


def _share_of(name: str) -> Understand:
    return lambda scan, match: scan.add(name, _fraction(match))


def _discount(scan: Scan, match: Match) -> bool:
    provider = match.groupdict().get("provider") or ""
    provider = provider if scan.words.is_provider(provider) else ""
    return scan.add("discount", f"{provider.lower()}:{_fraction(match)}" if provider else _fraction(match))


def _slice(scan: Scan, match: Match) -> bool:
    """A slice of TPUs that no offer has, as so many chips: `v5e-16`. Of v2 to v5p the number counts cores, two a chip."""
    chip = scan.words.names.word("accelerator", f"TPU {match['chip']}")
    if chip is None or scan.words.find(scan.text, match.start(), ("instance_type",)):
        return False
    cores = 1 if chip[-1] == "e" else 2
    many = max(1, int(match["n"]) // cores)
    scan.reading.machines.append({"accelerator": [chip], "accelerators": [str(many)]})
    return scan.add("accelerator", chip) and scan.count("accelerators", many)


def _rival(scan: Scan, match: Match) -> bool:
    """Asking whether one provider is cheaper than another means both; asking what is cheaper means all."""
    if not scan.words.is_provider(match["provider"]):
        return False
    if scan.reading.values.get("provider"):
        scan.add("provider", match["provider"].casefold())
    else:
        scan.reading.corrected.append((match[0], "every provider"))
    return scan.add("sort", "time" if match[0].casefold().startswith("fast") else "cost")


def _error(scan: Scan, match: Match) -> bool:
    if match["top"]:
        scan.add("metric", f"top{match['top']}")
    return scan.add("target", _fraction(match, Decimal(100)))


def _target(scan: Scan, match: Match) -> bool:
    share = Decimal(_fraction(match))
    if not 0 < share <= 1:
        return scan.ask(match[0], "an accuracy must be above 0 and at most 100%")
    return scan.add("target", plain(share) if share >= LEAST_SHARE else f"{match['percent']}%")


def _batch(scan: Scan, match: Match) -> bool:
    """A batch size turns steps, which may stand elsewhere, into epochs; otherwise each recipe has its own."""
    size = amounts.number(match["n"]) if not match["other"] and not match["each"] else None
    if size is not None:
        scan.add(f"{ABOUT}batch", plain(size * (1000 if match["k"] else 1)))
    return scan.ask(match[0], BATCH, stops=False)


def _round(scan: Scan, match: Match) -> bool:
    """A round of MLPerf, which may be named elsewhere in the sentence."""
    if "mlperf" not in scan.text.casefold():
        return False
    recipes = scan.reading.values.get("recipe", [])
    recipes[:] = [each for each in recipes if each != "mlperf-*"]
    return scan.add("recipe", f"mlperf-{match['round']}-*")


def _second_metric(scan: Scan, match: Match) -> bool:
    """Another accuracy beside one that is named, of another metric; declined for the first."""
    return "target" in scan.reading.values and scan.ask(match[0], ONE_TARGET)


def _top(scan: Scan, match: Match) -> bool:
    return scan.add("metric", f"top{ {'one': '1', 'five': '5'}.get(match[1].lower(), match[1]) }")


def _money(scan: Scan, match: Match) -> bool:
    """An amount with its currency, or as a budget; declined where a number has neither. Much of it, without words that limit it,
    is what a user's own machine cost."""
    money, budget = amounts.money(match["money"]), "budget" in match.groupdict()
    if money is None or (money.code is None and not budget and (match["scale"] or "").casefold() not in THOUSANDS):
        return False
    is_price = (scan.reading.owned or "own" in scan.reading.values) and money.amount >= LEAST_PRICE
    if is_price and match.start("money") == match.start():
        return add_money(scan, "own_price", money)
    if not money.code and (_OTHER_UNIT if budget else _NO_MONEY).match(scan.text, match.end()):
        return False  # `budget: 2 weeks`, `20k labelled images`
    if not money.amount:
        return scan.add("purchase", "free")
    if (
        match["after"]
        and "target" not in scan.reading.values
        and (money.amount < 1 or _AMOUNT.match(scan.text, match.end()))
    ):
        return False  # the target, and of `76 CHF 100` the currency is that of the second number
    return add_money(scan, "max_cost", money)


def _own_price(scan: Scan, match: Match) -> bool:
    """What a user's own machine, named before, cost; declined where there is none."""
    money = amounts.money(match["money"])
    budget = match[0].casefold().startswith("for") and not scan.reading.owned
    paid = match[0].casefold().startswith(("paid", "bought"))
    scan.reading.owned |= paid
    owned = (scan.reading.owned or "own" in scan.reading.values) and not budget
    if money is None or not owned or (money.amount < LEAST_PRICE and money.code is None and not paid):
        return False
    return add_money(scan, f"{ABOUT}own_price" if paid else "own_price", money)


def _of_a_machine(scan: Scan, match: Match) -> bool:
    """What a rented machine costs, `if an H100 costs $2`, is no limit of a run."""
    money, machine = amounts.money(match["money"]), {"accelerator", "instance_type"} & {*scan.reading.values}
    return bool(money and money.code and machine) and scan.ask(match[0], RATE)


def _asks_of_money(message: str) -> Understand:
    """A rule for an amount with its currency that cannot be asked so: it says what to type."""

    def understand(scan: Scan, match: Match) -> bool:
        money = amounts.money(match["money"])
        return bool(money and money.code) and scan.ask(match[0], message)

    return understand


def _up_to(scan: Scan, match: Match) -> bool:
    """The upper end of a range of money."""
    money = amounts.money(match["money"])
    is_asked = bool(money and money.code) and scan.ask(match[0], "only the upper limit counts", stops=False)
    return is_asked and money is not None and add_money(scan, "max_cost", money)


def _where_data_lies(scan: Scan, match: Match) -> bool:
    """The cloud that stores the data need not be the one that trains."""
    message = (
        "where data is stored is no condition; provider= says where to train, egress_gb= adds the transfer from there"
    )
    return scan.words.is_provider(match["provider"]) and scan.ask(match[0], message, stops=False)


def _sagemaker(scan: Scan, match: Match) -> bool:
    """The machines of SageMaker are those of AWS, at rates of its own."""
    scan.ask("SageMaker", "its own rates are higher than those of EC2, which are answered", stops=False)
    return scan.add("provider", "aws")


def _electricity(scan: Scan, match: Match) -> bool:
    money = amounts.money(match["money"])
    if money is None or not (money.code or money.amount < MOST_OF_ELECTRICITY):
        return False
    return add_money(scan, f"{ABOUT}electricity", money)


def add_money(scan: Scan, name: str, money: Money) -> bool:
    """Adds an amount as a parameter, in the currency written with it."""
    if money.code and money.code != "USD":
        scan.add("currency", money.code)
    return scan.add(name, plain(money.amount))


THOUSANDS = ("k", "thousand", "grand")
LEAST_PRICE, MOST_OF_ELECTRICITY = 300, 2  # of a machine, and of a kWh
LEAST_SHARE = Decimal("0.4")
"""Lower accuracies stay percentages until it is clear whether the network has a metric in which they mean something."""
_OF_MONEY = (
    rf"(?!\s*(?:[a-z]+\s*)?(?:/|\s(?:a|per)\s+{PERIOD}\b)|\s+(?:[a-z]+\s+)?(?:dai|week|month|quarter|year)ly|"
    r"\s+(?:[a-z]+\s+)?(?:runs?|trainings?|times|experiments?|jobs?|gpus?|epochs?|seeds?)\b)"
)
"""Not `budget for 20 runs`, nor `budget of $40k a year`."""
_APART = rf"(?!\s*(?:of|is|:)?\s*{NUMBER}\s*%\s*(?:[,;]|$|on\b|at\b|and\b|for\b))"  # `76% aws discount 20%`
MORE = "name both accuracies, as in 76% or 77%, and both are answered"
_NO_LIMIT = _asks_of_money("only an upper limit of the cost is understood, as in under $50")
PIECE = (
    r"(?:images?|imgs?|pictures?|photos?|samples?|tokens?|requests?|quer(?:y|ies)|inferences?|predictions?|epochs?|steps?|"
    r"iterations?)"
)
DEARER, _RATES = "higher rates cannot be asked for: every cost would rise alike", "(?:prices?|rates?|costs?)"
RATE = "limits are for the whole run, not for a rate; write under $50"
ONE_TARGET = "the target is one accuracy: write it alone, as in top5 93%"
BATCH = "each recipe has its own batch size, learning rate and the like; recipe= chooses one"
SHARES_AND_MONEY = (
    (rf"top[-_ ]?([15])\s*(?:of|at|[=:])?\s*(?P<target>[5-9]\d(?:[.,]\d+)?\s?%?|0?[.,]\d+){END}", _second_metric),
    (rf"top[-_ ]?([15])\s*[=:]\s*(?={NUMBER})", _top),
    (rf"(?:batch[\s-]*(?:sizes?)?|bs?(?=\s*[=:])|bs|(?P<other>lr|learning\s+rate|momentum|weight\s+decay|wd|dropout))\s*(?:of|=|:)?\s*"
     rf"(?P<n>\d(?:[\d.e^-]|,(?=\d))*)(?P<k>k)?(?P<each>\s*(?:/|per|on\s+each)\s*{OF_GPUS})?{END}", _batch),
    (r"([A-Za-z_][\w-]*)\s*=\s*(\"[^\"]*\"|'[^']*'|\S*)", _pair),
    (rf"share{END}", _share),
    (r"(?:(?:data|data\s?sets?|imagenet|images|files)(?:\s+(?:copy|set|archive|folder))?\s+(?:(?:is|are|all|already|still|lies?|lives?|sits?|stored|kept|here)\s+)+|"
     r"data\s+(?!on\b)|(?:(?:is|are|lies?|stored)\s+)?(?:in\s+)?(?:a\s+|an\s+|my\s+|our\s+)?buckets?\s+)(?:in|on|at|with)\s+"
     rf"(?P<provider>[\w.-]+){END}", _where_data_lies),
    (rf"(?:cloud\s+)?tpu\s+(?=v\d\w?-\d+{END})", lambda scan, match: True),
    (rf"(?P<chip>v\d\w?)-(?P<n>\d{{1,4}}){END}", _slice),
    (rf"(?:mlperf\s+)?(?:(?:training|round)\s+)*v?(?P<round>\d\.\d)(?!\s*{PERIOD}\b){END}", _round),
    (rf"(?:(?:amazon|aws)\s+)?sagemaker{END}|ml\.(?=[a-z]\w*\.\d*\w)", _sagemaker),
    (rf"(?:cheaper|better|faster)\s+than\s+(?P<provider>[\w.-]+){END}", _rival),
    (rf"{PERCENT}\s*(?:off|discount|cheaper|less(?=\s*(?:[,;]|$)|\s+for\b)|lower(?=\s+{_RATES})){_APART}{END}", _discount),
    (rf"{_RATES}\s+(?:drop|fall|decrease|go\s+down|come\s+down|are\s+cut)s?(?:\s+by)?\s+{PERCENT}", _discount),
    (rf"{_RATES}\s+(?:rise|increase|go\s+up|grow)s?(?:\s+by)?\s+{PERCENT}", asks(DEARER)),
    (rf"{PERCENT}\s*(?:dearer|more\s+expensive){END}", asks(DEARER)),
    (rf"{PERCENT}\s*(?P<provider>[\w-]+)\s+discount{_APART}{END}", _discount),
    (rf"discount\s*(?:of|is|:)?\s*{PERCENT}", _discount),
    (rf"{PERCENT}\s*(?:confiden(?:ce|t)|sure|certain(?:ty)?|probability|chance|likely){END}", _share_of("confidence")),
    (rf"(?:confidence|probability|certainty|chance)\s*(?:of|is|:|level of)?\s*{PERCENT}", _share_of("confidence")),
    (rf"(?:confidence\s+(?:of\s+|is\s+)?)(?P<share>0?[.,]\d+){END}|(?P<before>0?[.,]\d+)\s+confidence{END}",
     lambda scan, match: scan.add("confidence", (match["share"] or match["before"]).replace(",", "."))),
    (rf"{PERCENT}\s*(?:(?:gpu|hardware|sm|tensor)\s+)utili[sz]ation|{NUMBER}\s*%?\s*mfu{END}",
     asks("the speed is that of what was measured; images_per_second= says your own")),
    (rf"{PERCENT}\s*utili[sz](?:ation|ed){END}", _share_of("utilization")),
    (rf"utili[sz]ation\s*(?:of|is|:|at)?\s*{PERCENT}", _share_of("utilization")),
    (rf"(?:(?:{MOST}|{LEAST})\s*)?{PERCENT}\s*(?:top[-_ ]?(?P<top>[15])\s*)?err(?:or)?(?:\s*rate)?{END}", _error),
    (rf"(?:top[-_ ]?(?P<top>[15])\s*)?err(?:or)?(?:\s*rate)?\s*(?:of|at|is|:|to|{MOST})?\s*{PERCENT}", _error),
    (rf"up\s+to\s+{PERCENT}", _target),
    (rf"{PERCENT}\s*(?:more|better|higher|extra|additional|of\s+accuracy|points?){END}(?!\s+than)", asks(MORE)),
    (rf"{MOST}\s*{PERCENT}", asks("the target is the accuracy to reach, as in 76%")),
    (rf"(?:(?:{LEAST}|[~≈=]|about|around|approximately|approx\.?)\s*)?{PERCENT}", _target),
    (rf"top[-_ ]?([15]|one|five){END}", _top),
    (rf"(?:{LEAST}|[~≈=])\s*(?=0?[.,]\d+{END})", lambda scan, match: True),
    (rf"(?:between|from)?\s*{MONEY}\s*(?:and|to|-)\s*".replace("?P<", "?P<first_") + rf"{SUM}{END}", _up_to),
    (rf"(?:(?:electricity|power)\s+(?:at|of|is|costs?|price)?\s*)?{SUM}\s*(?:/|per|an?)\s*(?:kwh|kilowatt[\s-]?hour){END}",
     _electricity),
    (rf"(?:electricity|power)(?:\s+(?:is|at|of|costs?|price))*\s+{SUM}{END}", _electricity),
    (rf"(?:(?:electricity|power)\s*(?:at|of|is|costs?|price)?\s*)?(?P<cents>{NUMBER})\s*(?:cents?|cts?|c|p|pence|rappen|¢)\s*(?:/|per|an?)\s*(?:kwh|kilowatt[\s-]?hour){END}",
     lambda scan, match: scan.add(f"{ABOUT}electricity", plain(Decimal(match["cents"].replace(",", ".")) / 100))),
    (rf"(?:{MOST}\s*)?{NUMBER}\s*(?:cents?|¢){END}", asks("write it as under $0.50")),
    (rf"(?:{MOST}\s*)?{SUM}\s*(?:/|per|an?|each)\s*(?:gpus?|cards?|chips?|nodes?|machines?|{PERIOD})(?:[\s/-]*{PERIOD})?"
     rf"{END}", _asks_of_money(RATE)),
    (rf"(?:(?:{MOST}|for|at)\s*)?{SUM}\s*(?:/|per|an?|each)\s*(?:(?:1k|\d+|thousand|million|m)\s+)?{PIECE}{END}",
     asks("costs are for a whole training, not for part of it; write a limit as under $50")),
    (rf"{LEAST}\s*{SUM}{END}", _NO_LIMIT),
    (rf"(?:costs?|costing|priced\s+at|is|are)\s+{SUM}{END}", _of_a_machine),
    (rf"(?:at|for|worth|costing|costs?|paid|bought\s+for)\s+{SUM}(?!\s*(?:/|per\b|an?\b)){END}", _own_price),
    (rf"(?P<budget>budget|spend|afford|max[_ ]cost|(?:(?:price|cost)\s+)?cap)\s*"
     rf"(?:is|of|:|only|with|for|~|{MOST})*\s*{SUM}{END}{_OF_MONEY}", _money),
    (rf"(?P<budget>costs?|price|bill)\s*{MOST}\s*{SUM}{END}", _money),
    (rf"{SUM}\s*(?P<budget>budget){END}", _money),
    (rf"{SUM}(?P<budget>(?:\s+(?:of|in|worth\s+of))?)(?=(?:\s+[a-z]+){{0,2}}\s+credits?{END})", _money),
    (rf"(?:(?:{MOST}|for|only|just|about|around|~)\s*)?{SUM}(?!\s*/)(?!\s+{PIECE}\b){END}", _money),
)  # fmt: skip
