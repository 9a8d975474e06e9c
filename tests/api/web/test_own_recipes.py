"""Logs become recipes over HTTP: sent, listed, asked about, removed, and seen by those alone who may see them."""

import io
import logging
import re
import sqlite3
import sys
from contextlib import closing

import pytest
from fakes.kept_runs import KeptRuns
from support.services import packaged_service

from api.bootstrap import build
from api.settings import Settings
from api.web.app import create_app
from own_runs import reading_apart
from own_runs.reading_apart import Bounds
from pricing.store.store import Store

LOG = "epoch,minutes,val_loss,bleu\n" + "".join(
    f"{epoch},{12 * epoch},{1 + 4 * 0.8**epoch},{30 * (1 - 0.7**epoch)}\n" for epoch in range(1, 11)
)
FACTS = "accelerator=4xA100-80GB&batch_size=256&samples_per_epoch=4500000&dataset=wmt14"
RUN = f"/recipes?name=my-run&metric=bleu&{FACTS}"
COST = "/cost?model=my-run&target=28&accelerator=A100-80GB&limit=1"


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


HER, HIS = bearer("hers"), bearer("his")


@pytest.fixture
def client():
    return client_of()


def client_of(**settings):
    kept = KeptRuns()
    service = packaged_service().changed(runs=kept, keeper=kept)
    return create_app(service, Settings(**settings)).test_client()


def test_a_log_is_added_listed_asked_about_and_removed(client):
    added = client.post(RUN, data=LOG)
    assert (added.status_code, added.json["id"]) == (201, "my-run")
    assert (added.json["reached"], added.json["hours"]) == (pytest.approx(30 * (1 - 0.7**10)), 2)
    assert client.get("/recipes").json == {"recipes": [added.json], "speeds": []}
    [asked] = client.get(added.json["ask"] + "&accelerator=A100-80GB&accelerators=4&limit=1").json["estimates"]
    assert (asked["recipe"], asked["epochs"], asked["evidence"]["throughput"]) == ("my-run", 10, "measured")
    assert client.delete("/recipes/my-run").status_code == 204
    assert 'unknown model "my-run"' in client.get(COST).json["detail"]
    assert client.get("/recipes").json["recipes"] == []


def test_a_body_is_the_log_whatever_curl_calls_it(client):
    assert client.post(RUN, data=LOG, content_type="application/x-www-form-urlencoded").status_code == 201


@pytest.mark.parametrize(
    "log",
    [
        "epoch,seconds,bleu\n1,1e999,5\n",
        "epoch,seconds,bleu\n1,1e-320,5\n",
        f"epoch,seconds,bleu\n{'9' * 5000},1,5\n",
        "epoch,timestamp,bleu\n1,2026-02-31T00:00:00,5\n2,2026-02-,6\n",
        "step 1/2 | loss 1.0 1.0 ms 1 tok/s\nstep 1/2 | loss " + "1" * 230,
        'json_stats: {"_type": "test_epoch", "epoch": [], "bleu": 1}\n',
        ':::MLLOG {"time_ms": 1, "key": "run_start"}\n:::MLLOG {"time_ms": 9, "key": "global_batch_size", "value": 1e999}\n',
        "2026-02-31 00:00:00 step:  1  loss:  5.0  tps: 10\n",
        '{"log_history": [{"epoch": {}, "bleu": 1e999}, {"epoch": 1e400, "bleu": 3}]}',
    ],
)
def test_a_log_with_figures_that_no_training_has_is_refused_in_words(client, log):
    refused = client.post(RUN, data=log)
    assert (refused.status_code, refused.json["title"]) == (400, "Bad Request"), refused.json
    assert client.get("/recipes").json["recipes"] == []


