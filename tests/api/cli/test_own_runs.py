"""`costcalc measure` stores a speed that answers use until it is removed."""

import json
import subprocess
import sys
from importlib import import_module

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from support.own_speeds import own_speed
from support.own_training_runs import own_run
from support.prices import NOW
from support.this_machine import EPYC, forgotten, pretend

from api.bootstrap import user_name
from api.cli.main import main
from costcalc.evidence import load_evidence
from costcalc.hardware import Cluster
from pricing.store.changes import By
from pricing.store.store import Store

TINY = ("--module", "support.tiny_networks:tiny", "--image-size", "32", "--batch-size", "2", "--seconds", "0.1")
COST = (
    "cost",
    "resnet50",
    "0.757",
    "--accelerators",
    "1",
    "--accelerator",
    "A100-80GB",
    "--max-price-age",
    "4000",  # whenever it is asked
    "--limit",
    "1",
    "--format",
    "json",
)


@pytest.fixture
def run(monkeypatch, filled_url):
    """The command in process, on a store of its own."""
    monkeypatch.setenv("COSTCALC_DATABASE_URL", filled_url)
    return lambda *arguments: CliRunner().invoke(main, list(arguments))


def test_what_is_measured_is_stored_listed_used_and_removed(run):
    done = run("measure", "resnet50", *TINY, "--accelerator", "A100-80GB")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("resnet50: ")
    assert "stored as own-resnet50-1xa100-80gb-fp32-32" in done.stderr
    assert "own-resnet50-1xa100-80gb-fp32-32" in run("recipes", "list").stdout
    [estimate] = json.loads(run(*COST).stdout)["estimates"]
    assert estimate["evidence"]["throughput"] == "measured"
    assert estimate["sources"]["throughput"]["source"].startswith("measured here on 20")
    assert run("recipes", "remove", "own-resnet50-1xa100-80gb-fp32-32").exit_code == 0
    assert "own-" not in run("recipes", "list").stdout
    [estimate] = json.loads(run(*COST).stdout)["estimates"]
    assert estimate["evidence"]["throughput"] != "measured"


def test_a_processor_is_predicted_as_answers_have_it(run, monkeypatch, tmp_path):
    with forgotten():
        pretend(monkeypatch, tmp_path, EPYC, 2)
        monkeypatch.setattr(
            "own_runs.measure.networks._published", lambda names: import_module("support.tiny_networks").tiny()
        )
        done = run("measure", "resnet18", *TINY[2:], "--no-store")
    known = load_evidence()
    said = known.processors.images_per_second(Cluster("EPYC Zen 5", 1), known.models["resnet18"], 32, "fp32")
    assert f"{said.middle:,.3g} images/s, in 8 of 10 cases between {said.low:,.3g} and {said.high:,.3g}" in done.stderr


def test_a_network_of_ones_own_is_not_predicted(run):
    assert "predicted" not in run("measure", "resnet18", *TINY, "--no-store").stderr


def test_nothing_is_stored_unless_wanted(run):
    done = run("measure", "resnet50", *TINY, "--no-store")
    assert done.exit_code == 0
    assert "own-" not in run("recipes", "list").stdout


def test_a_network_without_recipes_is_told(run):
    done = run("measure", "my-net", *TINY)
    assert "no recipe trains my-net: name the network whose recipes it stands for" in done.stderr


@pytest.mark.parametrize("command", ["list", "compare"])
def test_who_has_no_runs_is_told_how_to_add_one(run, command):
    assert (
        run("recipes", command).stdout == "Nothing of your own is stored yet: costcalc recipes add LOG stores a run.\n"
    )


def test_what_is_not_stored_cannot_be_removed(run):
    done = run("recipes", "remove", "own-nothing")
    assert (done.exit_code, done.stderr) == (
        2,
        "costcalc: nothing is stored as own-nothing: costcalc recipes list shows what is\n",
    )


@pytest.mark.parametrize(("options", "told"), [
    (("--precision", "fp16"), "does not train in fp16: write fp32, bf16"),
    (("--device", "cuda"), "finds no cuda here"),
    (("--module", "nowhere:net"), "nowhere cannot be imported"),
])  # fmt: skip
def test_what_cannot_be_measured_is_refused_with_what_to_type(run, options, told):
    done = run("measure", "resnet50", *TINY, *options)
    assert done.exit_code == 1
    assert told in done.stderr


def test_without_pytorch_the_command_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "own_runs.measure.devices", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    done = run("measure", "resnet50")
    assert done.exit_code == 1
    assert "needs PyTorch" in done.stderr
    assert "pip install 'costcalc[measure]'" in done.stderr


def test_a_question_does_not_wait_for_pytorch():
    code = "import sys, api.cli.main, api.cli.answers, api.web.app, own_runs.runs; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_speed_is_shown_with_its_spread_and_day(run, filled_url):
    Store(filled_url).add_own_run(own_speed().stored(), By("anna", NOW))
    shown = run("recipes", "list").stdout
    assert "1 x A100-80GB" in shown
    assert "1,450 ± 2%" in shown


def test_small_networks_are_compared_on_packaged_devices_and_on_this_machine(run, monkeypatch):
    shown = run("small", "mlp:784-100-10", "--hourly-rate", "0.2").stdout
    assert shown.startswith("2 layers, 79,510 parameters, 79,400 multiply-adds a sample; 9,380 steps of 64.\n")
    assert shown.index("EPYC (Zen 5), 2 cores") < shown.index("H100")  # the processor is the fastest
    monkeypatch.setattr("own_runs.measure.small.REPEAT_SECONDS", 0.002)
    done = run("measure", "--small", "--device", "cpu", "--accelerator", "my laptop")
    assert "stored as small-my-laptop" in done.stderr
    assert "my laptop" in run("small", "mlp:784-100-10").stdout
    assert run("recipes", "remove", "small-my-laptop").exit_code == 0


