"""The verdict: what a wise person would say first, in two to five plain lines that end in something to do."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from decimal import Decimal
from textwrap import wrap

from costcalc.answers import Answer, Estimate
from costcalc.catalogue.confirmation import FRESH_DAYS
from costcalc.costing.owning import PRICE_UNKNOWN
from costcalc.hardware import counted
from costcalc.money import money
from costcalc.offer import BY_THE_TERM, PurchaseOption
from costcalc.picks import MOST_FOR_SURE, SELDOM
from costcalc.programs import RecipeKind
from costcalc.query import Basis, EstimateQuery
from costcalc.rented import AS_ANNOUNCED, FROM_YOUR_SHEET
from costcalc.tasks.goals import task_of
from costcalc.tasks.plain_loops import times_as_long
from costcalc.units import chance_above, in_words
from pricing.packaged.providers import provider

LONGEST = 700
"""Characters of all lines together."""
MOST_LINES = 5
MOST_WRAPPED, WIDTH = 9, 80
"""Lines in a terminal of so many columns, where the first answer has 24 in all."""
PLACES = ("unspecified", "any")
KINDS: dict[RecipeKind, str] = {
    "ordinary": "an ordinary script",
    "tuned": "tuned",
    "record": "a benchmark entry",
}
COUNTED = re.compile(r"[0-9]+x ")
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
    ("confirmed",): "No rate here is confirmed: check it before you rent.",
    ("rentable",): "Nothing within these filters is rented on demand.",
    (
        "rentable",
        "confirmed",
    ): "Nothing within these filters is rented on demand or has a confirmed rate: check before you buy.",
}
NONE_LEFT = "No machine was free when these rates were read."
NO_PUBLIC_CODE = "No public code is known to run on any of these machines: somebody would have to port it."
NOT_ON_YOURS = "No public code is known to run on yours: somebody would have to port it."
A_MOMENT = 1 / 4
"""Hours below which nobody asks what an hour would cost."""
LONG_WAIT = 7 * 24.0
"""Hours on the calendar after which a free tier is no choice beside a rental."""


def verdict(answer: Answer, notes: tuple[str, ...] = (), missing: str = "", next_step: str = "") -> tuple[str, ...]:
    """The lines. `notes` come first, `missing` says why there is no estimate, `next_step` is what to do then.

    Where the lines are too many or too long, those that matter least are left out.
    """
    chosen = list(_chosen(answer)) if answer.picks else [f"{missing[0].upper()}{missing[1:]}."] if missing else []
    first = [*notes, *chosen]
    last = [next_step] if next_step else []
    room = MOST_LINES - len(first) - len(last)
    hints = [(at, f"Instead: {hint.sentence}") for at, hint in enumerate(answer.hints)]
    for per_hour in (True, False):
        beside = list(_beside(answer, per_hour)) if answer.picks else hints
        lines = [*first, *_joined(beside, room), *last]
        if _fits(lines):
            break
    while beside and not _fits(lines):
        beside.pop()
        lines = [*first, *_joined(beside, room), *last]
    if answer.picks and not _fits(lines):
        lines = [*notes, *_chosen(answer, is_brief=True), *_joined(beside, room), *last]
    return tuple(line.replace("`", "") for line in lines)


def _fits(lines: list[str]) -> bool:
    return len(" ".join(lines)) <= LONGEST and sum(map(_wrapped, lines)) <= MOST_WRAPPED


def _wrapped(line: str) -> int:
    """How many lines of a terminal it takes, those after the first being indented."""
    return len(wrap(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False))


def _joined(beside: Iterable[tuple[int, str]], room: int) -> list[str]:
    """The sentences of each of the first lines together."""
    lines: dict[int, list[str]] = defaultdict(list)
    for line, sentence in beside:
        lines[line].append(sentence)
    return [" ".join(lines[line]) for line in sorted(lines)][: max(room, 0)]


def _chosen(answer: Answer, is_brief: bool = False) -> Iterator[str]:
    """What to rent, for how much and how long; with whose code; what else that was named takes. Where it `is_brief`, without the
    script as published and the range of what is cheaper."""
    missed = tuple(name for name in answer.missed if name in ("rentable", "confirmed"))
    warnings = [LACKING[missed] if missed else "", NONE_LEFT if "in_stock" in answer.missed else "", _old(answer)]
    yield " ".join(filter(None, [_own_without_estimate(answer), *warnings, _what_to_do(answer, answer.lead, is_brief)]))
    is_ported = answer.lead.purchase_option is PurchaseOption.OWNED and answer.lead.runs_here is False
    code = NO_PUBLIC_CODE if "runs_here" in answer.missed else NOT_ON_YOURS if is_ported else ""
    if whose := " ".join(filter(None, [_code(answer.lead), _ordinary(answer, is_brief), code])):
        yield whose
    if rivals := _rivals(answer):
        yield rivals


def _old(answer: Answer) -> str:
    """Says how old the lead's rate is, where it is confirmed since too few of its kind are fresher."""
    each = answer.lead
    if each.purchase_option is PurchaseOption.OWNED:
        return ""
    usual, kind = FRESH_DAYS[each.purchase_option], each.purchase_option.value.replace("_", " ")
    if not each.confirmed or each.purchase_option not in answer.widened or each.price_age_days <= usual:
        return ""
    return f"Few {kind} rates were seen within {usual} days; this one is {each.price_age_days:,} days old."


