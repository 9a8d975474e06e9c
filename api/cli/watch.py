"""`costcalc watch`: the budget of a training that runs, from its log."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

import click
from marshmallow import Schema

from api.bootstrap import build_once, utc_now
from api.cli.failing import settings_of_environment, stop, stopping_on_faults
from api.cli.options import json_option
from api.formats.words import chance
from api.questions.errors import BadParameters
from api.questions.fields import Text
from api.questions.resolving import Side
from api.reports.prices.rates import selected
from api.service import Service
from api.slack.delivery import NotSent, is_slack, post
from api.slack.message import Message, escape
from costcalc.convergence.partial import FEWEST_LOGS, Course, NoForecast
from costcalc.recipes import Recipe
from own_runs.following import FollowedLog
from own_runs.logs.log import LogRefused, NothingYet
from own_runs.runs import Run
from own_runs.watch import NO_BUDGET, SHARE, CannotTell, CannotWatch, Outlook, Plan, Verdict, outlook, whole_course

Whole = TypeVar("Whole", Recipe, Run)  # a run up to its end
ALARM, UNSURE = 3, 4
"""Exit statuses where the range leaves the budget, and where nobody can tell whether it does."""
MACHINE = Schema.from_dict({"a": Text("the machine", example="aws:p3.8xlarge")})
POSTED = "costcalc-posted.txt"
NO_WEBHOOK = "set COSTCALC_SLACK_WEBHOOK_URL to the channel's https://hooks.slack.com/services/... or leave --slack out"


def amount(context: click.Context, option: click.Parameter, value: str | None) -> Decimal | None:
    """The amount of money that an option has. Ends the command where it is none."""
    if value is None:
        return None
    with suppress(InvalidOperation):
        amount = Decimal(value)
        if amount.is_finite() and amount > 0:
            return amount
    raise click.BadParameter(f"must be a number above 0, such as 12.24; got {value}", context, option)


@click.command()
@click.argument("log", type=click.Path(path_type=Path))
@click.option("--max-cost", metavar="USD", callback=amount, help="Budget for the whole run, such as 200; default none.")
@click.option("--rate", metavar="USD", callback=amount, help="What an hour of its machines costs, such as 12.24.")
@click.option("--instance", metavar="PROVIDER:TYPE", help="Or the machine: aws:p3.8xlarge, aws:p3.8xlarge:2, ...:spot.")
@click.option("--planned-epochs", type=click.FloatRange(0, min_open=True), help="The length of its schedule.")
@click.option("--target", type=float, help="The value of the metric to reach, such as 0.757.")
@click.option("--metric", help="Its name in the log, if there are several.")
@click.option("--lower-is-better", is_flag=True, help="For a loss or an error.")
@click.option("--like", multiple=True, metavar="RECIPE", help="Runs of its family, such as ffcv-rn50-*; repeatable.")
@click.option("--steps-per-epoch", type=click.FloatRange(0, min_open=True), help="For a log that counts steps.")
@click.option("--started", type=click.DateTime(), help="When it began (UTC), for a log without times.")
@click.option(
    "--pauses",
    type=click.Choice(["paid", "free"], case_sensitive=False),
    help="Whether the machine was paid while its clock paused.",
)
@click.option("--once", is_flag=True, help="Look once, as from cron.")
@click.option("--every", type=click.FloatRange(0.01), default=60, show_default=True, help="Seconds between looks.")
@click.option("--slack", is_flag=True, help="Post the alarm to COSTCALC_SLACK_WEBHOOK_URL and go on.")
@json_option("JSON for scripts: a line a look.")
def watch(log: Path, rate: Decimal | None, instance: str | None, **options: Any) -> None:
    """Follow the LOG of a running training, and its budget.

    It prints the dollars so far, and the range of those to the target. Exit status 3: the range exceeds --max-cost; 4: the log
    does not tell. Any log that `costcalc recipes` reads will do.
    """
    if (rate is None) == (instance is None):
        stop("write --rate, what an hour costs, or --instance, such as aws:p3.8xlarge")
    every = None if options.pop("once") else options["every"]
    slack, like, started, form = (options.pop(name) for name in ("slack", "like", "started", "form"))
    del options["every"]
    settings = settings_of_environment()
    url = settings.slack_webhook_url if slack else None
    if slack and not (url and is_slack(url, settings.slack_response_hosts)):
        stop(NO_WEBHOOK)
    with stopping_on_faults():
        service = build_once(settings)
        paid = rate if instance is None else hourly_rate(service, instance)
    options["max_cost"] = options["max_cost"] or NO_BUDGET
    plan = Plan(hourly_rate=paid or Decimal(0), started=started and started.replace(tzinfo=UTC), **options)
    alarms, status = PostedAlarms(log, plan), 0
    for state in _outlooks(log, every, plan, _family(service, like)):
        text = "\n".join(sentences(state, plan))
        click.echo(json.dumps(_document(state, plan)) if form == "json" else text)
        status = ALARM if status == ALARM else _status(state)
        if url is not None:
            alarms.post(url, text, state)
        elif status == ALARM:
            break
    sys.exit(status)


def _status(seen: Outlook | CannotTell) -> int:
    if isinstance(seen, CannotTell) or seen.verdict is Verdict.UNSURE:
        return UNSURE
    return ALARM if seen.verdict.is_alarm else 0


def _document(seen: Outlook | CannotTell, plan: Plan) -> dict[str, object]:
    """What a script reads of a look."""
    if isinstance(seen, CannotTell):
        nothing = dict.fromkeys(("epochs", "planned_epochs", "hours", "spent", "at_most", "within_budget"))
        return {**nothing, "planned_epochs": plan.planned_epochs, "alarms": [f"cannot tell: {seen}"]}
    high = seen.to_target[2] if seen.to_target else None
    known = plan.max_cost.is_finite() and seen.verdict is not Verdict.UNSURE
    return {
        "epochs": None if SHARE in seen.doubts else seen.epochs,
        "planned_epochs": plan.planned_epochs,
        "hours": seen.hours,
        "spent": float(round(seen.spent, 2)),
        "at_most": float(round(high, 2)) if high is not None and high.is_finite() and not seen.doubts else None,
        "within_budget": not seen.verdict.is_alarm if known else None,
        "alarms": [line.removeprefix("ALARM: ") for line in sentences(seen, plan) if line.startswith("ALARM: ")],
    }


def _outlooks(log: Path, every: float | None, plan: Plan, family: Sequence[Course]) -> Iterator[Outlook | CannotTell]:
    """One each time that there are new evaluations, the last when the run is over."""
    followed, seen = FollowedLog(log), None
    while True:
        outlook, place = _look(followed, plan, family)
        if place != seen and outlook:
            yield outlook
        elif place != seen:
            click.echo(f"nothing to report yet: {place}", err=True)
        seen = place
        if isinstance(outlook, Outlook):
            at_end = plan.planned_epochs is not None and outlook.epochs >= plan.planned_epochs
            every = None if at_end or outlook.verdict is Verdict.REACHED else every
        if every is None:
            return
        time.sleep(every)


def _look(followed: FollowedLog, plan: Plan, family: Sequence[Course]) -> tuple[Outlook | CannotTell | None, str]:
    """What the log tells now, None where it tells nothing yet; and how far it is, or why it tells nothing."""
    try:
        view = outlook(followed.look(), plan, family, utc_now())
    except NothingYet as nothing:
        return None, str(nothing)
    except CannotTell as unknown:
        return unknown, str(unknown)
    except (LogRefused, CannotWatch) as error:
        stop(f"{followed.path}: {error}")
    return view, f"{view.epochs} epochs"


def hourly_rate(service: Service, machine: str) -> Decimal:
    """What an hour of `aws:p3.8xlarge`, `aws:p3.8xlarge:2` or `aws:p3.8xlarge:spot` costs now, in its cheapest region.

    Ends the command where the machine is not known, or no rate of it.
    """
    catalogue = service.catalogue()
    try:
        values, _ = service.parse(MACHINE(), {"a": [machine]}, catalogue)
    except BadParameters as wrong:
        stop(f"--instance {machine}: {'; '.join(wrong.errors['a'])}")
    side: Side = values["a"]
    if side.accelerator:
        stop(f"--instance {machine}: write whose machine it is, such as aws:p3.8xlarge, or --rate, what an hour costs")
    filters = {"provider": (side.provider,), "instance_type": (side.instance_type,), "purchase": (side.purchase,)}
    rates = [catalogue.offer(row).hourly_rate for row in selected(catalogue, service.clock(), filters).tolist()]
    if not rates:
        stop(f"--instance {machine}: no rate is known of it; write --rate, what an hour costs")
    return min(rates) * (side.nodes or 1)


def _family(service: Service, patterns: Sequence[str]) -> list[Course]:
    """The whole runs of these names: logs of recipes, and the user's own. Ends the command where they are too few."""
    recipes = [recipe for recipe in service.evidence.recipes if recipe.is_log]
    own = [
        each.run for each in service.own.values() if any(fnmatchcase(each.run.name, pattern) for pattern in patterns)
    ]
    courses = [
        *_courses(_logged, (recipe for recipe in recipes if recipe.is_named(patterns))),
        *_courses(whole_course, own),
    ]
    if patterns and len(courses) < FEWEST_LOGS:
        logs = Counter(recipe.family for recipe in recipes)
        families = sorted(f"{family}*" for family, count in logs.items() if count >= FEWEST_LOGS)
        stop(
            f"--like {' '.join(patterns)}: {len(courses)} logs, {FEWEST_LOGS} are needed; there are {', '.join(families)}"
        )
    return courses


