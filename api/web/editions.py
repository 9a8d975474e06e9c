"""`/prices/latest`: the current rates that may be passed on, as an edition."""

from __future__ import annotations

from flask import Blueprint, Response, current_app

from api.web.responses import cached, current_service
from pricing import editions

blueprint = Blueprint("editions", __name__)


@blueprint.get("/prices/latest")
def latest() -> Response:
    """The packaged rates and those of public sources, signed where a key is set. Never those read with an account."""
    service, key = current_service(), current_app.config["COSTCALC_EDITION_KEY"]
    now = service.clock().replace(microsecond=0)
    parts = (service.catalogue().snapshot, now.date(), bool(key))
    return cached(parts, "edition", lambda: editions.make(service.prices.public(), now, key))
