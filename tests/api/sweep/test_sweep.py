"""`costcalc sweep`: the figures of `/cost` in Parquet, on processes and on Dask, whole after it was killed."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset
import pytest
from click.testing import CliRunner
from distributed import LocalCluster
from fakes.offers import offer
from support.live_server import clean_environment

from api.cli.main import main
from api.sweep import running
from pricing.scope import EVERYTHING
from pricing.store.publish import Attempt, Listing, Publication
from pricing.store.store import Store

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-c", "from api.cli.main import main; main()", "sweep"]
GRID = [
    "model=resnet50,vit_b16",
    "target=0.70,0.75",
    "as_of=2020-06..2026-06/2y",
    "provider=aws,gcp,aws+gcp",
    "--limit",
    "3",
]
QUESTIONS = 2 * 2 * 4 * 3


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def asked(home):
    """Runs the command; what it prints, or the message that it ends with."""

    def run(folder, *arguments, **variables):
        environment = clean_environment(home, **variables)
        done = subprocess.run(
            [*COMMAND, folder, *arguments],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=250,
            check=False,
        )
        return done.stdout if done.returncode == 0 else done.stderr

    return run


@pytest.fixture
def asked_here(home, monkeypatch):
    """The same in this process, where a thread answers."""

    @contextmanager
    def beside(workers):
        with ThreadPoolExecutor(1) as pool:
            yield pool

    monkeypatch.setattr(running, "_executor", beside)

    def run(folder, *arguments, **variables):
        running._opened.cache_clear()
        command = ["sweep", str(folder), *map(str, arguments)]
        done = CliRunner().invoke(main, command, env=clean_environment(home, **variables))
        return done.stdout if done.exit_code == 0 else done.stderr

    return run


@pytest.fixture(scope="module")
def swept(home):
    """The folder of one finished sweep, for tests that only read."""
    folder = home / "swept"
    subprocess.run([*COMMAND, folder, *GRID], cwd=ROOT, env=clean_environment(home), check=True, timeout=250)
    return folder


def table(folder):
    """All rows, in the order of the questions."""
    return pa.dataset.dataset(folder, partitioning="hive").to_table().sort_by([("question", "ascending")])


def test_fifty_drawn_rows_are_those_of_http(swept, client):
    names = ("target", "provider", "as_of")
    for row in random.Random(14).sample(table(swept).to_pylist(), 50):
        asked = {name: row[f"asked_{name}"] for name in names} | {"model": row["model"], "limit": 3}
        asked["as_of"], asked["provider"] = asked["as_of"].isoformat(), asked["provider"].replace(";", ",")
        said = json.loads(client.get("/cost", query_string=asked).text, parse_float=Decimal)
        assert row["count"] == said["count"]
        if row["rank"] is None:
            assert not said["estimates"]
            assert "no " in row["message"]
            continue
        wanted = said["estimates"][row["rank"] - 1]
        for name in ("billed_cost", "effective_cost", "effective_cost_low", "billed_cost_high"):
            assert row[name] == wanted[name]
        assert row["hourly_rate"] == wanted["hourly_rate"]
        assert (row["instance_type"], row["hours"]) == (wanted["instance_type"], float(wanted["hours"]))


def test_every_question_is_there_once_with_its_types(swept):
    found = table(swept)
    assert sorted(set(found["question"].to_pylist())) == list(range(1, QUESTIONS + 1))
    types = dict(zip(found.schema.names, found.schema.types, strict=True))
    assert types["billed_cost"] == types["usual_cost_high"] == pa.decimal128(38, 2)
    assert types["hourly_rate"] == pa.decimal128(38, 12)
    assert types["asked_as_of"] == types["price_observed_at"] == types["available_at"] == pa.timestamp("us", "UTC")
    assert (types["asked_target"], types["hours"]) == (pa.float64(), pa.float64())
    assert (types["asked_limit"], types["nodes"], types["frontier"]) == (pa.int64(), pa.int64(), pa.bool_())
    assert {path.name for path in swept.iterdir()} == {"_sweep.json", "model=resnet50", "model=vit_b16"}


def test_the_columns_of_the_csv_are_there_in_order(swept, client):
    said = client.get("/cost.csv?model=resnet50&target=0.75&limit=1").text
    columns = [name for name in said.splitlines()[0].split(",") if name != "model"]
    assert [name for name in table(swept).schema.names if name in columns] == columns


def test_a_second_call_answers_what_is_missing_alone(swept, asked_here):
    assert f"holds all {QUESTIONS} questions; 0 were answered now" in asked_here(swept, *GRID)
    before = table(swept)
    lost = sorted(swept.rglob("*.parquet"))[0]
    lost.unlink()
    assert "24 were answered now" in asked_here(swept, *GRID)
    assert table(swept) == before


def test_other_questions_and_other_prices_are_noticed(swept, asked_here, tmp_path):
    assert "holds other questions: name another folder" in asked_here(swept, *GRID[:-2])
    kept = json.loads((swept / "_sweep.json").read_text())
    old = tmp_path / "old"
    old.mkdir()
    (old / "_sweep.json").write_text(json.dumps({**kept, "version": "an older one"}))
    assert "with another version of costcalc (an older one, now" in asked_here(old, *GRID)


def test_it_goes_on_with_the_prices_with_which_it_began(asked_here, filled_url, tmp_path):
    now = datetime.now(UTC)
    grid = ("model=resnet50", "target=0.70,0.75", "provider=aws", "--limit", "1")
    begun, anew = tmp_path / "begun", tmp_path / "anew"
    asked_here(begun, *grid, COSTCALC_DATABASE_URL=filled_url)
    before = table(begun)
    for each in begun.rglob("*.parquet"):
        each.unlink()
    cheaper = offer(provider="aws", hourly_rate=Decimal("0.01"), observed_at=now)
    Store(filled_url).publish(
        Publication((Listing("sheet", (cheaper,), (EVERYTHING,)),), (Attempt("sheet", 1, 1),)), now
    )
    assert "2 were answered now" in asked_here(begun, *grid, COSTCALC_DATABASE_URL=filled_url)
    assert table(begun) == before
    asked_here(anew, *grid, COSTCALC_DATABASE_URL=filled_url)
    assert {row["hourly_rate"] for row in table(anew).to_pylist()} == {Decimal("0.01")}


@contextmanager
def started(home, *arguments):
    """The command in a session of its own, of which nothing is left behind."""
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=ROOT, env=clean_environment(home), stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield process
    finally:
        if alive(process):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(60)


def alive(process):
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True


def until(wanted, seconds=120):
    deadline = time.monotonic() + seconds
    while not wanted():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_killed_sweep_goes_on_and_leaves_no_process(home, asked, asked_here, tmp_path):
    grid = ["model=resnet50", "target=0.70..0.7149/0.0001", "--as-of", "2026-11-01", "--limit", "1"]
    cut, whole = tmp_path / "cut", tmp_path / "whole"
    with started(home, cut, *grid, "--workers", "1") as process:
        until(lambda: list(cut.rglob("*.parquet")))
        process.kill()
        process.wait(60)
        until(lambda: not alive(process))
    there = len(list(cut.rglob("*.parquet")))
    assert 0 < there < 3
    assert "holds all 150 questions" in asked(cut, *grid)
    asked_here(whole, *grid)
    assert table(cut) == table(whole)


def test_questions_without_a_date_ask_at_the_moment_when_the_sweep_began(asked_here, tmp_path):
    folder, grid = tmp_path / "now", ["model=resnet50", "target=0.7", "--limit", "1"]
    assert "1 were answered now" in asked_here(folder, *grid)
    time.sleep(1.1)
    assert "0 were answered now" in asked_here(folder, *grid)
    [row] = table(folder).to_pylist()
    assert abs(row["asked_as_of"] - datetime.now(UTC)).total_seconds() < 300


def test_a_grid_in_a_file(asked_here, tmp_path):
    (tmp_path / "grid.txt").write_text("# which\nmodel=resnet18\ntarget=0.6,0.65\n")
    said = asked_here(tmp_path / "swept", "--grid", tmp_path / "grid.txt", "nodes=1,2", "--currency", "EUR")
    assert "holds all 4 questions; 4 were answered now" in said
    assert {row["exchange_rate_source"] for row in table(tmp_path / "swept").to_pylist()} != {None}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["target=0.7"], "add model=resnet50, or model=all for every model"),
        (["model=resnet51", "target=0.7"], "did you mean resnet50"),
        (["model=botnet26t_256"], "missing: add target=0.757"),
        (["model=resnet50", "target=0.7,750"], "must be a fraction above 0"),
        (["model=resnet50", "target=0.7", "provider=aws,amazonia"], 'unknown provider "amazonia"'),
        (["model=resnet50", "target=0.7", "--target", "0.8"], "given for all questions, and swept: leave one out"),
    ],
)
def test_a_wrong_grid_says_what_to_type_and_answers_nothing(home, tmp_path, arguments, told):
    asked = ["sweep", str(tmp_path / "swept"), *arguments]
    assert told in CliRunner().invoke(main, asked, env=clean_environment(home)).output
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_dask_scheduler_that_is_not_there_is_said(asked, tmp_path):
    said = asked(tmp_path / "swept", "model=resnet50", "target=0.7", "--dask", "tcp://127.0.0.1:9")
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in said
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_part_that_cannot_be_written_is_said_and_written_by_the_next_call(asked_here, tmp_path):
    folder, grid = tmp_path / "swept", ["model=resnet50,resnet18", "target=0.6", "--limit", "1"]
    folder.mkdir()
    assert "2 were answered now" in asked_here(folder, *grid)
    lost = folder / "model=resnet50"
    next(lost.iterdir()).rename(tmp_path / "part.parquet")
    lost.rmdir()
    lost.write_text("in the way")
    assert "cannot be written: " in asked_here(folder, *grid)
    lost.unlink()
    assert "1 were answered now" in asked_here(folder, *grid)


def test_without_pyarrow_it_says_what_to_install(home, tmp_path):
    code = "import sys; sys.modules['pyarrow'] = None; from api.cli.main import main; main()"
    command = [sys.executable, "-c", code, "sweep", tmp_path / "swept", "model=resnet50", "target=0.7"]
    done = subprocess.run(command, cwd=ROOT, env=clean_environment(home), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "costcalc: `costcalc sweep` needs PyArrow: install it with pip install 'costcalc[sweep]'\n"


@pytest.fixture
def cluster(home, monkeypatch):
    """A Dask scheduler and two worker processes on the prices of this home."""
    for name, value in clean_environment(home).items():
        monkeypatch.setenv(name, value)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as running:
        yield running


def test_dask_answers_the_same_though_a_worker_is_killed(swept, asked, tmp_path, cluster):
    threading.Timer(1, os.kill, (cluster.workers[0].pid, signal.SIGKILL)).start()
    said = asked(tmp_path / "dask", *GRID, "--dask", cluster.scheduler_address)
    assert f"{QUESTIONS} were answered now" in said
    assert table(tmp_path / "dask") == table(swept)


def test_a_dask_scheduler_without_workers_is_said_and_so_is_one_that_goes_away(home, tmp_path):
    variables = clean_environment(home)
    begin = [sys.executable, "-c", "from distributed.cli.dask_scheduler import main; main()", "--host", "127.0.0.1"]
    begin += ["--port", "0", "--no-dashboard", "--scheduler-file", str(tmp_path / "scheduler.json")]
    with subprocess.Popen(begin, env=variables, stderr=subprocess.DEVNULL) as scheduler:
        until((tmp_path / "scheduler.json").exists)
        address = json.loads((tmp_path / "scheduler.json").read_text())["address"]
        command = [*COMMAND, tmp_path / "dask", *GRID, "--dask", address]
        with subprocess.Popen(command, cwd=ROOT, env=variables, stderr=subprocess.PIPE, text=True) as process:
            waiting = process.stderr.readline()
            scheduler.kill()
            *_, last = process.communicate(timeout=120)[1].splitlines()
    assert waiting == f"the Dask scheduler at {address} has no worker yet; waiting for one\n"
    assert last == f"costcalc: the Dask scheduler at {address} went away: the same command goes on from here"


def test_what_listens_but_is_no_dask_scheduler_is_said(asked, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        said = asked(tmp_path / "dask", "model=resnet50", "target=0.7", "--dask", address)
    assert said == f"costcalc: no Dask scheduler answers at {address}: nothing came for 5 s\n"
