"""Answers are packed where the client unpacks them, and are the same answers."""

import gzip

import pytest
from support.services import packaged_service

from api.settings import Settings
from api.web.app import create_app

GZIP = {"Accept-Encoding": "gzip, deflate, br"}
COST = "/cost?model=resnet50&target=0.757&limit=3&as_of=2026-07-01"


@pytest.mark.parametrize(
    "path", [COST, COST.replace("/cost", "/cost.csv"), "/offers.csv", "/offers", "/style.css", "/docs"]
)
def test_the_packed_answer_is_the_answer(client, path):
    with client.get(path) as plain, client.get(path, headers=GZIP) as packed:
        compare(plain, packed)


def compare(plain, packed):
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.get_data()) == plain.get_data()
    assert len(packed.get_data()) < len(plain.get_data()) / 2
    assert "Accept-Encoding" in plain.headers["Vary"]


@pytest.mark.parametrize("path", ["/healthz", COST.replace("/cost", "/cost.xlsx"), "/cost?model=nothing"])
@pytest.mark.parametrize("accepted", ["gzip", "gzip;q=0", "identity", ""])
def test_small_packed_and_refused_answers_are_sent_as_they_are(client, path, accepted):
    assert "Content-Encoding" not in client.get(path, headers={"Accept-Encoding": accepted}).headers


def test_the_tag_holds_for_both_and_memory_keeps_them_apart():
    client = create_app(packaged_service(), Settings()).test_client()
    answers = [client.get(COST, headers=headers) for headers in (GZIP, {}, GZIP, {})]
    assert len({answer.headers["ETag"] for answer in answers}) == 1
    assert [answer.headers.get("Content-Encoding") for answer in answers] == ["gzip", None, "gzip", None]
    unchanged = client.get(COST, headers={**GZIP, "If-None-Match": answers[1].headers["ETag"]})
    assert (unchanged.status_code, unchanged.get_data()) == (304, b"")


def test_head_tells_the_length_of_what_get_sends(client):
    got, told = client.get(COST, headers=GZIP), client.head(COST, headers=GZIP)
    assert told.headers["Content-Length"] == got.headers["Content-Length"] == str(len(got.get_data()))
    assert told.get_data() == b""
