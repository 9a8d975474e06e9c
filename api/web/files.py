"""The paths that answer with a file of their own: `/cost.atom`, a question to subscribe to; `/prices/latest` and its sheet;
`/launch`."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from hashlib import blake2b
from typing import Annotated
from xml.etree.ElementTree import Element, SubElement, tostring

from flask import Blueprint, Response, current_app, request, url_for
from marshmallow import Schema
from msgspec import Struct

from api.formats import open_book
from api.formats.launch_files import file_name, launch_file
from api.questions.asked import query_of, with_moment
from api.questions.declared import fields_of
from api.questions.links import to_url
from api.questions.schemas.training import LayoutSchema, TrainingSchema
from api.questions.values import Values, taken
from api.reports.advice import Advice
from api.reports.launch import LaunchSchema, launch_report
from api.reports.next_step import without_a_terminal
from api.service import Service
from api.web.asked import arguments, current_service
from api.web.responses import cached
from costcalc.catalogue.catalogue import Catalogue
from costcalc.offer import Offer
from costcalc.parameters import Param
from costcalc.query import EstimateQuery, parameters_of
from costcalc.tasks.goals import training_in_words
from pricing import editions

NAMESPACE = "http://www.w3.org/2005/Atom"
blueprint = Blueprint("files", __name__)


class FeedParameters(Struct):
    """What a subscription asks beside its training."""

    below: Annotated[
        Decimal | None,
        Param(
            "report only answers that cost less than this, in the currency of the answer",
            "limit",
            20,
            "money",
            above=0,
            high=10**12,
        ),
    ] = None


class FeedSchema(TrainingSchema):
    """The parameters of `/cost.atom`."""

    class Meta:
        """A feed is Atom alone, and has one entry."""

        include = fields_of(FeedParameters)
        exclude = (*LayoutSchema().fields.keys() - {"token"}, *parameters_of("page", "words"))


FEED, LAUNCH = FeedSchema(), LaunchSchema()
NOT_FED = {*EstimateQuery.__struct_fields__} - FEED.fields.keys()


def _feed(report: Advice, below: Decimal | None) -> bytes:
    """The feed. Its entry has another identity where what to rent, its cost or its rate is another one."""
    answer, query, root = report.answer, report.query, request.host_url.rstrip("/")
    is_told = bool(answer.picks) and (below is None or answer.first.cost(query.basis).cost < below)
    moment = answer.lead.sources.price.observed_at if is_told else answer.prices.as_of
    updated, page = f"{moment:%Y-%m-%dT%H:%M:%SZ}", url_for("pages.page")
    address = root + to_url(query, url_for("files.feed"), **({} if below is None else {"below": f"{below:f}"}))
    feed = Element("feed", xmlns=NAMESPACE)
    _add(feed, title=training_in_words(query), id=address, updated=updated)
    SubElement(feed, "link", rel="self", href=address)
    SubElement(SubElement(feed, "author"), "name").text = "costcalc"
    if is_told:
        each, (first, *further) = answer.lead, without_a_terminal(answer, root)
        parts = repr((query, each.provider, each.region, each.instance_type, each.billed_cost, updated)).encode()
        identity = f"{root}{to_url(query, page)}#{blake2b(parts, digest_size=8).hexdigest()}"
        entry = SubElement(feed, "entry")
        _add(entry, title=first, id=identity, updated=updated, summary=" ".join(further))
        kept = root + to_url(with_moment(query, answer.prices.as_of), page)
        SubElement(entry, "link", rel="alternate", type="text/html", href=kept)
    return bytes(tostring(feed, encoding="utf-8", xml_declaration=True))


def _add(element: Element, **texts: str) -> None:
    for name, text in texts.items():
        SubElement(element, name).text = text


def feed_of(query: EstimateQuery) -> str:
    """The address of a question's feed on this service."""
    return to_url(query, url_for("files.feed"), NOT_FED)


@blueprint.get("/cost.atom")
def feed() -> Response:
    """One entry with the verdict; none while the answer costs `below` or more."""
    service, catalogue, values, parts = _asked(FEED)
    below = taken(FeedParameters, values).below
    report = Advice(service, catalogue, query_of(values))
    return cached(parts, "atom", lambda: _feed(report, below))


@blueprint.get("/prices/latest")
def latest() -> Response:
    """The packaged rates and those of public sources, signed where a key is set. Never those read with an account."""
    key, now = current_app.config["COSTCALC_EDITION_KEY"], _now()
    parts = (current_service().catalogue().snapshot, now.date(), bool(key))
    return cached(parts, "edition", lambda: editions.make(_passed_on(now), now, key))


@blueprint.get("/prices/latest.csv")
def latest_csv() -> Response:
    """The same rates as a sheet."""
    now = _now()
    parts = (current_service().catalogue().snapshot, now.date())
    return cached(parts, "csv", lambda: open_book.latest(Catalogue.from_offers(_passed_on(now), ""), now))


def _now() -> datetime:
    return current_service().clock().replace(microsecond=0)


def _passed_on(now: datetime) -> list[Offer]:
    without = current_app.config["COSTCALC_EDITION_WITHOUT"]
    return editions.passed_on(current_service().prices.public(), now, without)


@blueprint.get("/launch")
def launch() -> Response:
    """A file that SkyPilot or dstack starts the training with."""
    service, catalogue, values, parts = _asked(LAUNCH)
    report = launch_report(service, catalogue, values)
    response = cached(parts, "yaml", lambda: launch_file(report))
    response.headers["Content-Disposition"] = f'inline; filename="{file_name(report)}"'
    return response


def _asked(schema: Schema) -> tuple[Service, Catalogue, Values, tuple[object, ...]]:
    """What answers a request, what it asks, and what tells its answer from others."""
    service = current_service()
    catalogue = service.catalogue()
    values, _ = service.parse(schema, arguments(), catalogue)
    moment = values.get("as_of") or service.clock().date()
    return service, catalogue, values, (catalogue.snapshot, sorted(values.items()), moment)
