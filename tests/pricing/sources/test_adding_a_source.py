"""One module, one line and one recording make a source: the shared tests hold it to all that they ask of the others."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MODULE = '''
"""A provider made up for a test. The price of a row is that of a whole machine."""

from costcalc.hardware import Machine
from pricing.sources.common.endpoint import Site, address
from pricing.sources.common.listing import Listing
from pricing.sources.common.rows import listed
from pricing.sources.source import Collected
from msgspec import Struct, field
from decimal import Decimal


class Row(Struct):
    name: str
    price: Decimal
    gpus: int = field(name="holds.gpus")


def collect(api, now):
    {asked}
    return Listing("acme", "Acme's list", now).read(listed("acme", document, "machines"), Row, _offers)


def _offers(row, listing):
    yield from listing.sold(("here", row.name, Machine("V100", row.gpus, 16.0)), row.price)


SPEC = Site("acme", address("COSTCALC_ACME_URL", "https://api.acme.example")).spec(
    collect, "Acme", rates="on demand", cannot_see="what it does not list"
)
'''
ASKED = {
    "acme": 'document = api.get("/machines")',
    "acme_swallowing": 'try:\n        document = api.get("/machines")\n    except Exception:\n        return Collected(())',
    "acme_trusting": 'document = api.get("/machines") or {}\n    document["machines"][0]["name"]',
}
PLUGIN = """
import pricing.sources
import support.recorded_sources as recorded

answer = recorded.Answer("/machines", b'{"machines": [{"name": "one", "holds": {"gpus": 1}, "price": 3}]}')
for name in NAMES:
    pricing.sources.SOURCES.modules[name] = f"{name}_source"
    recorded.RECORDED[name] = recorded.RecordedSource(name, (answer,), {})
"""


def module(name: str) -> str:
    """The source of this name, which asks its API in its own way."""
    written = MODULE.replace("{asked}", ASKED[name])
    return written.replace('"acme"', f'"{name}"').replace("_ACME_", f"_{name.upper()}_")


@pytest.fixture(scope="module")
def shared_tests(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The tests that all recorded sources share, run for these three: a line for each."""
    folder = tmp_path_factory.mktemp("sources")
    (folder / "plugin.py").write_text(PLUGIN.replace("NAMES", repr(tuple(ASKED))))
    for name in ASKED:
        (folder / f"{name}_source.py").write_text(module(name))
    shared = ROOT / "tests" / "pricing" / "sources" / "test_recorded_sources.py"
    aside = [word for name in ("cacheprovider", "schemathesis", "hypothesispytest") for word in ("-p", f"no:{name}")]
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "plugin", *aside, "-k", "acme", shared]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (folder, ROOT, ROOT / "tests")))}
    ran = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=False
    ).stdout
    return re.findall(r"^(?:PASSED|FAILED) .*", ran, re.MULTILINE) or [ran]


@pytest.mark.parametrize("name", ASKED)
def test_a_new_source_is_held_to_every_shared_test(shared_tests: list[str], name: str) -> None:
    own = [line for line in shared_tests if re.search(rf"\b{name}\b", line)]
    assert len(own) >= 9, shared_tests
    failed = [line for line in own if line.startswith("FAILED")]
    assert bool(failed) == (name != "acme"), failed


def test_commands_settings_and_the_reference_follow_from_the_one_line(tmp_path: Path) -> None:
    (tmp_path / "acme_source.py").write_text(module("acme"))
    script = (
        "from pricing.sources import SOURCES; SOURCES.modules['acme'] = 'acme_source'\n"
        "import test_reference\n"
        "from api.cli.settings import source_settings\n"
        "from api.cli.main import main\n"
        "assert '| `acme` Acme | on demand | what it does not list | `COSTCALC_ACME_URL` |' in test_reference.sources()\n"
        "assert 'COSTCALC_ACME_URL' in [each.variable for each in source_settings()]\n"
        "main(['prices', 'sources', 'acme'])"
    )
    paths = os.pathsep.join(map(str, (tmp_path, ROOT, ROOT / "tests")))
    ended = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout.startswith("acme: Acme")) == (0, True), ended.stderr
