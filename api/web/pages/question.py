"""`/`, the first screen: a question, the four picks, all estimates as a picture, and a page of them as a table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from flask import Blueprint, Response, render_template, request, url_for
from msgspec.structs import replace

from api.formats import words
from api.formats.charts.cost_and_time import X_TITLE, plot
from api.formats.figures import FIGURES, USUAL
from api.forms.ask import AskReport
from api.forms.compare import CompareSchema
from api.forms.question import Question
from api.forms.register import QUESTIONS
from api.questions.asked import with_moment
from api.questions.errors import Refused
from api.questions.links import text_of, to_url
from api.questions.suggestions import many
from api.reports.advice import Advice
from api.reports.left_out import left_out
from api.service import COST, Service
from api.web.asked import arguments, current_service, path_asked, wants_page, with_example
from api.web.files import feed_of
from api.web.pages import filters
from api.web.pages.address import Address
from api.web.pages.card import headline_of, step_of
from api.web.pages.taking import explained, taking
from api.web.responses import PICTURES, answered, cached
from costcalc.answers import Answer, Estimate, Pick
from costcalc.catalogue.catalogue import Catalogue
from costcalc.offer import PurchaseOption
from costcalc.query import DEFAULT_LIMIT, DEFAULTS, EstimateQuery, parameters_of, reset
from costcalc.reasons import against
from costcalc.tasks.tables import MLPERF, benchmark_of

blueprint = Blueprint("pages", __name__)
EXAMPLE = {"model": ["resnet50"], "target": ["0.757"]}
PATH = "/"
COMPARED = CompareSchema()
SENTENCE = "q"
SIZES = (20, 50, 100)
COLUMNS = "_columns"
LISTING = parameters_of("order", "page")
"""Parameters that ask for the list of all estimates, not only for what to do."""
DATES = ("2018-12-31", "2020-12-31", "2022-12-31", "2024-12-31")


class Pages(NamedTuple):
    """Where the table stands among all estimates."""

    first: int
    last: int
    before: int | None
    after: int | None
    ending: int | None


class NamedPick(NamedTuple):
    """A picked estimate with all its names; `first` is that of the reason."""

    first: str
    names: str
    reason: str
    estimate: Estimate


@blueprint.get(PATH)
def page() -> Response:
    """The form, with the answer to what it asks; without parameters, to an example."""
    given, service = with_example(arguments(), EXAMPLE), current_service()
    sentence = " ".join(given.get(SENTENCE, []))
    at, shown = Address(PATH, given), {}
    try:
        catalogue = service.catalogue()
        if sentence:
            report = _understood(service, catalogue, sentence, " ".join(given.get("currency", [])))
            meant, cost, _, rates = report.answered
            at = Address(PATH, {name: [",".join(values)] for name, values in meant.answered.items()})
            shown = {"sentence": sentence, "meant": meant, "exactly": f"?{report.link}", "rates": rates}
            if cost is None:
                return Response(_drawn(at, shown))
        parts = (catalogue.snapshot, sorted(given.items()), service.clock().date())
        return cached(parts, "html", lambda: _drawn(at, shown | _answered(catalogue, at)))
    except Refused as refused:
        return Response(_drawn(at, shown | {"errors": refused.by_field}), refused.status)


def cost_view(question: Question) -> Response:
    """The answer to `/cost`; a browser is sent to its page, but for a picture."""
    if not wants_page() or path_asked().rpartition(".")[2] in PICTURES:
        return answered(question)
    query = f"?{request.query_string.decode()}" if request.query_string else ""
    headers = {"Location": f"{url_for('pages.page')}{query}", "Cache-Control": "no-store", "Vary": "Accept"}
    return Response(status=303, headers=headers)


def _understood(service: Service, catalogue: Catalogue, sentence: str, currency: str) -> AskReport:
    """What a sentence asks, in the currency that a browser remembers where it names none."""
    report = AskReport(service, catalogue, sentence)
    if not currency or "currency" in report.answered.understanding.parameters:
        return report
    return AskReport(service, catalogue, f"{sentence} currency={currency}")


def _drawn(at: Address, more: dict[str, Any]) -> bytes:
    shown = {"at": at, "given": at.given, "dates": DATES, **_trained(at)}
    fields = {"limits": filters.limits(at), "further": filters.further(at), "presets": list(filters.presets(at))}
    return render_template("question.html", **{**shown, **fields, **more}).encode()


def _trained(at: Address) -> dict[str, Any]:
    """The metric of a task or of a user's own run, or a choice of two on ImageNet; and the MLPerf task that is asked about."""
    subject = current_service().subject(COST, at.given)
    rounds_of = subject.task.name if subject.task and benchmark_of(subject.task) == MLPERF else None
    return {"its_metric": subject.metric and words.metric(subject.metric), "rounds_of": rounds_of}


