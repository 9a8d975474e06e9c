"""What else a price source brings along: a test file, the origin of its recordings, and words on what it can't see."""

import re
import sys
from pathlib import Path

import pytest

from pricing.sources import SOURCES

ROOT = Path(__file__).parents[3]
EVERY = pytest.mark.parametrize("name", SOURCES)


@EVERY
def test_it_has_a_test_file(name):
    folder = ROOT / "tests" / "pricing" / "sources"
    found = [*folder.rglob(f"test_{name}.py"), *folder.glob(f"{name}/test_source.py")]
    assert found, f"write tests/pricing/sources/test_{name}.py"


@EVERY
def test_its_recordings_say_where_they_come_from(name):
    folder = ROOT / "tests" / "recordings" / name
    silent = [file.name for file in folder.glob("*.json") if '"origin"' not in file.read_text(encoding="utf-8")]
    assert (folder / "README.md").exists() or not silent, f"say in {folder}/README.md where the figures come from"


@EVERY
def test_its_module_says_what_it_needs_and_what_it_cannot_see(name):
    module = sys.modules[SOURCES[name].build.__module__]
    said = (module.__doc__ or "").casefold()
    assert re.search(r"need|permission|credentials", said), f"{module.__name__}: say what it needs"
    assert re.search(r"cannot see|sees", said), f"{module.__name__}: say what it can't see"
