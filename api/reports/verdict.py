"""The verdict: what a wise person would say first, in two to four plain lines that end in something to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from enum import IntEnum
from itertools import accumulate, islice
from typing import NamedTuple

from api.reports.by_tokens import by_the_token, needed_memory
from costcalc.answers import Answer, Estimate
from costcalc.catalogue.confirmation import FRESH_DAYS
from costcalc.costing.owning import PRICE_UNKNOWN
from costcalc.hardware import counted
from costcalc.money import money
from costcalc.offer import BY_THE_TERM, PurchaseOption
from costcalc.picks import MOST_FOR_SURE, SELDOM
from costcalc.programs import NOBODYS, RecipeKind
from costcalc.query import Basis
from costcalc.rented import AS_ANNOUNCED, FROM_YOUR_SHEET
from costcalc.tasks.goals import task_of
from costcalc.tasks.plain_loops import times_as_long
from costcalc.units import chance_above, in_words
from pricing.packaged.providers import provider

LONGEST = 450
"""Characters of all lines together; what must be said may exceed it."""
NOWHERE = ("", "unspecified", "any")
KINDS: dict[RecipeKind, str] = {
    "ordinary": "an ordinary script",
    "tuned": "tuned",
    "record": "a benchmark entry",
}
COUNTED = re.compile(r"(?<![0-9])[0-9]+x ")
HOW_BOUGHT = {
    PurchaseOption.ON_DEMAND: "on demand",
    PurchaseOption.SPOT: "on spot",
    PurchaseOption.RESERVED: "reserved",
    PurchaseOption.SAVINGS_PLAN: "on a savings plan",
    PurchaseOption.COMMITTED_USE: "with committed use",
    PurchaseOption.CAPACITY_BLOCK: "in a capacity block",
    PurchaseOption.MONTHLY: "by the month",
    PurchaseOption.OWNED: "owned",
    PurchaseOption.FREE: "free",
}
LACKING = {
    (): "",
    ("confirmed",): "No rate here is confirmed: check it before you rent.",
    ("rentable",): "Nothing within these filters is rented on demand.",
    ("rentable", "confirmed"): (
        "Nothing within these filters is rented on demand or has a confirmed rate: check before you buy."
    ),
}
NONE_LEFT = "No machine was free when these rates were read."
NO_PUBLIC_CODE = "No public code is known to run on any of these machines: it would have to be ported."
NOT_ON_YOURS = "No public code is known to run on yours: it would have to be ported."
A_MONTH = 30
"""Days after which the age of a rate is not left out."""
LONG_WAIT = 7 * 24.0
"""Hours on the calendar after which a free tier is no choice beside a rental."""


class Line(IntEnum):
    """The lines of a verdict: what to rent, with whose code, what else there is, what to do next."""

    RENT = 0
    RECIPE = 1
    OTHERS = 2
    NEXT = 3


class Sentence(NamedTuple):
    """A sentence of a line. One of `rank` 0 is always said; the others are in the order of their ranks, while there is room."""

    line: Line
    rank: int
    text: str


def verdict(answer: Answer, notes: tuple[str, ...] = (), missing: str = "", next_step: str = "") -> tuple[str, ...]:
    """The lines. `notes` come first, `missing` says why there is no estimate, `next_step` is what to do then."""
    sentences = [Sentence(Line.RENT, 0, note) for note in notes]
    sentences += _advice(answer) if answer.picks else _without_estimate(answer, missing)
    fitting = _fitting([each for each in (*sentences, Sentence(Line.NEXT, 0, next_step)) if each.text])
    lines = (" ".join(each.text for each in fitting if each.line is line) for line in Line)
    return tuple(line.replace("`", "") for line in lines if line)


def _fitting(sentences: list[Sentence]) -> list[Sentence]:
    """Those that there is room for, in their order."""
    by_rank = sorted(sentences, key=lambda sentence: sentence.rank)
    ends = accumulate(len(sentence.text) + 1 for sentence in by_rank)
    fitting = {sentence for sentence, end in zip(by_rank, ends, strict=True) if not sentence.rank or end <= LONGEST + 1}
    return [sentence for sentence in sentences if sentence in fitting]


def _without_estimate(answer: Answer, missing: str) -> Iterator[Sentence]:
    """Why there is none, and what to ask instead."""
    yield Sentence(Line.RENT, 0, missing and f"{missing[0].upper()}{missing[1:]}.")
    for rank, hint in enumerate(answer.hints, 1):
        yield Sentence(Line(min(rank, Line.OTHERS)), rank, f"Instead: {hint.sentence}")


def _advice(answer: Answer) -> Iterator[Sentence]:
    """What to rent, for how much and how long; with whose code; what else there is."""
    lead = answer.lead
    yield Sentence(Line.RENT, 0, _own_without_estimate(answer))
    yield Sentence(Line.RENT, 0, LACKING[tuple(name for name in answer.missed if name in ("rentable", "confirmed"))])
    if "in_stock" in answer.missed:
        yield Sentence(Line.RENT, 0, NONE_LEFT)
    yield Sentence(Line.RENT, 2, _old(answer))
    yield Sentence(Line.RENT, 0, _what_to_do(answer))
    if lead.is_rented:
        is_old = lead.confirmed and lead.price_age_days > A_MONTH
        yield Sentence(Line.RENT, 0, _beyond(answer))
        yield Sentence(Line.RENT, int(not is_old), _rate(lead))
        yield Sentence(Line.RENT, 0, " ".join(sentence for sentence in lead.assumptions if AS_ANNOUNCED in sentence))
        yield Sentence(Line.RENT, 0, _the_cheapest(answer))
    yield Sentence(Line.RECIPE, 0, _code(lead))
    yield from _ordinary(answer)
    yield Sentence(Line.RECIPE, 0, _ported(answer))
    yield Sentence(Line.OTHERS, 0, by_the_token(answer))
    yield Sentence(Line.OTHERS, 0, _rivals(answer))
    yield from _others(answer)


def _own_without_estimate(answer: Answer) -> str:
    """Says that the machines of your own that the question names have no estimate."""
    query = answer.query
    if answer.owned or not query.own:
        return ""
    mine = " and ".join(counted(own.accelerators, own.accelerator) for own in query.own)
    if query.max_hours or query.max_cost:
        return f"No estimate for your {mine} within these limits."
    if needed := needed_memory(query):
        return f"Your {mine} has too little memory, or no known speed: {needed}."
    record = "" if query.training == "record" else "; training=record may have one"
    return f"No estimate for your {mine}{record}."


def _old(answer: Answer) -> str:
    """Says how old the lead's rate is, where it is confirmed since too few of its kind are fresher."""
    each, option = answer.lead, answer.lead.purchase_option
    usual = FRESH_DAYS.get(option, 0)
    if each.is_owned or not each.confirmed or option not in answer.widened or each.price_age_days <= usual:
        return ""
    kind = option.replace("_", " ")
    return f"Few {kind} rates were seen within {usual} days; this one is {each.price_age_days:,} days old."


