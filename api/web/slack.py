"""`POST /slack/cost`: the slash command as Slack signs and sends it."""

from __future__ import annotations

from typing import cast

from flask import Blueprint, Response, current_app, request

from api.formats.json import to_json
from api.slack.command import Command, SlashCommand
from api.web.asked import JSON_TYPE

blueprint = Blueprint("slack", __name__)
PATH = "/slack/cost"
EXTENSION = "costcalc.slack"


@blueprint.post(PATH)
def command() -> Response:
    """What a person typed in Slack, answered there."""
    secure = request.headers.get("X-Forwarded-Proto", "").split(",")[0].strip() == "https"
    given = Command(
        body=request.get_data(cache=False),
        media_type=request.mimetype,
        signature=request.headers.get("X-Slack-Signature", ""),
        timestamp=request.headers.get("X-Slack-Request-Timestamp", ""),
        address=(request.root_url.replace("http://", "https://", 1) if secure else request.root_url),
    )
    message = cast(SlashCommand, current_app.extensions[EXTENSION]).handle(given)
    if message is None:
        return Response(content_type="text/plain; charset=utf-8")
    return Response(to_json(message.payload()), content_type=JSON_TYPE, headers={"Cache-Control": "no-store"})