def _own_without_estimate(answer: Answer) -> str:
    """Says that the machines of your own that the question names have no estimate."""
    if answer.owned or not answer.query.own:
        return ""
    mine = " and ".join(counted(own.accelerators, own.accelerator) for own in answer.query.own)
    query = answer.query
    if query.max_hours or query.max_cost:
        return f"No estimate for your {mine} within these limits."
    record = "" if query.training == "record" else "; training=record may have one"
    return f"No estimate for your {mine}{record}."


def _what_to_do(answer: Answer, each: Estimate, is_brief: bool) -> str:
    query = answer.query
    moment = f"On {answer.prices.as_of:%Y-%m-%d}: " if query.as_of else ""
    for_runs = f" for {query.runs} runs" if query.runs > 1 else ""
    known = each.evidence.throughput.spoken
    figures = f"{priced(each, answer.basis)}{for_runs}, {in_words(each.hours)} ({_range(each)}), its speed {known}"
    if each.purchase_option is PurchaseOption.OWNED:
        mine = each.accelerator if each.accelerators == 1 else f"{each.accelerators} {each.accelerator}"
        unknown = each.sources.price.source == PRICE_UNKNOWN
        paid_for = "" if unknown or query.own_price == 0 else " and depreciation"
        asked = f" alone: {PRICE_UNKNOWN}, so add own_price= (0 if it is paid off)" if unknown else ""
        return f"{moment}Your {mine}: {figures}, for electricity{paid_for}{asked}."
    if each.purchase_option is PurchaseOption.FREE:
        waits = f", {in_words(each.calendar_hours)} with waiting" if each.calendar_hours > each.hours else ""
        return f"{moment}Use {in_short(each)}: free, {in_words(each.hours)} of work{waits}."
    advice = (
        f"{moment}{'rent' if moment else 'Rent'} {_located(each)} {_bought(each)}: {figures}.{_beyond(each, query)}"
    )
    return f"{advice} {_rate(each)}{_the_cheapest(answer, is_brief)}"


def _the_cheapest(answer: Answer, is_brief: bool) -> str:
    """The cheapest pick, where waiting for it does not pay: ` The cheapest, 1 T4G at AWS for $8.60, saves $7.77 but takes
    20.5 h (13.6 to 38.7 h).`"""
    each = _not_worth_waiting_for(answer)
    if each is None:
        return ""
    cost = each.cost(answer.basis).cost
    price, less = (money(amount, each.currency) for amount in (cost, answer.lead.cost(answer.basis).cost - cost))
    takes = f"takes {in_words(each.hours)}" + ("" if is_brief else f" ({_range(each)})")
    return f" The cheapest, {in_short(each)} for {price}, saves {less} but {takes}."


