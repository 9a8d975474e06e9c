"""`costcalc watch`, as one types it."""

import threading
from datetime import datetime

import pytest
from click.testing import CliRunner
from fakes.slack import FakeSlack

from api.cli.main import main
from costcalc import load_evidence

MADE = ("--target", "0.772", "--planned-epochs", "40", "--like", "ffcv-rn50-*")
OVER, ALARM, WRONG = 0, 3, 2


@pytest.fixture(scope="module")
def rows():
    """The packaged log of 40 epochs, a row each, with hours."""
    (recipe,) = (one for one in load_evidence().recipes if one.name == "ffcv-rn50-40ep")
    return [f"{one.epochs:g},{one.hours},{one.top1}\n" for one in recipe.evaluations]


@pytest.fixture
def environment(tmp_path):
    return {"COSTCALC_DATABASE_URL": f"sqlite:///{tmp_path}/prices.sqlite3"}


@pytest.fixture
def log(tmp_path, rows):
    path = tmp_path / "run.csv"

    def write(count):
        path.write_text("epoch,hours,top1\n" + "".join(rows[:count]))
        return str(path)

    return write


def run(environment, *arguments):
    return CliRunner().invoke(main, ["watch", *arguments], env=environment)


def test_within_the_budget(log, environment):
    result = run(environment, log(20), "--once", "--rate", "30", "--max-cost", "40", "--target", "0.75", *MADE[2:])
    assert result.exit_code == OVER, result.output
    first, target, end, verdict = result.stdout.splitlines()
    assert first.startswith("20 of 40 epochs in 0.28 h, top1 0.5768: $8.40 ")
    assert "spent of $40.00" in first
    assert target.startswith("to 0.75: $1")
    assert "in 8 of 10 cases" in end
    assert verdict.startswith("within the budget of $40.00: at most $1")


@pytest.mark.parametrize(
    ("budget", "told"), [("12", "it leaves the budget of $12.00"), ("17.5", "it may leave the budget")]
)
def test_a_range_beyond_the_budget_ends_with_3(log, environment, budget, told):
    result = run(environment, log(28), "--once", "--rate", "30", "--max-cost", budget, *MADE)
    assert result.exit_code == ALARM
    assert f"ALARM: {told}" in result.stdout


def test_the_rate_of_a_machine_is_looked_up(log, environment):
    found = [
        run(environment, log(20), "--once", "--instance", machine, "--max-cost", "900", *MADE[2:]).stdout
        for machine in ("aws:p4d.24xlarge", "aws:p4d.24xlarge:2")
    ]
    one, two = (float(told.split("$")[1].split(" ")[0]) for told in found)
    assert two == pytest.approx(2 * one, abs=0.02)


def test_it_follows_until_the_target_is_reached(log, rows, environment, tmp_path):
    path = log(30)

    def train():
        for row in rows[30:]:
            with (tmp_path / "run.csv").open("a") as file:
                file.write(row[:4])
                file.flush()
                file.write(row[4:])

    training = threading.Timer(0.3, train)
    training.start()
    result = run(environment, path, "--every", "0.05", "--rate", "30", "--max-cost", "400", *MADE[:4])
    training.join()
    assert result.exit_code == OVER, result.output
    assert result.stdout.splitlines()[-1].startswith("the target is reached, at $17")


def test_an_alarm_goes_to_slack_once_and_watching_goes_on(log, environment, monkeypatch):
    with FakeSlack().running() as slack:
        there = {
            "COSTCALC_SLACK_WEBHOOK_URL": slack.response_url,
            "COSTCALC_SLACK_RESPONSE_HOSTS": slack.url,
        }
        result = run({**environment, **there}, log(40), "--once", "--slack", "--rate", "30", "--max-cost", "5", *MADE)
    assert result.exit_code == ALARM, result.output
    (posted,) = slack.posts
    assert "run.csv: 40 of 40 epochs" in posted["text"]
    assert "ALARM" in posted["text"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "write --rate, what an hour costs, or --instance"),
        (("--rate", "1", "--instance", "aws:p4d.24xlarge"), "write --rate, what an hour costs, or --instance"),
        (("--rate", "0"), "must be a number above 0, such as 200; got 0"),
        (("--instance", "aws:p4d.24xlarg"), "--instance aws:p4d.24xlarg: unknown instance type"),
        (("--rate", "1", "--like", "ffcv-rn18-*"), "0 logs, 3 are needed; there are "),
        (("--rate", "1", "--metric", "acc"), "the log has no acc: add --metric with one of top1"),
        (("--rate", "1", "--slack"), "set COSTCALC_SLACK_WEBHOOK_URL"),
    ],
)
def test_what_is_wrong_is_told(log, environment, arguments, told):
    result = run(environment, log(20), "--once", "--max-cost", "10", "--planned-epochs", "40", *arguments)
    assert result.exit_code == WRONG, result.output
    assert told in " ".join(result.stderr.split())


def test_without_planned_epochs_nothing_is_foretold(log, environment):
    result = run(environment, log(20), "--once", "--rate", "1", "--max-cost", "10", "--target", "0.7")
    assert (result.exit_code, "add --planned-epochs" in result.stderr) == (WRONG, True)


def test_a_log_that_is_not_there_is_told(environment, tmp_path):
    result = run(
        environment, str(tmp_path / "none.csv"), "--once", "--rate", "1", "--max-cost", "1", "--planned-epochs", "1"
    )
    assert (result.exit_code, "none.csv: No such file" in result.stderr) == (WRONG, True)


def test_the_clock_counts_for_a_log_without_times(environment, tmp_path, monkeypatch):
    from api.cli.runs import watch

    monkeypatch.setattr(watch, "utc_now", lambda: datetime.fromisoformat("2026-11-22T12:00:00+00:00"))
    path = tmp_path / "training.csv"
    path.write_text("epoch,loss,acc\n0,2.5,0.2\n1,2.1,0.3\n")
    asked = ("--metric", "acc", "--rate", "10", "--max-cost", "1000", "--planned-epochs", "10")
    result = run(environment, str(path), "--once", *asked, "--started", "2026-11-22T10:00:00")
    assert result.stdout.startswith("2 of 10 epochs in 2.00 h, acc 0.3: $20.00 spent of $1,000.00")