def _what_to_do(answer: Answer) -> str:
    each, query = answer.lead, answer.query
    moment = f"On {answer.prices.as_of:%Y-%m-%d}: " if query.as_of else ""
    for_runs = f" for {query.runs} runs" if query.runs > 1 else ""
    known = each.evidence.throughput.spoken
    figures = f"{_priced(each, answer.basis)}{for_runs}, {in_words(each.hours)} ({_range(each)}), speed {known}"
    if each.is_owned:
        return f"{moment}Y{_from_whom(each)[1:]}: {figures}, for electricity{_beside_electricity(answer)}."
    if each.purchase_option is PurchaseOption.FREE:
        waits = f", {in_words(each.calendar_hours)} with waiting" if each.calendar_hours > each.hours else ""
        return f"{moment}Use {in_short(each)}: free, {in_words(each.hours)} of work{waits}."
    return f"{moment}{'rent' if moment else 'Rent'} {_located(each)} {_bought(each)}: {figures}."


def _beside_electricity(answer: Answer) -> str:
    """What the cost of a user's own machine counts too, or lacks."""
    if answer.lead.sources.price.source == PRICE_UNKNOWN:
        return f" alone: {PRICE_UNKNOWN}, so add own_price= (0 if it is paid off)"
    return "" if answer.query.own_price == 0 else " and depreciation"