def _not_worth_waiting_for(answer: Answer) -> Estimate | None:
    """The cheapest pick, where the verdict begins with the balanced one instead."""
    instead = answer.named_first == "balanced" and not answer.owned
    return answer.picks[0].estimate if instead else None


def _beyond(each: Estimate, query: EstimateQuery) -> str:
    """How often it exceeds the limits that are asked for, unless seldom: ` It takes longer than 1 h in 4 of 10 cases.`"""
    cost, often = each.cost(query.basis), []
    if query.max_hours and (cases := _cases(query.max_hours, each.calendar_hours, each.hours_high)):
        often.append(f"takes longer than {in_words(query.max_hours)} in {cases}")
    if query.max_cost and (cases := _cases(float(query.max_cost), float(cost.cost), float(cost.high))):
        often.append(f"costs more than {money(query.max_cost, each.currency)} in {cases}")
    return f" It {' of 10 cases, and '.join(often)} of 10 cases." if often else ""


def _cases(limit: float, middle: float, high: float) -> int:
    """In how many of ten cases an amount is above a limit; 0 where it seldom is."""
    chance = chance_above(limit, middle, high)
    return round(10 * chance) if chance >= SELDOM and high > middle else 0


def _beside(answer: Answer, per_hour: bool) -> Iterator[tuple[int, str]]:
    """Other choices, the most important first, each with the line that it stands in; with what an hour costs that they save."""
    other, lead, basis = _other(answer), answer.lead, answer.basis
    surer = next((each.estimate for each in answer.picks if each.name == "surest" and each.estimate != lead), None)
    if other and other not in answer.rivals.values():
        less = other.cost(basis).cost < answer.lead.cost(basis).cost
        name = "Cheaper" if less else "Faster"
        of_an_hour = _of_an_hour(other, answer) if per_hour else ""
        yield 0, f"{name}: {in_short(other)}, {_apart(other, answer.lead)}, {_paid(other, answer)}{of_an_hour}."
    if seen := _seen_for_less(answer):
        yield 1, seen
    if surer and surer not in (other, *answer.rivals.values()):
        figures = f"{in_words(surer.hours)}, {_paid(surer, answer)}"
        yield 0, f"Surer (logged on that chip): {in_short(surer)}, {figures}."
    if free := _free(answer):
        yield 1, free


def _rivals(answer: Answer) -> str:
    """What the same takes with the other machines or accelerators, or from the other clouds, that the question names."""
    rivals = []
    for kind, each in answer.rivals.items():
        if each and each == _not_worth_waiting_for(answer):
            continue
        if each is None:
            rivals.append(f"{kind.replace('_', ' ')}: no estimate (ask for it alone to see why)")
        else:
            cost = money(each.cost(answer.basis).cost, each.currency)
            as_sure = each.confirmed >= answer.lead.confirmed
            as_lead = as_sure and each.purchase_option is answer.lead.purchase_option
            bought = "" if as_lead else f", {_bought(each)}"
            unsure = "" if as_sure else ", unconfirmed"
            rivals.append(f"{in_short(each)}, {in_words(each.hours)}, {cost}{bought}{unsure}")
    return f"By comparison: {'; '.join(rivals)}." if rivals else ""


def _apart(each: Estimate, lead: Estimate) -> str:
    """`45 min sooner`"""
    sooner = lead.calendar_hours - each.calendar_hours
    return f"{in_words(abs(sooner))} {'sooner' if sooner > 0 else 'later'}" if sooner else "as soon"


def _of_an_hour(each: Estimate, answer: Answer) -> str:
    """What each hour costs that another choice saves: `, $0.39 per hour saved`."""
    saved = answer.lead.calendar_hours - each.calendar_hours
    more = each.cost(answer.basis).cost - answer.lead.cost(answer.basis).cost
    if more <= 0 or saved < A_MOMENT:
        return ""
    return f", {money((more / Decimal(saved)).quantize(Decimal('0.01')), each.currency)} per hour saved"


