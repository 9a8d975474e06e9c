"""Messages that follow a command: posted to Slack over real HTTP, patiently, at most five times, and to nobody else."""

import time

import pytest
from fakes.slack import FakeSlack
from prometheus_client import REGISTRY

from api.slack import delivery as slack_delivery
from api.slack.delivery import Delivery
from api.slack.message import Message, section

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
    deadline = time.monotonic() + 60
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
    assert slack.moments[1] - slack.moments[0] >= 1


def test_a_strange_retry_after_is_our_own_wait(slack, delivery):
    slack.will(429, Retry_After="Fri, 20 Nov 2026 12:00:00 GMT")
    slack.will(429, Retry_After="99999")
    delivery.send(delivery.mailbox(slack.response_url), TOLD)
    slack.wait_for(3)
    assert slack.moments[2] - slack.moments[0] < 60


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


def test_a_time_out_is_tried_again(slack, delivery, monkeypatch, caplog):
    monkeypatch.setattr(slack_delivery, "TIMEOUT_SECONDS", (0.2, 0.2))
    slack.will(200, "ok", 5)
    delivery.send(delivery.mailbox(slack.response_url), TOLD)
    assert len(slack.wait_for(2)) == 2
    assert "it stopped answering" in caplog.text
    assert slack.response_url not in caplog.text


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