def _beyond(answer: Answer) -> str:
    """How often it exceeds the limits that are asked for, unless seldom: `It takes longer than 1 h in 4 of 10 cases.`"""
    each, query = answer.lead, answer.query
    cost, often = each.cost(query.basis), list[str]()
    if query.max_hours and (cases := _cases(query.max_hours, each.calendar_hours, each.hours_high)):
        often.append(f"takes longer than {in_words(query.max_hours)} in {cases}")
    if query.max_cost and (cases := _cases(float(query.max_cost), float(cost.cost), float(cost.high))):
        often.append(f"costs more than {money(query.max_cost, each.currency)} in {cases}")
    return f"It {' of 10 cases, and '.join(often)} of 10 cases." if often else ""


def _cases(limit: float, middle: float, high: float) -> int:
    """In how many of ten cases an amount is above a limit; 0 where it seldom is."""
    chance = chance_above(limit, middle, high)
    return round(10 * chance) if chance >= SELDOM and high > middle else 0


def _the_cheapest(answer: Answer) -> str:
    """The cheapest pick, where waiting for it does not pay: `The cheapest, 1 T4G at AWS for $8.60, takes 20.5 h.`"""
    each = _not_worth_waiting_for(answer)
    return (
        ""
        if each is None
        else f"The cheapest, {in_short(each)} for {each.price(answer.basis)}, takes {in_words(each.hours)}."
    )


def _not_worth_waiting_for(answer: Answer) -> Estimate | None:
    """The cheapest pick, where the verdict begins with the balanced one instead."""
    return answer.picked["cheapest"] if answer.named_first == "balanced" and not answer.owned else None


def _code(each: Estimate) -> str:
    """Whose training that is, and how sure it is to reach the target."""
    if each.recipe_kind in ("stated", "law"):
        return ""
    if each.success_probability is None:
        unit = "epoch" if each.epochs == 1 else "epochs"
        return f"It trains for {each.epochs:g} {unit}; what they reach is not estimated."
    sure = "over 99 %" if each.success_probability > 0.99 else f"{each.success_probability * 100:.0f} %"
    what = [KINDS.get(each.recipe_kind, each.task), _epochs(each), f"{sure} sure"]
    return f"Recipe: {each.recipe} ({', '.join(filter(None, what))})."


def _epochs(each: Estimate) -> str:
    """`18 epochs`; nothing where the work is counted in something else, which says little to most."""
    return f"{each.epochs:.{0 if each.epochs >= 2 else 2}f} epochs" if each.epochs_are == "epochs" else ""


def _ordinary(answer: Answer) -> Iterator[Sentence]:
    """What an ordinary loop of today and the usual script as published take on the same machine, where these are others, and
    which script misses the target."""
    lead, seldom = answer.lead, answer.ordinary_missed
    if lead.recipe_kind in NOBODYS:
        return
    takes, before = (_takes(each, answer) for each in (answer.ordinary, answer.as_published))
    yield Sentence(Line.RECIPE, 0, takes and f"An ordinary loop of today takes {takes}.")
    if before != takes:
        yield Sentence(Line.RECIPE, 1, before and f"As published: {before}.")
    if seldom and seldom.recipe != lead.recipe:
        misses = f"misses it in {(1 - seldom.chance) * 100:.0f} % of runs"
        yield Sentence(Line.RECIPE, 3, f"The usual script, {seldom.recipe}, {misses}.")
    if not (answer.ordinary or answer.as_published or seldom or lead.recipe_kind == "ordinary"):
        plain = _plain(answer)
        yield Sentence(Line.RECIPE, 2 * (not plain), plain or "No ordinary script is known to reach it.")


