"""The command line answers with the same figures as HTTP and ends with a status that scripts can use."""

import csv
import io
import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import click
import pytest
from click.testing import CliRunner
from openpyxl import load_workbook
from support.live_server import COSTCALC, clean_environment
from support.prices import listed, offer
from support.services import packaged_service

from api.cli import answers as terminal
from api.cli.main import main
from api.questions.themes import as_options
from pricing.refresh import RefreshReport, SourceResult
from pricing.store.publish import Published
from science.validation.published import FROZEN

ASKED = ["cost", "resnet50", "0.757", "--limit", "3", "--as-of", "2024-06-30"]
LISTED = ["cost", "resnet50", "0.757", "--limit", "21", "--as-of", "2024-06-30"]


@pytest.fixture
def run(monkeypatch, tmp_path):
    """The command in process, on the packaged prices and an empty home."""
    monkeypatch.setattr(terminal, "build_once", lambda settings: packaged_service())
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("COSTCALC_DATABASE_URL", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    return lambda *arguments, input=None: CliRunner().invoke(main, list(arguments), input=input)


def test_a_store_that_vanished_is_told_not_begun_anew(monkeypatch, tmp_path):
    monkeypatch.delenv("COSTCALC_DATABASE_URL", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    prices = tmp_path / ".local/share/costcalc/prices.sqlite3"

    def costcalc(*arguments):
        return CliRunner().invoke(main, arguments)

    assert costcalc("prices", "rebuild").exit_code == 0
    prices.unlink()
    for command in (ASKED, ["prices", "status"], ["recipes", "list"], ["prices", "refresh", "lambda"]):
        ended = costcalc(*command)
        assert (ended.exit_code, type(ended.exception)) == (1, SystemExit), command
        assert "it is gone, and with it the refreshed prices and people's own runs" in ended.stderr, command
    assert not prices.exists()
    assert costcalc("prices", "rebuild").exit_code == 0
    assert costcalc(*ASKED).exit_code == 0


def test_a_sheet_without_rows_says_why_on_standard_error(run):
    printed = run("cost", "resnet50", "75.7%", "--accelerator", "GB200", "--accelerators", "8", "--format", "csv")
    assert (printed.exit_code, printed.stdout.count("\n")) == (0, 1)
    assert "No estimate answers this question; left out: " in printed.stderr
    assert "without a filter on accelerator" in " ".join(printed.stderr.split())
    assert not run(*ASKED, "--format", "csv").stderr


def test_json_is_the_answer_of_http(run, client):
    printed = run(*ASKED, "--format", "json")
    assert printed.exit_code == 0
    assert json.loads(printed.output) == client.get("/cost?model=resnet50&target=0.757&limit=3&as_of=2024-06-30").json


def test_csv_is_the_sheet_of_http(run, client):
    printed = run(*ASKED, "--format", "csv", "--sep", ";", "--decimal", ",")
    sheet = client.get("/cost.csv?model=resnet50&target=0.757&limit=3&as_of=2024-06-30&sep=;&decimal=,")
    assert printed.stdout_bytes == sheet.data


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_formats_may_be_written_in_capitals(run, form):
    asked = ["offers", "--provider", "lambda", "--limit", "2", "--as-of", "2024-06-30", "--format"]
    small, *large = (run(*asked, written) for written in (form, form.upper(), form.title()))
    assert small.exit_code == 0
    assert [each.stdout_bytes for each in large] == [small.stdout_bytes] * 2


def choices(command):
    """Every parameter of a command and those below it that takes one of a few words."""
    yield from (each for each in command.params if isinstance(each.type, click.Choice))
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from choices(command.get_command(context, name))


def test_a_word_of_a_few_may_be_written_in_capitals():
    found = list(choices(main))
    assert {"form", "precision"} <= {each.name for each in found}
    for each in found:
        word = each.type.choices[0]
        assert each.type.convert(word.upper(), each, None) == word


def test_the_table_shows_time_cost_range_and_price_date(run, client):
    printed = run(*LISTED).output
    answer = client.get("/cost?model=resnet50&target=0.757&limit=21&as_of=2024-06-30").json
    assert f"The first 21 of {answer['count']:,} estimates" in printed
    for estimate in answer["estimates"]:
        rank = f"{estimate['rank']}{'*' if estimate['frontier'] else ''}"
        [line] = [line for line in printed.splitlines() if line.split()[:2] == [rank, estimate["provider"]]]
        assert f"{Decimal(str(estimate['billed_cost'])):,.2f}" in line
        assert f"{estimate['hours']:,.2f}" in line
        assert f"{estimate['sources']['price']['observed_at'][:10]}" in printed


def test_the_heading_says_which_of_how_many(run):
    assert "\n4 to 6 of " in run(*ASKED, "--offset", "3").output
    nowhere = run("cost", "resnet50", "0.99", "--as-of", "2024-06-30").output
    assert nowhere.startswith("No recipe of resnet50 reaches 99 %; the best reaches 80")
    assert "\nInstead: " in nowhere
    assert (
        "No top-1 curve of resnetaa50d was published by 2024-06-30"
        in run("cost", "resnetaa50d", "0.5", "--as-of", "2024-06-30").output
    )


def test_explain_lists_sources_components_and_assumptions(run, client):
    printed = run(*LISTED, "--explain").output
    for estimate in client.get("/cost?model=resnet50&target=0.757&limit=21&as_of=2024-06-30").json["estimates"]:
        assert estimate["sources"]["price"]["source"] in " ".join(printed.split())
        assert estimate["sources"]["convergence"]["source"] in " ".join(printed.split())
        assert all(as_options(sentence) in " ".join(printed.split()) for sentence in estimate["assumptions"])


def test_flags_and_lists(run):
    query = json.loads(
        run(*ASKED, "--frontier", "--provider", "aws,gcp", "--provider", "azure", "--format", "json").output
    )["query"]
    assert query["frontier"] is True
    assert query["provider"] == ["aws", "gcp", "azure"]


def test_a_file_may_be_a_workbook(run, tmp_path):
    assert run(*ASKED, "-o", str(tmp_path / "cost.xlsx")).exit_code == 0
    assert load_workbook(tmp_path / "cost.xlsx").sheetnames[:2] == ["Summary", "Estimates"]


@pytest.mark.parametrize("target", [[], ["0.72"]])
def test_the_target_of_a_task_may_be_left_out_before_the_machines(run, target):
    ended = run(
        "compare", "bert-large", *target, "lambda:gpu_8x_h100_sxm5", "aws:p4d.24xlarge", "--as-of", "2026-11-20"
    )
    assert ended.exit_code == 0, ended.output
    assert "gpu_8x_h100_sxm5" in ended.output
    assert "p4d.24xlarge" in ended.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["cost", "resnet50", "757"], "such as 0.757 or 75.7%"),
        (["cost", "resnet5", "0.757"], "did you mean resnet50"),
        (["cost", "resnet50", "0.757", "--limit", "0"], "from 1 to 1000"),
        (["cost", "resnet50", "0.757", "--metric", "top1", "--metric", "top5"], "give it once"),
        (["cost", "resnet50", "0.757", "--format", "xml"], "format: must be table, json, csv or xlsx"),
        (["cost", "resnet50", "0.757", "--provder", "aws"], "there is no option --provder: did you mean --provider"),
        (["cost", "resnet50", "0.757", "--budget", "9"], "there is no option --budget: did you mean --max-cost 9?"),
        (["cost", "resnet50", "0.757", "-n", "5"], "there is no option -n: did you mean --limit 5 or --nodes 5?"),
        (["cost", "resnet50", "0.757", "--no-spot"], "did you mean --purchase on_demand,reserved,"),
        (["cost", "resnet50", "0.757", "--no-color"], "there is no option --no-color: set NO_COLOR=1"),
        (["cost", "resnetaa50d"], "TARGET is missing: add 0.757; no training"),
        (["cost", "resnet5", "--provider", "awz"], "costcalc: MODEL: unknown model"),
        (["cost", "resnet50", "0.7", "--provider", "awz", "--max-cost", "-3"], 'got "-3"\nThen mend 1 other.\n'),
        (["compare", "H100", "A100"], "costcalc compare resnet50 H100 A100"),
        (["compare", "resnet50", "0.757"], "costcalc compare resnet50 0.757 aws:p5.4xlarge aws:p4d.24xlarge"),
        (["update"], "there is no command update: costcalc prices refresh reads new rates"),
        (["models", "qqqqqqqqqq"], "`costcalc models` lists them"),
        (["prices", "refresh", "awss"], "did you mean aws"),
        (["prices", "try", "awss"], "did you mean aws"),
    ],
)
def test_wrong_use_ends_with_2_and_says_what_to_type(run, arguments, says):
    ended = run(*arguments)
    assert ended.exit_code == 2
    assert says in ended.output
    assert "Usage:" not in ended.output


