"""The body of `POST /plan` in the OpenAPI document."""

from __future__ import annotations

from typing import Any

from api.reports.plan_rows import MOST_ROWS, ROW

_CELL = {"type": ["string", "number", "boolean", "null"]}  # what is wrong with one stands in its row of the answer
_ROW = {
    "type": "object",
    "properties": dict.fromkeys(ROW.fields, _CELL),
    "additionalProperties": False,
}
_ROWS = {"type": "array", "items": _ROW, "minItems": 1, "maxItems": MOST_ROWS}
_FIRST_ROW = r"^model,target\n[a-z0-9_]+,0\.[0-9]+\n"  # others are told in their rows; no pattern says what a CSV is
_SHEET = {"schema": {"type": "string", "pattern": _FIRST_ROW}, "example": "model,target\nresnet50,0.757\n"}


def posted(told: dict[str, Any]) -> dict[str, Any]:
    """An operation as the one that takes rows in its body; what it answers is not kept."""
    told["operationId"] = told["operationId"].replace("get_", "post_")
    told["requestBody"] = {"required": True, "content": {"application/json": {"schema": _ROWS}, "text/csv": _SHEET}}
    told["responses"]["200"].pop("headers", None)
    return told
