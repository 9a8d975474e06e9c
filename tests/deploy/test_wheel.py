"""What a wheel installs is one package, which works beside anybody's `api` and `pricing`."""

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("api", "costcalc", "docs", "own_runs", "pricing", "pyproject.toml", "setup.py", "README.md")
QUESTION = "costcalc.cost('resnet50', 0.757, as_of='2026-11-20').verdict"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder that the wheel is unpacked into, as an installer does."""
    source, place = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-build-isolation",
        "--no-deps",
        "--wheel-dir",
        "dist",
        ".",
    ]
    subprocess.run(build, cwd=source, check=True)
    [wheel] = (source / "dist").glob("*.whl")
    with ZipFile(wheel) as packed:
        packed.extractall(place)
    return place


@pytest.fixture
def run(installed, tmp_path):
    """Runs Python where a stranger's modules have our folders' names; what it prints."""
    (tmp_path / "api").mkdir()
    for name in ("api/__init__", "pricing", "own_runs"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('this is not costcalc')\n", "utf-8")

    def running(*words):
        environment = {"PYTHONPATH": str(installed), "HOME": str(tmp_path), "PATH": "", "COLUMNS": "100"}
        done = subprocess.run(
            [sys.executable, *words], check=False, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert not done.returncode, done.stderr
        return done.stdout

    return running


def test_it_is_one_package(installed):
    assert {path.name for path in installed.iterdir() if path.suffix != ".dist-info"} == {"costcalc"}


def test_python_the_command_and_the_web_answer_alike(run):
    verdict = run("-c", f"import costcalc; print(*{QUESTION}[:2])").split()
    table = run("-m", "costcalc", "cost", "resnet50", "0.757", "--as-of", "2026-11-20").split()
    assert table[: len(verdict)] == verdict
    web = (
        "from costcalc.web import create_app; client = create_app().test_client()",
        "print(*client.get('/cost?model=resnet50&target=0.757&as_of=2026-11-20').json['verdict'][:2])",
    )
    assert run("-c", "\n".join(web)).split() == verdict


SHEET = """
import os, pathlib, subprocess, sys
header = "provider,region,instance_type,accelerator,accelerators,purchase_option,currency,hourly_rate,observed_at"
pathlib.Path("sheet.csv").write_text(header + "\\nacme,here,a1,H100,1,on_demand,USD,1.50,2026-11-20\\n")
os.environ["COSTCALC_SHEET"] = "sheet.csv"
done = subprocess.run([sys.executable, "-m", "costcalc", "prices", "try", "sheet"], capture_output=True, text=True)
print(done.stdout, done.stderr)
"""


def test_sources_run_in_processes_of_their_own(run):
    assert "acme" in run("-c", SHEET)


REFUSED = """
import costcalc
try:
    costcalc.cost("resnet50", 0.757, provider="awss")
except costcalc.Refused as error:
    print(type(error))
"""


def test_every_public_name_can_be_called(run):
    asked = "reply = costcalc.offers('T4', limit=1); print(reply.document.count, *dir(costcalc))"
    count, *names = run("-c", f"import costcalc; {asked}").split()
    assert int(count) > 1
    assert {"ask", "commitments", "compare", "cost", "offers", "trend", "Refused"} <= {*names}


def test_what_is_refused_is_named_by_the_package(run):
    assert run("-c", REFUSED).strip() == "<class 'costcalc.Refused'>"


SERVED = """
import subprocess, sys
print(subprocess.run([sys.executable, "-m", "costcalc", "serve"], capture_output=True, text=True).stderr)
"""


def test_without_its_extra_a_command_says_what_to_install(run, tmp_path):
    (tmp_path / "granian.py").write_text("raise ModuleNotFoundError(name='granian')\n", "utf-8")
    assert run("-c", SERVED).strip() == "costcalc: this needs the package granian, run: pip install 'costcalc[server]'"
