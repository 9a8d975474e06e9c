"""How far one question walks through the code, and how deep its rooms are: `python -m tools.walk`.

Counts the modules of the engine that a question enters, in a new process and when it is warm, and how often it changes module;
the floors of imports between the rooms of each package, a room being a module or a folder; and the modules of each folder.
Exit status 1 when a limit below is passed.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import grimp

ROOT = Path(__file__).parents[1]
PACKAGES = ("costcalc", "pricing", "own_runs", "api")
MOST_WARM, MOST_COLD, MOST_FLOORS, MOST_MODULES = 17, 37, 8, 14
"""Two of the warm modules are rentals and candidates: what can be rented at what cost, and which of it to choose. Each part of a
machine that can limit a speed is a module of the cold ones; so are the words about where a speed comes from."""
QUESTION = "/cost?model=resnet50&target="


@contextmanager
def steps() -> Iterator[list[str]]:
    """The modules of ours that are entered meanwhile, one entry a change of module. Bodies of modules do not count."""
    walked: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        place = module_of(frame.f_code.co_filename) if event == "call" else None
        if place and frame.f_code.co_name != "<module>" and walked[-1:] != [place]:
            walked.append(place)

    sys.setprofile(note)
    try:
        yield walked
    finally:
        sys.setprofile(None)


@cache
def module_of(file: str) -> str | None:
    """The dotted name of a file of ours."""
    path = Path(file)
    if not path.is_relative_to(ROOT) or path.relative_to(ROOT).parts[0] not in PACKAGES:
        return None
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def questions() -> dict[str, list[str]]:
    """What the first question of a process walks through, and what a later one with another target does."""
    from api.bootstrap import build_once
    from api.settings import Settings
    from api.web.app import create_app

    client = create_app(build_once(Settings())).test_client()
    walks = {}
    for name, target in (("cold", "0.757"), ("warm", "0.758")):
        with steps() as walked:
            assert client.get(QUESTION + target).status_code == 200
        walks[name] = walked
    return walks


def rooms(package: str) -> dict[str, set[str]]:
    """Each room of a package with the rooms beside it that it imports."""
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)
    for room in graph.find_children(package):
        if graph.find_descendants(room):
            graph.squash_module(room)
    inside = graph.find_children(package)
    return {room: graph.find_modules_directly_imported_by(room) & inside - {room} for room in inside}


def floors(package: str) -> list[str]:
    """The longest chain of rooms of a package of which each imports the next; a circle is one floor too many for any limit."""
    imports = rooms(package)

    def longest(chain: tuple[str, ...]) -> tuple[str, ...]:
        if chain[-1] in chain[:-1]:
            return chain * MOST_FLOORS
        return max((longest((*chain, below)) for below in imports[chain[-1]]), key=len, default=chain)

    return list(max((longest((room,)) for room in imports), key=len, default=()))


def packages() -> list[str]:
    """All packages, the folders inside others too."""
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)
    return sorted(module for module in graph.modules if graph.find_children(module) and ".migrations" not in module)


def folders() -> Counter[str]:
    """Modules in each folder, its `__init__` among them."""
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if "migrations" not in path.parts)
    return Counter(str(path.parent.relative_to(ROOT)) for path in files)


def main() -> int:
    """Prints the figures beside their limits."""
    sys.path.insert(0, str(ROOT))
    rows = []
    for (name, walked), most in zip(questions().items(), (MOST_COLD, MOST_WARM), strict=True):
        entered = [module for module in dict.fromkeys(walked) if module.startswith("costcalc.")]
        print(f"{name}: {', '.join(entered)}")
        rows.append((f"modules of the engine that a {name} question enters ({len(walked)} steps)", len(entered), most))
    for package in packages():
        chain = floors(package)
        rows.append((f"floors of imports inside {package}: {' > '.join(chain)[:200]}", len(chain), MOST_FLOORS))
    fullest, modules = folders().most_common(1)[0]
    rows.append((f"modules in the fullest folder, {fullest}", modules, MOST_MODULES))
    for what, count, most in rows:
        print(f"{count:4d} (at most {most}) {what}")
    return int(any(count > most for _, count, most in rows))


if __name__ == "__main__":
    raise SystemExit(main())
