"""The page of surviving mutants: a section for each area, with the reason that a person wrote beside each survivor."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

Survivor = tuple[str, str, str]
"""The module, and the line before and after the change."""
HEAD = "| where | before | after | why nothing notices |\n|---|---|---|---|\n"
ROW = re.compile(r"^\| `(.+?)` \| `(.+?)` \| `(.+?)` \| (.*) \|$", re.MULTILINE)


def write(page: Path, area: str, told: str, survivors: Iterable[Survivor]) -> None:
    """Replaces the area's section, or adds it; survivors that stood there keep their reasons, new ones have none yet."""
    text = page.read_text("utf-8")
    before, _, rest = text.partition(f"## {area}\n")
    old, mark, after = rest.partition("\n## ")
    known = reasons(old)
    rows = "".join(_row(each, known.get(_cells(each), "")) for each in sorted(set(survivors)))
    section = f"## {area}\n\n{told}\n" + (f"\n{HEAD}{rows}" if rows else "")
    page.write_text(f"{before.rstrip()}\n\n{section}{mark}{after}", "utf-8")


def reasons(text: str) -> dict[Survivor, str]:
    """The reason of each survivor that a page lists."""
    return {(found[1], found[2], found[3]): found[4] for found in ROW.finditer(text)}


def _row(survivor: Survivor, reason: str) -> str:
    where, before, after = _cells(survivor)
    return f"| `{where}` | `{before}` | `{after}` | {reason} |\n"


def _cells(survivor: Survivor) -> Survivor:
    """As a table of Markdown can hold them."""
    where, before, after = (each.replace("|", "\\|").replace("`", "'") for each in survivor)
    return where, before, after
