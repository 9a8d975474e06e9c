"""What a source brings along: its description, a recording with its origin, a test file. None may be missing."""

import subprocess
import sys
from pathlib import Path

import pytest

from pricing.sources import NOT_PUBLIC, PAGE, SOURCES
from pricing.sources.common.page import pages

ROOT = Path(__file__).parents[3]
RECORDINGS = ROOT / "tests" / "recordings"
EVERY = pytest.mark.parametrize("name", SOURCES)
SECRET_WORDS = ("KEY", "SECRET", "TOKEN", "PASSWORD")


@EVERY
def test_a_source_describes_itself(name: str) -> None:
    spec = SOURCES[name]
    assert spec.name == name
    assert all((spec.label, spec.rates, spec.needs, spec.cannot_see, SOURCES.notes(name)))
    assert all(setting.meaning for setting in spec.settings)


@EVERY
def test_settings_that_look_secret_are_kept_secret(name: str) -> None:
    spec = SOURCES[name]
    assert {each.variable for each in spec.settings if each.variable.endswith(SECRET_WORDS)} <= spec.secrets


@EVERY
def test_a_source_has_recordings_that_say_where_they_come_from(name: str) -> None:
    files = list((RECORDINGS / name).glob("*"))
    assert files, f"put a recorded payload into tests/recordings/{name}"
    silent = [each.name for each in files if each.suffix == ".json" and '"origin"' not in each.read_text("utf-8")]
    assert not silent or {"answers.json", "README.md"} & {each.name for each in files}


@EVERY
def test_a_source_has_a_test_file(name: str) -> None:
    folder = ROOT / "tests" / "pricing" / "sources"
    found = [*folder.rglob(f"test_{name.replace('-', '_')}.py"), *folder.glob(f"*{name}/test_*.py")]
    assert found or name in pages(), f"write tests/pricing/sources/test_{name}.py"


def test_what_no_edition_may_hold_is_known_without_importing_a_source() -> None:
    assert {name for name, spec in SOURCES.items() if not spec.is_public} == NOT_PUBLIC


def test_every_description_is_of_a_listed_source() -> None:
    modules = [path for path in (ROOT / "pricing" / "sources").rglob("*.py") if "\nSPEC = " in path.read_text("utf-8")]
    others = [name for name, module in SOURCES.modules.items() if module != PAGE]
    assert len(modules) == len(others), f"files with a SPEC: {modules}; in SOURCES: {others}"


def test_the_names_are_read_without_importing_any_source() -> None:
    """The web process lists the sources' names and must pay for none of them."""
    script = (
        "import sys; from pricing.sources import SOURCES;"
        " print(list(SOURCES), 'pricing.sources.aws.source' in sys.modules, 'requests' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert answer.stdout == f"{list(SOURCES)} False False\n"
