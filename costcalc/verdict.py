"""The verdict: what a wise person would say first, in two to five plain lines that end in something to do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from decimal import Decimal

from costcalc.answers import Answer, Estimate
from costcalc.assumptions import in_words
from costcalc.hardware import counted
from costcalc.money import money
from costcalc.offers import PurchaseOption
from costcalc.picks import MOST_FOR_SURE
from costcalc.programs import RecipeKind
from costcalc.query import Basis
from costcalc.reasons import against

LONGEST = 700
"""Characters of all lines together."""
MOST_LINES = 5
PLACES = {"unspecified": "", "any": ", any region"}
KINDS: dict[RecipeKind, str] = {
    "ordinary": "the ordinary recipe",
    "tuned": "the tuned recipe",
    "record": "the benchmark entry",
    "own": "your recipe",
}
LACKING = {
    ("confirmed",): "No rate within these filters is confirmed, so these are rates to check before you rent.",
    ("rentable",): "Nothing here is rented on demand, so this is bought in another way.",
    (
        "rentable",
        "confirmed",
    ): "Nothing here is rented on demand or has a confirmed rate: check the rates before you buy.",
}
NO_PUBLIC_CODE = (
    "No public code is known to run on any of these machines, so this is what the best published result took."
)
LONG_WAIT = 7 * 24.0
"""Hours on the calendar after which a free tier is no choice beside a rental."""


def verdict(answer: Answer, notes: tuple[str, ...] = (), missing: str = "", next_step: str = "") -> tuple[str, ...]:
    """The lines. `notes` come first, `missing` says why there is no estimate, `next_step` is what to do then.

    Where the lines are too many or too long, those that matter least are left out.
    """
    first = [*notes, *(_chosen(answer) if answer.picks else [f"{_capital(missing)}."] if missing else [])]
    last = [next_step] if next_step else []
    room = MOST_LINES - len(first) - len(last)
    beside = (
        list(_beside(answer))
        if answer.picks
        else [(at, f"Instead: {hint.sentence}") for at, hint in enumerate(answer.hints)]
    )
    lines = [*first, *_joined(beside, room), *last]
    while beside and len(" ".join(lines)) > LONGEST:
        beside.pop()
        lines = [*first, *_joined(beside, room), *last]
    return tuple(line.replace("`", "") for line in lines)


def _joined(beside: Iterable[tuple[int, str]], room: int) -> list[str]:
    """The sentences of each of the first lines together."""
    lines: dict[int, list[str]] = defaultdict(list)
    for line, sentence in beside:
        lines[line].append(sentence)
    return [" ".join(lines[line]) for line in sorted(lines)][: max(room, 0)]


def _chosen(answer: Answer) -> Iterator[str]:
    """What to rent, for how much and how long; with whose code."""
    missed = tuple(name for name in answer.missed if name != "runs_here")
    warning = f"{LACKING[missed]} " if missed else ""
    yield f"{warning}{_what_to_do(answer, answer.lead)}"
    code = NO_PUBLIC_CODE if "runs_here" in answer.missed else ""
    yield " ".join(filter(None, [_code(answer.lead), _ordinary(answer), code]))


def _what_to_do(answer: Answer, each: Estimate) -> str:
    query = answer.query
    asked = f"On {answer.prices.as_of:%Y-%m-%d}: " if query.as_of else ""
    for_runs = f" for {query.runs} runs" if query.runs > 1 else ""
    figures = f"{priced(each, _basis(answer))}{for_runs}, {_hours(each)} ({_range(each)})"
    if each.purchase_option is PurchaseOption.OWNED:
        mine = each.accelerator if each.accelerators == 1 else f"{each.accelerators} {each.accelerator}"
        return f"{asked}Your {mine}: {figures}, for electricity and its share of the loss in value."
    if each.purchase_option is PurchaseOption.FREE:
        waits = f", {in_words(each.calendar_hours)} with waiting" if each.calendar_hours > each.hours else ""
        return f"{asked}Use {located(each)}: free, {_hours(each)} of work{waits}."
    return f"{asked}{'rent' if asked else 'Rent'} {located(each)}, {_bought(each)}: {figures}. {_rate(each)}"


def _beside(answer: Answer) -> Iterator[tuple[int, str]]:
    """Other choices, the most important first, each with the line that it stands in."""
    other, surer, basis = _other(answer), _surest(answer), _basis(answer)
    if other:
        less = other.cost(basis).cost < answer.lead.cost(basis).cost
        name = "Cheaper" if less else "Faster"
        yield 0, f"{name}: {_short(other)}, {priced(other, basis)}, {against(other, answer.lead, basis)}."
    if seen := _seen_for_less(answer):
        yield 1, seen
    if surer and surer != other:
        figures = f"{priced(surer, basis)}, {_hours(surer)}"
        yield 0, f"Surer: {_short(surer)}, {figures}, where its code was logged."
    if free := _free(answer):
        yield 1, free


def _basis(answer: Answer) -> Basis:
    """What costs are compared by: a machine of one's own is there before and after the run, which has its share of it."""
    return "effective" if answer.lead.purchase_option is PurchaseOption.OWNED else answer.query.basis