def test_what_is_missing_is_named_and_nothing_is_kept(client):
    refused = client.post("/recipes?name=my-run", data=LOG)
    assert refused.status_code == 400
    assert set(refused.json["errors"]) == {"accelerator", "dataset", "batch_size", "samples_per_epoch"}
    assert client.get("/recipes").json["recipes"] == []


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ("&name=resnet50", "a known network: choose another name"),
        ("&name=a/b", "must have at most 48 letters"),
        ("&accelerator=4xV101", "unknown accelerator"),
        ("&accelerator=4xA100-80GB&nodes=3", "of all 3 machines together"),
        ("&instance_type=p4d.24xlarges", "unknown instance type"),
        ("&batch_size=0", "batch_size: must be a whole number of at least 1"),
        ("&metric=f1", "no column is called f1; there are val_loss, bleu"),
        ("&hours=1e9", "hours: must be a number above 0"),
        ("&colour=red", "unknown parameter"),
    ],
)
def test_a_wrong_fact_is_refused_in_words(client, changed, told):
    name = changed[1:].partition("=")[0]
    kept = "&".join(part for part in RUN.partition("?")[2].split("&") if not part.startswith(f"{name}="))
    refused = client.post(f"/recipes?{kept}{changed}", data=LOG)
    assert refused.status_code == 400
    assert told in refused.json["detail"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "missing: send the log"),
        (b"PK\x03\x04" + bytes(9), "a zip archive: unpack it"),
        (b"\x80\x04\x95abc", "a pickle, which may run any program"),
        (b"epoch,bleu\n1e9,3\n", "epochs must be from 0 to 1,000,000"),
        (b"epoch,bleu\none,3\n", "row 2, column epoch: must be a number; got one"),
        (b"epoch,bleu\n" + b"1,2\n" * 200_002, "more than 200,000 points"),
    ],
    ids=range(6),
)
def test_a_hostile_file_is_refused_in_words(client, body, told):
    refused = client.post(RUN, data=body)
    assert refused.status_code == 400
    assert told in refused.json["errors"]["file"][0]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts what a process allocates")
def test_a_log_that_takes_too_much_to_read_is_refused_in_words_and_counted(client, monkeypatch):
    monkeypatch.setattr(reading_apart, "LEAST", Bounds(0, 5, 20, 64))
    refused = client.post(RUN, data=LOG * 1000)
    assert (refused.status_code, refused.json["errors"]["file"]) == (
        422,
        ["reading this takes more than 0 MiB of memory: keep fewer lines, of a log those of evaluations"],
    )
    assert 'costcalc_http_requests_total{path="/recipes",status="422"}' in client.get("/metrics").text


def test_a_file_of_more_than_a_mebibyte_is_refused_unread(client):
    assert client.post(RUN, data=b"x" * (2**20 + 1)).status_code == 413


def test_a_form_sends_the_name_of_its_file(client):
    form = {"file": (io.BytesIO(LOG.encode()), "../my first run.csv")}
    added = client.post(f"/recipes?metric=bleu&{FACTS}", data=form, content_type="multipart/form-data")
    assert (added.json["name"], added.json["source"]) == ("my-first-run", "my-first-run.csv")


def test_a_field_without_a_readable_name_is_refused(client):
    part = b'--x\r\nContent-Disposition: form-data; name="a\\"\r\n\r\n1\r\n--x--\r\n'
    refused = client.post("/recipes?file=log.csv", data=part, content_type="multipart/form-data; boundary=x")
    assert (refused.status_code, list(refused.json["errors"])) == (400, [""])


def test_a_form_may_tell_the_facts_as_well(client):
    facts = dict(fact.split("=") for fact in FACTS.split("&"))
    form = {"file": (io.BytesIO(LOG.encode()), "log.csv"), "name": "from-form", "metric": "bleu", **facts}
    added = client.post("/recipes", data=form, content_type="multipart/form-data")
    assert (added.status_code, added.json["name"], added.json["metric"]) == (201, "from-form", "bleu")


def test_a_name_is_taken_once(client):
    client.post(RUN, data=LOG)
    for another in (RUN.replace("wmt14", "wmt16"), RUN.replace("metric=bleu", "metric=val_loss"), f"{RUN}&nodes=2"):
        again = client.post(another, data=LOG)
        assert (again.status_code, again.json["detail"]) == (
            409,
            "my-run exists already: remove it first, or choose another name",
        )


