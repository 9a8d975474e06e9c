"""Times, money, machines, purchases, rates and picks as people read them, in the terminal, in Slack and on the page alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil
from typing import NamedTuple, Protocol, get_args

from api.questions.suggestions import many
from costcalc.answers import Answer, Estimate, OwnedMachine, Pick
from costcalc.catalogue.freshness import Freshness
from costcalc.hardware import counted
from costcalc.money import cents, money
from costcalc.offer import OLD_DAYS, Payment, PurchaseOption
from costcalc.picks import PickName
from costcalc.query import Basis
from costcalc.reasons import within_percent
from costcalc.rented import FREE_TIER
from costcalc.tasks.goals import Goal, goal_in_words, metric_name, task_of, training_in_words, value_in_words
from costcalc.training import Metric
from costcalc.units import in_words

CLOSE, FAIR = 25, 50  # percent
YOURS = "yours"
REGIONS = {"unspecified": "", "any": ", any region"}
OLD, SECOND_HAND, NONE_FREE = "†", "‡", "∅"
MEANINGS = {
    OLD: f"the rate is more than {OLD_DAYS} days old.",
    SECOND_HAND: "a third party states it, not the provider.",
    NONE_FREE: "none was free to rent when the rate was read.",
}


class Cluster(Protocol):
    """What estimates, speeds and comparisons say of their machines."""

    @property
    def provider(self) -> str: ...

    @property
    def instance_type(self) -> str: ...

    @property
    def nodes(self) -> int: ...


class Accelerated(Protocol):
    """What estimates and offers say of their accelerators."""

    @property
    def accelerators(self) -> int: ...

    @property
    def accelerator(self) -> str: ...


class Purchase(Protocol):
    """What offers, estimates and commitments say of how they are bought."""

    @property
    def purchase_option(self) -> PurchaseOption: ...

    @property
    def term(self) -> str | None: ...

    @property
    def payment(self) -> Payment | None: ...


def hours(value: float) -> str:
    """Hours, or kWh and kg, with as many decimals as matter: two below 100, none from 1,000 on."""
    return f"{value:,.{2 if value < 100 else 1 if value < 1000 else 0}f}"


def energy(each: Estimate) -> str:
    """What a training draws and emits; empty where nobody knows what its machines draw."""
    if each.energy_kwh is None:
        return ""
    emitted = "" if each.carbon_kg is None else f", {hours(each.carbon_kg)} kg CO2e"
    return f"{hours(each.energy_kwh)} kWh{emitted}"


def machine(each: Cluster) -> str:
    """Provider, number of machines and instance type: `aws 2 × p3.16xlarge`."""
    return f"{each.provider} {f'{each.nodes} × ' if each.nodes > 1 else ''}{each.instance_type}"


def accelerators(each: Accelerated) -> str:
    """Number and kind of accelerators: `8 × V100`; of a machine without any its processor."""
    return counted(each.accelerators, each.accelerator, " × ")


metric, goal, training = metric_name, goal_in_words, training_in_words


def measure(each: str) -> str:
    """`top-1 accuracy`, `validation loss`; for a user's own run the bare metric."""
    return f"{metric(each)} accuracy" if isinstance(each, Metric) else metric(each)


def target_name(each: Goal | None) -> str:
    """What a field for the target is called: the accuracy of a question about ImageNet, else the metric."""
    name = metric(each.metric) if each and not isinstance(each.metric, Metric) else "accuracy"
    return f"{name[0].upper()}{name[1:]}"


def samples(dataset: str) -> str:
    """What a network sees one of at a time: images, where they are ImageNet's."""
    return "images" if dataset == "imagenet" else "samples"


def samples_of(each: Estimate) -> str:
    """What an estimate's training sees one of at a time."""
    return samples(each.dataset) if each.tokens_per_second is None else "tokens"


def per_second(each: Estimate) -> float:
    """How many of them in a second, on all accelerators together."""
    return (each.images_per_second or 0.0) if each.tokens_per_second is None else each.tokens_per_second


def in_region(text: str, region: str) -> str:
    """The text with the region behind, where the provider names one: `1 A100, us-east1`, `8 B200, any region`."""
    return f"{text}{REGIONS.get(region, f', {region}')}"


def located(each: Estimate) -> str:
    """Provider, machines and region; a user's own machine has none."""
    return machine(each) if each.purchase_option is PurchaseOption.OWNED else in_region(machine(each), each.region)


