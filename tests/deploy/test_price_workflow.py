"""The nightly workflow's own shell lines, run in a copy of the project against a server that gives recorded answers."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from fakes.edition import KEY
from support.recorded_sources import RECORDED

from api.cli.settings import source_settings
from pricing import editions

ROOT = Path(__file__).parents[2]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "prices.yml").read_text())
COLLECT, SIGN = WORKFLOW["jobs"]["collect"], WORKFLOW["jobs"]["sign"]
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")  # what `shell: bash` means at GitHub
PYTHON = """#!/bin/sh
# nothing is installed here, and the tests and tools that the steps call are run by the other tests
case "$*" in
  "-m pip "*|"-m tools.mlperf_in_dollars"|"-m pytest "*|"-m science."*) exit 0 ;;
esac
exec {python} "$@"
"""
COSTCALC = """#!/bin/sh
exec {python} -c 'from api.cli.main import main; main()' "$@"
"""


GH = """#!/bin/sh
# one release and one issue, kept in folders
assets={folder}/assets issues={folder}/issues
case "$1 $2" in
  "release view") ls $assets ;;
  "release create") mkdir $assets ;;
  "release download") cp $assets/latest $assets/observations-* $5 ;;
  "release upload") shift 3; for each; do [ $each = --clobber ] || cp $each $assets; done ;;
  "issue list") cat $issues/open 2>/dev/null || true ;;
  "issue create") mkdir $issues; echo 1 > $issues/open; cp "$6" $issues/1.md ;;
  "issue comment") cat "$5" >> $issues/1.md ;;
esac
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
        file.write_text(script.format(python=sys.executable, folder=tmp_path))
        file.chmod(0o755)
    (tmp_path / "runner").mkdir()
    return tmp_path


def runs(job):
    return [step for step in job["steps"] if "run" in step]


