"""What one person shares takes no name from anybody, and says on every surface whose it is."""

import re

import pytest
from fakes.kept_runs import KeptRuns
from msgspec.structs import replace
from support.own_runs import LOG
from support.own_training_runs import own_run
from support.sampled import sampled
from support.services import packaged_service

from api.settings import Settings
from api.slack.reply import Replier
from api.web.app import create_app
from own_runs.adding import name_of
from pricing.store.changes import By

NAMES = (
    "gpt3-175b", "bert-large", "BERT", "llama2-70b-lora", "stable-diffusion-v2", "flux1", "ssd", "minigo", "nanogpt",
    "resnet50", "ResNet-50", "rn50", "vit_b16", "resnet", "mlperf",
    "ffcv-rn50-88ep", "riseml-2018-tpuv2", "mlperf-v2.0-dgxa100-ngc22.04-mxnet",
    "H100", "A100", "RTX-4090", "TPU-v3", "cpu", "aws", "google", "lambda", "own",
    "p3.16xlarge", "a2-highgpu-8g", "us-east-1", "frankfurt", "europe", "any",
)  # fmt: skip
FACTS = "accelerator=4xA100-80GB&batch_size=256&samples_per_epoch=4500000&dataset=wmt14&metric=bleu"
TOKENS = Settings(api_tokens=("anna:hers", "ben:his", "nameless"))
ANNA, BEN = ({"Authorization": f"Bearer {token}"} for token in ("hers", "his"))
ASKED = "/cost?model=her-run&target=0.8&accelerator=A100-80GB"
BY = By("anna", packaged_service().clock())


def client_of(*rows, settings=None):
    kept = KeptRuns()
    for row in rows:
        kept.add(row, BY)
    service = packaged_service().changed(runs=kept, keeper=kept)
    return create_app(service, settings or Settings()).test_client()


def shared(name, by="anna", owner=None):
    return replace(own_run(name=name).stored(owner), shared_by=by)


@pytest.fixture(scope="module")
def plain():
    return client_of()


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_means_something_is_refused_with_what_to_type(plain, name):
    by_accident = [f"file={name}.csv"] if name_of(f"{name}.csv") == name else []
    for given in (f"name={name}", f"name={name}&shared=true", *by_accident):
        refused = plain.post(f"/recipes?{given}&{FACTS}", data=LOG)
        assert refused.status_code == 400
        [message] = refused.json["errors"]["name"]
        assert re.search(r" is (a|an|the) .+: choose another name, such as my-", message)
    assert plain.post(f"/recipes?name=my-{name}&{FACTS}", data=LOG).status_code == 201
    assert plain.delete(f"/recipes/my-{name}").status_code == 204


@pytest.mark.parametrize("name", sampled(NAMES, one_in=3))
def test_a_run_that_has_such_a_name_already_answers_no_question_about_it(plain, name):
    beside = client_of(shared(name))
    for question in (f"/cost?model={name}&limit=2", f"/ask?q=resnet50 0.757 on {name}", f"/models/{name}"):
        without, with_it = (client.get(question) for client in (plain, beside))
        assert with_it.status_code == without.status_code
        assert with_it.json == without.json or without.status_code == 404  # which suggests names
    [run] = beside.get("/recipes").json["recipes"]
    assert run["name"] == f"run-{name}"
    assert beside.get(run["ask"] + "&limit=1").json["estimates"][0]["recipe"] == run["name"]
    assert beside.delete(f"/recipes/{run['id']}").status_code == 204