def _courses(course: Callable[[Whole], Course], runs: Iterable[Whole]) -> Iterator[Course]:
    """The courses of the runs that have one."""
    for run in runs:
        with suppress(NoForecast):
            yield course(run)


def _logged(recipe: Recipe) -> Course:
    points = [(point.epochs, 1 - point.top1) for point in recipe.evaluations if point.top1 is not None]
    epochs = [at for at, _ in points]
    return Course.of(epochs, [error for _, error in points], recipe.scheduled_epochs or max(epochs, default=0.0))


def sentences(outlook: Outlook | CannotTell, plan: Plan) -> Iterator[str]:
    """What an outlook says."""
    if isinstance(outlook, CannotTell):
        yield f"ALARM: cannot tell: {outlook}"
        return
    budget = f" of {_money(plan.max_cost)}" if plan.max_cost.is_finite() else ""
    length = "" if plan.planned_epochs is None else f" of {plan.planned_epochs:g}"
    done = (
        f"in epoch {outlook.epochs:g}{length}," if SHARE in outlook.doubts else f"{outlook.epochs:g}{length} epochs in"
    )
    yield (
        f"{done} {outlook.hours:,.2f} h, {outlook.metric} {outlook.value:.4g}: {_money(outlook.spent)} spent{budget}"
    )
    yield from outlook.notes
    if outlook.paused:
        yield f"{_money(outlook.paused)} more if the machine was paid while its clock paused: --pauses paid"
    if not outlook.doubts:
        yield from _ahead(outlook, plan)
    elif outlook.verdict is not Verdict.UNSURE:  # figures that are not sure, but surely beyond the budget
        yield _verdict(outlook, plan)
    yield from (f"ALARM: cannot tell: {doubt}" for doubt in outlook.doubts)


