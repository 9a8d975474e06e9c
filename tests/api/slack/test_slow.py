"""Slack has its answer in time: what takes longer is acknowledged and follows, and so does the picture."""

import logging
import time

import pytest
from fakes.slack import SECRET, FakeSlack, form, signed
from support.services import NOW, packaged_service
from support.slack import PATH, ask

from api.service import Service
from api.settings import Settings
from api.web.app import create_app


@pytest.fixture
def slack():
    with FakeSlack().running() as fake:
        yield fake


class SlowPrices:
    """The packaged prices, after a while."""

    def __init__(self, seconds):
        self.seconds = seconds

    def catalogue(self):
        time.sleep(self.seconds)
        return packaged_service().catalogue()

    def trouble(self):
        return None


class SlowReplays:
    """Used signatures that are found after a while."""

    def __init__(self, is_new, seconds):
        self._is_new = is_new
        self._seconds = seconds

    def is_new(self, signature, now):
        time.sleep(self._seconds)
        return self._is_new(signature, now)


def slow_app(slack, tmp_path, seconds, hosts=None, **more):
    (tmp_path / "prices.sqlite3").touch()
    settings = Settings(
        f"sqlite:///{tmp_path}/prices.sqlite3",
        slack_signing_secret=SECRET,
        slack_response_hosts=hosts or (slack.url,),
        **more,
    )
    app = create_app(Service(packaged_service().evidence, SlowPrices(seconds), lambda: NOW), settings)
    app.test_client().get(
        "/cost?model=resnet50&target=0.757"
    )  # what a first answer works out is no part of the patience
    object.__setattr__(app.extensions["costcalc.slack"], "patience", 0.3 if seconds else 60)
    return app.test_client()


def test_a_slow_answer_is_acknowledged_and_follows(slack, tmp_path):
    client = slow_app(slack, tmp_path, 0.6)
    payload = ask(client, "resnet50 0.757 share", response_url=slack.response_url).json
    assert payload == {"response_type": "ephemeral", "text": "This takes a moment: the answer follows."}
    [posted] = slack.wait_for(1)
    assert posted["response_type"] == "in_channel"
    assert "table" in [block["type"] for block in posted["blocks"]]


def test_a_replay_is_neither_answered_nor_posted(slack, tmp_path):
    client = slow_app(slack, tmp_path, 0)
    body = form("resnet50 0.757", slack.response_url)
    headers = signed(body)
    assert client.post(PATH, data=body, headers=headers).status_code == 200
    assert client.post(PATH, data=body, headers=headers).status_code == 401
    assert slack.posts == []


def test_a_replay_is_refused_also_where_used_signatures_are_found_slowly(slack, tmp_path):
    client = slow_app(slack, tmp_path, 0)
    command = client.application.extensions["costcalc.slack"]
    body = form("resnet50 0.757", slack.response_url)
    headers = signed(body)
    assert client.post(PATH, data=body, headers=headers).status_code == 200
    found = command.replays.is_new
    object.__setattr__(command, "replays", SlowReplays(found, 0.6))
    object.__setattr__(command, "patience", 0.3)
    assert client.post(PATH, data=body, headers=headers).status_code == 401
    assert slack.posts == []


def test_a_slow_answer_without_a_mailbox_says_so(slack, tmp_path):
    with FakeSlack().running() as stranger:
        client = slow_app(slack, tmp_path, 0.6)
        payload = ask(client, "resnet50 0.757", response_url=stranger.response_url).json
        assert "ask again" in payload["text"]
        time.sleep(0.6)
        assert stranger.posts == []


def test_a_quick_answer_comes_at_once_and_its_picture_after_it(slack, tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    client = slow_app(slack, tmp_path, 0, public_url="https://cost.example.org")
    payload = ask(client, "resnet50 0.757", response_url=slack.response_url).json
    assert "image" not in [block["type"] for block in payload["blocks"]]
    [posted] = slack.wait_for(1)
    [image] = posted["blocks"]
    assert image["image_url"] == "https://cost.example.org/cost.png?model=resnet50&target=0.757"
    assert image["alt_text"] == "Cost against time: resnet50 to 75.7 % top-1"


def test_a_crash_after_the_acknowledgement_is_told_too(slack, tmp_path, caplog):
    client = slow_app(slack, tmp_path, 0.6)
    client.application.extensions["costcalc"].prices.catalogue = lambda: time.sleep(0.6) or 1 / 0
    ask(client, "resnet50 0.757", response_url=slack.response_url)
    [posted] = slack.wait_for(1)
    assert "failed to answer" in posted["text"]
    assert "ZeroDivisionError" in caplog.text
