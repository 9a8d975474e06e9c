"""Adding a source means a file, a line in SOURCES, a recording and a section of documentation: none may be missing."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import grimp
import pytest

from pricing.sources import SOURCES

ROOT = Path(__file__).parents[3]
DOCUMENTS = "\n".join(path.read_text() for path in sorted((ROOT / "docs").glob("price-sources*.md")))
SECRET_WORDS = ("KEY", "SECRET", "TOKEN", "PASSWORD")


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_is_what_its_line_says(name: str) -> None:
    spec = SOURCES[name]
    assert spec.name == name
    assert spec.title
    assert spec.secrets <= set(spec.settings)
    assert import_module(spec.build.__module__).__doc__, "permissions and blind spots stand at the top of its file"


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_has_recordings(name: str) -> None:
    recorded = [path for path in (ROOT / "tests" / "recordings" / name).glob("*") if path.name != "README.md"]
    assert recorded, f"put a recorded payload into tests/recordings/{name}"


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_is_documented_with_its_settings(name: str) -> None:
    assert re.search(rf"^#+ .*`{name}`", DOCUMENTS, re.MULTILINE), f"docs/price-sources.md needs a section `{name}`"
    for variable in SOURCES[name].settings:
        assert variable in DOCUMENTS, f"docs/price-sources.md does not name {variable}"


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_stands_in_the_table_of_all_sources(name: str) -> None:
    table = (ROOT / "docs" / "price-sources.md").read_text().partition("## Sources\n")[2]
    [row] = [line for line in table.splitlines() if line.startswith(f"| [`{name}`](")]
    cells = [cell.strip() for cell in row.strip("|").split(" | ")]
    assert len(cells) == 5
    assert all(cells)
    own = [variable for variable in SOURCES[name].settings if variable.startswith("COSTCALC_")]
    assert not [variable for variable in own if variable not in row and variable != "COSTCALC_AWS_READ_SECONDS"]


@pytest.mark.parametrize("name", SOURCES)
def test_settings_that_look_secret_are_kept_secret(name: str) -> None:
    spec = SOURCES[name]
    looks_secret = {variable for variable in spec.settings if variable.endswith(SECRET_WORDS)}
    assert looks_secret <= spec.secrets


def test_every_adapter_is_in_the_table() -> None:
    modules = {path for path in (ROOT / "pricing" / "sources").rglob("*.py") if "\nSPEC = " in path.read_text()}
    listed = {SOURCES[name].build.__module__ for name in SOURCES}
    assert len(modules) == len(SOURCES), (
        f"files with a SPEC: {sorted(map(str, modules))}; in SOURCES: {sorted(SOURCES)}"
    )
    assert {module.partition(".")[0] for module in listed} == {"pricing"}


def _family(module: str) -> str:
    """`aws` for `pricing.sources.aws.source` and `pricing.sources.aws.offers`, so that a source may stand in several files."""
    first, *rest = module.removeprefix("pricing.sources.").split(".")
    return rest[0] if first == "catalogues" and rest else first


def test_a_source_is_imported_by_its_own_files_alone() -> None:
    """Adapters do not import one another, and everybody else reaches them through SOURCES."""
    families = {_family(SOURCES[name].build.__module__) for name in SOURCES}
    graph = grimp.build_graph("api", "pricing", "costcalc", cache_dir=None)
    of_sources = {each for each in graph.find_descendants("pricing.sources") if _family(each) in families}
    assert len(of_sources) > len(SOURCES), "several sources stand in more than one file"
    strangers = [
        (by, each)
        for each in of_sources
        for by in graph.find_modules_that_directly_import(each)
        if by not in of_sources or _family(by) != _family(each)
    ]
    assert strangers == []


def test_the_table_is_read_without_importing_any_adapter() -> None:
    """The web process lists the sources' names and must pay for none of them."""
    script = (
        "import sys; from pricing.sources import SOURCES;"
        " print(list(SOURCES), 'pricing.sources.aws.source' in sys.modules, 'requests' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert answer.stdout == f"{list(SOURCES)} False False\n"