def test_settings_are_listed_and_secrets_masked(run, monkeypatch):
    monkeypatch.setenv("COSTCALC_API_TOKENS", "hunter2")
    monkeypatch.setenv("COSTCALC_GCP_API_KEY", "hunter2")
    monkeypatch.setenv("COSTCALC_DATABASE_URL", "postgresql://me:hunter2@db/costs")
    printed = run("settings").output
    assert "hunter2" not in printed
    for variable in ("COSTCALC_API_TOKENS=********", "AWS_ENDPOINT_URL_PRICING=", "COSTCALC_GCP_BILLING_URL=https://"):
        assert variable in printed


class TestValidateInto:
    """`costcalc validate --into PAGE` says what is wrong before it scores anything."""

    @pytest.fixture(autouse=True)
    def scores_nothing(self, monkeypatch):
        def scored(published):
            raise AssertionError("it scored before it looked")

        monkeypatch.setattr("science.validation.validate", scored)

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("no marker", "<!-- validate: begin -->"),
            ("<!-- validate: end -->\n<!-- validate: begin -->", "below it, a line <!-- validate: end -->"),
        ],
    )
    def test_a_page_without_its_markers_is_named(self, run, tmp_path, text, says):
        page = tmp_path / "page.md"
        page.write_text(text, "utf-8")
        ended = run("validate", "--into", str(page))
        assert (ended.exit_code, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
        assert ended.stderr.startswith(f"costcalc: --into {page}: the page needs a line")
        assert says in ended.stderr
        assert page.read_text("utf-8") == text

    def test_changed_groups_say_how_to_put_them_back(self, run, monkeypatch):
        monkeypatch.setitem(FROZEN, "splits", "of another file")
        ended = run("validate")
        assert (ended.exit_code, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
        assert "git restore science/data/splits.csv" in ended.stderr

    def test_without_scipy_it_says_how_to_install_it(self, run, monkeypatch):
        for module in [name for name in sys.modules if name.partition(".")[0] == "science"]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.setitem(sys.modules, "scipy.optimize", None)
        ended = run("validate")
        assert (ended.exit_code, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
        assert "needs SciPy, which `make setup` installs" in ended.stderr

    def test_an_installed_wheel_says_where_it_runs(self, run, monkeypatch, tmp_path):
        monkeypatch.setattr("api.cli.main.CHECKOUT", tmp_path)
        ended = run("validate")
        assert (ended.exit_code, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
        assert "needs a checkout of the repository, and `make setup`" in ended.stderr

    def test_a_page_with_its_markers_is_written(self, run, monkeypatch, tmp_path):
        class Scored:
            text = markdown = lambda self: "the scores\n"

        monkeypatch.setattr("science.validation.validate", lambda published: Scored())
        page = tmp_path / "page.md"
        page.write_text("<!-- validate: begin -->\nold\n<!-- validate: end -->\n", "utf-8")
        assert run("validate", "--into", str(page)).output == "the scores\n"
        assert "<!-- validate: begin -->\nthe scores\n<!-- validate: end -->" in page.read_text("utf-8")
        assert "old" not in page.read_text("utf-8")


class TestPrices:
    """`costcalc prices`: a store of its own, sources that stand in."""

    @pytest.fixture
    def store_url(self, monkeypatch, filled_url):
        monkeypatch.setenv("COSTCALC_DATABASE_URL", filled_url)
        return filled_url

    @pytest.mark.parametrize(("error", "status"), [(None, 0), ("it is down", 1)])
    def test_refresh_ends_with_1_when_a_source_failed(self, run, store_url, monkeypatch, error, status):
        results = (SourceResult("aws", 1.5, (offer(),)), SourceResult("gcp", 0.2, error=error))

        def refreshed(names, store, environment, now, watch):
            for result in results:
                watch(result)
            return RefreshReport(Published("snap-1", 7, 3), results)

        monkeypatch.setattr("pricing.refresh.refresh", refreshed)
        ended = run("prices", "refresh", "aws", "gcp")
        assert ended.exit_code == status
        assert "snapshot snap-1: 7 new rates, 3 seen again unchanged" in ended.output
        assert ("it is down" in ended.output) == bool(error)

    def test_a_source_that_is_not_configured_is_named_beside_the_others(self, run, store_url, monkeypatch):
        results = (
            SourceResult("aws", 1.5, (offer(),)),
            SourceResult("sheet", 0, missing="set COSTCALC_SHEET to a file"),
        )
        report = RefreshReport(Published("snap-1", 7, 3), results)
        monkeypatch.setattr("pricing.refresh.refresh", lambda *_: report)
        monkeypatch.delenv("COSTCALC_SHEET", raising=False)
        ended = run("prices", "refresh")
        assert ended.exit_code == 0
        assert "sheet: not asked, not configured: set COSTCALC_SHEET to a file" in ended.stdout
        assert "\nsheet: not configured: set COSTCALC_SHEET" in run("prices", "status").output

    def test_try_prints_what_it_would_store(self, run, monkeypatch):
        result = SourceResult("aws", 2.0, (offer("3.06"), offer("1.53", region="eu-west-1")))
        monkeypatch.setattr("pricing.refresh.try_source", lambda name, environment, now, recording: result)
        ended = run("prices", "try", "aws")
        rows = list(csv.DictReader(io.StringIO(ended.stdout)))
        assert [row["hourly_rate"] for row in rows] == ["3.06", "1.53"]
        assert "aws: 2 offers in 2.0 s" in ended.stderr
        assert "nothing was stored" in ended.stderr

    def test_try_of_a_failing_source_ends_with_1(self, run, monkeypatch):
        failed = SourceResult("aws", 2.0, error="set AWS_ACCESS_KEY_ID")
        monkeypatch.setattr("pricing.refresh.try_source", lambda name, environment, now, recording: failed)
        ended = run("prices", "try", "aws")
        assert (ended.exit_code, ended.stdout) == (1, "")
        assert "set AWS_ACCESS_KEY_ID" in ended.stderr

    def test_status_lists_every_source(self, run, store_url):
        from support.prices import NOW

        from pricing.store.store import Store

        Store(store_url).publish(listed("aws", offer()), NOW)
        printed = run("prices", "status").output
        [line] = [line for line in printed.splitlines() if line.strip().startswith("aws ")]
        assert "2026-11-20 12:00 UTC" in line
        assert "never" in printed

    def test_what_is_in_quarantine_is_shown_and_released_after_a_person_agreed(self, run, store_url):
        from support.prices import NOW

        from pricing.store.quarantine import Inspection, rate_of
        from pricing.store.store import Store

        store = Store(store_url)
        odd = {rate_of(offer("16", region=region)): f"jumps in {region}" for region in ("a", "b")}
        store.publish([SourceResult("aws", 1, inspection=Inspection("aws", odd))], NOW)
        printed = run("prices", "status").output
        assert "aws: left out since 2026-11-20 12:00 UTC: jumps in a\n" in printed
        assert "aws: 2 in quarantine; costcalc prices release aws lets them pass" in printed
        assert run("prices", "release", "aws", input="n\n").exit_code == 1
        done = run("prices", "release", "aws", "--instance-type", "P3.2XLARGE", "--yes")
        assert (done.exit_code, store.quarantined()) == (0, [])
        assert "2 released: costcalc prices refresh aws stores what is still listed" in done.output
        again = run("prices", "release", "aws", "--yes")
        assert (again.exit_code, "nothing to release" in again.output) == (1, True)
        assert run("prices", "release", "awss", "--yes").exit_code == 2

    def test_the_age_of_a_source_is_that_of_its_newest_rate(self, run, store_url):
        from pricing.store.store import Store

        now = datetime.now(UTC)
        Store(store_url).publish(listed("aws", offer(observed_at=now - timedelta(days=365, hours=6))), now)
        [line] = [line for line in run("prices", "status").output.splitlines() if line.strip().startswith("aws ")]
        assert "365 days" in line

    def test_a_wrong_rate_is_withdrawn_after_it_was_named_and_a_person_agreed(self, run, store_url):
        from support.prices import NOW

        from pricing.store.store import Store

        store = Store(store_url)
        store.publish(listed("sheet", offer("0.48", region="a"), offer("3", region="b")), NOW)
        asked = run("prices", "withdraw", "sheet", "--region", "a", input="n\n")
        assert (asked.exit_code, len(store.standing_offers("sheet"))) == (1, 2)
        assert "sheet: aws p3.2xlarge in a, on demand: USD 0.48 an hour, seen 20" in asked.output
        assert asked.output.count("Withdraw this rate?") == 1
        done = run("prices", "withdraw", "SHEET", "--region", "a", "--yes")
        assert (done.exit_code, "1 withdrawn" in done.output) == (0, True)
        assert [each.region for each in store.standing_offers("sheet")] == ["b"]
        catalogue, now = store.load_current(), datetime.now(UTC)
        regions = {catalogue.offer(row).region for row in catalogue.current_offers(now).rows}
        assert "a" not in regions
        assert "a" in {catalogue.offer(row).region for row in catalogue.current_offers(NOW).rows}

    @pytest.mark.parametrize(
        ("given", "code", "said"),
        [
            (("shet",), 2, "no price source is called 'shet': did you mean sheet?"),
            (("sheet", "--region", "nowhere"), 2, "nowhere"),
            (("sheet", "--term", "1y"), 1, "sheet has no current rate that matches these filters: nothing to withdraw"),
            (("gcp",), 1, "gcp has no current rate"),
            (("sheet", "--regoin", "a"), 2, "there is no option --regoin: did you mean --region"),
        ],
    )
    def test_a_withdrawal_of_nothing_says_so(self, run, store_url, given, code, said):
        from support.prices import NOW

        from pricing.store.store import Store

        Store(store_url).publish(listed("sheet", offer("0.48", region="a")), NOW)
        ended = run("prices", "withdraw", *given, "--yes")
        assert (ended.exit_code, said in ended.output) == (code, True), ended.output

    @pytest.mark.parametrize(
        ("url", "code", "said"),
        [
            ("mysql://x", 2, "COSTCALC_DATABASE_URL=********: write sqlite:"),
            ("postgresql://me@127.0.0.1:1/prices", 1, "Connection refused"),
        ],
    )
    @pytest.mark.parametrize("command", ["status", "refresh"])
    def test_a_store_that_cannot_be_had_is_said(self, run, monkeypatch, url, code, said, command):
        monkeypatch.setenv("COSTCALC_DATABASE_URL", url)
        ended = run("prices", command)
        assert ended.exit_code == code
        assert said in ended.output


def test_in_a_fresh_home_it_answers_from_the_packaged_prices_and_stores_nothing(tmp_path):
    ended = subprocess.run(
        [COSTCALC, "cost", "resnet50", "0.757", "--limit", "2"],
        env=clean_environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    assert ended.stdout.startswith("Rent ")
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_cannot_be_reached_is_told_without_a_trace(tmp_path):
    ended = subprocess.run(
        [COSTCALC, "cost", "resnet50", "0.757"],
        env=clean_environment(tmp_path, COSTCALC_DATABASE_URL="postgresql://me:hunter2@127.0.0.1:1/costs"),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("costcalc: the price store postgresql+psycopg://me:***@127.0.0.1:1/costs fails")
    assert "Traceback" not in ended.stderr


def test_an_answer_in_a_terminal_imports_no_server_and_no_cloud(tmp_path):
    asked = "main(['cost', 'resnet50', '0.757'], standalone_mode=False)"
    code = f"import sys; from api.cli.main import main; {asked}; print([m for m in sys.modules if m in %r])"
    unwanted = ["flask", "sqlalchemy", "alembic", "boto3", "scipy", "requests", "prometheus_client", "granian", "rich"]
    command = [sys.executable, "-c", code % unwanted]
    printed = subprocess.run(command, env=clean_environment(tmp_path), capture_output=True, text=True, check=True)
    assert printed.stdout.splitlines()[-1] == "[]"


def test_serving_imports_no_cloud_and_no_terminal():
    serving = "api.web.app, api.bootstrap, pricing.store.worker_catalogue"
    code = f"import sys; import {serving}; print([m for m in sys.modules if m in %r])"
    unwanted = [
        "alembic",
        "boto3",
        "botocore",
        "google.cloud.compute",
        "scipy",
        "rich",
        "click.testing",
        "resvg_py",
        "xlsxwriter",
    ]
    printed = subprocess.run([sys.executable, "-c", code % unwanted], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "[]"