def _answered(catalogue: Catalogue, at: Address) -> dict[str, Any]:
    service, given = current_service(), at.given
    query, _ = service.question(given, catalogue)
    report = Advice(service, catalogue, query)
    answer = report.answer
    is_list = any(given.get(name) for name in LISTING)
    rows = answer.estimates if is_list else answer.best
    named = {name for text in given.get(COLUMNS, ()) for name in text.split(",")} & FIGURES.keys() or USUAL
    answer = replace(
        answer, options=None
    )  # all that was worked out hangs on it, and templates live on until a full collection
    return {
        **_addresses(answer, query, at),
        "answer": answer,
        "is_list": is_list,
        "rows": rows,
        "many": many,
        "waiting": words.waiting,
        "taking": partial(taking, query, answer=answer),
        "headline": headline_of(answer, query),
        "step": step_of(answer),
        "dates": _dates(service, query),
        "picks": list(_named(answer)),
        "today": _today(report),
        "plot": plot(answer, report.points, lambda rank: at("/estimate", offset=rank - 1)),
        "x_title": X_TITLE,
        "lists": list(filters.lists(report, at)),
        "chips": list(filters.chips(query, at)),
        "columns": {name: column for name, column in FIGURES.items() if name in named},
        "all_columns": FIGURES,
        "pages": _pages(answer),
        "sizes": SIZES,
        "marks": list(words.marks_explained((*rows, *(pick.estimate for pick in answer.picks)))),
        "left_out": left_out(answer),
    }


def _addresses(answer: Answer, query: EstimateQuery, at: Address) -> dict[str, Any]:
    """Where the page leads. Other sites show the answer as it is now; a feed follows it."""
    kept, root = with_moment(query, answer.prices.as_of), request.host_url.rstrip("/")
    here, picture = (to_url(kept, path) for path in (url_for("pages.page"), f"{url_for('questions.cost')}.png"))
    pairs = parse_qsl(to_url(query, "").removeprefix("?"))
    return {
        "explained": lambda estimate: explained(query, estimate),
        "compared": compared,
        "kept": at(as_of=text_of(kept.as_of)),
        "preview": (root + here, root + picture, feed_of(query)),
        "beside": {name: _beside(query, name) for name in ("commitments", "trend")}
        | {"accuracy": _beside(query if answer.missed else _confirmed(query), "accuracy")},
        "tray": [(name, value) for name, value in pairs if name in COMPARED.fields and name not in ("a", "b")],
        "whole": to_url(replace(query, limit=DEFAULT_LIMIT, offset=0), ""),
        "cleared": filters.cleared(at),
    }


def _dates(service: Service, query: EstimateQuery) -> list[str]:
    """The past dates that the page leads to, on which the user's own machines were on sale."""
    parts = [service.evidence.accelerators.get(own.accelerator) for own in query.own]
    return [date for date in DATES if all(part is None or f"{part.on_sale_from}" <= date for part in parts)]


def _named(answer: Answer) -> Iterator[NamedPick]:
    """The machines that one owns, then each picked estimate once."""
    for mine in answer.owned:
        reason = "".join(_beside_cheapest(mine.estimate, each) for each in answer.picks[:1])
        yield NamedPick(words.YOURS, words.YOURS, reason, mine.estimate)
    for pick in answer.picks:
        if not words.same_as(pick, answer) and words.names_of(pick.estimate, answer) != words.YOURS:
            yield NamedPick(pick.name, words.names_of(pick.estimate, answer), pick.reason, pick.estimate)


def _beside_cheapest(mine: Estimate, cheapest: Pick) -> str:
    """What a machine that one owns costs more or less than the cheapest pick, which it may be itself."""
    if mine == cheapest.estimate:
        return cheapest.reason
    apart = against(mine, cheapest.estimate, "effective", "the cheapest rental")
    return f"{apart[0].upper()}{apart[1:]}."


def _today(report: Advice) -> Estimate | None:
    """The lead of today, where another date is asked for; None too where nothing is found today."""
    if report.query.as_of is None:
        return None
    today = report.ask(as_of=None, limit=1, offset=0)
    return today.lead if today.picks else None


def _beside(query: EstimateQuery, name: str) -> str:
    """This question asked of accuracy, commitments or its past, without what these are not asked."""
    asked = next(each.schema.fields for each in QUESTIONS if each.name == name)
    question = reset(query, "order", "page", max_cost=None)
    return to_url(question, "", DEFAULTS.keys() - asked.keys() | ({"target"} - asked.keys()))


def _confirmed(query: EstimateQuery) -> EstimateQuery:
    """This question, limited to what picks come from."""
    return replace(query, rates="confirmed", purchase=query.purchase or (PurchaseOption.ON_DEMAND,))


def compared(each: Estimate) -> str:
    """The machine of an estimate as `/compare` asks for it."""
    nodes = f":{each.nodes}" if each.nodes > 1 else ""
    is_usual = each.purchase_option in (PurchaseOption.ON_DEMAND, PurchaseOption.OWNED)
    bought = "" if is_usual else f":{each.purchase_option.value}"
    return f"{each.provider}:{each.instance_type}{nodes}{bought}"


def _pages(answer: Answer) -> Pages:
    query, limit = answer.query, answer.query.limit
    last = query.offset + len(answer.estimates)
    ending = (answer.count - 1) // limit * limit if answer.count else None
    return Pages(
        first=query.offset + 1,
        last=last,
        before=max(query.offset - limit, 0) if query.offset else None,
        after=last if last < answer.count else None,
        ending=ending if last < answer.count else None,
    )


def ask_view(question: Question) -> Response:
    """The page for browsers, else the answer."""
    return page() if wants_page() else answered(question)
