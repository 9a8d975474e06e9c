"""Launch files, read by SkyPilot's and dstack's own parsers."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from api.formats.launch_files import launch_file
from api.questions.errors import Refused
from api.reports.launch import LaunchSchema, launch_report, left_to_set

ROOT = Path(__file__).parents[3]
PARSERS = ROOT / "build/launchers/bin/python"
QUESTIONS = [
    {"to": "skypilot"},
    {"to": "skypilot", "sort": "time", "limit": "1"},
    {"to": "skypilot", "provider": "gcp", "accelerator": "TPU v5e"},
    {"to": "skypilot", "provider": "gcp", "accelerator": "V100", "max_price_age": "4000"},
    {"to": "skypilot", "provider": "runpod"},
    {"to": "skypilot", "provider": "aws", "recipe": "rsb-a3-*", "data": "s3://bucket/imagenet"},
    {"to": "dstack", "provider": "aws", "recipe": "ffcv-rn50-40ep", "data": "imagenet-volume", "max_cost": "30"},
    {"to": "skypilot", "provider": "aws", "purchase": "on_demand", "nodes": "4"},
    {"to": "dstack"},
    {"to": "dstack", "provider": "gcp", "purchase": "spot"},
    {
        "to": "dstack",
        "provider": "gcp",
        "accelerator": "V100",
        "max_price_age": "4000",
        "run": 'python train.py --name "a: b"\nls',
    },
    {"to": "dstack", "provider": "aws", "purchase": "on_demand", "nodes": "4"},
    {"to": "skypilot", "provider": "aws", "recipe": "mmpretrain-*"},
    {"to": "dstack", "provider": "aws", "recipe": "nvidia-pytorch-resnet50-a100x8-amp-90ep"},
    {"to": "skypilot", "provider": "aws", "purchase": "spot", "checkpoints": "s3://my-runs"},
    {"to": "dstack", "provider": "aws", "purchase": "spot", "checkpoints": "my-volume"},
]


@pytest.fixture(scope="module")
def report(service):
    def ask(**parameters):
        given = {"model": "resnet50", "target": "0.757", **parameters}
        catalogue = service.catalogue()
        values, _ = service.parse(LaunchSchema(), {name: [value] for name, value in given.items()}, catalogue)
        return launch_report(service, catalogue, values)

    return ask


@pytest.fixture(scope="module")
def reports(report):
    return [report(**question) for question in QUESTIONS]


@pytest.fixture(scope="module")
def understood(reports):
    """What the launchers' parsers make of all files, and of a wrong one each."""
    if not PARSERS.exists():
        pytest.skip(f"{PARSERS} is not there: run `make test`")
    files = [[one.launcher, launch_file(one).decode()] for one in reports]
    wrong = [["skypilot", "resources: {infra: nowhere}\nrunn: ls"], ["dstack", "type: task\nnodess: 1"]]
    environment = {**os.environ, "SKYPILOT_DISABLE_USAGE_COLLECTION": "1"}
    ran = subprocess.run(
        [PARSERS, ROOT / "tests/support/read_launch_files.py"],
        input=json.dumps(files + wrong),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    *read, skypilot_refusal, dstack_refusal = json.loads(ran.stdout.splitlines()[-1])
    assert "refused" in skypilot_refusal
    assert "refused" in dstack_refusal
    return read


def test_the_launchers_understand_the_first_estimate(reports, understood):
    for one, read in zip(reports, understood, strict=True):
        first, *others = [machine.estimate for machine in one.machines()]
        assert read["nodes"] == first.nodes, one.query
        assert read["envs"]["RECIPE"] == first.recipe
        if one.launcher == "skypilot":
            resources = read["resources"]
            assert len(resources) == 1 + len(others)
            assert [each["use_spot"] for each in resources] == [
                each.purchase_option == "spot" for each in [first, *others]
            ]
            assert resources[0]["cloud"] == first.provider
            assert not one.start(first.rented) or resources[0]["disk"] == 400
        else:
            assert read["backends"] == [first.provider]
            types = (
                None if " " in first.instance_type else [first.instance_type.partition("+")[0]]
            )  # RunPod's are chips
            assert read["instance_types"] == types
            assert read["accelerators"] == first.accelerators / first.nodes
            assert read["spot"].replace("-", "_") == first.purchase_option
            assert not one.start(first.rented) or read["disk"] == 400
            assert read["max_price"] >= float(first.hourly_rate) / first.nodes


def test_machines_with_attached_accelerators_and_slices_keep_their_count(reports, understood):
    tpu, attached = understood[2]["resources"][0], understood[3]["resources"][0]
    assert list(tpu["accelerators"]) == [f"tpu-{reports[2].machines()[0].estimate.instance_type}"]
    first = reports[3].machines()[0].estimate
    assert attached["accelerators"] == {"V100": first.accelerators}
    assert attached["instance_type"] == first.instance_type.partition("+")[0]


def test_checkpoints_are_written_through_to_where_they_are_kept(reports):
    sky, dstack = (yaml.safe_load(launch_file(one)) for one in reports[-2:])
    assert sky["file_mounts"] == {"/checkpoints": {"source": "s3://my-runs", "mode": "MOUNT"}}
    assert dstack["volumes"] == ["my-volume:/checkpoints"]
    assert sky["envs"]["CHECKPOINTS"] == "/checkpoints"
    assert "CHECKPOINTS=/checkpoints" in dstack["env"]


@pytest.mark.parametrize(
    ("recipe", "told"),
    [
        ("torchvision-resnet50-90ep", "with checkpoints=, a bucket or volume, it goes on"),
        ("ffcv-*", "can't go on from"),
    ],
)
def test_a_spot_file_says_what_becomes_of_it_when_the_machine_is_taken_back(report, recipe, told):
    assert told in launch_file(report(to="skypilot", provider="aws", purchase="spot", recipe=recipe)).decode()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"to": "dstack", "data": "s3://bucket/imagenet"}, "data: dstack mounts its volumes, no buckets"),
        ({"to": "skypilot", "data": "my-bucket"}, "data: write a bucket, such as s3://my-bucket, or a path"),
        ({"to": "skypilot", "checkpoints": "my-runs"}, "checkpoints: write a bucket, such as s3://my-runs, or a path"),
    ],
)
def test_a_place_that_the_launcher_does_not_mount_is_refused(report, asked, told):
    with pytest.raises(Refused, match=told):
        report(**asked)


