"""What an answer left out, in words, and which one change of the question brings most back where little was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from math import ceil, floor
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from api.questions.errors import Refused
from api.questions.fields import LAST_SECOND
from api.questions.links import text_of, to_url
from api.questions.suggestions import many
from api.reports.by_tokens import needed_memory
from costcalc.answers import Answer, Hint
from costcalc.convergence.usual_target import usual_target
from costcalc.evidence import Evidence
from costcalc.offer import PurchaseOption
from costcalc.query import DECLARED, DEFAULTS, NARROWING, EstimateQuery, OwnMachine, parameters_of
from costcalc.tasks.goals import metric_name, task_of, value_in_words
from costcalc.tasks.tables import results
from costcalc.training import Metric
from costcalc.units import in_words

FEW = 3
MOST_TRIES, TOGETHER = 12, 4
MOST_HINTS = 4
MOST_REASONS = 2  # for which nothing was found, in one sentence
NEARLY = ("runs", "offers", "recipes")  # what was left out, that which was nearest to an answer first
LOWER_CONFIDENCE, LEAST_CONFIDENCE = (0.8, 0.5), 0.01
BROUGHT_BACK_BY = {each.param.leaves_out: name for name, each in DECLARED.items() if each.param.leaves_out}
"""The parameter to change for each reason; of an answer that has a few estimates no others are tried."""
WORDS = {
    "no_recipe": "every recipe, as none matches",
    "not_yet_published": "recipes published later",
    "target_never_reached": "recipes that never reach the target",
    "far_below_end": "interpolated recipes that end far above the target",
    "below_confidence": "recipes that reach the target with a probability below {query.confidence:g}",
    "ran_otherwise": "entries that are known in another precision or compilation alone",
    "beyond_training": "recipes beyond training={query.training}",
    "no_matching_offer": "every offer, as none matches",
    "stale_price": "offers last seen more than {query.max_price_age:,} days earlier",
    "unconfirmed_price": "offers whose rate is unconfirmed",
    "second_hand_price": "second-hand rates of offers that the provider itself prices",
    "no_matching_cluster": "offers of another number of accelerators",
    "no_throughput": "offers whose speed cannot be estimated",
    "does_not_fit_memory": "offers with too little accelerator memory",
    "batch_too_small": "offers of too many accelerators for one batch",
    "beyond_any_cluster": "offers of more machines than anybody rents together or has published a run on",
    "no_network": "offers without a network between machines",
    "no_such_precision": "offers of accelerators without {query.precision}",
    "not_measured": "offers without a measured speed",
    "own_system_only": "offers other than the recipe's own system",
    "interrupted_too_often": "runs interrupted too often to finish",
    "no_exchange_rate": "runs in a currency without an exchange rate",
    "over_max_hours": "runs of more than {hours}",
    "over_max_cost": "runs that cost more than {query.max_cost:,f} {query.currency}",
}
IF_ALL_ARE_OLD = (
    "fetch newer rates with costcalc prices refresh, allow these with max_price_age=, "
    "or ask with as_of= at an earlier date"
)
OF_MACHINES = parameters_of("machine", "purchase")
UNCOUNTED = ("no_recipe", "no_matching_offer")  # one stands for all
ORDERED_BY = {"max_hours": "time", "max_cost": "cost"}


def left_out(answer: Answer) -> str:
    """The reasons, each with how many recipes, offers or runs it left out, and what to do if all rates are too old; empty where
    nothing was left out."""
    reasons = ", ".join(_told(reason, count, answer) for reason, count in answer.rejections.items())
    return f"{reasons}: {IF_ALL_ARE_OLD}" if all_are_old(answer) else reasons


def all_are_old(answer: Answer) -> bool:
    """Whether every offer that matches was last seen too long ago."""
    units = answer.rejection_units
    return not answer.count and [name for name in answer.rejections if units[name] != "recipes"] == ["stale_price"]


def nothing(answer: Answer) -> str:
    """Why a question has no estimate."""
    best = answer.best_reached
    if best is None:
        curve = f"{metric_name(answer.query.metric)} curve of {answer.query.model}"
        since = f"was published by {answer.query.as_of:%Y-%m-%d}" if answer.query.as_of else "is known"
        return f"no {curve} {since}: say how long it trains, such as epochs=300"
    if _is_other_target(answer):
        stop = f"the published runs stop at {value_in_words(answer.query.metric, best.accuracy)}"
        return f"{stop}; how long another target takes is not known"
    if isinstance(answer.query.metric, Metric) and best.accuracy < answer.query.target:
        wanted, most = (_percent(value) for value in (answer.query.target, best.accuracy))
        return f"no recipe of {answer.query.model} reaches {wanted}; the best reaches {most} ({best.recipe})"
    if answer.likeliest and not answer.count:
        reaches = f"reaches {_target(answer.query)} in {100 * answer.query.confidence:g} % of runs"
        recipe, chance = answer.likeliest
        return f"no recipe of {answer.query.model} {reaches}; {recipe} does in {100 * chance:.0f} %"
    units = answer.rejection_units
    if not answer.count and "no_matching_offer" in answer.rejections:
        return f"no stored rate matches {_filters(answer.query)}{_or_own(answer.query)}"
    if all_are_old(answer):
        reasons, remedy = ["stale_price"], f": {IF_ALL_ARE_OLD}"
    else:
        reasons, remedy = sorted(answer.rejections, key=lambda name: NEARLY.index(units[name]))[:MOST_REASONS], ""
    given = ", ".join(_told(reason, answer.rejections[reason], answer) for reason in reasons)
    return f"no estimate answers this question; {f'left out: {given}{remedy}' if given else 'there are no offers'}"


def _filters(query: EstimateQuery) -> str:
    """`accelerator=Gaudi3, region=europe`: those that machines may lack."""
    given = [name for name in OF_MACHINES if getattr(query, name) != DEFAULTS[name]]
    return ", ".join(f"{name}={text_of(getattr(query, name))}" for name in given) or "these filters"


def _or_own(query: EstimateQuery) -> str:
    if [name for name in OF_MACHINES if getattr(query, name)] != ["accelerator"] or len(query.accelerator) > 1:
        return ""
    many = query.accelerators or 1
    return f"; for your own machine, write own={many}x{query.accelerator[0]} and own_price= (0 if it is paid off)"


def _is_other_target(answer: Answer) -> bool:
    """Whether the target is another than that at which the runs of a task stop."""
    task = task_of(answer.query)
    if task and any(result.target == answer.query.target for result in results()[task.name]):
        return False
    reasons = {reason for reason, unit in answer.rejection_units.items() if unit == "recipes"}
    return not isinstance(answer.query.metric, Metric) and reasons == {"target_never_reached"} and not answer.count


def _target(query: EstimateQuery) -> str:
    return _percent(query.target) if isinstance(query.metric, Metric) else value_in_words(query.metric, query.target)


def _percent(accuracy: float) -> str:
    """Cut off, so that none is overstated."""
    return f"{floor(accuracy * 1000 + 1e-6) / 10:g} %"


def _told(reason: str, count: int, answer: Answer) -> str:
    words = what(reason, answer)
    return words if reason in UNCOUNTED else f"{words} ({count:,})"


def what(reason: str, answer: Answer) -> str:
    """What was left out for this reason."""
    query = answer.query
    if reason == "does_not_fit_memory" and (needed := needed_memory(query)):
        return f"{WORDS[reason]}, as {needed}"
    return WORDS.get(reason, reason.replace("_", " ")).format(query=query, hours=in_words(query.max_hours or 0))


class Change(Struct, frozen=True):
    """New values of some parameters, and the reason with which a sentence about them ends."""

    values: Mapping[str, Any]
    because: str = ""

    def written(self) -> str:
        """`max_price_age=900`, `without provider`, or both joined."""
        dropped = [name for name, value in self.values.items() if name in NARROWING and value == DEFAULTS[name]]
        kept = [f"{name}={_text(value)}" for name, value in self.values.items() if name not in dropped]
        without = f"without {', '.join(dropped)}" if dropped else ""
        return " and ".join(filter(None, [", ".join(kept), without]))


def _text(value: object) -> str:
    return f"{value:%Y-%m-%d}" if isinstance(value, datetime) else text_of(value)


class Hints(Struct, frozen=True):
    """Looks for the changes of a question that bring most back. `ask` answers a question; `last_seen` says when an offer that
    passes the filters of one was last observed: by its `as_of`, else ever; None where there never was one."""

    evidence: Evidence
    ask: Callable[[EstimateQuery], Answer]
    last_seen: Callable[[EstimateQuery], datetime | None]

    def added(self, answer: Answer) -> Answer:
        """The answer, with at most four hints where it has fewer than three estimates, or none with an accelerator: first those
        that keep every filter, then the others, each kind by how much it brings back.

        Asks at most twelve questions, and none where enough was found. Where a few were found, only changes that bring back what
        was left out are tried. Where none were and no one change helps, several are tried together.
        """
        changes = [*self._changes(answer)]
        hints = self._helpful(answer, changes[: MOST_TRIES - TOGETHER])
        hints = hints or self._helpful(answer, _together(answer, changes))[:1]
        ordered = sorted(hints, key=lambda hint: ("without" in hint.change, -hint.count))
        return replace(answer, hints=tuple(ordered[:MOST_HINTS]))

    def _changes(self, answer: Answer) -> Iterable[Change]:
        """The changes to try, those that are likeliest to help first."""
        query = answer.query
        if answer.estimates and not query.accelerator and not any(each.accelerators for each in answer.estimates):
            return self._alike(query, "measured speed")
        if answer.count >= FEW or (answer.count and query.frontier):
            return ()
        wanted = {BROUGHT_BACK_BY.get(reason) for reason in answer.rejections}
        return (each for each in self._any_change(answer) if not answer.count or wanted & each.values.keys())

    def _helpful(self, before: Answer, changes: Iterable[Change]) -> list[Hint]:
        tried = ((change, self._answered(before, change)) for change in changes)
        hints = (_hint(before, change, answer) for change, answer in tried if answer and answer.count > before.count)
        least: dict[tuple[str, int], Hint] = {}
        for hint in hints:  # of two values of a parameter that bring back as much, the nearer one
            least.setdefault((hint.change.partition("=")[0], hint.count), hint)
        return list(least.values())

    def _answered(self, answer: Answer, change: Change) -> Answer | None:
        order = next((ORDERED_BY[name] for name in change.values if name in ORDERED_BY), answer.query.sort)
        try:
            return self.ask(replace(answer.query, **{"limit": 1, "offset": 0, "sort": order, **change.values}))
        except Refused:  # a machine without its watts, say
            return None

    def _other_goals(self, answer: Answer) -> Iterator[Change]:
        query = answer.query
        if answer.best_reached is None:
            if self.evidence.recipes_of(query.model):
                yield Change({"metric": Metric.TOP5 if query.metric == Metric.TOP1 else Metric.TOP1})
            else:
                yield from self._alike(query, "recipe")
        elif _is_other_target(answer):
            yield Change({"target": answer.best_reached.accuracy})
        elif isinstance(query.metric, Metric) and query.target > answer.best_reached.accuracy:
            highest = _shortened(answer.best_reached.accuracy)
            yield from (Change({"target": round(highest - below, 3)}) for below in (0, 0.005))

    def _any_change(self, answer: Answer) -> Iterator[Change]:
        query = answer.query
        yield from self._other_goals(answer)
        if len(query.accelerator) == 1 and not query.own:  # on a machine of one's own time needs no rental
            yield Change({"own": (OwnMachine(query.accelerators or 1, query.accelerator[0]),), "own_price": Decimal(0)})
        if answer.free:
            yield Change({"purchase": (PurchaseOption.FREE,)})
        if answer.best_reached and not any(row.model == query.model for row in self.evidence.throughputs):
            yield from self._alike(query, "measured speed")
        yield from self._older_prices(answer)
        if query.recipes == "best":
            yield from self._less_sure(answer)
        for name in NARROWING:
            if getattr(query, name) != DEFAULTS[name]:
                yield Change({name: DEFAULTS[name]})

    def _less_sure(self, answer: Answer) -> Iterator[Change]:
        """Less sureness, or more care; where no recipe is sure enough, what the likeliest reaches surely and its own chance."""
        query, likeliest = answer.query, answer.likeliest
        levels: Iterable[float] = LOWER_CONFIDENCE
        if likeliest:
            recipes = [recipe for recipe in self.evidence.recipes_of(query.model) if recipe.name == likeliest.recipe]
            lower = usual_target(recipes, (), query.metric)
            if lower and lower.accuracy < query.target:
                yield Change({"target": lower.accuracy})
            levels = [max(floor(likeliest.chance * 20) / 20, LEAST_CONFIDENCE)]
        yield from (Change({"confidence": level}) for level in levels if level < query.confidence)
        if query.training != "record":
            yield Change({"training": "record"})

    def _alike(self, query: EstimateQuery, lacking: str) -> Iterator[Change]:
        for other, likeness in self.evidence.alike(query.model):
            because = f": {query.model} has no {lacking} yet, and {other} is {likeness}"
            bests = (recipe.best(query.metric) or 0.0 for recipe in self.evidence.recipes_of(other))
            reached = _shortened(max(bests, default=0.0) - 0.005)
            yield Change({"model": other} | ({"target": reached} if query.target > reached else {}), because)

    def _older_prices(self, answer: Answer) -> Iterator[Change]:
        seen = self.last_seen(answer.query)
        if seen is None:
            return
        days = (answer.prices.as_of - seen).days + 1
        if days > answer.query.max_price_age:
            yield Change({"max_price_age": ceil(days / 100) * 100})
        if not 0 < days <= answer.query.max_price_age:
            yield Change({"as_of": datetime.combine(seen, LAST_SECOND)})


def _shortened(accuracy: float) -> float:
    return floor(accuracy * 1000) / 1000


def _together(answer: Answer, changes: Iterable[Change]) -> Iterator[Change]:
    """Several changes at once, those that a person would rather make first: an older rate and a lower target; no filters; both;
    then less sureness too. None changes the date as well: older prices are in already."""
    if answer.count:
        return
    values = {name: value for change in changes for name, value in change.values.items() if name != "as_of"}
    kept = {name: value for name, value in values.items() if name in ("target", "max_price_age")}
    dropped = {name: value for name, value in values.items() if name in NARROWING and value == DEFAULTS[name]}
    yield from map(Change, (kept, dropped, {**kept, **dropped}, {**values, **dropped}))


def _hint(before: Answer, change: Change, answer: Answer) -> Hint:
    written = change.written()
    joined = written if written.startswith("without") else f"with {written}"
    joined = "at today's prices" if written == "without as_of" else joined.replace("without ", "without a filter on ")
    query = replace(before.query, **{"offset": 0, **change.values})
    sentence = f"{many(answer.count, 'estimate')} {joined}{_least(change, answer)}{change.because}."
    return Hint(written, answer.count, sentence, to_url(query, ""))


def _least(change: Change, answer: Answer) -> str:
    """What the limit would have to be, or what one's own machine takes."""
    if "own" in change.values:
        return f": {in_words(answer.estimates[0].hours)} on a machine of your own"
    if [*change.values] == ["max_cost"] and answer.picks:
        return f", the cheapest at {answer.picked['cheapest'].price(answer.query.basis)}"
    if [*change.values] == ["max_hours"] and answer.picks:
        return f", the fastest in {in_words(answer.picked['fastest'].calendar_hours)}"
    return ""
