"""The paths that answer with a file of their own: `/cost.atom`, a question to subscribe to; `/prices/latest` and its sheet;
`/launch`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from hashlib import blake2b
from typing import Annotated
from xml.etree.ElementTree import Element, SubElement, tostring

from flask import Blueprint, Response, current_app, request, url_for
from msgspec import Struct

from api.formats import open_book
from api.formats.launch_files import file_name, launch_file
from api.questions.asked import query_of, with_moment
from api.questions.declared import fields_of
from api.questions.links import to_url
from api.questions.schemas.training import LayoutSchema, TrainingSchema
from api.questions.values import taken
from api.reports.advice import Advice
from api.reports.launch import LaunchSchema, launch_report
from api.reports.next_step import without_a_terminal
from api.web.asked import arguments, current_service
from api.web.responses import cached
from costcalc.answers import Answer
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


@dataclass(frozen=True, slots=True)
class Feed:
    """A watched answer; the addresses of its page, of that page as it is now, of the service and of the feed; and whether there
    is an entry."""

    answer: Answer
    page: str
    kept: str
    root: str
    address: str
    has_entry: bool


def written(feed: Feed) -> bytes:
    """The feed. Its entry has another identity where what to rent, its cost or its rate is another one."""
    answer, query = feed.answer, feed.answer.query
    moment = answer.lead.sources.price.observed_at if feed.has_entry else answer.prices.as_of
    updated = f"{moment:%Y-%m-%dT%H:%M:%SZ}"
    root = Element("feed", xmlns=NAMESPACE)
    _add(root, title=training_in_words(query), id=feed.address, updated=updated)
    SubElement(root, "link", rel="self", href=feed.address)
    SubElement(SubElement(root, "author"), "name").text = "costcalc"
    if feed.has_entry:
        each, (first, *further) = answer.lead, without_a_terminal(answer, feed.root)
        parts = repr((query, each.provider, each.region, each.instance_type, each.billed_cost, updated)).encode()
        entry = SubElement(root, "entry")
        identity = f"{feed.page}#{blake2b(parts, digest_size=8).hexdigest()}"
        _add(entry, title=first, id=identity, updated=updated, summary=" ".join(further))
        SubElement(entry, "link", rel="alternate", type="text/html", href=feed.kept)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True))


def _add(element: Element, **texts: str) -> None:
    for name, text in texts.items():
        SubElement(element, name).text = text


def feed_of(query: EstimateQuery) -> str:
    """The address of a question's feed on this service."""
    return to_url(query, url_for("files.feed"), NOT_FED)


@blueprint.get("/cost.atom")
def feed() -> Response:
    """One entry with the verdict; none while the answer costs `below` or more."""
    service = current_service()
    catalogue = service.catalogue()
    values, _ = service.parse(FEED, arguments(), catalogue)
    parts = (catalogue.snapshot, sorted(values.items()), values.get("as_of") or service.clock().date())
    below = taken(FeedParameters, values).below
    report = Advice(service, catalogue, query_of(values))

    def body() -> bytes:
        answer, root = report.answer, request.host_url.rstrip("/")
        has_entry = bool(answer.picks) and (below is None or answer.first.cost(answer.query.basis).cost < below)
        below_too = {} if below is None else {"below": f"{below:f}"}
        page, itself = (
            to_url(report.query, url_for("pages.page")),
            to_url(report.query, url_for("files.feed"), **below_too),
        )
        kept = to_url(with_moment(report.query, answer.prices.as_of), url_for("pages.page"))
        return written(Feed(answer, root + page, root + kept, root, root + itself, has_entry))

    return cached(parts, "atom", body)


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
    service = current_service()
    catalogue = service.catalogue()
    values, _ = service.parse(LAUNCH, arguments(), catalogue)
    parts = (catalogue.snapshot, sorted(values.items()), values.get("as_of") or service.clock().date())
    report = launch_report(service, catalogue, values)
    response = cached(parts, "yaml", lambda: launch_file(report))
    response.headers["Content-Disposition"] = f'inline; filename="{file_name(report)}"'
    return response
