"""What an assistant may read beside the tools: the method, and every parameter of each question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files

from api.mcp.tools import TOOLS


@dataclass(frozen=True, slots=True)
class Resource:
    """A text under an address of its own."""

    uri: str
    name: str
    meaning: str
    text: Callable[[], str]


def _method() -> str:
    return (files("api.mcp") / "data" / "method.md").read_text("utf-8")


def _parameters() -> str:
    """Every parameter once, with the tools that take it."""
    takers: dict[tuple[str, str], list[str]] = {}
    for tool in TOOLS:
        for name, field in tool.parameters().items():
            takers.setdefault((name, field.meaning), []).append(tool.name)
    return "\n".join(f"- {name} ({', '.join(tools)}): {meaning}" for (name, meaning), tools in takers.items())


RESOURCES = (
    Resource("costcalc://method", "method", "How hours, dollars and ranges are estimated", _method),
    Resource("costcalc://parameters", "parameters", "Every parameter of each tool", _parameters),
)
