"""The README and the worked cases are run: every command they show prints what they show.

UPDATE_DOCS=1 writes what the commands print now into the documents; read the difference before you keep it.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle, takewhile
from pathlib import Path

import pytest
import requests
import time_machine
from click.testing import CliRunner
from support import pictures
from support.browser import serving
from support.clocks import ahead_by
from support.live_server import clean_environment, start_server
from support.sampled import WHOLE, sampled
from support.services import packaged_service

from api.cli.main import main
from api.questions.fields import LAST_SECOND
from api.web.app import create_app
from tools import mlperf_in_dollars
from tools.cluster.cluster import free_ports
from tools.cluster.program import installed

ROOT = Path(__file__).parents[1]
DOCUMENTS = ("README.md", "docs/finance.md", "docs/terminal.md", "docs/worked-cases.md")
SERVED = "http://127.0.0.1:8000"
UPDATE = bool(os.environ.get("UPDATE_DOCS"))
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    started = start_server(tmp_path_factory.mktemp("docs"), COSTCALC_WORKERS="1")
    started.wait_until_ready()
    yield started
    started.stop()


@dataclass(frozen=True)
class Shell:
    """Runs a documented command as a reader would, against our server; `clock` adds to its environment what moves its clock."""

    url: str
    home: Path
    clock: Callable[[], dict[str, str]] = dict

    def output(self, command):
        installed("curl", "curl")
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command.replace(SERVED, self.url)],
            env=clean_environment(self.home, PATH=path, COLUMNS="120", **self.clock()),
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=180,
            check=True,
        )
        return done.stdout.replace("\r\n", "\n").rstrip("\n")


@dataclass(frozen=True)
class MovedHere(Shell):
    """The same, but costcalc runs in this process, whose clock may be moved: a process would cost ten times as much."""

    def output(self, command):
        words = shlex.split(command)
        given = list(takewhile(SETS.match, words))
        if words[len(given)] != "costcalc" or "|" in words:
            return super().output(command)
        environment = {"HOME": str(self.home), "COLUMNS": "120"} | dict(word.split("=") for word in given)
        with time_machine.travel(timedelta(days=float(self.clock().get("DAYS_AHEAD", 0)))):
            done = CliRunner().invoke(main, words[len(given) + 1 :], env=environment)
        assert done.exit_code == 0, done.output
        return done.stdout.rstrip("\n")


SETS = re.compile("[A-Z]+=")


def commands(block):
    return re.findall(r"^\$ (.*)$", block, re.MULTILINE)


def as_printed(block, shell):
    return "".join(f"$ {command}\n{shell.output(command)}\n" for command in commands(block))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_commands_print_what_the_documents_show(name, server, tmp_path):
    in_processes = UPDATE or WHOLE or name == "README.md"
    shell, document = (Shell if in_processes else MovedHere)(server.url, tmp_path), ROOT / name
    text = document.read_text("utf-8")
    assert BLOCK.findall(text)
    printed = BLOCK.sub(lambda match: f"```console\n{as_printed(match[1], shell)}```", text)
    if UPDATE:
        document.write_text(printed, "utf-8")
    assert printed == document.read_text("utf-8")


def a_second_before_midnight():
    now = datetime.now(UTC)
    return (datetime.combine(now, LAST_SECOND) - now) / timedelta(days=1)


@pytest.mark.parametrize("days", sampled([lambda: 400, lambda: 40, a_second_before_midnight, lambda: 1], one_in=2))
def test_commands_print_the_same_on_other_days(days, tmp_path):
    """Each looks at its clock at so many days ahead. The service's clock shows another day whenever it is looked at."""
    clock = cycle([datetime.now(UTC) + timedelta(days=days()), datetime.now(UTC) + timedelta(days=days() + 1)])
    with serving(create_app(packaged_service().changed(clock=lambda: next(clock)))) as url:
        reader = (Shell if WHOLE else MovedHere)(url, tmp_path, lambda: ahead_by(days()))
        for text in ((ROOT / name).read_text("utf-8") for name in DOCUMENTS):
            for block in BLOCK.findall(text):
                assert as_printed(block, reader) == block


@pytest.mark.parametrize("document", [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))], ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document):
    for link, anchor in re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", document.read_text("utf-8")):
        linked = document.parent / link if link else document
        assert linked.exists(), link
        assert not anchor or anchor in anchors(linked.read_text("utf-8")), anchor


def anchors(text):
    """What GitHub calls the headings of a page in links."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_linked_from_the_readme_or_from_a_page_that_is():
    seen, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        seen.add(page.name)
        linked = {page.parent / link for link in re.findall(r"\]\((?!http)([^)#]+\.md)", page.read_text("utf-8"))}
        todo += [path for path in linked if path.name not in seen]
    assert {path.name for path in ROOT.glob("docs/*.md")} <= seen


def test_mlperf_in_dollars_is_what_is_answered_to_every_third_task():
    if UPDATE:
        mlperf_in_dollars.main()
    lines, table = mlperf_in_dollars.found(packaged_service(), every=3)
    known = (mlperf_in_dollars.PAGE.read_text("utf-8") + mlperf_in_dollars.ROUNDS.read_text("utf-8")).splitlines()
    stale = [line for line in (*lines, *table.splitlines()) if line not in known]
    assert stale == [], "run python -m tools.mlperf_in_dollars"


@pytest.mark.parametrize("picture", pictures.EVERY, ids=lambda each: each.name)
def test_pictures_show_what_is_answered(picture):
    app = create_app(packaged_service())
    words = picture.words(app)
    if UPDATE and pictures.held(picture) != words:
        picture.draw(app)
    assert pictures.held(picture) == words, "UPDATE_DOCS=1 takes the pictures anew"


def test_the_lines_of_python_print_what_the_page_shows():
    failed, tried = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False)
    assert (failed, tried) == (0, 13)


def test_the_two_commands_of_the_readme(tmp_path):
    [port] = free_ports(1)
    text = (ROOT / "README.md").read_text("utf-8")
    assert f"make serve\ncurl '{SERVED}/cost?model=resnet50&target=0.757'\n" in text
    if not (ROOT / ".venv" / "installed").exists():
        pytest.skip("the environment was not made by make")
    process = subprocess.Popen(
        ["make", "-o", ".venv/installed", "serve", f"PORT={port}"],
        cwd=ROOT,
        env=clean_environment(tmp_path, COSTCALC_WORKERS="1"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        answer = _asked(f"http://127.0.0.1:{port}/cost?model=resnet50&target=0.757", process)
        assert answer["estimates"][0]["hours"] > 0
    finally:
        os.killpg(process.pid, 15)
        process.wait(120)


def _asked(url, process, seconds=180):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert process.poll() is None
        try:
            response = requests.get(url, timeout=60)
            if response.ok:
                return response.json()
        except requests.RequestException:
            pass
        time.sleep(0.2)
    pytest.fail(f"{url} did not answer")