def _takes(each: Estimate | None, answer: Answer) -> str:
    """What another recipe than the lead's takes; nothing of its own."""
    if each is None or each.recipe == answer.lead.recipe:
        return ""
    return f"{in_words(each.hours)} and {each.price(answer.basis)}"


def _plain(answer: Answer) -> str:
    """How many times as long a plain loop was timed to take, and on machines like that one for how much."""
    lead, timed = answer.lead, times_as_long(answer.query.model) if task_of(answer.query) else None
    as_of = answer.query.as_of
    if not timed or (as_of and as_of.date() < timed[0].measured):
        return ""
    loop, times = timed
    takes = f"A plain {loop.code} loop takes {'at least' if loop.layers else 'about'} {times:.1f} times as long"
    if lead.accelerator != loop.accelerator or lead.nodes > 1:
        return f"{takes} (timed on one {loop.accelerator})."
    cost = money(Decimal(f"{float(lead.cost(answer.basis).cost) * times:.2g}"), lead.currency).replace(".00", "")
    return f"{takes}: {cost} or more." if loop.layers else f"{takes}: some {cost}."


def _ported(answer: Answer) -> str:
    """Says that somebody would have to port the recipe's code; the code of stated hours is the asker's."""
    lead = answer.lead
    if lead.recipe_kind == "stated":
        return ""
    if "runs_here" in answer.missed:
        return NO_PUBLIC_CODE
    return NOT_ON_YOURS if lead.is_owned and lead.runs_here is False else ""


def _rivals(answer: Answer) -> str:
    """What the same takes with the other machines or accelerators, or from the other clouds, that the question names."""
    waits = _not_worth_waiting_for(answer)
    rivals = [_rival(kind, each, answer) for kind, each in answer.rivals.items() if each is None or each != waits]
    return f"By comparison: {'; '.join(rivals)}." if rivals else ""


def _rival(kind: str, each: Estimate | None, answer: Answer) -> str:
    if each is None:
        return f"{kind.replace('_', ' ')}: no estimate (ask for it alone to see why)"
    words, as_sure = (
        [in_short(each), in_words(each.hours), each.price(answer.basis)],
        each.confirmed >= answer.lead.confirmed,
    )
    if not as_sure or each.purchase_option is not answer.lead.purchase_option:
        words.append(_bought(each))
    return ", ".join([*words, *(["at an unconfirmed rate"] if not as_sure else [])])


def _others(answer: Answer) -> Iterator[Sentence]:
    """What costs less, ends sooner, is surer or free."""
    other, lead, beside = _other(answer), answer.lead, answer.rivals.values()
    if other and other not in beside:
        is_cheaper = other.cost(answer.basis).cost < lead.cost(answer.basis).cost
        rank, name = (0, "Cheaper") if is_cheaper else (1, "Faster")
        figures = f"{_apart(other, lead)}, {_paid(other, answer)}"
        yield Sentence(Line.OTHERS, rank, f"{name}: {in_short(other)}, {figures}.")
    surer = answer.picked.get("surest", lead)
    if surer not in (lead, other, *beside):
        figures = f"{in_words(surer.hours)}, {_paid(surer, answer)}"
        yield Sentence(Line.OTHERS, 5, f"Surer (logged on that chip): {in_short(surer)}, {figures}.")
    free = (tier for tier in answer.free if tier.calendar_hours <= LONG_WAIT and tier.runs_here is not False)
    for tier in islice(free, 1):
        yield Sentence(Line.OTHERS, 6, f"Free, if you can wait: {in_short(tier)}, {in_words(tier.calendar_hours)}.")


def _other(answer: Answer) -> Estimate | None:
    """The first of the cheapest pick, the balanced and the fastest that costs less than the lead or ends sooner, and is not told
    of yet; the fastest only if it is not dear. None where no other is left."""
    lead, picked, basis = answer.lead, answer.picked, answer.query.basis
    dear, waits = MOST_FOR_SURE * picked["cheapest"].cost(basis).cost, _not_worth_waiting_for(answer)
    for name in ("cheapest", "balanced", "fastest"):
        each = picked[name]
        is_better = (
            each.cost(answer.basis).cost < lead.cost(answer.basis).cost or each.calendar_hours < lead.calendar_hours
        )
        if each not in (lead, waits) and is_better and (name != "fastest" or each.cost(basis).cost <= dear):
            return each
    return None