def test_a_command_arrives_as_it_was_written(understood):
    assert understood[10]["run"] == ['python train.py --name "a: b"\nls']


def test_the_file_names_the_public_code_and_the_line_for_its_machine(report):
    one = report(to="skypilot", recipe="mosaicml-mild-*")
    text, count = launch_file(one).decode(), one.machines()[0].estimate.accelerators
    assert "# Code: https://github.com/mosaicml/" in text
    assert f"# It is run with: cd blogs/resnet && composer -n {count} train.py" in text


def test_where_no_code_is_known_to_start_the_file_says_so_and_spends_nothing(report):
    text = launch_file(report(to="skypilot", recipe="flax-*", training="record")).decode()
    assert "# How to start this code on such a machine is not known" in text
    assert "exit 1" in yaml.safe_load(text)["run"]


def test_the_first_machine_is_one_on_which_the_code_starts(report):
    """The fastest, on four machines, has no image."""
    one = report(to="skypilot", pick="fastest")
    assert one.passed_over().nodes == 4
    assert "# Passed over: 4 x aws " in launch_file(one).decode()
    assert all(one.start(machine.estimate.rented) for machine in one.machines())
    assert len({machine.estimate.accelerators for machine in one.machines()}) == 1


def test_what_may_stand_in_for_the_first_takes_not_much_more_and_says_what(report):
    for one in (
        report(to="skypilot"),
        report(to="skypilot", model="vit_b16", target="0.8"),
        report(to="skypilot", max_cost="9"),
    ):
        first, *others = [machine.estimate for machine in one.machines()]
        text = launch_file(one).decode()
        for each in others:
            assert each.hours <= 1.5 * first.hours
            assert float(each.billed_cost) <= 1.5 * float(first.billed_cost)
            assert each.hours_high <= max(one.limits.hours, first.hours_high)
            assert f"# If none is free: {each.hours:.2f} h" in text


def test_arm_hosts_get_an_image_for_arm(report):
    asked = {"model": "vit_b16", "target": "0.8", "accelerator": "GH200", "recipe": "torchvision-*"}
    one = report(to="skypilot", **asked)
    settings = yaml.safe_load(launch_file(one))
    resources = settings["resources"].get("ordered", [settings["resources"]])
    assert {each["image_id"] for each in resources} == {"docker:nvcr.io/nvidia/pytorch:25.06-py3"}
    assert "--amp" in settings["run"]
    assert report(to="dstack", **asked).trains_nothing


