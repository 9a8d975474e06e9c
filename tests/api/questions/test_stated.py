"""`took=` and `on=`: what a training costs, and how long it takes elsewhere, of which only the hours are known."""

import pytest
from support.services import packaged_service

from api.web.app import create_app
from costcalc.evidence.published_runs import published_runs

ASKED = "/cost?took=72h&on=8xA100-80GB"


@pytest.fixture(scope="module")
def client():
    return create_app(packaged_service()).test_client()


def test_every_machine_is_answered_with_hours_dollars_and_a_range(client):
    answer = client.get(f"{ASKED}&accelerator=H100&accelerators=8&purchase=on_demand").json
    first = answer["estimates"][0]
    assert answer["count"] > 3
    assert first["recipe_kind"] == "stated"
    assert first["hours"] == pytest.approx(72 / 2.28, rel=0.01)
    assert first["hours_low"] < first["hours"] < first["hours_high"]
    assert first["billed_cost_low"] < first["billed_cost"] < first["billed_cost_high"]
    assert first["success_probability"] is None
    assert "you stated" in first["evidence_notes"]["throughput"] + " ".join(first["assumptions"])


def test_the_bill_of_the_hours_themselves_is_said_now_and_then(client):
    now = client.get(f"{ASKED}&accelerator=A100-80GB&accelerators=8&purchase=on_demand").json["picks"][0]["estimate"]
    assert now["hours"] == 72
    assert now["billed_cost"] == pytest.approx(72 * now["hourly_rate"], abs=0.01)
    lines = " ".join(client.get(f"{ASKED}&took_on=2024-06-30").json["verdict"])
    assert "3.0 days on 8 A100-80GB cost $" in lines
    assert " on 2024-06-30 at " in lines
    assert f"${now['billed_cost']:,.2f} now at " in lines


def test_what_nobody_stated_is_null(client):
    answer = client.get(f"{ASKED}&accelerator=H100").json
    [estimate, *_] = answer["estimates"]
    unknown = ("recipe", "model", "target", "metric", "success_probability", "images_per_second", "tokens_per_second")
    assert {estimate[name] for name in unknown} == {None}
    sheet = client.get(f"{ASKED.replace('/cost', '/cost.csv')}&accelerator=H100&columns=model,recipe,target,hours").text
    assert sheet.splitlines()[1].startswith(",,,")


def gib(estimate):
    return estimate["accelerator_memory_gib"] * estimate["accelerators"]


@pytest.mark.parametrize("beside", ["", "&accelerator=H100,H200", "&sort=time"])
def test_picks_have_the_memory_of_the_machine_on_which_it_ran(client, beside):
    picks = [pick["estimate"] for pick in client.get(f"{ASKED}&purchase=on_demand{beside}").json["picks"]]
    assert picks
    assert min(pick["accelerator_memory_gib"] for pick in picks) >= 80
    assert min(map(gib, picks)) >= 8 * 80


def test_a_smaller_card_is_answered_where_nothing_else_is_asked_about(client):
    answer = client.get(f"{ASKED}&accelerator=RTX 4090").json
    assert answer["picks"][0]["estimate"]["accelerator"] == "RTX 4090"
    assert "Whether it fits fewer or smaller cards is not known." in answer["verdict"][0]


def test_a_published_run_is_answered_with_its_source_and_its_bill_of_then_and_now(client):
    for name, run in [*published_runs().items()][::12]:
        answer = client.get(f"/cost?model={name}&limit=1").json
        first = answer["verdict"][0]
        assert first.startswith(f"{run.title} by {run.organisation}, published on {run.published} ({run.source}"), name
        assert f"{run.accelerators} {run.accelerator}" in first, name
        assert ("is not stated" in first) is (run.unstated is not None), name
        assert answer["query"]["model"] == name
        assert answer["picks"], name


def test_a_published_run_costs_what_its_hours_cost(client):
    published = client.get("/cost?model=Paper:ALPACA").json
    stated = client.get("/cost?took=3h&on=8xA100-80GB&took_on=2023-03-13&kind=language").json
    for of_paper, of_hours in zip(published["estimates"], stated["estimates"], strict=True):
        assert of_paper["billed_cost"] == of_hours["billed_cost"]
        assert of_paper["instance_type"] == of_hours["instance_type"]
    link = client.get("/cost?model=paper:alpaca&accelerator=A100-80GB&fields=verdict").json
    assert link["query"] == {"model": "paper:alpaca", "accelerator": "A100-80GB"}
    assert "3.0 h on 8 A100-80GB cost $122.90 on 2023-03-13 at AWS" in published["verdict"][0]