def rate_seen(each: Estimate) -> str:
    """How old a rate is and who states it: `64 days ago, by a third party`."""
    days = each.price_age_days
    ago = f"{days:,} {'day' if days == 1 else 'days'} ago" if days else "today"
    return ago if each.price_first_hand else f"{ago}, by a third party"


def hourly(each: Estimate) -> str:
    """What all its machines cost an hour: `$21.96 an hour`."""
    return f"{money(cents(each.hourly_rate), each.currency)} an hour"


def hand(each: Estimate) -> str:
    """Who states a rate, and when it was last seen: `by the provider, 3 days ago`; of an own machine what it is made of."""
    if each.purchase_option is PurchaseOption.OWNED:
        return "electricity and depreciation"
    alike = "by two sources alike" if each.confirmed else "by a third party"
    return f"{'by the provider' if each.price_first_hand else alike}, {rate_seen(each).partition(',')[0]}"


def names_of(each: Estimate, answer: Answer) -> str:
    """The names of the picks that an estimate is: `cheapest, surest`, or `all four`; `yours` if you own it; else
    empty."""
    if any(each == mine.estimate for mine in answer.owned):
        return YOURS
    names = [pick.name for pick in answer.picks if pick.estimate == each]
    if len(names) == len(get_args(PickName)):
        return "all four"
    return ", ".join(names)


def folded(answer: Answer) -> str:
    """What there is beside the estimates that picks may come from, and how to see it; empty where there is nothing."""
    counted = counted_aside(answer)
    return f"{counted}; limit=1000 lists them." if counted else ""


def counted_aside(answer: Answer) -> str:
    """How many estimates there are of each kind that picks do not come from: `Also 4 at unconfirmed rates, 12 on spot`."""
    aside, is_stated = answer.folded, answer.query.took is not None
    kinds = (
        (aside.unconfirmed, "at unconfirmed rates"),
        (aside.other_recipes, "with recipes less sure or beyond training="),
        (aside.other_code, "with less memory" if is_stated else "with code nobody has run there"),
        (aside.spot, "on spot"),
        (aside.commitments, "with a commitment"),
    )
    counted = ", ".join(f"{number:,} {words}" for number, words in kinds if number)
    return f"Also {counted}" if counted else ""


class Sureness(NamedTuple):
    """How well a cost is known: 1 to 3 steps, and in words how far off it may be."""

    steps: int
    words: str


def sureness(each: Estimate, basis: Basis) -> Sureness:
    """How far the farther end of the 80 % range of its cost is from the cost; of its time, where its cost is certain."""
    percent = within_percent(each, basis)
    if percent:
        return Sureness(1 + (percent <= FAIR) + (percent <= CLOSE), f"within {percent}\N{NO-BREAK SPACE}%")
    percent = round(max(each.hours_high - each.hours, each.hours - each.hours_low) / each.hours * 100)
    return Sureness(1 + (percent <= FAIR) + (percent <= CLOSE), f"time within {percent}\N{NO-BREAK SPACE}%")


def bought(each: Purchase) -> str:
    """Purchase option, term and payment: `reserved 1y no upfront`."""
    words = (each.purchase_option.value, each.term, each.payment and each.payment.value)
    return " ".join(word.replace("_", " ") for word in words if word)


def how_fresh(rates: Freshness) -> str:
    """How old the rates are that the question allows, and when prices were last refreshed."""
    if rates.median_age_days is None:
        return "no rate matches"
    age = f"half of the rates seen within {many(max(ceil(rates.median_age_days), 1), 'day')}"
    return f"{age}; refreshed {rates.refreshed_at:%Y-%m-%d %H:%M} UTC" if rates.refreshed_at else age


def seen(each: Estimate) -> str:
    """The date of an estimate's rate, marked where that is old or second hand."""
    return f"{each.sources.price.observed_at:%Y-%m-%d}{_marks(each)}"


def rate_in_words(each: Estimate) -> str:
    """The date of an estimate's rate, and what one should know of it: `2026-05-24, 180 days old, second hand`."""
    remarks = (
        (each.price_age_days > OLD_DAYS, f"{each.price_age_days:,} days old"),
        (not each.price_first_hand, "second hand"),
        (each.available is False, "none free then"),
    )
    return ", ".join([f"{each.sources.price.observed_at:%Y-%m-%d}", *(words for holds, words in remarks if holds)])


def marks_explained(estimates: Iterable[Estimate]) -> Iterator[str]:
    """What the marks of these estimates mean."""
    marks = "".join(map(_marks, estimates))
    return (f"{mark}: {meaning}" for mark, meaning in MEANINGS.items() if mark in marks)


