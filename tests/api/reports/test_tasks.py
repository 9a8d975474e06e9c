"""Tasks besides ImageNet on every surface: asked about without a target, replayed on their own systems, and in sentences."""

import csv
import io
import re

import pytest

from costcalc.tasks.goals import NAMES
from costcalc.tasks.tables import MLPERF, benchmark_of, results, tasks

AS_OF = "as_of=2026-11-20"


def answered(client, query):
    reply = client.get(f"/cost?{AS_OF}&{query}")
    assert reply.status_code == 200, reply.json
    return reply.json


@pytest.mark.parametrize("name", ["bert-large", "llama2-70b-lora", "unet3d", "rgat", "minigo"])
def test_a_task_is_answered_like_a_network_on_imagenet(client, name):
    found, task = answered(client, f"model={name}&limit=3"), tasks()[name]
    assert found["query"]["target"] == task.quality
    assert {pick["name"] for pick in found["picks"]} >= {"cheapest", "fastest", "balanced"}
    assert 2 <= len(found["verdict"]) <= 5
    for each in found["estimates"]:
        assert each["hours_low"] < each["hours"] < each["hours_high"]
        assert (each["metric"], each["dataset"], each["task"]) == (task.metric, task.dataset, task.title)
        assert each["better"] == task.better
        assert (
            each["sources"]["throughput"]["source"].removeprefix("carried over from ").startswith("github mlcommons/")
        )


def test_code_that_was_never_seen_on_a_makers_chips_has_no_speed_there_whatever_the_batch(client):
    """Nobody entered RetinaNet on AMD's: that was said to be too many accelerators for one batch."""
    rejections = answered(client, "model=retinanet&accelerator=MI300X")["rejections"]
    assert "batch_too_small" not in rejections
    assert rejections["no_throughput"] > 0


def test_official_minutes_are_replayed_on_their_own_systems_to_the_last_digit(client):
    replayed = 0
    for name in ("bert-large", "llama2-70b-lora", "mask-rcnn"):
        for one in [one for one in results()[name] if one.nodes == 1 and one.accelerators in (4, 8)][:40:10]:
            asked = f"model={name}&recipe={one.name}&target={one.target}&own={one.accelerators}x{one.accelerator}"
            found = answered(client, f"{asked}&provider=own&overheads=none&own_price=0&training=record&confidence=0.1")
            for each in found["estimates"]:
                assert each["train_hours"] * 60 == pytest.approx(one.minutes, rel=1e-12)
                assert each["evidence"]["throughput"] == "measured"
                replayed += 1
    assert replayed >= 8


def test_another_target_than_the_tasks_own_is_an_answer_with_a_hint(client):
    found = answered(client, "model=llama2-70b-lora&target=0.9")
    assert found["count"] == 0
    assert "target_never_reached" in found["rejections"]
    assert found["best_reached"]["accuracy"] == 0.925
    assert "the published runs stop at loss 0.925" in " ".join(found["verdict"]).lower()
    assert found["hints"][0]["change"] == "target=0.925"


def test_what_is_not_the_tasks_own_is_refused_with_what_to_type(client):
    assert "leave metric out" in client.get("/cost?model=bert&metric=top1").json["errors"]["metric"][0]
    assert "leave dataset out" in client.get("/cost?model=bert&dataset=imagenet").json["errors"]["dataset"][0]
    speed = client.get("/cost?model=bert&images_per_second=9@1xA100-80GB").json["errors"]["images_per_second"][0]
    assert "leave it out" in speed


def test_a_past_day_knows_the_target_and_the_results_of_its_time(client):
    found = client.get("/cost?model=bert&as_of=2020-12-01&limit=5").json
    assert found["query"]["target"] == 0.712
    assert all(each["recipe"].startswith("mlperf-0.7-") for each in found["estimates"])


@pytest.mark.parametrize(
    ("sentence", "model", "more"),
    [
        ("bert on 8 h100", "bert-large", {"accelerator": "H100", "accelerators": "8"}),
        ("Llama 2 70B LoRA on 8 H100, cheapest cloud", "llama2-70b-lora", {"accelerator": "H100"}),
        ("stable diffusion on tpus", "stable-diffusion-v2", {"accelerator": "TPU"}),
        ("how much is mask r-cnn on aws", "mask-rcnn", {"provider": "aws"}),
        ("what does bert cost to train today compared with 2020", "bert-large", {"as_of": None, "target": None}),
        ("fine-tune llama 70b with lora on 8 h200", "llama2-70b-lora", {"accelerator": "H200"}),
    ],
)
def test_sentences_name_tasks(client, sentence, model, more):
    found = client.get("/ask", query_string={"q": sentence}).json
    assert found["understood"]["model"] == model
    assert {name: found["understood"].get(name) for name in more} == more
    assert found["answer"]["verdict"]


