"""Parameters as a person says them."""

from __future__ import annotations

from collections.abc import Mapping

MOST_TOLD = 12  # values of one parameter
COUNTS = ("nodes", "accelerators")
SPOKEN = frozenset(
    [*COUNTS, "model", "target", "accelerator", "instance_type", "provider", "region", "as_of", "precision", "purchase"]
)


def in_short(name: str, values: list[str]) -> str:
    """A parameter with its values, the first of many."""
    more = len(values) - MOST_TOLD
    return f"{name}={','.join(values[:MOST_TOLD])}" + f" and {more} more" * (more > 0)


def side_in_words(side: Mapping[str, list[str]]) -> str:
    """A side of a comparison as a person says it: `8 A100`, `16 V100 in 2`, `resnet50`, `75 %`."""
    nodes, accelerators = (side.get(name, []) for name in COUNTS)
    counts = accelerators or [f"{count} x" for count in nodes]
    within = [f"in {count}" for count in nodes if accelerators]
    names = [_in_words(name, values) for name, values in side.items() if name not in COUNTS]
    return " ".join([*counts, *names, *within])


def _in_words(name: str, values: list[str]) -> str:
    if name == "target":
        values = [f"{float(value) * 100:g} %" if float(value) <= 1 else value for value in values]
    if name == "purchase":
        values = [{"spot": "on spot", "on_demand": "on demand"}.get(value, value) for value in values]
    return " or ".join(values) if name in SPOKEN else f"{name}={','.join(values)}"