def _other(answer: Answer) -> Estimate | None:
    """Beside another lead the cheapest pick; beside the cheapest the balanced one, or where that is the same the fastest unless
    it is dear. None where no other is left."""
    picked, basis = {pick.name: pick.estimate for pick in answer.picks}, answer.query.basis
    cheapest, balanced, fastest = (picked[name] for name in ("cheapest", "balanced", "fastest"))
    if answer.lead != cheapest:
        return cheapest
    if balanced != cheapest:
        return balanced
    dear = fastest.cost(basis).cost > MOST_FOR_SURE * cheapest.cost(basis).cost
    return None if dear or fastest == cheapest else fastest


def _surest(answer: Answer) -> Estimate | None:
    """The surest pick, None where that is the lead."""
    return next(
        (each.estimate for each in answer.picks if each.name == "surest" and each.estimate != answer.lead), None
    )


def _seen_for_less(answer: Answer) -> str:
    each, basis = answer.unconfirmed, answer.query.basis
    if (
        each is None
        or "confirmed" in answer.missed
        or each.cost(basis).cost >= answer.picks[0].estimate.cost(basis).cost
    ):
        return ""
    cost = money(each.cost(basis).cost, each.currency)
    return f"Seen for less, unconfirmed: {cost} ({_short(each)}, {_bought(each)}, {_days(each)})."


def _free(answer: Answer) -> str:
    tiers = [tier for tier in answer.free if tier.calendar_hours <= LONG_WAIT]
    if not tiers:
        return ""
    return f"Free, if you can wait: {_short(tiers[0])}, {in_words(tiers[0].calendar_hours)}."


def _short(each: Estimate) -> str:
    """What is rented, and where if that is a certain region: `8 A100-40GB at aws, us-east-1`."""
    region = "" if each.region in PLACES else f", {each.region}"
    return f"{counted(each.accelerators, each.accelerator)} at {each.provider}{region}"


def located(each: Estimate) -> str:
    """What is rented and where: `8 A100-40GB at aws (p4d.24xlarge, us-east-1)`."""
    machines = f"{each.nodes} x " if each.nodes > 1 else ""
    what = counted(each.accelerators, each.accelerator)
    return f"{what} at {each.provider} ({machines}{each.instance_type}{PLACES.get(each.region, f', {each.region}')})"


def priced(each: Estimate, basis: Basis) -> str:
    """Its cost with the range: `$3.89 ($3.05 to $4.96)`."""
    amount, low, high = (money(one, each.currency) for one in each.cost(basis))
    return f"{amount} ({low} to {high})" if low != high else amount


def _hours(each: Estimate) -> str:
    return in_words(each.hours)


def _range(each: Estimate) -> str:
    """The 80 % range of its hours."""
    low, high = in_words(each.hours_low), in_words(each.hours_high)
    number, _, unit = low.partition(" ")
    return f"{number if high.endswith(f' {unit}') else low} to {high}"


def _bought(each: Estimate) -> str:
    words = (each.purchase_option.value, each.term, each.payment and each.payment.value)
    return " ".join(word.replace("_", " ") for word in words if word)


def _rate(each: Estimate) -> str:
    """The rate, its age and its hand."""
    hourly = money(each.hourly_rate.quantize(Decimal("0.01")), each.currency)
    alike = "stated by two sources alike, last" if each.confirmed else "seen by a third party"
    said = "stated by the provider" if each.price_first_hand else alike
    return f"The rate of {hourly} an hour was {said} {_days(each)}."


def _days(each: Estimate) -> str:
    days = each.price_age_days
    return f"{days:,} {'day' if days == 1 else 'days'} ago" if days else "today"


def _ordinary(answer: Answer) -> str:
    """What the script that most people run takes on the same machine, where that is another."""
    each = answer.ordinary
    if answer.lead.recipe_kind not in {"tuned", "record"}:
        return ""
    if each is None or each.recipe_kind != "ordinary":
        return "No ordinary script is known to reach it."
    cost = money(each.cost(_basis(answer)).cost, each.currency)
    return f"An ordinary script, {each.recipe}: {cost}, {_hours(each)}."


def _code(each: Estimate) -> str:
    """Whose training that is, and how sure it is to reach the target."""
    sure = "over 99 %" if each.success_probability > 0.99 else f"{each.success_probability * 100:.0f} %"
    recipe = f"{KINDS[each.recipe_kind]} {each.recipe} ({each.epochs:.0f} epochs)"
    return f"That is {recipe}, which reaches it in {sure} of runs."


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