def _ahead(outlook: Outlook, plan: Plan) -> Iterator[str]:
    """What is ahead of a run."""
    if outlook.unknown:
        yield f"when it comes to {plan.target:g} is not known: {outlook.unknown}"
    elif plan.target is not None and outlook.verdict is not Verdict.REACHED and outlook.to_target:
        yield f"to {plan.target:g}: {_range(*outlook.to_target)}"
    if outlook.to_end is not None:
        yield f"to the end of its schedule: {_money(outlook.to_end)}{_ending(outlook)}"
    if outlook.chance is not None and outlook.to_end is not None:
        ahead = _money(outlook.to_end - outlook.spent)
        yield f"stop now: {_money(outlook.spent)}; go on: {ahead} more, {chance(outlook.chance)} sure of {plan.target:g}"
    if new := outlook.longer:
        yield f"a new run of {new.epochs:g} epochs: {_money(new.cost)}, {chance(new.chance)} sure of {plan.target:g}"
    if outlook.to_target:
        yield _verdict(outlook, plan)


def _verdict(outlook: Outlook, plan: Plan) -> str:
    low, _, high = outlook.to_target or (outlook.spent,) * 3
    budget = _money(plan.max_cost)
    if outlook.verdict is Verdict.REACHED:
        return f"the target is reached, at {_money(low)}"
    if outlook.verdict is Verdict.WITHIN:
        within = f"within the budget of {budget}: " if plan.max_cost.is_finite() else ""
        return f"{within}at most {_money(high)}"
    if not low.is_finite():
        return "ALARM: it will not reach its target within its schedule"
    if outlook.verdict is Verdict.LEAVES:
        return f"ALARM: it exceeds the budget of {budget}: at least {_money(low)}"
    worst = f"up to {_money(high)}" if high.is_finite() else "it may not reach its target within its schedule"
    exceeds = f"it may exceed the budget of {budget}: " if plan.max_cost.is_finite() else ""
    return f"ALARM: {exceeds}{worst}"


