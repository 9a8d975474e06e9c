"""Messages that follow a command: posted to Slack over real HTTP, patiently, at most five times, and to nobody else."""

import logging
import time

import pytest
from fakes.slack import SECRET, FakeSlack, form, signed
from prometheus_client import REGISTRY
from support.services import NOW, packaged_service
from support.slack import PATH, ask

from api import slack_delivery
from api.app import create_app
from api.service import Service
from api.settings import Settings
from api.slack_delivery import Delivery
from api.slack_message import Message, section

TOLD = Message("in words", (section("in blocks"),))


@pytest.fixture
def slack():
    with FakeSlack().running() as fake:
        yield fake


@pytest.fixture
def delivery(slack):
    made = Delivery((slack.url,), waits=(0.05, 0.1))
    yield made
    made.close()


def count(outcome):
    return REGISTRY.get_sample_value("costcalc_slack_posts_total", {"outcome": outcome}) or 0


def after(outcome, before):
    """Waits for the next post with this outcome."""
    deadline = time.monotonic() + 15
    while count(outcome) == before:
        assert time.monotonic() < deadline, outcome
        time.sleep(0.01)


def test_a_message_is_posted_once_with_its_words(slack, delivery):
    before = count("delivered")
    delivery.send(delivery.mailbox(slack.response_url), TOLD)
    assert slack.wait_for(1) == [TOLD.payload()]
    after("delivered", before)
    assert TOLD.payload()["text"] == "in words"


@pytest.mark.parametrize("status", [500, 503])
def test_a_server_error_is_tried_again(slack, delivery, status):
    slack.will(status)
    slack.will(status)
    delivery.send(delivery.mailbox(slack.response_url), TOLD)
    assert slack.wait_for(3) == [TOLD.payload()] * 3


def test_429_waits_as_long_as_slack_says(slack, delivery):
    slack.will(429, Retry_After="1")
    delivery.send(delivery.mailbox(slack.response_url), TOLD)
    slack.wait_for(2)
    assert 1 <= slack.moments[1] - slack.moments[0] < 5


def test_a_strange_retry_after_is_our_own_wait(slack, delivery):
    slack.will(429, Retry_After="Fri, 20 Nov 2026 12:00:00 GMT")
    slack.will(429, Retry_After="99999")
    delivery.send(delivery.mailbox(slack.response_url), TOLD)
    slack.wait_for(3)
    assert slack.moments[2] - slack.moments[0] < 5


def test_five_posts_and_no_more(slack, delivery, caplog):
    for _ in range(9):
        slack.will(503)
    before = count("given_up")
    delivery.send(delivery.mailbox(slack.response_url), TOLD)
    after("given_up", before)
    assert len(slack.posts) == 5
    assert "five posts or thirty minutes" in caplog.text


def test_nothing_after_thirty_minutes(slack, delivery):
    box = delivery.mailbox(slack.response_url)
    box.deadline -= slack_delivery.WINDOW_SECONDS + 1
    before = count("given_up")
    delivery.send(box, TOLD)
    after("given_up", before)
    assert slack.posts == []


@pytest.mark.parametrize("status", [404, 410])
def test_gone_is_dropped_with_a_line_and_a_count(slack, delivery, caplog, status):
    slack.will(status, "used_url")
    before = count("gone")
    delivery.send(delivery.mailbox(slack.response_url), TOLD)
    after("gone", before)
    assert len(slack.posts) == 1
    assert f"dropped: {status} used_url" in caplog.text


@pytest.mark.parametrize(("status", "body"), [(400, "invalid_blocks"), (200, '{"ok":false,"error":"invalid_blocks"}')])
def test_refused_blocks_become_words(slack, delivery, status, body):
    slack.will(status, body)
    delivery.send(delivery.mailbox(slack.response_url), TOLD)
    first, second = slack.wait_for(2)
    assert "blocks" in first
    assert second == {"response_type": "ephemeral", "text": "in words"}


def test_words_that_are_refused_too_are_dropped(slack, delivery):
    for _ in range(3):
        slack.will(400, "invalid_blocks")
    before = count("rejected")
    delivery.send(delivery.mailbox(slack.response_url), TOLD)
    after("rejected", before)
    assert len(slack.posts) == 2


def test_a_time_out_is_tried_again(slack, delivery, monkeypatch):
    monkeypatch.setattr(slack_delivery, "TIMEOUT", 0.2)
    slack.will(200, "ok", 5)
    delivery.send(delivery.mailbox(slack.response_url), TOLD)
    assert len(slack.wait_for(2)) == 2


def test_a_redirect_is_not_followed(slack, delivery):
    with FakeSlack().running() as other:
        slack.will(307, Location=other.response_url)
        before = count("rejected")
        delivery.send(delivery.mailbox(slack.response_url), TOLD)
        after("rejected", before)
        assert other.posts == []


@pytest.mark.parametrize(
    "url",
    [
        "", "http://hooks.slack.com/x", "https://hooks.slack.com", "https://hooks.slack.com.evil.org/x", "file:///etc/passwd",
        "https://hooks.slack.com@evil.org/x", "https://evil.org/https://hooks.slack.com/", "https://hooks.slack.com:8443/x",
        "https://hooks.slack.com\\@evil.org/x", "https://hooks.slack.com\t.evil.org/x", "https://127.0.0.1/x", "x" * 9999,
    ],
)  # fmt: skip
def test_only_slack_has_a_mailbox(url):
    assert Delivery(("hooks.slack.com",)).mailbox(url) is None
    assert Delivery(("hooks.slack.com",)).mailbox("https://hooks.slack.com/commands/T/1/x") is not None


def test_a_full_queue_drops_the_newest(slack, caplog):
    full = Delivery((slack.url,))
    while full._room.acquire(blocking=False):
        pass
    full.send(full.mailbox(slack.response_url), TOLD)
    assert "one was dropped" in caplog.text


class SlowPrices:
    """The packaged prices, after a while."""

    def __init__(self, seconds):
        self.seconds = seconds

    def catalogue(self):
        time.sleep(self.seconds)
        return packaged_service().catalogue()

    def trouble(self):
        return None


def slow_app(slack, tmp_path, seconds, hosts=None, **more):
    (tmp_path / "prices.sqlite3").touch()
    settings = Settings(
        f"sqlite:///{tmp_path}/prices.sqlite3",
        slack_signing_secret=SECRET,
        slack_response_hosts=hosts or (slack.url,),
        **more,
    )
    app = create_app(Service(packaged_service().evidence, SlowPrices(seconds), lambda: NOW), settings)
    object.__setattr__(app.extensions["costcalc.slack"], "patience", 0.3)
    return app.test_client()


def test_a_slow_answer_is_acknowledged_and_follows(slack, tmp_path):
    client = slow_app(slack, tmp_path, 0.6)
    started = time.monotonic()
    payload = ask(client, "resnet50 0.757 share", response_url=slack.response_url).json
    assert time.monotonic() - started < 3
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
