"""`costcalc watch`, as one types it."""

import json
import re
import threading
from datetime import datetime
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from fakes.slack import FakeSlack

from api.cli import watch
from api.cli.main import main
from costcalc import load_evidence

MADE = ("--target", "0.772", "--planned-epochs", "40", "--like", "ffcv-rn50-*")
OVER, ALARM, UNSURE, WRONG = 0, 3, 4, 2


@pytest.fixture(scope="module")
def rows():
    """The packaged log of 40 epochs, a row each, with hours."""
    (recipe,) = (one for one in load_evidence().recipes if one.name == "ffcv-rn50-40ep")
    return [f"{one.epochs:g},{one.hours},{one.top1}\n" for one in recipe.evaluations]


@pytest.fixture
def environment(filled_url):
    return {"COSTCALC_DATABASE_URL": filled_url}


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
    first, target, end, choice, verdict = result.stdout.splitlines()
    assert first.startswith("20 of 40 epochs in 0.28 h, top1 0.5768: $8.40 ")
    assert "spent of $40.00" in first
    assert target.startswith("to 0.75: $1")
    assert "in 8 of 10 cases" in end
    assert re.fullmatch(r"stop now: \$8\.40; go on: \$8\.\d\d more, over 99 % sure of 0\.75", choice)
    assert verdict.startswith("within the budget of $40.00: at most $1")


@pytest.mark.parametrize(
    ("budget", "told"), [("12", "it exceeds the budget of $12.00"), ("17.5", "it may exceed the budget")]
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


@pytest.fixture
def slack(environment):
    """A channel to which the environment leads."""
    with FakeSlack().running() as channel:
        environment["COSTCALC_SLACK_WEBHOOK_URL"] = channel.response_url
        environment["COSTCALC_SLACK_RESPONSE_HOSTS"] = channel.url
        yield channel


@pytest.fixture
def meanwhile(monkeypatch):
    """Has the training do each of these between two looks."""

    def between_looks(*done):
        left = iter(done)
        monkeypatch.setattr(watch, "time", SimpleNamespace(sleep=lambda seconds: next(left)()))

    return between_looks


@pytest.mark.parametrize(
    "begun", ["", "Creating data loaders\n", "epoch,hours,top1\n", "epoch,hours,top1,loss\n0.5,0.01,,3.5\n"]
)
def test_it_waits_for_the_first_evaluation(log, meanwhile, environment, tmp_path, begun):
    path = tmp_path / "run.csv"
    path.write_text(begun)
    meanwhile(lambda: None, lambda: log(40))
    result = run(environment, str(path), "--metric", "top1", "--rate", "30", "--max-cost", "400", *MADE[:4])
    assert result.exit_code == OVER, result.output
    assert result.stderr.count("nothing to report yet: ") == 1
    assert "the target is reached" in result.stdout


def test_one_look_at_an_empty_log_says_so(log, environment):
    result = run(environment, log(0), "--once", "--rate", "30", "--max-cost", "400", *MADE[:4])
    assert (result.exit_code, result.stdout) == (OVER, "")
    assert result.stderr.startswith("nothing to report yet: the file has no value of any metric")


ONCE = ("--once", "--slack", "--rate", "30")


def test_looks_from_cron_post_an_alarm_once(log, environment, slack):
    for rows in (28, 28, 30):
        result = run(environment, log(rows), *ONCE, "--max-cost", "12", *MADE)
        assert result.exit_code == ALARM, result.output
    (posted,) = slack.posts
    assert "run.csv: 28 of 40 epochs" in posted["text"]
    assert "ALARM: it exceeds the budget of $12.00" in posted["text"]


def test_another_budget_is_another_alarm(log, environment, slack):
    for budget in ("12", "12", "13"):
        run(environment, log(28), *ONCE, "--max-cost", budget, *MADE)
    assert [post["text"].count("$13.00") > 0 for post in slack.posts] == [False, True]


def test_a_run_that_came_back_into_its_budget_is_posted_again(log, environment, slack):
    reached = ("--target", "0.5", "--planned-epochs", "40")
    for rows in (5, 5, 20, 5):
        run(environment, log(rows), *ONCE, "--max-cost", "12", *reached)
    assert [post["text"].partition(" of")[0] for post in slack.posts] == ["run.csv: 5"] * 2


def test_an_alarm_that_did_not_reach_slack_is_tried_again(log, environment, slack):
    slack.will(404, "no_service")
    first, _, _ = (run(environment, log(28), *ONCE, "--max-cost", "12", *MADE) for _ in range(3))
    assert (first.exit_code, "Slack answered 404" in first.stderr) == (ALARM, True)
    assert len(slack.posts) == 2


def test_an_alarm_is_posted_once_and_watching_goes_on(log, meanwhile, environment, slack):
    meanwhile(lambda: log(39), lambda: log(40))
    result = run(environment, log(38), "--slack", "--rate", "30", "--max-cost", "5", *MADE)
    assert result.exit_code == ALARM, result.output
    assert "40 of 40 epochs" in result.stdout
    assert len(slack.posts) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "write --rate, what an hour costs, or --instance"),
        (("--rate", "1", "--instance", "aws:p4d.24xlarge"), "write --rate, what an hour costs, or --instance"),
        (("--rate", "0"), "must be a number above 0, such as 12.24; got 0"),
        (("--instance", "aws:p4d.24xlarg"), "--instance aws:p4d.24xlarg: unknown instance type"),
        (("--rate", "1", "--like", "ffcv-rn18-*"), "0 logs, 3 are needed; there are "),
        (("--rate", "1", "--metric", "acc"), "the log has no acc: add --metric with one of top1"),
        (("--rate", "1", "--slack"), "set COSTCALC_SLACK_WEBHOOK_URL"),
        (("--rate", "1", "--target", "77.2"), "top1 is read in fractions, 0.5768 now: write --target 0.772"),
    ],
)
def test_what_is_wrong_is_told(log, environment, arguments, told):
    result = run(environment, log(20), "--once", "--max-cost", "10", "--planned-epochs", "40", *arguments)
    assert result.exit_code == WRONG, result.output
    assert told in " ".join(result.stderr.split())