def _ending(outlook: Outlook) -> str:
    if outlook.end is None:
        return ""
    low, middle, high = outlook.end
    return f", {outlook.metric} {middle:.4g} ({low:.4g} to {high:.4g} in 8 of 10 cases)"


def _range(low: Decimal, middle: Decimal, high: Decimal) -> str:
    if not low.is_finite():
        return "not within its schedule, in 9 of 10 cases"
    if not middle.is_finite():
        return f"{_money(low)} at the earliest, probably not within its schedule"
    highest = _money(high) if high.is_finite() else "not within its schedule"
    return f"{_money(middle)} ({_money(low)} to {highest} in 8 of 10 cases)"


def _money(amount: Decimal) -> str:
    return f"${amount:,.2f}"


@dataclass(frozen=True, slots=True)
class PostedAlarms:
    """Which alarms were posted: a file beside the log has a line for each, so that looks from cron post each once."""

    log: Path
    plan: Plan

    def post(self, url: str, text: str, seen: Outlook | CannotTell) -> None:
        """Posts an alarm, unless it was posted since the run was last within its budget. A post that fails is tried again at the
        next look."""
        posted, line = self._posted(), f"{self._line}{' cannot tell' if _status(seen) == UNSURE else ''}"
        if not _status(seen):
            self._keep([line for line in posted if not line.startswith(self._line)])
        elif line not in posted:
            try:
                post(url, Message(escape(f"{self.log.name}: {text}")))
            except NotSent as error:
                click.echo(f"costcalc: {error}", err=True)
            else:
                self._keep([*posted, line])

    @property
    def _line(self) -> str:
        return f"{self.log.name} --max-cost {self.plan.max_cost} --target {self.plan.target}"

    @property
    def _file(self) -> Path:
        return self.log.with_name(POSTED)

    def _posted(self) -> list[str]:
        return self._file.read_text().splitlines() if self._file.exists() else []

    def _keep(self, lines: Sequence[str]) -> None:
        if list(lines) == self._posted():
            return
        try:
            self._file.write_text("".join(f"{line}\n" for line in lines))
        except OSError as error:
            click.echo(f"costcalc: {self._file}: {error.strerror}: the same alarm may be posted again", err=True)