def _other(answer: Answer) -> Estimate | None:
    """The first of the cheapest pick, the balanced and the fastest that costs less than the lead or ends sooner, and is not told
    of yet; the fastest only if it is not dear. None where no other is left."""
    picked, basis = {pick.name: pick.estimate for pick in answer.picks}, answer.query.basis
    lead, dear = answer.lead, MOST_FOR_SURE * picked["cheapest"].cost(basis).cost
    others = [picked["cheapest"], picked["balanced"]]
    others += [picked["fastest"]] if picked["fastest"].cost(basis).cost <= dear else []
    named = (lead, _not_worth_waiting_for(answer))
    return next((each for each in others if each not in named and _is_better(each, lead, answer.basis)), None)


def _is_better(each: Estimate, lead: Estimate, basis: Basis) -> bool:
    return each.cost(basis).cost < lead.cost(basis).cost or each.calendar_hours < lead.calendar_hours


def _seen_for_less(answer: Answer) -> str:
    each, basis = answer.unconfirmed, answer.query.basis
    if (
        each is None
        or "confirmed" in answer.missed
        or each.cost(basis).cost >= answer.picks[0].estimate.cost(basis).cost
    ):
        return ""
    cost = money(each.cost(basis).cost, each.currency)
    return f"Seen for less, unconfirmed: {cost} ({in_short(each)}, {_bought(each)}, {_days(each)})."


def _free(answer: Answer) -> str:
    tiers = [tier for tier in answer.free if tier.calendar_hours <= LONG_WAIT and tier.runs_here is not False]
    if not tiers:
        return ""
    return f"Free, if you can wait: {in_short(tiers[0])}, {in_words(tiers[0].calendar_hours)}."


def in_short(each: Estimate) -> str:
    """What is rented, and from whom: `8 A100-40GB at AWS`; `1 L40S at RunPod secure`; `your 2 RTX 3090`."""
    return " ".join(filter(None, [_from_whom(each), kind_of(each)]))


def kind_of(each: Estimate) -> str:
    """What tells machines apart that a provider calls by their accelerators alone: `secure` of `1x H100 secure`."""
    return _machine_type(each) if COUNTED.match(each.instance_type) else ""


def _from_whom(each: Estimate) -> str:
    machine = counted(each.accelerators, each.accelerator)
    owned = each.purchase_option is PurchaseOption.OWNED
    return f"your {machine.removeprefix('1 ')}" if owned else f"{machine} at {provider(each.provider).name}"


def _located(each: Estimate) -> str:
    """What is rented and where: `8 A100-40GB at AWS (p4d.24xlarge, us-east-1)`."""
    name = _machine_type(each)
    machines = f"{each.nodes} x {name}" if each.nodes > 1 and name else name
    where = ", ".join(filter(None, [machines, "" if each.region in PLACES else each.region]))
    return f"{_from_whom(each)} ({where})" if where else _from_whom(each)


def _machine_type(each: Estimate) -> str:
    """The type of the machine; of one that is called by its accelerators (`1x H100 secure`) what else its name says."""
    if not COUNTED.match(each.instance_type):
        return each.instance_type
    words = {*each.accelerator.casefold().split()}
    return " ".join(word for word in COUNTED.sub("", each.instance_type).split() if word.casefold() not in words)


def _paid(each: Estimate, answer: Answer) -> str:
    """The cost of another choice with its range: of a rental what the list below says, also beside a user's own machine."""
    return priced(each, answer.basis if each.purchase_option is PurchaseOption.OWNED else answer.query.basis)


