"""The nightly workflow's own shell lines, run in a copy of the project against a server that gives recorded answers."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from support.recorded_sources import RECORDED

from api.cli.prices import source_settings

ROOT = Path(__file__).parents[2]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "prices.yml").read_text())
[JOB] = WORKFLOW["jobs"].values()
SCRIPTS = [step["run"] for step in JOB["steps"] if "run" in step]
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")  # what `shell: bash` means at GitHub
PYTHON = """#!/bin/sh
# nothing is installed here, and the tests and tools that the steps call are run by the other tests
case "$*" in
  "-m pip "*|"-m tools.mlperf_in_dollars"|"-m pytest "*) exit 0 ;;
esac
exec {python} "$@"
"""
COSTCALC = """#!/bin/sh
exec {python} -c 'from api.cli.main import main; main()' "$@"
"""


GH = """#!/bin/sh
exit 0
"""


@pytest.fixture
def workspace(tmp_path):
    """The project, with a copy of what the steps write, and beside it what they call."""
    shutil.copytree(ROOT / "pricing", tmp_path / "work" / "pricing")
    for name in ("api", "costcalc", "own_runs"):
        (tmp_path / "work" / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "pyproject.toml", tmp_path / "work")
    for name, script in (("python", PYTHON), ("costcalc", COSTCALC), ("gh", GH)):
        file = tmp_path / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(script.format(python=sys.executable))
        file.chmod(0o755)
    (tmp_path / "runner").mkdir()
    return tmp_path


def environment(folder, address):
    """A runner's, with the addresses of all sources."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("COSTCALC_", "AWS_", "PYTEST_"))}
    addresses = {each.variable: address for each in source_settings() if each.variable.endswith("_URL")}
    given = {name: filled(text, folder) for name, text in JOB["env"].items()}
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    own = {"PATH": path, "PYTHONPATH": str(folder / "work"), "RUNNER_TEMP": str(folder / "runner"), "HOME": str(folder)}
    return {**kept, **addresses, **given, **own}


def filled(text, folder):
    """The text with its expressions."""
    return text.replace("${{ github.workspace }}", str(folder / "work"))


def run(script, folder, address):
    own = {"cwd": folder / "work", "env": environment(folder, address)}
    return subprocess.run([*SHELL, script], **own, capture_output=True, text=True, check=False)


@pytest.mark.timeout(600)
def test_its_steps_write_a_new_edition_and_say_how_it_differs(workspace, httpserver):
    RECORDED["oci"].serve(httpserver)
    httpserver.expect_request(re.compile(".*")).respond_with_data("nobody here", status=404)
    for script in SCRIPTS:
        done = run(script, workspace, httpserver.url_for("").rstrip("/"))
        assert done.returncode == 0, (script, done.stdout, done.stderr)
    told = (workspace / "runner" / "difference.txt").read_text()
    assert "oci: " in told
    data = Path("pricing") / "packaged" / "data" / "offers.csv"
    assert (workspace / "work" / data).read_text() != (ROOT / data).read_text()
    [request] = [step["with"] for step in JOB["steps"] if "with" in step and "body-path" in step["with"]]
    assert request["body-path"] == "${{ runner.temp }}/difference.txt"


def test_an_export_that_fails_ends_the_job(workspace):
    assert JOB["defaults"]["run"]["shell"] == "bash", "without it a pipe hides what fails before it"
    (workspace / "bin" / "costcalc").write_text("#!/bin/sh\nexit 3\n")
    [export] = [script for script in SCRIPTS if "export" in script]
    assert run(export, workspace, "http://127.0.0.1:1").returncode == 3
