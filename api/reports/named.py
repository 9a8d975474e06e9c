"""What is answered where a sentence names several networks, or asks for the highest accuracy of one, or names no accuracy and the
usual one is not reached on what it allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from api.questions.words.elsewhere import MOST_ACCURACY
from api.questions.words.understanding import WHICH_MODEL, Understanding
from api.reports.accuracy import last_that
from api.reports.cost import CostReport
from api.reports.unnamed import FITS
from api.service import Service
from costcalc.answers import Answer
from costcalc.catalogue.catalogue import Catalogue
from costcalc.hardware import counted
from costcalc.money import money
from costcalc.tasks.goals import metric_name, value_in_words
from costcalc.units import in_words
from pricing.packaged.providers import provider

TARGETS = tuple(thousandths / 1000 for thousandths in range(300, 1000))


def with_one_of(service: Service, catalogue: Catalogue, meant: Understanding) -> Understanding:
    """A sentence that names several networks, with the one that costs least, or ends first where it goes by time; it is said what
    each takes. As it is where none has an answer. Raises BadParameters for a value that one of them does not take."""
    asked = [service.question({**meant.parameters, "model": [each]}, catalogue)[0] for each in meant.several]
    answers = [service.answer(query, catalogue) for query in asked]
    found = [each for each in answers if each.picks]
    if not found:
        return meant
    least = min(found, key=lambda each: each.lead.hours if each.query.sort == "time" else _cost(each))
    better = "ends first" if least.query.sort == "time" else "costs least"
    choice = f"{'; '.join(map(_in_short, answers))}. The answer is that of {least.query.model}, which {better}."
    others = tuple(each for each in meant.asked if not each.startswith(WHICH_MODEL))
    return replace(meant, chosen={"model": [least.query.model]}, choice=(choice,), is_question=True, asked=others)


def _cost(answer: Answer) -> float:
    return float(answer.lead.cost(answer.basis).cost)


def _in_short(answer: Answer) -> str:
    query = answer.query
    goal = f"{query.model} to {_goal(query.metric, query.target)}"
    if not answer.picks:
        return f"{goal}: not on these terms"
    each = answer.lead
    where = f"{counted(each.accelerators, each.accelerator)} at {provider(each.provider).name}"
    return f"{goal}: {money(each.cost(answer.basis).cost, each.currency)}, {in_words(each.hours)} on {where}"


def _goal(metric: str, target: float) -> str:
    return f"{target * 100:g} % {metric_name(metric)}" if metric in ("top1", "top5") else value_in_words(metric, target)


def with_a_target(meant: Understanding, report: CostReport) -> Understanding:
    """A sentence about a network of ImageNet that names no accuracy with the highest that its conditions allow, where it asks for
    that, or where they do not allow the usual one; as it is otherwise."""
    most = next((each for each in meant.asked if each.startswith(MOST_ACCURACY)), None)
    query, service = report.query, report.service
    if "target" in meant.answered or query.epochs or not service.evidence.find_model(query.model):
        return meant
    if not most and report.answer.count:
        return meant

    def allows(target: float, fits: Callable[[Answer], bool]) -> bool:
        return fits(service.answer(replace(query, target=target), report.catalogue))

    best = next(filter(None, (last_that(lambda one, f=fits: allows(one, f), TARGETS) for fits in FITS)), None)  # type: ignore[misc]
    if best is None:
        return meant
    goal = _goal(query.metric, best)
    told = (
        f"{goal} is the highest accuracy that {query.model} is known to reach here{_more(most)}."
        if most
        else f"No accuracy is named, and {_goal(query.metric, query.target)}, the usual one, is not reached here: {goal} is."
    )
    others = tuple(each for each in meant.asked if each != most)
    return replace(meant, chosen={**meant.chosen, "target": [f"{best:g}"]}, choice=(*meant.choice, told), asked=others)


def _more(asked: str) -> str:
    """The command that looks closer, of the line that names it."""
    return f";{asked.removeprefix(MOST_ACCURACY).removeprefix(': ask')} has what less of it costs"
