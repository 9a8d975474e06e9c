"""Which prices moved, and what that does to a question, posted to a channel over real HTTP; never unless asked for."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner
from fakes.slack import FakeSlack
from support.prices import NOW, offer
from support.services import service_of
from support.slack import table_of

from api.cli.main import main
from api.settings import Settings
from api.slack import price_alert as slack_notice
from api.slack.delivery import NotSent, WrongUse
from api.slack.price_alert import AlertRequest, notice, notify
from api.stored import FixedPrices
from costcalc.catalogue.catalogue import Catalogue

REQUEST = AlertRequest("week", "10%", "resnet50 0.757")
BEFORE = NOW - timedelta(days=8)


def service_with(*rates, instance_type="p3.2xlarge"):
    """A machine whose rate was the first eight days ago, and is the last today."""
    moments = [BEFORE, NOW - timedelta(hours=1)]
    offers = [offer(rate, moment, instance_type=instance_type) for rate, moment in zip(rates, moments, strict=False)]
    return service_of(FixedPrices(Catalogue.from_offers(offers, "test")), NOW)


def test_a_move_is_told_with_what_it_does_to_the_question():
    message = notice(service_with("3.06", "1.53"), REQUEST)
    [row] = table_of(message.payload())[1:]
    assert row == ["aws p3.2xlarge, us-east-1", "on demand", "3.0600 USD", "1.5300 USD", "-50.0%", "2026-11-20"]
    assert message.text.startswith("*1 price moved by 10% or more since 2026-11-13*")
    now, then = (cheapest_at(service_with("3.06", "1.53"), moment) for moment in (NOW, BEFORE))
    assert now.billed_cost < then.billed_cost
    assert f"cheapest: {now.hours:,.2f} h, ${now.billed_cost:,.2f} (" in message.text
    assert f"(was {then.hours:,.2f} h, ${then.billed_cost:,.2f} (" in message.text


def cheapest_at(service, as_of):
    catalogue = service.catalogue()
    query, _ = service.question({"model": ["resnet50"], "target": ["0.757"]}, catalogue)
    return service.answer(replace(query, as_of=as_of), catalogue).estimates[0]


def test_a_sum_is_told_once_the_answer_falls_below_it():
    service = service_with("3.06", "1.53")
    now, then = (cheapest_at(service, moment).billed_cost for moment in (NOW, BEFORE))
    told = notice(service, replace(REQUEST, below=(now + then) / 2))
    assert told.text.startswith(f"*resnet50 0.757* costs less than {(now + then) / 2:,.2f} USD")
    assert f"${now:,.2f}" in told.text
    assert [notice(service, replace(REQUEST, below=below)) for below in (now, then + 1)] == [None, None]


@pytest.mark.parametrize(
    ("rates", "moved"),
    [(("3.06", "3.06"), "10%"), (("3.06", "3.30"), "10%"), (("3.06",), "10%"), (("3.06", "4.00"), "0.5")],
)
def test_less_than_the_share_is_not_told(rates, moved):
    assert notice(service_with(*rates), replace(REQUEST, moved=moved)) is None


def test_a_move_of_last_week_is_no_news_of_today():
    service = replace(service_with("3.06", "1.53"), clock=lambda: NOW + timedelta(days=3))
    assert notice(service, replace(REQUEST, every="day")) is None
    assert notice(service, REQUEST) is not None


def test_a_question_without_an_answer_says_so():
    assert (
        "has no answer, then or now" in notice(service_with("3.06", "1.53"), replace(REQUEST, ask="resnet50 0.99")).text
    )


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (replace(REQUEST, moved="x"), "10% or 0.1"),
        (replace(REQUEST, moved="0"), "10% or 0.1"),
        (replace(REQUEST, ask="resnet50 target=757"), "0.757"),
        (replace(REQUEST, ask="resnet50 0.757 zzzz"), "not understood"),
    ],
)
def test_a_wrong_request_says_what_to_write(asked, says):
    with pytest.raises(WrongUse) as told:
        notice(service_with("3.06", "1.53"), asked)
    assert says in str(told.value)


class TestPosting:
    @pytest.fixture
    def slack(self, monkeypatch):
        monkeypatch.setattr(slack_notice, "build_once", lambda settings: service_with("3.06", "1.53"))
        with FakeSlack().running() as fake:
            yield fake

    @pytest.fixture
    def settings(self, slack):
        return Settings(slack_webhook_url=slack.response_url, slack_response_hosts=(slack.url,))

    def test_it_is_sent(self, slack, settings):
        assert notify(settings, REQUEST) == "sent"
        [posted] = slack.posts
        assert [block["type"] for block in posted["blocks"]] == ["section", "table", "section"]
        assert "-50.0%" in posted["text"]

    def test_blocks_that_are_refused_go_as_words(self, slack, settings):
        slack.will(400, "invalid_blocks")
        assert notify(settings, REQUEST) == "sent"
        assert "blocks" not in slack.posts[1]

    def test_it_waits_while_slack_is_busy(self, slack, settings):
        slack.will(429, Retry_After="1")
        assert notify(settings, REQUEST) == "sent"
        assert len(slack.posts) == 2

    def test_it_gives_up_when_slack_stays_busy(self, slack, settings, monkeypatch):
        monkeypatch.setattr("api.slack.delivery.WAITS_SECONDS", (0.0, 0.0))
        for _ in range(2):
            slack.will(503, "later")
        with pytest.raises(NotSent, match="503 later"):
            notify(settings, REQUEST)
        assert len(slack.posts) == 2

    def test_a_webhook_that_is_gone_is_told(self, slack, settings):
        slack.will(410, "channel_is_archived")
        with pytest.raises(NotSent, match="410 channel_is_archived"):
            notify(settings, REQUEST)

    def test_it_is_off_until_an_address_is_set_and_only_slacks(self, slack, settings):
        for url in (None, "https://evil.example.org/services/x", slack.response_url):
            with pytest.raises(WrongUse, match="COSTCALC_SLACK_WEBHOOK_URL"):
                notify(Settings(slack_webhook_url=url), REQUEST)
        assert "-50.0%" in notify(Settings(), REQUEST, dry_run=True)
        assert slack.posts == []


def test_the_command_prints_or_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("COSTCALC_SLACK_WEBHOOK_URL", raising=False)
    monkeypatch.setattr("api.bootstrap.utc_now", lambda: datetime(2026, 10, 14, 12, tzinfo=UTC))
    printed = CliRunner().invoke(main, ["slack", "notice", "--dry-run"])
    assert (printed.exit_code, "prices moved by 10% or more since 2026-10-07" in printed.output) == (0, True)
    unset = CliRunner().invoke(main, ["slack", "notice"])
    assert (unset.exit_code, "COSTCALC_SLACK_WEBHOOK_URL" in unset.output) == (2, True)