def environment(folder, address, secrets, job, step):
    """A runner's, with the addresses of all sources."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("COSTCALC_", "AWS_", "PYTEST_"))}
    addresses = {each.variable: address for each in source_settings() if each.variable.endswith("_URL")}
    given = {**job.get("env", {}), **step.get("env", {})}
    expressions = {
        "github.workspace": str(folder / "work"),
        "secrets.COSTCALC_EDITION_KEY": secrets,
        "vars.COSTCALC_EDITION_TRUSTED": secrets and editions.public_key(secrets),
        "github.token": "t",
    }
    filled = {
        name: re.sub(r"\$\{\{ (.*?) \}\}", lambda of: expressions.get(of[1], ""), text) for name, text in given.items()
    }
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    own = {"PATH": path, "PYTHONPATH": str(folder / "work"), "RUNNER_TEMP": str(folder / "runner"), "HOME": str(folder)}
    return {**kept, **addresses, **filled, **own}


def run(step, folder, address, secrets=KEY, job=COLLECT):
    own = {"cwd": folder / "work", "env": environment(folder, address, secrets, job, step)}
    return subprocess.run([*SHELL, step["run"]], **own, capture_output=True, text=True, check=False)


def night(folder, address, secrets=KEY, without=()):
    """All steps of a night in fresh clones, with what each printed, but those with such a word; a step with a condition runs
    where it holds."""
    for name in ("edition", "published"):
        shutil.rmtree(folder / "work" / name, ignore_errors=True)
    for store in folder.glob("prices*"):
        store.unlink()
    printed = []
    for job in (COLLECT, SIGN):
        for step in runs(job):
            is_due = "if" not in step or (folder / "work" / "edition" / "held-back.md").exists()
            if not is_due or any(word in step["run"] for word in without):
                continue
            done = run(step, folder, address, secrets, job)
            printed.append(done.stdout + done.stderr)
            assert done.returncode == int("prices sign" in step["run"] and not secrets), (step["run"], printed[-1])
        _handed_on(folder / "work" / "edition")
    return "\n".join(printed)


def _handed_on(edition):
    """Leaves what the artifact holds."""
    for file in edition.iterdir():
        if file.name != "unsigned":
            file.unlink()


def test_what_reads_strangers_answers_knows_no_key_and_what_has_it_runs_pinned_code():
    assert "secrets." not in yaml.safe_dump(COLLECT)
    assert (SIGN["needs"], SIGN["environment"]) == ("collect", "prices")
    assert set(SIGN["permissions"]) == {"contents"}
    installs = [step["run"] for step in runs(SIGN) if "pip install" in step["run"]]
    assert installs == ["python -m pip install --require-hashes --requirement deploy/signing.txt"]
    assert "refresh" not in yaml.safe_dump(SIGN)
    uploaded, downloaded = (
        next(step["with"] for step in job["steps"] if action in step.get("uses", ""))
        for job, action in ((COLLECT, "upload-artifact"), (SIGN, "download-artifact"))
    )
    assert uploaded["name"] == downloaded["name"]
    assert uploaded["path"] == f"{downloaded['path']}/unsigned"


def last_edition(folder):
    return editions.read_at_any_age((folder / "assets" / "latest").read_bytes(), [editions.public_key(KEY)])


@pytest.mark.timeout(600)
def test_two_nights_the_second_with_a_failing_page(workspace, httpserver):
    address = httpserver.url_for("").rstrip("/")
    RECORDED["oci"].serve(httpserver)
    httpserver.expect_request(re.compile(".*")).respond_with_data("nobody here", status=404)
    first = night(workspace, address)
    assert "there is no edition yet: the next one has number 1" in first
    assert "edition 1, " in first
    assert editions.public_key(KEY) in first
    told = (workspace / "runner" / "difference.txt").read_text()
    assert "oci: " in told
    assert "snapshot " in told, "what each source left out stands below"
    data = Path("pricing") / "packaged" / "data" / "offers.csv"
    assert (workspace / "work" / data).read_text() != (ROOT / data).read_text()
    [request] = [step["with"] for step in COLLECT["steps"] if "with" in step and "body-path" in step["with"]]
    assert request["body-path"] == "${{ runner.temp }}/difference.txt"
    before = last_edition(workspace)
    assert (before.head.number, before.head.previous) == (1, "")
    httpserver.clear()
    httpserver.expect_request(re.compile(".*")).respond_with_data("nobody here", status=403)
    (workspace / "work" / data).write_bytes((ROOT / data).read_bytes())  # nobody merged the pull request
    second = night(workspace, address, without=("export",))  # which knows no edition
    assert "begun with edition 1 of " in second
    after = last_edition(workspace)
    assert (after.head.number, after.head.previous) == (2, before.head.digest)
    rates = [
        {each.key: (each.hourly_rate, each.observed_at) for each in map(edition.rates.offer, range(len(edition.rates)))}
        for edition in (before, after)
    ]
    assert rates[0] == rates[1]
    names = {file.name for file in (workspace / "assets").iterdir()}
    assert {"latest", "latest.csv", "schema.json", f"observations-{before.head.made_at:%Y-%m}.csv"} <= names


@pytest.mark.timeout(600)
def test_the_first_night_of_a_fork_without_a_key_says_that_nobody_will_take_it(workspace):
    printed = night(workspace, "http://127.0.0.1:9", secrets="", without=("refresh", "export"))  # which know no key
    assert "not signed, so no server will take it: set COSTCALC_EDITION_KEY" in printed
    assert not (workspace / "assets").exists()


def test_an_export_that_fails_ends_the_job(workspace):
    assert COLLECT["defaults"]["run"]["shell"] == "bash", "without it a pipe hides what fails before it"
    (workspace / "bin" / "costcalc").write_text("#!/bin/sh\nexit 3\n")
    [export] = [step for step in runs(COLLECT) if "export" in step["run"]]
    assert run(export, workspace, "http://127.0.0.1:1").returncode == 3