def test_a_budget_bounds_the_rate_and_the_time(report):
    one = report(to="skypilot", provider="aws", max_cost="16")
    settings = yaml.safe_load(launch_file(one))
    resources = settings["resources"]
    highest = resources.get("ordered", [resources])[0]["max_hourly_cost"]
    assert highest * int(settings["envs"]["LIMIT_SECONDS"]) / 3600 <= 16
    assert highest >= float(one.machines()[0].estimate.hourly_rate)


def test_without_a_budget_a_machine_may_cost_what_the_range_allows(report):
    one = report(to="skypilot", provider="aws")
    first = one.machines()[0].estimate
    resources = yaml.safe_load(launch_file(one))["resources"]
    highest = resources.get("ordered", [resources])[0]["max_hourly_cost"]
    assert highest * first.hours == pytest.approx(float(first.billed_cost_high), rel=0.01)


def test_the_comments_hold_the_figures_of_the_estimate(report):
    one = report(to="skypilot", provider="aws")
    first = one.machines()[0].estimate
    comments = "".join(line for line in launch_file(one).decode().splitlines(True) if line.startswith("#"))
    for figure in (f"{first.hours:.2f} h", f"{first.billed_cost} USD", first.recipe, first.instance_type):
        assert figure in comments


def test_the_question_in_the_comments_gives_the_same_estimate(report, client):
    one = report(to="dstack", provider="aws,lambda", run="true")
    (line,) = [line for line in launch_file(one).decode().splitlines() if line.startswith("# The question: ")]
    first = client.get(line.removeprefix("# The question: ")).get_json()["estimates"][0]
    assert first["instance_type"] == one.machines()[0].estimate.instance_type
    assert f"{first['billed_cost']:.2f} USD" in launch_file(one).decode()


@pytest.mark.parametrize(
    ("question", "parameter", "told"),
    [
        ({"to": "skypilot", "provider": "cirrascale"}, "provider", "files for SkyPilot are written for aws, azure"),
        ({"to": "dstack", "purchase": "reserved"}, "purchase", "on_demand or spot"),
        ({"to": "dstack", "purchase": "capacity blocks"}, "purchase", "on_demand or spot"),
        ({"to": "skypilot", "max_cost": "0.001"}, "to", "no estimate remains: "),
        ({"to": "kubernetes"}, "to", "skypilot or dstack"),
        ({}, "to", "missing: add to=skypilot"),
    ],
)
def test_what_cannot_be_launched_is_refused_in_words(report, question, parameter, told):
    with pytest.raises(Refused) as refused:
        launch_file(report(**question))
    assert told in refused.value.errors[parameter][0]


def test_over_http(client):
    answer = client.get("/launch?model=resnet50&target=0.757&to=dstack")
    assert answer.status_code == 200
    assert answer.content_type == "application/yaml"
    assert "resnet50-0757.dstack.yaml" in answer.headers["Content-Disposition"]
    again = client.get(
        "/launch?model=resnet50&target=0.757&to=dstack", headers={"If-None-Match": answer.headers["ETag"]}
    )
    assert again.status_code == 304
    assert yaml.safe_load(answer.text)["type"] == "task"


@pytest.mark.parametrize(
    ("asked", "vendor"), [("provider=aws&accelerator=V100", "nvidia"), ("provider=gcp&accelerator=TPU", "google")]
)
def test_dstack_is_told_who_makes_the_accelerator(client, asked, vendor):
    answer = client.get(f"/launch?model=resnet50&target=0.757&to=dstack&max_price_age=4000&run=true&{asked}")
    assert answer.status_code == 200, answer.get_data(as_text=True)
    assert yaml.safe_load(answer.get_data(as_text=True))["resources"]["gpu"]["vendor"] == vendor


@pytest.mark.parametrize(
    ("asked", "told"), [({}, ""), ({"precision": "amp"}, ""), ({"precision": "fp32"}, "fp32 (amp)")]
)
def test_a_script_that_runs_as_published_does_not_pass_for_what_was_asked(report, asked, told):
    one = report(to="skypilot", recipe="mosaicml-mild-*", **asked)
    assert ("# Its script runs as published: set fp32 (amp) in it yourself" in launch_file(one).decode()) == bool(told)
    step = one.service.answer(one.query, one.catalogue)
    assert left_to_set(step.lead, one.query) == told