def priced(each: Estimate, basis: Basis) -> str:
    """Its cost with the range: `$3.89 ($3.05 to $4.96)`; of a commitment with what it costs in all."""
    amount, low, high = (money(figure, each.currency) for figure in each.cost(basis))
    low = low.removesuffix(f" {each.currency}")
    whole = (
        f" of {money(each.billed_cost, each.currency)} in all"
        if basis == "effective" and each.purchase_option in BY_THE_TERM
        else ""
    )
    return f"{amount} ({low} to {high}){whole}" if low != high else f"{amount}{whole}"


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
    soon = "".join(f" {sentence}" for sentence in each.assumptions if AS_ANNOUNCED in sentence)
    if FROM_YOUR_SHEET in each.assumptions:
        return f"Your price sheet says {hourly} an hour, {when}.{soon}"
    if each.price_first_hand:
        return f"The provider stated {hourly} an hour {when}.{soon}"
    if each.confirmed:
        return f"Two sources agree on {hourly} an hour, seen {when}.{soon}"
    return f"A third party saw {hourly} an hour {when}.{soon}"


def _days(each: Estimate) -> str:
    days = each.price_age_days
    return f"{days:,} {'day' if days == 1 else 'days'} ago" if days else "today"


def _ordinary(answer: Answer, is_brief: bool) -> str:
    """What an ordinary loop of today and the usual script as published take on the same machine, where these are others, and
    which script misses the target."""
    lead, today, published, seldom = answer.lead, answer.ordinary, answer.as_published, answer.ordinary_missed
    if lead.recipe_kind in ("own", "stated"):
        return ""
    takes = {
        each.recipe: f"{in_words(each.hours)} and {money(each.cost(answer.basis).cost, each.currency)}"
        for each in (published, today)
        if each and each.recipe != lead.recipe
    }
    before = takes.pop(published.recipe, "") if published and published != today else ""
    said = [f"An ordinary loop of today, {recipe}, takes {figures}" for recipe, figures in takes.items()]
    if before not in ("", *takes.values()) and not (is_brief and said):
        said = [f"{said[0]} (as published {before})" if said else f"As published it takes {before}"]
    if seldom and seldom.recipe != lead.recipe:
        said.append(f"The usual script, {seldom.recipe}, misses it in {(1 - seldom.chance) * 100:.0f} % of runs")
    if said or lead.recipe_kind == "ordinary":
        return " ".join(f"{sentence}." for sentence in said)
    return f"No ordinary script is known to reach it{_plain(answer)}."


def _plain(answer: Answer) -> str:
    """How many times as long a plain loop was timed to take, and on machines like that one for how much."""
    lead, timed = answer.lead, times_as_long(answer.query.model) if task_of(answer.query) else None
    as_of = answer.query.as_of
    if not timed or (as_of and as_of.date() < timed[0].measured):
        return ""
    loop, times = timed
    takes = f"; a plain {loop.code} loop takes {'at least' if loop.layers else 'about'} {times:.1f} times as long"
    if lead.accelerator != loop.accelerator or lead.nodes > 1:
        return f"{takes} (timed on one {loop.accelerator})"
    cost = money(Decimal(f"{float(lead.cost(answer.basis).cost) * times:.2g}"), lead.currency).replace(".00", "")
    return f"{takes}: {cost} or more" if loop.layers else f"{takes}: some {cost}"


def _code(each: Estimate) -> str:
    """Whose training that is, and how sure it is to reach the target."""
    if each.recipe_kind == "stated":
        return ""
    if each.success_probability is None:
        unit = "epoch" if each.epochs == 1 else "epochs"
        return f"It trains for the {each.epochs:g} {unit} that you named; what they reach is not estimated."
    sure = "over 99 %" if each.success_probability > 0.99 else f"{each.success_probability * 100:.0f} %"
    what = f"{KINDS.get(each.recipe_kind, each.task)}, {_work(each)}, {sure} sure to reach it"
    return f"Recipe: {each.recipe} ({what})."


def _work(each: Estimate) -> str:
    """What it takes: `18 epochs`, `2.75 million sequences`, `3,140 sequences`."""
    count, unit = each.epochs, each.epochs_are
    if unit.startswith("thousand "):
        return f"{float(f'{count * 1000:.3g}'):,.0f} {unit.removeprefix('thousand ')}"
    return f"{count:.0f} {unit}" if unit == "epochs" and count >= 2 else f"{count:.3g} {unit}"