def on_calendar(each: Estimate) -> str:
    """The time on the calendar, where there is waiting between sessions: `78 days with waiting`."""
    return f"{in_words(each.calendar_hours)} with waiting" if each.calendar_hours > each.hours else ""


def waiting(free: Estimate) -> str:
    """What a free tier takes, in words: hours of work, calendar time, sessions and quota."""
    return next(line.removeprefix(FREE_TIER) for line in free.assumptions if line.startswith(FREE_TIER))


def span(low: float, high: float) -> str:
    """A range of hours: `5.1–8.7 h`, `41 min–1.1 h`."""
    least, most = in_words(low), in_words(high)
    number, _, unit = least.partition(" ")
    return f"{number if most.endswith(f' {unit}') else least}–{most}"


def chance(probability: float | None) -> str:
    """A probability in percent, which never says that something is certain: `97 %`, `over 99 %`; `unknown` where it is."""
    if probability is None:
        return "unknown"
    return "over 99 %" if probability > 0.99 else f"{probability * 100:.0f} %"


def time(each: Estimate) -> str:
    """The hours, and the time on the calendar where there is waiting between sessions."""
    waits = on_calendar(each)
    return f"{hours(each.hours)} h{f' ({waits})' if waits else ''}"


def cost(each: Estimate, basis: Basis) -> str:
    """The cost that the question goes by, with its range where it can move: `$0.35 ($0.29–$0.52)`."""
    amount, low, high = (money(figure, each.currency) for figure in each.cost(basis))
    span = f" ({low}–{high})" if low != high else ""
    return f"{amount}{span}{' for its share of use' if basis == 'effective' else ''}"


def in_one_line(each: Estimate, basis: Basis) -> str:
    """Time, cost with its range, machine, region, and how and at which rate it is bought."""
    where = in_region(f"{machine(each)}{_accelerators(each)}", each.region)
    return f"{time(each)}, {cost(each, basis)}: {where}, {bought(each)}, rate of {seen(each)}"


def same_as(pick: Pick, answer: Answer) -> str:
    """`the same as cheapest` of a pick whose estimate an earlier one has, else nothing."""
    first = next(each for each in answer.picks if each.estimate == pick.estimate)
    return "" if first.name == pick.name else f"the same as {first.name}"


def picked(pick: Pick, answer: Answer) -> str:
    """What is picked, and why."""
    return f"{same_as(pick, answer) or in_one_line(pick.estimate, answer.query.basis)}. {pick.reason}"


def owned(each: OwnedMachine) -> str:
    """What training costs on a user's own machine, and from how much use on it beats renting."""
    estimate = each.estimate
    cost = f"{money(estimate.effective_cost, estimate.currency)} of electricity and depreciation"
    pays = f"; against the cheapest rental on demand, {_pays(estimate.break_even_hours)}" if each.break_even else ""
    return f"{machine(estimate)}: {time(estimate)}, {cost}{pays}"


def _pays(break_even_hours: float | None) -> str:
    if break_even_hours is None:
        return "its electricity alone costs more than renting"
    if break_even_hours == 0:
        return "pays off from its first hour"
    return f"pays off above {break_even_hours:,.0f} h of use in its life"


def highest_accuracy(answer: Answer) -> str:
    """The highest accuracy that any recipe of the model reaches, or that none is known to reach any."""
    query, best = answer.query, answer.best_reached
    if best is None:
        return f"No {metric(query.metric)} curve of {query.model} is known: say how long it trains, such as epochs=300."
    if not isinstance(query.metric, Metric):
        reached = value_in_words(query.metric, best.accuracy)
        runs = f"The published runs of {query.model} stop at" if task_of(query) else f"The run {query.model} reached"
        return f"{runs} {reached}."
    return f"The highest accuracy of any recipe of {query.model} is {best.accuracy:g} ({best.recipe})."


def _accelerators(each: Estimate) -> str:
    """The accelerators in brackets, unless the type of machine names them."""
    named = each.accelerator.casefold() in each.instance_type.casefold()
    return "" if named else f" ({counted(each.accelerators, each.accelerator)})"


def _marks(each: Estimate) -> str:
    old, second_hand, none_free = each.price_age_days > OLD_DAYS, not each.price_first_hand, each.available is False
    return f"{OLD * old}{SECOND_HAND * second_hand}{NONE_FREE * none_free}"