def test_the_same_log_sent_again_is_answered_as_the_first_time(client):
    """Somebody whose answer was lost on the way sends it again."""
    first, again = client.post(RUN, data=LOG), client.post(RUN, data=LOG)
    assert (again.status_code, again.json) == (201, first.json)
    assert client.get("/recipes").json["recipes"] == [first.json]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("&target=40", "my-run reached 29.1526 bleu; ask for at most that"),
        ("&target=", "missing: add target=29.1526, which my-run reached"),
        ("&target=x", "must be a number"),
        ("&target=28&metric=top1", "my-run has only bleu: leave metric out"),
        ("&target=28&dataset=imagenet", "my-run has only wmt14: leave dataset out"),
    ],
)
def test_only_what_it_reached_can_be_asked(client, asked, told):
    client.post(RUN, data=LOG)
    refused = client.get(f"/cost?model=my-run{asked}")
    assert refused.status_code == 400
    assert told in refused.json["detail"]


def test_a_loss_is_asked_for_no_lower_than_it_was(client):
    client.post(RUN.replace("bleu", "val_loss"), data=LOG)
    assert client.get("/cost?model=my-run&target=1.5&limit=1").json["count"] > 100
    refused = client.get("/cost?model=my-run&target=1.2")
    assert refused.json["errors"]["target"] == [
        "my-run reached 1.42950 val_loss; ask for at least that".replace("50", "5")
    ]


@pytest.mark.parametrize("path", ["/cost.csv", "/cost.xlsx", "/", "/estimate", "/estimate.svg", "/cost.svg"])
def test_every_form_of_an_answer_bears_a_target_that_is_no_accuracy_of_imagenet(client, path):
    client.post(RUN, data=LOG)
    found = client.get(f"{path}?model=my-run&target=28", headers={"Accept": "text/html, */*;q=0.1"})
    assert found.status_code == 200
    if path != "/cost.xlsx":
        assert "28" in found.text
        assert "bleu" in found.text.casefold()


def test_accuracy_is_that_of_the_run(client):
    client.post(RUN, data=LOG)
    found = client.get("/accuracy?model=my-run&budget=10000").get_json()
    assert (found["query"]["metric"], found["accuracy"]) == (
        found["estimates"][0]["metric"],
        found["estimates"][0]["target"],
    )
    refused = client.get("/fit?model=my-run")
    assert (refused.status_code, "/accuracy with a budget" in refused.json["detail"]) == (400, True)


def test_a_private_run_is_seen_by_its_token_alone():
    client = client_of(api_tokens=("hers", "his", "read:hers-too"))
    assert client.post(RUN, data=LOG).status_code == 401
    assert client.post(RUN, data=LOG, headers={"Authorization": "Bearer hers-too"}).status_code == 403
    added = client.post(RUN, data=LOG, headers=HER)
    assert added.json["visible_to"] == "you"
    mine, others = (client.get(COST, headers=who) for who in (HER, HIS))
    assert (mine.status_code, others.status_code) == (200, 404)
    assert others.json["errors"]["model"][0].startswith('unknown model "my-run": /models lists them')
    assert client.get("/recipes", headers=HIS).json["recipes"] == []
    assert client.delete(f"/recipes/{added.json['id']}", headers=HIS).status_code == 404
    assert client.get("/models/my-run", headers=HIS).status_code == 404


def test_tokens_of_one_name_see_the_same_runs():
    client = client_of(api_tokens=("anna:hers", "read:anna:for-her-sheet", "his"))
    client.post(RUN, data=LOG, headers=HER)
    seen = [client.get("/recipes", headers=bearer(token)).json["recipes"] for token in ("hers", "for-her-sheet", "his")]
    assert [len(runs) for runs in seen] == [1, 1, 0]


def test_who_added_and_removed_what_is_told_by_name():
    kept = KeptRuns()
    service = packaged_service().changed(runs=kept, keeper=kept)
    client = create_app(service, Settings(api_tokens=("anna:hers", "his"))).test_client()
    ids = [client.post(RUN, data=LOG, headers=who).json["id"] for who in (HER, HIS)]
    client.delete("/recipes/my-run", headers=HER)
    create_app(service, Settings()).test_client().post(RUN, data=LOG)
    [(anna, *hers), (his_token, *_), removed, (nobody, *_)] = kept.changes
    assert (anna, hers, removed) == ("anna", ["added", ids[0]], ("anna", "removed", ids[0]))
    assert re.fullmatch("token-[0-9a-f]{8}", his_token)
    assert nobody == "somebody at 127.0.0.1"


