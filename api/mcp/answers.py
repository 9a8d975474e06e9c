"""The form of an answer in a conversation: verdict first, short estimates, rounded figures, and the address of the whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from api.formats.json import to_json
from api.questions.parsing import Arguments, as_texts
from api.service import Service

Json = dict[str, Any]
KEPT = (
    "provider", "region", "instance_type", "nodes", "accelerator", "accelerators", "purchase_option", "term", "recipe", "epochs",
    "images_per_second", "hours", "hours_low", "hours_high", "calendar_hours", "success_probability", "hourly_rate",
    "effective_cost", "billed_cost", "billed_cost_low", "billed_cost_high", "currency", "limited_by", "price_age_days",
    "confirmed", "recipe_command",
)  # fmt: skip
"""The keys of an estimate that a conversation needs; null ones are left out."""
LEFT_OUT = frozenset({"query", "rejection_units", "exchange", "quoted_exchange", "snapshot", "missed"})
FIRST = ("verdict", "understood", "whole_answer")
DIGITS = 4
MOST = 12_000
"""Characters of an answer, some 3,000 tokens: longer lists lose their ends."""
IN_PATH = re.compile(r"/\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Desk:
    """What tools need: the service, where it answers over HTTP, and its store, None for the usual one."""

    whole: Service
    base: str = "http://127.0.0.1:8000"
    database: str | None = None

    @property
    def service(self) -> Service:
        """The service with the user's runs as they are now."""
        return self.whole.seen_by(None)


def texts_of(given: Json) -> dict[str, list[str]]:
    """The arguments of a tool as parameters, of which any may come several times."""
    return {name: as_texts(value) for name, value in given.items() if value is not None}


def short_answer(document: object, address: str) -> Json:
    """A document as plain values, its estimates cut to KEPT, no longer than MOST. `whole_answer` is the address of all of it."""
    whole = _short(json.loads(to_json(document)))
    answer = {"whole_answer": address, **whole}
    return fitting({**{key: answer[key] for key in FIRST if key in answer}, **answer})


def fitting(answer: Json) -> Json:
    """The answer with its longest lists cut until it has at most MOST characters; `left_out` counts what each lost."""
    lost: dict[str, int] = {}
    while len(json.dumps(answer)) > MOST:
        lists = list(_lists(answer))
        if not lists:
            break
        name, parent, key = max(lists, key=lambda each: len(json.dumps(each[1][each[2]])))
        kept = len(parent[key]) // 2
        lost[name] = lost.get(name, 0) + len(parent[key]) - kept
        some = parent[key]
        parent[key] = some[:kept] if isinstance(some, list) else dict(list(some.items())[:kept])
        answer["left_out"] = lost
    return answer


def address_of(base: str, path: str, arguments: Arguments) -> str:
    """The full HTTP address of this question. `{model}` in its path is the argument of that name, or left out without one."""
    rest = {**arguments}
    within = IN_PATH.sub(lambda part: "".join(f"/{quote(value, safe='')}" for value in rest.pop(part[1], ())), path)
    pairs = urlencode(rest, doseq=True, safe=",:*")
    return f"{base}{within}{'?' * bool(pairs)}{pairs}"


def _lists(node: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every list or long mapping that may be cut: its name, and its position."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        called = str(key) if isinstance(node, dict) else name
        if called == "left_out":
            continue
        if (isinstance(value, list) and len(value) > 1) or (isinstance(value, dict) and len(value) > len(KEPT)):
            yield called, node, key
        if isinstance(value, (list, dict)):
            yield from _lists(value, called)


def _short(node: Any) -> Any:
    if isinstance(node, list):
        return [_short(each) for each in node]
    if isinstance(node, float):
        return float(f"{node:.{DIGITS}g}") if abs(node) < 10**DIGITS else round(node)
    if not isinstance(node, dict):
        return node
    if "success_probability" in node:
        return {key: node[key] if _is_money(key) else _short(node[key]) for key in KEPT if node.get(key) is not None}
    kept = {key: value for key, value in node.items() if key not in LEFT_OUT and value not in (None, [], {})}
    return {key: value if _is_money(key) else _short(value) for key, value in kept.items()}


def _is_money(key: str) -> bool:
    return isinstance(key, str) and any(word in key for word in ("cost", "rate", "amount"))
