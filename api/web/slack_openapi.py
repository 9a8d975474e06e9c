"""The slash command in the OpenAPI document."""

from __future__ import annotations

from typing import Any

from api.questions.errors import PROBLEM_TYPE

_TEXT = {"type": "string"}
_PROBLEM = {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
_MESSAGE = {
    "type": "object",
    "required": ["response_type", "text"],
    "properties": {
        "response_type": {"type": "string", "enum": ["ephemeral", "in_channel"]},
        "text": _TEXT,
        "blocks": {"type": "array", "items": {"type": "object"}},
    },
}
_FORM = {
    "type": "object",
    "properties": {"text": _TEXT, "response_url": _TEXT, "ssl_check": {"type": "string", "enum": ["1"]}},
}
_REFUSALS = {
    "400": "the form has too many fields",
    "401": "not signed by Slack, signed more than 300 s ago or ahead, or answered before",
    "413": "larger than 1 MiB",
    "415": "not form-encoded",
    "404": "no signing secret is set: Slack has no command here",
}
OPERATION: dict[str, Any] = {
    "operationId": "post_slack_cost",
    "summary": "The slash command, as Slack signs and sends it",
    "parameters": [
        {"name": "X-Slack-Request-Timestamp", "in": "header", "schema": _TEXT, "description": "seconds since 1970"},
        {
            "name": "X-Slack-Signature",
            "in": "header",
            "schema": _TEXT,
            "description": "v0= and an HMAC of the raw body",
        },
    ],
    "requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": _FORM}}},
    "responses": {
        "200": {
            "description": "A message; nothing for ssl_check",
            "content": {"application/json": {"schema": _MESSAGE}, "text/plain": {"schema": _TEXT}},
        },
        **{status: {"description": told, "content": _PROBLEM} for status, told in _REFUSALS.items()},
    },
}