def test_without_planned_epochs_what_is_spent_is_said_and_nothing_is_predicted(log, environment):
    asked = log(20), "--once", "--rate", "30", "--target", "0.7"
    result = run(environment, *asked, "--max-cost", "10")
    assert (result.exit_code, result.stdout.count("ALARM: cannot tell: ")) == (UNSURE, 1), result.output
    assert "add --planned-epochs" in result.stdout
    assert run(environment, *asked, "--max-cost", "8").exit_code == ALARM
    free = run(environment, *asked)
    assert (free.exit_code, free.stdout) == (0, "20 epochs in 0.28 h, top1 0.5768: $8.40 spent\n")


@pytest.mark.parametrize(
    ("text", "more", "told"),
    [
        ("epoch,hours,acc\n1,1,0.5\n2,2,0.6\n", (), "the log has 2 times so far, and 3 are needed"),
        (
            "epoch,hours,acc\n1,1,0.5\n2,2,0.6\n3,3,0.7\n4,3,0.7\n5,3,0.7\n",
            (),
            "its clock stands still from epoch 3 on",
        ),
        ("epoch,acc\n1,0.5\n2,0.6\n3,0.7\n", (), "the log has no times: add --started"),
        ("epoch,step,hours,acc\n0,49,1,0.5\n0,99,2,0.6\n0,149,3,0.7\n", (), "add --steps-per-epoch"),
        ("step,hours,acc\n1,1,0.5\n2,2,0.6\n3,3,0.7\n", (), "add --steps-per-epoch"),
        ("epoch,elapsed,acc\n1,1,0.5\n2,2,0.6\n3,3,0.7\n", (), "its times (elapsed) have no unit"),
        (
            "epoch,timestamp,acc\n1,2026-01-01 01:00,0.5\n2,2026-01-01 02:00,0.6\n3,2026-01-01 03:00,0.7\n"
            "4,2026-01-01 04:00,0.7\n5,2026-01-04 04:00,0.7\n",
            ("--max-cost", "60"),
            "add --pauses paid or --pauses free",
        ),
    ],
)
def test_whoever_is_not_sure_never_says_within(environment, tmp_path, text, more, told):
    path = tmp_path / "run.csv"
    path.write_text(text)
    asked = str(path), "--once", "--rate", "1", "--planned-epochs", "9", "--max-cost", "900", *more
    result = run(environment, *asked)
    assert (result.exit_code, told in result.output) == (UNSURE, True), result.output
    assert "within the budget" not in result.output
    seen = json.loads(run(environment, *asked, "--format", "json").stdout)
    assert (seen["within_budget"], seen["at_most"]) == (None, None)
    assert any(told in alarm for alarm in seen["alarms"])


