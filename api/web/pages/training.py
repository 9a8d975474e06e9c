"""`/train/<model>`, a page for each language model, and `/train`, their list."""

from __future__ import annotations

from flask import Blueprint, Response, render_template

from api.questions.errors import NotFound
from api.questions.suggestions import unknown
from api.reports.training_page import training_page
from api.web.asked import current_service
from api.web.pages.address import Address
from api.web.pages.card import headline_of, step_of
from api.web.responses import cached
from costcalc.evidence.language import find_language_network, language_networks

blueprint = Blueprint("training", __name__)


@blueprint.get("/train")
def index() -> Response:
    """The models by name."""
    catalogue = current_service().catalogue()
    shown = {"networks": language_networks().values(), "at": Address("/train", {})}
    return cached((catalogue.snapshot,), "html", lambda: render_template("train_index.html", **shown).encode())


@blueprint.get("/train/<model>")
def model(model: str) -> Response:
    """What it costs to train or fine-tune one of them. Raises NotFound naming the nearest."""
    service, network = current_service(), find_language_network(model)
    if network is None:
        raise NotFound(unknown("language model", model, language_networks(), "/train lists them"), "model")
    catalogue = service.catalogue()

    def drawn() -> bytes:
        page = training_page(service, catalogue, network)
        return render_template(
            "train.html",
            page=page,
            headline=headline_of(page.answer, page.answer.query),
            step=step_of(page.answer),
            at=Address(f"/train/{network.name}", {}),
        ).encode()

    return cached((catalogue.snapshot, service.clock().date()), "html", drawn)