def test_every_surface_says_who_shared_a_run():
    rows = shared("her-run", owner="f" * 64)
    client = client_of(rows, settings=TOKENS)
    slack = Replier(packaged_service().changed(runs=client.application.extensions["costcalc"].runs))
    seen = [
        " ".join(client.get(ASKED, headers=BEN).json["verdict"]),
        client.get(ASKED.replace("/cost", "/cost.csv"), headers=BEN).text,
        client.get(ASKED.replace("/cost", "/"), headers={**BEN, "Accept": "text/html"}).text,
        client.get("/recipes", headers={**BEN, "Accept": "text/html"}).text,
        str(slack.reply("her-run 0.8 on A100-80GB", "").answer),
    ]
    for text in seen:
        assert "shared by anna" in text
        assert not re.search(r"your own run(?!s)", text)
    [estimate, *_] = client.get(ASKED, headers=BEN).json["estimates"]
    assert estimate["sources"]["convergence"] == {"source": "log log.csv, shared by anna"}
    assert estimate["evidence_notes"]["convergence"].startswith("A run shared by anna: ")
    assert not re.search(r"\b[Yy]ours?\b", str(estimate))


def test_what_somebody_shares_is_theirs_alone_to_remove_and_their_own_to_them():
    client = client_of(settings=TOKENS)
    added = client.post(f"/recipes?name=her-run&shared=true&{FACTS}", data=LOG, headers=ANNA).json
    assert (added["visible_to"], added["shared_by"]) == ("everybody", None)
    [his_view] = client.get("/recipes", headers=BEN).json["recipes"]
    assert (his_view["name"], his_view["shared_by"]) == ("her-run", "anna")
    assert "your own run" in str(client.get(added["ask"], headers=ANNA).json["verdict"])
    assert client.delete(f"/recipes/{added['id']}", headers=BEN).status_code == 404
    assert client.delete(f"/recipes/{added['id']}", headers=ANNA).status_code == 204


def test_two_who_share_one_name_are_told_apart():
    client = client_of(settings=TOKENS)
    for who, dataset in ((ANNA, "hers"), (BEN, "his")):
        client.post(f"/recipes?name=a-run&shared=true&{FACTS.replace('wmt14', dataset)}", data=LOG, headers=who)
    nameless = {"Authorization": "Bearer nameless"}
    runs = {run["shared_by"]: run for run in client.get("/recipes", headers=nameless).json["recipes"]}
    assert len({run["name"] for run in runs.values()}) == 2
    for name, dataset in (("anna", "hers"), ("ben", "his")):
        answer = client.get(runs[name]["ask"], headers=nameless).json
        assert f"shared by {name}" in " ".join(answer["verdict"])
        assert answer["query"]["dataset"] == dataset
    refused = client.get("/cost?model=a-run&target=20", headers=nameless)
    assert refused.status_code == 404
    assert all(f"{run['name']} ({name}'s)" in refused.json["detail"] for name, run in runs.items())
    assert client.get("/cost?model=a-run&target=20", headers=ANNA).json["query"]["dataset"] == "hers"


def test_without_tokens_nobody_is_told_that_anothers_run_is_their_own(plain):
    added = plain.post(f"/recipes?name=their-run&{FACTS}", data=LOG).json
    assert added["shared_by"] == "somebody without a token"
    assert "a run shared by somebody without a token" in str(plain.get(added["ask"]).json["verdict"])
    plain.delete("/recipes/their-run")


@pytest.mark.parametrize(("how", "hers", "his"), [("", False, True), ("&shared=true", False, False)])
def test_an_upload_empties_the_memory_of_those_who_see_it_alone(how, hers, his):
    client = client_of(settings=TOKENS)

    reached = []
    client.application.before_request(lambda: reached.append(1))

    def replayed(who):
        reached.clear()
        client.get("/cost?model=resnet50&target=0.757&limit=1", headers=who)
        return not reached

    for who in (ANNA, BEN):
        assert not replayed(who)
        assert replayed(who)
    client.post(f"/recipes?name=her-run&{FACTS}{how}", data=LOG, headers=ANNA)
    assert (replayed(ANNA), replayed(BEN)) == (hers, his)


def test_nobody_is_answered_from_the_memory_of_one_who_sees_a_run_otherwise():
    client = client_of(settings=TOKENS)
    ask = client.post(f"/recipes?name=her-run&shared=true&{FACTS}", data=LOG, headers=ANNA).json["ask"]
    said = [str(client.get(ask, headers=who).json["verdict"]) for who in (ANNA, BEN, ANNA)]
    assert ["your own run" in each for each in said] == [True, False, True]