@pytest.mark.parametrize(("arguments", "told"), [
    (("mlp:784-many-10",), "layers must be whole numbers with - between them"),
    (("mlp:784-10", "--hourly-rate", "-1"), "above 0"),
])  # fmt: skip
def test_wrong_small_networks_are_refused_with_what_to_type(run, arguments, told):
    done = run("small", *arguments)
    assert done.exit_code == 2
    assert told in done.stderr


class TestLogs:
    FACTS = ("--metric", "acc", "--dataset", "my-data", "--accelerator", "2xA100-80GB", "--batch-size", "512",
             "--samples-per-epoch", "1200000")  # fmt: skip

    @pytest.fixture
    def log(self, tmp_path):
        path = tmp_path / "my-log.csv"
        path.write_text("epoch,minutes,acc,loss\n1,10,0.4,2\n2,20,0.6,1.5\n")
        return str(path)

    def test_a_log_is_added_listed_asked_about_and_removed(self, run, log):
        done = run("recipes", "add", log, *self.FACTS)
        assert done.exit_code == 0, done.output
        assert done.stdout == (
            "my-log: 2 epochs of my-data in 0.3333 h on 2 x A100-80GB, 2,000 samples/s; acc reached 0.6\n"
        )
        assert "my-net" not in run("recipes", "list").stdout
        assert "0.6 acc" in run("recipes", "list").stdout
        told = run("cost", "my-log", "0.6", "--accelerator", "A100-80GB", "--accelerators", "2", "--limit", "1")
        assert "Recipe: my-log (your own run, " in told.stdout
        assert run("recipes", "remove", "my-log").exit_code == 0
        assert run("cost", "my-log", "0.6").exit_code == 2

    def test_what_is_missing_is_asked_for_as_options_and_nothing_is_stored(self, run, log):
        done = run("recipes", "add", log)
        assert done.exit_code == 2
        assert "--metric" not in done.stderr, "it has one accuracy"
        assert "--batch-size is missing: samples in a step of all accelerators together\n" in done.stderr
        assert "my-log.csv is read as a log of a table: acc, loss from 1 to 2 epochs, 20 min.\n" in done.stderr
        assert "my-log" not in run("recipes", "list").stdout

    def test_a_file_that_is_no_log_is_named_with_its_fault(self, run, log):
        with open(log, "a") as file:
            file.write("three,30,0.7,1\n")
        done = run("recipes", "add", log, *self.FACTS)
        assert (done.exit_code, done.stderr) == (
            2,
            f"costcalc: {log}: row 4, column epoch: must be a number; got three\n",
        )

    def test_a_name_is_taken_once(self, run, log):
        run("recipes", "add", log, *self.FACTS)
        again = run("recipes", "add", log, *self.FACTS)
        assert (again.exit_code, "exists already: remove it first" in again.stderr) == (2, True)


def test_a_log_is_tried_before_it_is_kept(run, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("epoch,seconds,val_acc\n1,100,0.3\n2,200,0.5\n")
    facts = ("--dataset", "mine", "--accelerator", "1xV100", "--batch-size", "8", "--samples-per-epoch", "80")
    tried = run("recipes", "add", str(log), "--try", *facts)
    assert tried.exit_code == 0, tried.output
    assert "2 epochs  0.5        ████" in tried.stdout
    assert "Nothing is stored" in tried.stdout
    assert "log" not in run("recipes", "list").stdout.split()


def test_a_script_reads_what_became_of_a_log(run, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("epoch,seconds,val_acc\n1,100,0.3\n2,200,0.5\n")
    facts = ("--dataset", "mine", "--accelerator", "2xV100", "--batch-size", "8", "--samples-per-epoch", "80")
    tried = json.loads(run("recipes", "add", str(log), "--try", "--format", "json", *facts).stdout)
    assert tried == {
        "name": "log", "model": "log", "dataset": "mine", "metric": "val_acc", "reached": 0.5, "epochs": 2, "hours": 200 / 3600,
        "samples_per_second": 0.8, "accelerator": "2xV100", "questions": [], "notes": [],
    }  # fmt: skip
    asked = run("recipes", "add", str(log), "--try", "--format", "json", *facts[2:])
    assert (asked.exit_code, json.loads(asked.stdout)["questions"]) == (
        2,
        ["--dataset is missing: what it was trained on, such as imagenet or my-data"],
    )


def test_the_answer_about_a_run_shows_what_to_act_on_and_folds_the_rest(run, filled_url):
    Store(filled_url).add_own_run(replace(own_run().stored(), shared_by=user_name()), By(user_name(), NOW))
    asked = ("cost", "my-run", "0.8", "--max-price-age", "4000")
    lines = run(*asked).stdout.splitlines()
    assert len(lines) <= 12
    assert "Recipe: my-run (your own run, " in run(*asked).stdout
    assert "estimates: the picks, then" in run(*asked, "--regions", "all", "--limit", "5").stdout


def test_the_list_says_who_shares_a_run(run, filled_url):
    Store(filled_url).add_own_run(replace(own_run().stored("a" * 64), shared_by="anna"), By("anna", NOW))
    listed = run("recipes", "list").stdout
    assert "shared by" in listed
    assert "anna" in listed
    asked = run("cost", "my-run", "0.8", "--max-price-age", "4000").stdout
    assert "(a run shared by anna, " in asked
