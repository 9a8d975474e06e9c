"""What to do with the pick to act on: the command that rents it, where a launcher can, or what to look at first."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from urllib.parse import parse_qsl

from msgspec.structs import replace

from api.questions.links import command_of, narrowed, to_url, written_command
from api.reports.launch import LAUNCHED, first_launched, launchers, left_to_set, no_language_script
from api.reports.verdict import HOW_BOUGHT, in_short
from costcalc.answers import Answer, Estimate, Step
from costcalc.hardware import Accelerator, counted
from costcalc.offer import BY_THE_TERM, PurchaseOption
from costcalc.programs import NOBODYS
from costcalc.query import DEFAULT_LIMIT, EstimateQuery
from costcalc.tasks.goals import task_of
from costcalc.units import in_words
from pricing.packaged.providers import provider
from pricing.packaged.starts import Launcher, start_on

DATA = "needs --data"
OWN_DATA = "--data: your examples"
IN_ITS_FILE = "write where your data are into its line DATA"
FOLLOWED = Step("costcalc watch follows its log while it runs, and costcalc recipes add makes a recipe of it")


def next_step(answer: Answer, accelerators: Mapping[str, Accelerator]) -> Step | None:
    """The step with the figures, the way to buy and the limits of what the verdict begins with, or that says what it starts
    instead; None where a past date is asked about."""
    if answer.query.as_of:
        return None
    if answer.query.epochs is not None and answer.query.took is None and answer.query.method is None:
        return FOLLOWED
    return _with(answer, answer.lead, accelerators) if answer.picks else _without_picks(answer)


def without_a_terminal(answer: Answer, root: str) -> tuple[str, ...]:
    """The verdict where nobody types commands: its last line has the address of what the command does."""
    step = answer.next
    if step is None or step.command is None or step.link is None:
        return answer.verdict
    return (*answer.verdict[:-1], f"Next: {root}{step.link}{does(step)}.")


def does(step: Step) -> str:
    """What the command or the link of a step does, for those who have no command line."""
    text = step.text.removeprefix(step.command or step.link or "")
    return text.replace(DATA, IN_ITS_FILE).replace(OWN_DATA, IN_ITS_FILE)


def _with(answer: Answer, lead: Estimate, accelerators: Mapping[str, Accelerator]) -> Step:
    if lead.is_owned and (lead.recipe_kind in NOBODYS or task_of(answer.query)):
        return FOLLOWED  # no such network is measured
    if lead.is_owned:
        command = shlex.join(["costcalc", "measure", lead.model])
        return Step(f"{command} says how fast your machine is", command)
    if lead.purchase_option in BY_THE_TERM:
        return _commitments(answer.query)
    page = provider(lead.provider).page
    is_to_check = page and "vouched" in answer.missed
    if not is_to_check and (step := _launch(answer, lead, accelerators)):
        return step
    if page:
        rates = "has today's rates; no launch file starts it" if lead.billed_cost else "lets you in"
        return Step(f"{page} {rates}", link=page, estimate=lead)
    query = narrowed(answer.query, lead)
    command = command_of("cost", query, query.__struct_fields__, "--explain")
    return Step(f"{command} names the source of the rate", command, to_url(query, "/estimate"), lead)


def _commitments(query: EstimateQuery) -> Step:
    from api.reports.commitments import question_of_runs  # few answers lead there

    command, link = question_of_runs(query)
    return Step(f"{command} says from how many runs that pays", command, link)


def _without_picks(answer: Answer) -> Step | None:
    """The first hint as a command; where no recipe is known, how to bring one."""
    if answer.hints:
        address = answer.hints[0].query_string
        given = parse_qsl(address.lstrip("?"))
        command = written_command("cost", given)
        return Step(command, command, f"/cost{address}")
    if answer.best_reached:
        return None
    return Step("costcalc recipes add LOG estimates it from your own training log")


def _launch(answer: Answer, lead: Estimate, accelerators: Mapping[str, Accelerator]) -> Step | None:
    """The command whose file starts it; else one whose file starts another machine, which it names. None where neither is
    known."""
    tools = launchers(lead)
    if answer.query.method:
        has_script = tools and not no_language_script(answer.query, lead, accelerators)
        return _starting(answer.query, lead, tools[0], f"it ({OWN_DATA})") if has_script else None
    if by := next((each for each in tools if start_on(each, lead.rented, accelerators)), None):
        return _starting(answer.query, lead, by, f"it ({DATA})")
    for launcher in tools:
        other = first_launched(launcher, answer, accelerators)
        if other and start_on(launcher, other.estimate.rented, accelerators):
            return _starting(answer.query, other.estimate, launcher, _instead(answer, other.estimate))
    return None


def _instead(answer: Answer, other: Estimate) -> str:
    """Which other machine is started, how it is bought, and why it is another."""
    on = "" if other.purchase_option is PurchaseOption.ON_DEMAND else f" {HOW_BOUGHT[other.purchase_option]}"
    missing = counted(answer.lead.accelerators, answer.lead.accelerator).removeprefix("1 ")
    return f"{in_short(other)}{on}, {in_words(other.hours)}, {other.price(answer.basis)} ({DATA}; no known image for {missing})"


def _starting(query: EstimateQuery, each: Estimate, launcher: Launcher, what: str) -> Step:
    """The question itself, asked of a launcher, and which region stands in; of one that is not on demand, though nobody named
    another way to buy, or of a question with long lists, that machine alone."""
    is_unasked = not query.purchase and each.purchase_option is not PurchaseOption.ON_DEMAND
    region = tuple(query.region) if len(query.region) == 1 else query.region
    alone = replace(narrowed(query, each), limit=DEFAULT_LIMIT, offset=0)
    whole = alone if is_unasked else replace(query, region=region, limit=DEFAULT_LIMIT, offset=0)
    asked = min(whole, alone, key=lambda one: len(command_of("launch", one, LAUNCHED)))
    command = command_of("launch", asked, LAUNCHED, "--to", launcher)
    link = to_url(asked, "/launch", {*asked.__struct_fields__} - LAUNCHED, to=launcher)
    setting = left_to_set(each, query)
    unset = f"; its script runs as published, so set {setting} yourself" if setting else ""
    return Step(f"{command} starts {what}{unset}", command, link, each)
