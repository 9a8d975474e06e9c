"""Every example of the page about own runs, as a reader types it: one after another, in one folder."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from fakes.kept_runs import KeptRuns
from support.services import packaged_service

from api.cli.main import main
from api.settings import Settings
from api.web.app import create_app

PAGE = (Path(__file__).parents[2] / "docs/own-runs.md").read_text("utf-8")
TYPED = [block.replace("\\\n", " ") for block in re.findall(r"(?:^    .+\n)+", PAGE, re.MULTILINE)]
COMMANDS = [
    line.split(maxsplit=1)[1] for block in TYPED for line in block.splitlines() if line.split()[0] == "costcalc"
]
REQUESTS = [shlex.split(line)[1:] for block in TYPED for line in block.splitlines() if line.split()[0] == "curl"]
LOG = "epoch,minutes,bleu\n" + "".join(f"{epoch},{30 * epoch},{28.5 - 20 / epoch**2}\n" for epoch in range(1, 9))


@pytest.fixture
def folder(tmp_path, filled_url, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COSTCALC_DATABASE_URL", filled_url)
    Path("log.csv").write_text(LOG)


def test_the_commands_work_in_their_order(folder):
    assert len(COMMANDS) >= 6
    for command in COMMANDS:
        if "second-run" in command:
            again = next(each for each in COMMANDS if each.startswith("recipes add"))
            assert CliRunner().invoke(main, shlex.split(again.replace("my-run", "second-run"))).exit_code == 0
        done = CliRunner().invoke(main, shlex.split(command))
        assert done.exit_code == 0, f"{command}: {done.output}"


def test_the_requests_work_in_their_order(folder):
    kept = KeptRuns()
    client = create_app(packaged_service().changed(runs=kept, keeper=kept), Settings()).test_client()
    assert len(REQUESTS) >= 3
    for options in REQUESTS:
        path = next(each for each in options if each.startswith("$HOST")).removeprefix("$HOST")
        sent = Path(options[options.index("--data-binary") + 1][1:]).read_bytes() if "--data-binary" in options else b""
        method = options[options.index("-X") + 1] if "-X" in options else "POST" if sent else "GET"
        answered = client.open(path, method=method, data=sent)
        assert answered.status_code < 300, answered.text