def test_a_real_store_keeps_runs_sign_ins_and_who_changed_what(tmp_path, caplog):
    """Also for a token that is given a name afterwards; nothing that stands in the store opens the door."""
    url = f"sqlite:///{tmp_path / 'prices.sqlite3'}"
    caplog.set_level(logging.INFO, "costcalc.changes")

    def started(*tokens):
        settings = Settings(database_url=url, api_tokens=tokens)
        service = build(settings)
        return service, create_app(service, settings).test_client()

    before, client = started("hers")
    id = client.post(RUN, data=LOG, headers=HER).json["id"]
    before.prices.worker.close()
    after, client = started("anna:hers", "his")
    assert [run["id"] for run in client.get("/recipes", headers=HER).json["recipes"]] == [id]
    client.post("/signin", data={"token": "hers"})
    assert client.get("/recipes").json["recipes"][0]["id"] == id
    stored = [value for name in TABLES for row in rows_of(tmp_path / "prices.sqlite3", name) for value in row]
    assert len(stored) > 5
    for value in {value.hex() if isinstance(value, bytes) else str(value) for value in stored}:
        assert client.application.test_client().get("/recipes", headers=bearer(value)).status_code == 401
        thief = client.application.test_client()
        thief.set_cookie("costcalc", value)
        assert thief.get("/recipes").status_code == 401
    assert client.delete(f"/recipes/{id}").status_code == 204
    after.prices.worker.close()
    assert [(change.who[:6], change.did) for change in Store(url).changes(9)] == [
        ("token-", "added"),
        ("anna", "removed"),
    ]
    assert f"anna removed {id}" in caplog.messages


TABLES = ("own_runs", "sign_ins", "identity", "changes")


def rows_of(path, table):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT * FROM {table}").fetchall()


def test_no_cache_gives_a_private_run_to_another_token():
    client = client_of(api_tokens=("hers", "his"))
    client.post(RUN, data=LOG, headers=HER)
    client.post(RUN.replace("bleu", "val_loss"), data=LOG, headers=HIS)
    ask = "/cost?model=my-run&target=2&limit=1"
    hers, his = (client.get(ask, headers=who) for who in (HER, HIS))
    assert (hers.json["query"]["metric"], his.json["query"]["metric"]) == ("bleu", "val_loss")
    assert client.get(ask, headers=HIS).json == his.json  # from memory
    for answer in (hers, his):
        assert answer.headers["Cache-Control"].startswith("private")
        assert "Authorization" in answer.headers["Vary"]
    assert hers.headers["ETag"] != his.headers["ETag"]
    stolen = client.get(ask, headers={**HIS, "If-None-Match": hers.headers["ETag"]})
    assert (stolen.status_code, stolen.json["query"]["metric"]) == (200, "val_loss")


def test_a_shared_run_is_seen_by_all_and_ones_own_goes_before_it():
    client = client_of(api_tokens=("hers", "his"))
    client.post(f"{RUN}&shared=true", data=LOG, headers=HER)
    assert client.get(COST, headers=HIS).json["query"]["metric"] == "bleu"
    client.post(RUN.replace("bleu", "val_loss"), data=LOG, headers=HIS)
    ask = "/cost?model=my-run&target=2&limit=1"
    assert client.get(ask, headers=HIS).json["query"]["metric"] == "val_loss"
    assert client.get(ask, headers=HER).json["query"]["metric"] == "bleu"


def test_the_same_run_added_anew_with_another_batch_gets_another_tag(client):
    client.post(RUN, data=LOG)
    before = client.get(COST).headers["ETag"]
    client.delete("/recipes/my-run")
    client.post(RUN.replace("batch_size=256", "batch_size=512"), data=LOG)
    assert client.get(COST, headers={"If-None-Match": before}).status_code == 200


def test_questions_about_other_models_keep_what_was_worked_out():
    client = client_of()
    service = client.application.extensions["costcalc"]
    client.post(RUN, data=LOG)
    assert service.seen_by(None).evidence is service.evidence