def test_the_list_of_tasks_is_a_page_a_sheet_and_json(client):
    listed = client.get("/tasks").json["tasks"]
    assert {each["model"] for each in listed[1:]} == set(tasks())
    rows = list(csv.DictReader(io.StringIO(client.get("/tasks.csv").text)))
    assert [row["model"] for row in rows] == [each["model"] for each in listed]
    page = client.get("/tasks", headers={"Accept": "text/html"}).text
    assert "Llama 2 70B" in page
    assert [listed[0]["cost"], listed[0]["hours"]] == [None, None]
    for task in ("llama2-70b-lora", "gpt3-175b"):
        least = client.get(f"/cost?model={task}").json["picks"][0]["estimate"]
        [row] = (each for each in listed if each["model"] == task)
        assert (row["cost"], row["hours"]) == (least["billed_cost"], least["calendar_hours"])
        assert re.search(rf'href="/\?model={task}">\${row["cost"]:,.2f}<', page)


def test_each_round_of_mlperf_is_in_dollars_of_its_day_and_of_today(client):
    found = client.get("/mlperf?model=llama2-70b-lora").json
    assert [row["round"] for row in found["rounds"]] == ["4.0", "4.1", "5.0", "5.1"]
    for row in found["rounds"]:
        then = client.get(f"/cost?model=llama2-70b-lora&purchase=on_demand&as_of={row['published'][:10]}").json
        picked = {pick["name"]: pick["estimate"] for pick in then["picks"]}
        assert row["cost"] == picked["cheapest"]["billed_cost"]
        assert row["least_minutes"] == pytest.approx(picked["fastest"]["hours"] * 60)
        assert row["record_minutes"] < row["least_minutes"]
    assert found["now"]["billed_cost"] > 0
    assert client.get("/mlperf.csv?model=llama2-70b-lora").text.count("\n") == 5
    assert "MLPerf in dollars" in client.get("/mlperf.svg?model=llama2-70b-lora").text
    assert "costcalc tasks lists those" in client.get("/mlperf?model=resnet50&target=0.757").json["errors"]["model"][0]


def test_a_speedrun_is_answered_in_a_sentence_with_the_compilation_that_its_clock_leaves_out(client):
    found = client.get("/ask", query_string={"q": "how much does a nanogpt speedrun cost on 8 H100"}).json
    assert found["understood"]["model"] == "nanogpt"
    assert any("modded-nanogpt" in line for line in found["answer"]["verdict"])
    first = found["answer"]["picks"][0]["estimate"]
    assert any("leaves out compilation: about 7 minutes" in said for said in first["assumptions"])
    assert first["hours"] == pytest.approx(first["train_hours"] + (5 + 7) / 60, abs=0.01)
    assert "not a task of MLPerf" in client.get("/mlperf?model=nanogpt").json["errors"]["model"][0]


def test_a_speedrun_is_picked_on_the_dies_alone_that_its_kernels_are_built_for(client):
    picks = client.get("/cost?model=nanogpt").json["picks"]
    assert {pick["estimate"]["accelerator"] for pick in picks} <= {"H100", "H100-NVL", "H100-PCIe", "H200", "GH200"}
    told = client.get("/cost?model=nanogpt&accelerator=A100-80GB&purchase=on_demand").json["verdict"]
    assert "No public code is known to run on any of these machines" in " ".join(told)


def test_metrics_are_said_in_words_with_their_direction_and_asked_about_once(client):
    for name, task in tasks().items():
        assert task.metric in NAMES, f"costcalc/tasks/goals.py names the metric of {name}"
    found = answered(client, "model=nanogpt&accelerator=H100&max_hours=0.01")
    assert found["verdict"][0].startswith("No target named: modded-nanogpt's, validation loss 3.28 or lower. ")
    assert found["hints"][0]["query_string"] == "?model=nanogpt&target=3.28&accelerator=H100&as_of=2026-11-20"


def test_all_rounds_of_all_tasks_stand_in_one_table_and_one_picture(client):
    answer = client.get("/mlperf/all").json
    rows = answer["rounds"]
    of_mlperf = [name for name, task in tasks().items() if benchmark_of(task) == MLPERF]
    wanted = {(name, one.round) for name in of_mlperf for one in results()[name]}
    assert {(row["task"], row["round"]) for row in rows} == wanted, "run python -m tools.mlperf_in_dollars"
    assert len(rows) == len(wanted) == client.get("/mlperf/all.csv").text.count("\n") - 1
    drawn = client.get("/mlperf/all.svg").text
    assert all(f">{name}<" in drawn for name in of_mlperf)
    costs = [[row["cost"] for row in rows if row["task"] == name and row["cost"]] for name in of_mlperf]
    fell = [some[-1] < some[0] for some in costs if len(some) > 1]
    assert f"It fell for {sum(fell)} of {len(fell)} tasks".lower() in answer["verdict"][0].lower()


def test_pages_of_tasks_and_rounds_lead_to_each_other(client):
    def leads(path):
        return client.get(path, headers={"Accept": "text/html"}).text

    assert all(f'href="{path}"' in leads("/models") for path in ("/tasks", "/mlperf/all"))
    assert 'href="/mlperf?model=bert-large"' in leads("/tasks")
    assert 'href="/mlperf?model=ncf"' in leads("/mlperf/all")
    rounds = leads("/mlperf?model=ncf")
    assert all(
        f'href="{path}' in rounds for path in ("/tasks", "/mlperf/all", "/?model=ncf&amp;target=0.635&amp;as_of=2018")
    )
    assert 'href="/mlperf?model=ncf"' in leads("/?model=ncf")
