"""What is answered where a sentence compares several networks, accuracies or machines, asks for the highest accuracy of one, or
names no accuracy and the usual one is not reached on what it allows."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from msgspec.structs import replace

from api.questions.words.elsewhere import MOST_ACCURACY
from api.questions.words.in_words import side_in_words
from api.questions.words.messages import BUDGET, OFTEN
from api.questions.words.reading import MONEY_A_MONTH, RUNS_A_MONTH
from api.questions.words.settling import which
from api.questions.words.understanding import Understanding
from api.reports.advice import Advice
from api.reports.commitments import question_of_runs
from api.reports.unnamed import of_own_machine
from api.reports.verdict import in_short
from api.reports.within_reach import most_allowed
from api.service import Service
from costcalc.answers import Answer
from costcalc.catalogue.catalogue import Catalogue
from costcalc.money import money
from costcalc.tasks.goals import metric_name, value_in_words
from costcalc.units import in_words

ENERGY = "energy_kwh"
TARGETS = tuple(thousandths / 1000 for thousandths in range(300, 1000))


def with_one_of(service: Service, catalogue: Catalogue, meant: Understanding) -> Understanding:
    """A sentence that compares, with the side that costs least, or ends first where it goes by time; it is said what each takes.
    As it is where none has an answer. Raises BadParameters for a value that one of them does not take."""
    queries = [service.question({**meant.answered, **side}, catalogue)[0] for side in meant.several]
    answers = [service.answer(query, catalogue) for query in queries]
    pairs = [(answer, side) for answer, side in zip(answers, meant.several, strict=True) if answer.picks]
    if not pairs:
        return meant
    by_time = queries[0].sort == "time"
    _, side = min(pairs, key=lambda pair: pair[0].lead.hours if by_time else float(_cost(pair[0])))
    sides = "; ".join(map(_in_short, answers, meant.several))
    if "model" in meant.several[0] and len(pairs) == len(answers) and not by_time:
        sides += f"; together {money(sum(map(_cost, answers), Decimal()), queries[0].currency)}"
    choice = f"{sides}. The answer below is for {side_in_words(side)}, which {'finishes first' if by_time else 'costs least'}."
    others = tuple(each for each in meant.asked if not each.startswith(tuple(map(which, side))))
    chosen = {**meant.chosen, **side}
    return replace(meant, chosen=chosen, choice=(*meant.choice, choice), is_question=True, asked=others)


def _cost(answer: Answer) -> Decimal:
    return answer.lead.cost(answer.basis).cost


def _in_short(answer: Answer, side: Mapping[str, list[str]]) -> str:
    what = side_in_words(side)
    if {"model", "target"} & side.keys():
        goal = _goal(answer.query.metric, answer.query.target)
        what = f"{side['model'][0]} to {goal}" if "model" in side else goal
    if not answer.picks:
        return f"{what}: no estimate (ask for it alone to see why)"
    lead = answer.lead
    return f"{what}: {money(_cost(answer), lead.currency)}, {in_words(lead.hours)} on {in_short(lead)}"


def _goal(metric: str, target: float) -> str:
    return f"{target * 100:g} % {metric_name(metric)}" if metric in ("top1", "top5") else value_in_words(metric, target)


def with_a_target(meant: Understanding, report: Advice) -> Understanding:
    """A sentence about a network of ImageNet that names no accuracy with the highest that its conditions allow, where it asks for
    that, or where they do not allow the usual one; as it is otherwise."""
    most = next((each for each in meant.asked if each.startswith(MOST_ACCURACY)), None)
    query, service = report.query, report.service
    if "target" in meant.answered or query.epochs or not service.evidence.find_model(query.model):
        return meant
    if not most and report.answer.count:
        return meant

    limited = query.own or query.accelerators or query.nodes or query.max_cost
    wholes = [{"accelerators": ["1"]}, {}] if most and query.accelerator and not limited else [{}]
    attempts = ((count, _highest(report, 1 if count else query.accelerators)) for count in wholes)
    count, best = next((attempt for attempt in attempts if attempt[1]), ({}, None))
    if best is None:
        return meant
    goal, where = _goal(query.metric, best), "with one of them" if count else "here"
    choice = (
        f"{goal} is the highest accuracy that {query.model} is known to reach {where}{_more(most)}."
        if most
        else f"No accuracy is named; the usual {_goal(query.metric, query.target)} is out of reach here, so this is for {goal}."
    )
    others = tuple(each for each in meant.asked if each != most)
    chosen = {**meant.chosen, **count, "target": [f"{best:g}"]}
    return replace(meant, chosen=chosen, choice=(*meant.choice, choice), asked=others)


def _highest(report: Advice, accelerators: int | None) -> float | None:
    """The highest accuracy that the conditions of a question allow with so many accelerators."""
    query = replace(of_own_machine(report.query), accelerators=accelerators)

    def ask(target: float) -> Answer:
        return report.service.answer(replace(query, target=target), report.catalogue)

    return most_allowed(ask, TARGETS)


def with_its_energy(meant: Understanding, report: Advice) -> Understanding:
    """A sentence that asks for energy or emissions with those of the first pick of which they are known; as it is where they are
    of none."""
    about = [each for each in meant.asked if ENERGY in each]
    if not about:  # most sentences: nothing waits for an answer here
        return meant
    answer = report.answer
    by_cost = sorted((pick.estimate for pick in answer.picks), key=lambda estimate: estimate.cost(answer.basis).cost)
    picks = [answer.lead, *by_cost] if by_cost else []
    each = next((estimate for estimate in picks if estimate.energy_kwh is not None), None)
    if each is None or each.energy_kwh is None:
        return meant
    drawn, carbon = (f"{float(f'{amount:.2g}'):,.12g}" for amount in (each.energy_kwh, each.carbon_kg or 0))
    emitted = (
        f" and emits {carbon} kg of CO2" if each.carbon_kg is not None else "; the emissions of its grid are not known"
    )
    unknown = "" if each == answer.lead else f"Its energy on {in_short(answer.lead)} is not known. "
    others = tuple(line for line in meant.asked if line not in about)
    energy = (
        f"{unknown}On {in_short(each)} it uses {drawn} kWh{emitted}; each estimate has its energy_kwh and carbon_kg."
    )
    return replace(meant, choice=(*meant.choice, energy), asked=others)


def with_its_month(meant: Understanding, report: Advice) -> Understanding:
    """A sentence that says how often somebody trains, or what a month may cost, with the month's cost or its runs."""
    answer, query = report.answer, report.query
    if not meant.monthly or not answer.picks:
        return meant
    cost = _cost(answer) / query.runs
    lines, runs, budget = [], meant.monthly.get(RUNS_A_MONTH), meant.monthly.get(MONEY_A_MONTH)
    if runs:
        often, spell = (round(runs), "month") if runs >= 1 else (max(1, round(12 * runs)), "year")
        bill = money(cost * often, query.currency)
        command, _ = question_of_runs(query, "--runs-per-month", str(max(1, round(runs))))
        lines.append(f"{often} run{'s' * (often > 1)} a {spell}: {bill} a {spell}; {command} says whether to commit.")
    if budget:
        many = f"{int(Decimal(budget) / cost):,} runs" if cost else "any number of runs"
        lines.append(f"{money(Decimal(budget), query.currency)} a month pays for {many} at this cost.")
    others = tuple(each for each in meant.asked if OFTEN not in each and BUDGET not in each)
    return replace(meant, choice=(*meant.choice, *lines), asked=others)


def _more(line: str) -> str:
    """The command that looks closer, of the line that names it."""
    return f";{line.removeprefix(MOST_ACCURACY).removeprefix(': ask')} shows what lower accuracies cost"
