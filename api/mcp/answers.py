"""What a conversation gets of an answer: the JSON document with short estimates, and the address of the whole."""

from __future__ import annotations

import json
from typing import Any, Protocol
from urllib.parse import urlencode

from api.formats.json import to_json
from api.questions.parsing import Arguments

Json = dict[str, Any]
KEPT = (
    "provider", "region", "instance_type", "nodes", "accelerator", "accelerators", "purchase_option", "term", "payment",
    "recipe", "epochs", "images_per_second", "hours", "hours_low", "hours_high", "retry_hours", "calendar_hours",
    "success_probability", "hourly_rate", "effective_cost", "billed_cost", "billed_cost_low", "billed_cost_high", "currency",
    "evidence", "limited_by", "sources", "price_age_days", "available", "evidence_notes",
)  # fmt: skip
"""The keys of an estimate that a conversation needs; null ones are left out."""


class Report(Protocol):
    """What a question is answered with."""

    def document(self) -> object:
        """The JSON document."""
        ...


def short_answer(document: object, address: str) -> Json:
    """A document as plain values, its estimates cut to KEPT. `whole_answer` is the address under which the service has all."""
    whole = json.loads(to_json(document))
    return {"whole_answer": address} | {key: _short(value) for key, value in whole.items() if key != "query"}


def address_of(path: str, arguments: Arguments) -> str:
    """The path and query string of the same question over HTTP."""
    given = [(name, value) for name, values in arguments.items() for value in values]
    return f"{path}?{urlencode(given, safe=',:*')}" if given else path


def _short(node: Any) -> Any:
    if isinstance(node, list):
        return [_short(each) for each in node]
    if not isinstance(node, dict):
        return node
    is_estimate = "success_probability" in node
    kept = KEPT if is_estimate else tuple(node)
    return {key: _short(node[key]) for key in kept if not (is_estimate and node.get(key) is None)}
