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
from costcalc.offers import Offer, PurchaseOption
from pricing.sources.common.amounts import amount
from pricing.sources.common.endpoint import Site, address
from pricing.sources.common.rows import listed, read_rows
from pricing.sources.source import Collected, SourceSpec
from msgspec import Struct, convert
from decimal import Decimal


class Row(Struct):
    name: str
    gpus: int
    price: Decimal


def collect(api, now):
    {asked}
    return read_rows("acme", listed("acme", document, "machines"), lambda row: _offers(convert(row, Row), now))


def _offers(row, now):
    machine = Machine("V100", row.gpus, 16.0)
    yield Offer("acme", "here", row.name, machine, PurchaseOption.ON_DEMAND, amount(row.price), now, "Acme's list")


SITE = Site("acme", address("COSTCALC_ACME_URL", "https://api.acme.example"))
SPEC = SourceSpec("acme", "Acme", SITE.build(collect), "on demand", "nothing", "what it does not list", SITE.settings)
'''
ASKED = {
    "sound": 'document = api.get("/machines")',
    "a fault is swallowed": 'try:\n        document = api.get("/machines")\n    except Exception:\n        return Collected(())',
    "a shape is trusted": 'document = api.get("/machines") or {}\n    document["machines"][0]["name"]',
}
PLUGIN = """
import pricing.sources
import support.recorded_sources as recorded

pricing.sources.SOURCES.modules["acme"] = "acme_source"
answer = recorded.Answer("/machines", b'{"machines": [{"name": "one", "gpus": 1, "price": 3}]}')
recorded.RECORDED["acme"] = recorded.RecordedSource("acme", (answer,), {})
"""


@pytest.fixture
def shared_tests(tmp_path: Path):
    """Runs the tests that all recorded sources share, for a source that asks its API like this."""
    (tmp_path / "plugin.py").write_text(PLUGIN)

    def run(asked: str) -> str:
        (tmp_path / "acme_source.py").write_text(MODULE.replace("{asked}", asked))
        shared = ROOT / "tests" / "pricing" / "sources" / "test_recorded_sources.py"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "plugin", "-p", "no:cacheprovider", "-k", "acme", shared]
        paths = os.pathsep.join(map(str, (tmp_path, ROOT, ROOT / "tests")))
        environment = {**os.environ, "PYTHONPATH": paths}
        return subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
        ).stdout

    return run


@pytest.mark.parametrize("name", ASKED)
def test_a_new_source_is_held_to_every_shared_test(shared_tests, name: str) -> None:
    told = shared_tests(ASKED[name])
    ran = sum(int(count) for count in re.findall(r"(\d+) (?:passed|failed)", told))
    assert ran >= 20, told
    assert ("failed" in told) == (name != "sound"), told


def test_commands_settings_and_the_reference_follow_from_the_one_line(tmp_path: Path) -> None:
    (tmp_path / "acme_source.py").write_text(MODULE.replace("{asked}", ASKED["sound"]))
    script = (
        "from pricing.sources import SOURCES; SOURCES.modules['acme'] = 'acme_source'\n"
        "import test_reference\n"
        "from api.cli.prices import describe_all, source_settings\n"
        "from api.cli.main import main\n"
        "assert '| `acme` | Acme | on demand | nothing | what it does not list |' in test_reference.sources()\n"
        "assert 'COSTCALC_ACME_URL' in test_reference.settings()\n"
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