@pytest.mark.parametrize(
    "asked",
    [
        "took=72h&on=8xA100-80GB",
        "model=llama-3.1-8b&method=lora&tokens=50M",
        "model=bert-large",
    ],
)
def test_what_cannot_be_measured_on_an_own_machine_is_no_step(client, asked):
    answer = client.get(f"/cost?{asked}&own=2xRTX4090&own_price=0").json
    assert answer["owned"]
    assert "costcalc measure" not in answer["verdict"][-1]
    assert answer["verdict"][-1].startswith("Next: costcalc watch follows its log")


def test_own_machines_are_answered_too(client):
    [mine] = client.get(f"{ASKED}&own=1x RTX 4090").json["owned"]
    assert mine["estimate"]["hours"] > 500


@pytest.mark.parametrize(
    ("asked", "name", "says"),
    [
        ("took=72h", "on", "missing: add on=8xA100-80GB"),
        ("on=8xA100-80GB", "took", "missing: how long did it take on that machine? Add took=72h"),
        ("took=72h&on=8xA100-80GB&model=resnet50", "model", "leave it out"),
        ("took=72h&on=8xA100-80GB&target=0.7&epochs=3", "epochs", "leave it out"),
        ("took=72h&on=8xA100-80GB&training=record", "training", "leave it out"),
        ("took=72h&on=8xA100-80GB,4xV100", "on", "write one machine"),
        ("took=72h&on=8xA100", "on", "A100-40GB"),
        ("took=long&on=8xA100-80GB", "took", "72"),
        ("model=paper:alpaca&took=4h", "took", "paper:alpaca states it: leave it out"),
        ("model=paper:alpaca&target=0.7", "target", "leave it out"),
        ("model=resnet50&target=0.757&kind=language", "kind", "is for took= with on="),
    ],
)
def test_what_is_missing_or_contradicts_is_named(client, asked, name, says):
    refused = client.get(f"/cost?{asked}")
    assert refused.status_code == 400
    assert says in refused.json["errors"][name][0]


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/cost?model=paper:alpacca", 404, "did you mean paper:alpaca"),
        ("/cost?model=paper:0000000000000000000000000000", 404, "published runs are known, such as paper:alpaca"),
        ("/accuracy?model=paper:alpaca&budget=50", 400, "is a published run: ask /cost"),
        ("/accuracy?took=3h&on=8xA100-80GB&budget=50", 400, "ask /cost what the hours cost"),
    ],
)
def test_what_no_published_run_answers_is_refused_in_words(client, path, status, says):
    refused = client.get(path)
    assert refused.status_code == status
    assert says in refused.text


def test_the_page_a_sheet_and_links_ask_the_same(client):
    page = client.get(ASKED.replace("/cost", "/"), headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert "on 8 A100-80GB cost $" in page.get_data(as_text=True)
    assert client.get(ASKED.replace("/cost", "/cost.csv")).status_code == 200
    link = client.get(f"{ASKED}&accelerator=H100").json["next"]["link"]
    assert not link or link.startswith("http") or ("took=72" in link and "model=" not in link)


@pytest.mark.parametrize(
    ("sentence", "understood"),
    [
        ("3 days on 8 A100-80GB", {"took": "72", "on": "8x A100-80GB"}),
        ("the paper says 3 days on 8 A100-80GB, what would it cost me?", {"took": "72", "on": "8x A100-80GB"}),
        ("3 days on 8 A100, on a 4090?", {"took": "72", "on": "8x A100-80GB", "accelerator": "RTX 4090"}),
        ("what did paper:alpaca cost", {"model": "paper:alpaca"}),
        ("paper:llama-65b on 512 H100", {"model": "paper:llama-65b", "accelerator": "H100", "accelerators": "512"}),
        (
            "it took 22 hours on a T4: how long on an RTX 4090?",
            {"took": "22", "on": "1x T4", "accelerator": "RTX 4090"},
        ),
        ("trained for 5 days on 64 H100, cost on aws today?", {"took": "120", "on": "64x H100", "provider": "aws"}),
        ("es dauerte 3 Tage mit 8 V100, was kostet das?", {"took": "72", "on": "8x V100"}),
    ],
)
def test_a_sentence_states_hours_too(client, sentence, understood):
    reply = client.get("/ask", query_string={"q": sentence}).json
    assert reply["understood"] == understood
    assert reply["answer"]["estimates"]
    assert reply["answer"]["query"]["took"] == float(understood.get("took", reply["answer"]["query"]["took"]))


def test_which_a100_is_meant_is_said(client):
    assert client.get("/ask?q=3 days on 8 A100, on a 4090?").json["corrected"] == {"A100": "A100-80GB"}