def _apart(each: Estimate, lead: Estimate) -> str:
    """`45 min sooner`"""
    sooner = lead.calendar_hours - each.calendar_hours
    return f"{in_words(abs(sooner))} {'sooner' if sooner > 0 else 'later'}" if sooner else "as soon"


def _paid(each: Estimate, answer: Answer) -> str:
    """The cost of another choice: of a rental what the list below says, also beside a user's own machine."""
    return each.price(answer.basis if each.is_owned else answer.query.basis)


def in_short(each: Estimate) -> str:
    """What is rented, and from whom: `8 A100-40GB at AWS`; `1 L40S at RunPod secure`; `your 2 RTX 3090`."""
    return " ".join(filter(None, [_from_whom(each), COUNTED.match(each.instance_type) and _machine_type(each)]))


def _from_whom(each: Estimate) -> str:
    machine = counted(each.accelerators, each.accelerator)
    return f"your {machine.removeprefix('1 ')}" if each.is_owned else f"{machine} at {provider(each.provider).name}"


def _located(each: Estimate) -> str:
    """What is rented and where: `8 A100-40GB at AWS (p4d.24xlarge, us-east-1)`."""
    machines = _machine_type(each)
    if each.nodes > 1 and machines:
        machines = f"{each.nodes} x {machines}"
    where = ", ".join(place for place in (machines, each.region) if place not in NOWHERE)
    return f"{_from_whom(each)} ({where})" if where else _from_whom(each)


def _machine_type(each: Estimate) -> str:
    """The type of the machine; of one that is called by its accelerators (`1x H100 secure`) what else its name says."""
    if not COUNTED.match(each.instance_type):
        return each.instance_type
    words = {*each.accelerator.casefold().split()}
    return " ".join(word for word in COUNTED.sub("", each.instance_type).split() if word.casefold() not in words)


def _priced(each: Estimate, basis: Basis) -> str:
    """Its cost with the range: `$3.89 ($3.05 to $4.96)`; of a commitment with what it costs in all."""
    amount, low, high = (money(figure, each.currency) for figure in each.cost(basis))
    low = low.removesuffix(f" {each.currency}")
    span = f" ({low} to {high})" if low != high else ""
    is_share = basis == "effective" and each.purchase_option in BY_THE_TERM
    return f"{amount}{span} of {each.price('billed')} in all" if is_share else f"{amount}{span}"


def _range(each: Estimate) -> str:
    """The 80 % range of its hours."""
    low, high = in_words(each.hours_low), in_words(each.hours_high)
    number, _, unit = low.partition(" ")
    return f"{number if high.endswith(f' {unit}') else low} to {high}"


def _bought(each: Estimate) -> str:
    term = None if each.purchase_option is PurchaseOption.MONTHLY else each.term
    words = (HOW_BOUGHT[each.purchase_option], term, each.payment and each.payment.value.replace("_", " "))
    return " ".join(filter(None, words))


def _rate(each: Estimate) -> str:
    """The rate, its age and its hand."""
    hourly, when = money(each.hourly_rate.quantize(Decimal("0.01")), each.currency), _days(each)
    if FROM_YOUR_SHEET in each.assumptions:
        return f"Your price sheet says {hourly} an hour, {when}."
    if each.price_first_hand:
        return f"The provider stated {hourly} an hour {when}."
    if each.confirmed:
        return f"Two sources agree on {hourly} an hour, seen {when}."
    return f"A third party saw {hourly} an hour {when}."


def _days(each: Estimate) -> str:
    days = each.price_age_days
    return f"{days:,} {'day' if days == 1 else 'days'} ago" if days else "today"