OVER_BUDGET = {
    "csv": "epoch,hours,acc\n1,1,0.5\n2,2,0.6\n3,3,0.7\n",
    "each row": "epoch,epoch_time,acc\n1,3601,0.5\n2,3600,0.6\n3,3602,0.7\n",
    "dates": "epoch,timestamp,acc\n1,2026-01-01 01:00,0.5\n2,2026-01-01 02:00,0.6\n3,2026-01-01 03:00,0.7\n",
    "steps": "step,hours,acc\n100,1,0.5\n200,2,0.6\n300,3,0.7\n",
    "in an epoch": "epoch,step,hours,acc\n0,24,1,0.5\n0,49,2,0.6\n0,74,3,0.7\n",
    "console": "\n".join(f"Epoch {n}/9\n9/9 - 3600s - 400s/step - loss: 0.5 - acc: 0.{n}" for n in range(1, 4)),
    "printed": "\n".join(f"[Epoch {n}] acc=0.{n} time: 3600.1" for n in range(3)),
    "header": "2026-01-01 01:00:00 start\n" + "\n".join(f"epoch {n} acc=0.{n} time: 1h 0m 1s" for n in range(1, 4)),
    "lines": "\n".join(f'{{"epoch": {n}, "acc": 0.{n}, "elapsed_time": "{n}:00:00"}}' for n in range(1, 4)),
    "megatron": "\n".join(
        f" iteration {n}00/ 900 | elapsed time per iteration (ms): 36000.0 | acc: 0.{n} |" for n in range(1, 4)
    ),
}


@pytest.mark.parametrize("name", OVER_BUDGET)
def test_ten_logs_over_their_budget_ring_ten_times(environment, tmp_path, name):
    path = tmp_path / "run.log"
    path.write_text(OVER_BUDGET[name])
    asked = str(path), "--once", "--rate", "10", "--planned-epochs", "9", "--max-cost", "29", "--steps-per-epoch", "100"
    result = run(environment, *asked, "--format", "json")
    seen = json.loads(result.stdout)
    assert (result.exit_code, seen["within_budget"], bool(seen["alarms"])) == (ALARM, False, True), result.output


def test_a_look_for_scripts_is_a_line_of_json(log, environment):
    asked = log(20), "--once", "--rate", "30", *MADE[2:]
    seen = json.loads(run(environment, *asked, "--max-cost", "40", "--format", "json").stdout)
    assert list(seen) == ["epochs", "planned_epochs", "hours", "spent", "at_most", "within_budget", "alarms"]
    assert (seen["epochs"], seen["planned_epochs"], seen["spent"]) == (20, 40, 8.4)
    assert (seen["within_budget"], seen["alarms"]) == (True, [])


def test_a_log_that_is_not_there_is_told(environment, tmp_path):
    result = run(
        environment, str(tmp_path / "none.csv"), "--once", "--rate", "1", "--max-cost", "1", "--planned-epochs", "1"
    )
    assert (result.exit_code, "none.csv: No such file" in result.stderr) == (WRONG, True)


def test_the_clock_counts_for_a_log_without_times(environment, tmp_path, monkeypatch):
    monkeypatch.setattr(watch, "utc_now", lambda: datetime.fromisoformat("2026-11-22T12:00:00+00:00"))
    path = tmp_path / "training.csv"
    path.write_text("epoch,loss,acc\n0,2.5,0.2\n1,2.1,0.3\n")
    asked = ("--metric", "acc", "--rate", "10", "--max-cost", "1000", "--planned-epochs", "10")
    result = run(environment, str(path), "--once", *asked, "--started", "2026-11-22T10:00:00")
    assert result.stdout.startswith("2 of 10 epochs in 2.00 h, acc 0.3: $20.00 spent of $1,000.00")


def test_a_run_is_followed_without_a_budget(environment, log):
    result = run(environment, log(20), "--once", "--rate", "30", "--target", "0.75", *MADE[2:])
    assert result.exit_code == 0, result.output
    assert "spent of" not in result.stdout
    assert "at most $" in result.stdout
