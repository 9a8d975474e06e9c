"""POST /slack/cost: who may ask, and what is said when things are missing or broken here."""

import re
import time
from dataclasses import replace

import pytest
from fakes.slack import FORM, SECRET, form, signed
from support.services import packaged_service, service_of
from support.slack import PATH, answered, ask, refused

from api.questions.errors import NotReady
from api.settings import Settings
from api.slack.verification import sign
from api.web.app import create_app


@pytest.fixture
def client(slack_app):
    return slack_app.test_client()


class TestProof:
    """Nothing that Slack did not sign within five minutes is parsed, and nothing is answered twice."""

    def test_a_good_signature_is_answered_to_the_asker_alone(self, client):
        payload = answered(client, "resnet50 0.757")
        assert payload["response_type"] == "ephemeral"

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda headers: headers.pop("X-Slack-Signature"),
            lambda headers: headers.pop("X-Slack-Request-Timestamp"),
            lambda headers: headers.update({"X-Slack-Signature": "v0=" + "0" * 64}),
            lambda headers: headers.update({"X-Slack-Signature": headers["X-Slack-Signature"].upper()}),
            lambda headers: headers.update({"X-Slack-Signature": "v0=é"}),
            lambda headers: headers.update({"X-Slack-Request-Timestamp": f"+{int(time.time())}"}),
            lambda headers: headers.update({"X-Slack-Request-Timestamp": "yesterday"}),
        ],
    )
    def test_a_bad_one_is_refused(self, client, spoil):
        body = form("resnet50 0.757")
        headers = signed(body)
        spoil(headers)
        assert "not signed" in refused(client.post(PATH, data=body, headers=headers), 401)

    def test_another_secret_or_another_body_is_refused(self, client):
        body = form("resnet50 0.757")
        refused(client.post(PATH, data=body, headers=signed(body, secret="other")), 401)
        refused(client.post(PATH, data=body + b"&text=models", headers=signed(body)), 401)

    @pytest.mark.parametrize(("seconds", "status"), [(-301, 401), (301, 401), (-299, 200), (299, 200)])
    def test_the_window_is_five_minutes_both_ways(self, slack_settings, seconds, status):
        app = create_app(packaged_service(), slack_settings)
        now = 1_800_000_000.0 + abs(seconds) * 1000 + (seconds > 0)
        object.__setattr__(app.extensions["costcalc.slack"], "clock", lambda: now)
        body = form("help")
        response = app.test_client().post(PATH, data=body, headers=signed(body, now + seconds))
        assert response.status_code == status

    @pytest.mark.parametrize("stamp", ["9" * 400, "9" * 5000, "٣", "", "-5", "1e9", "soon"])
    def test_a_signed_stamp_that_is_no_time_is_refused(self, client, stamp):
        body = form("help")
        headers = {
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": sign(SECRET, stamp, body),
            "Content-Type": FORM,
        }
        assert "five minutes" in refused(client.post(PATH, data=body, headers=headers), 401)

    def test_a_valid_request_is_answered_once(self, client):
        body = form("resnet50 0.757", trigger_id="once")
        headers = signed(body)
        assert client.post(PATH, data=body, headers=headers).status_code == 200
        assert "answered before" in refused(client.post(PATH, data=body, headers=headers), 401)

    def test_what_is_unsigned_is_never_parsed(self, client, monkeypatch):
        monkeypatch.setattr("api.slack.command._form", lambda body: pytest.fail("parsed"))
        body = form("resnet50 0.757")
        refused(client.post(PATH, data=body, headers={"Content-Type": FORM}), 401)
        refused(client.post(PATH, data=body, headers=signed(body, secret="other")), 401)

    def test_the_certificate_check_is_answered_and_opens_nothing(self, client):
        for body in (b"ssl_check=1", b"token=x&ssl_check=1"):
            response = client.post(PATH, data=body, headers={"Content-Type": FORM})
            assert (response.status_code, response.data) == (200, b"")
        for body in (b"ssl_check=0", b"ssl_check=1&text=" + b"x" * 300):
            refused(client.post(PATH, data=body, headers={"Content-Type": FORM}), 401)
        response = ask(client, "resnet50 0.757", ssl_check="1")
        assert (response.status_code, response.data) == (200, b"")

    def test_a_body_that_is_no_form_is_refused(self, client):
        body = b'{"text": "resnet50 0.757"}'
        headers = {**signed(body), "Content-Type": "application/json"}
        assert FORM in refused(client.post(PATH, data=body, headers=headers), 415)
        body = b"&".join(b"x=%d" % number for number in range(200))
        assert "100 fields" in refused(client.post(PATH, data=body, headers=signed(body)), 400)

    def test_without_a_secret_slack_is_not_set_up(self):
        client = create_app(packaged_service()).test_client()
        assert "COSTCALC_SLACK_SIGNING_SECRET" in refused(client.post(PATH, data=b"text=x"), 404)

    def test_a_token_of_the_api_is_not_asked_of_slack(self, slack_settings):
        guarded = Settings(slack_settings.database_url, slack_signing_secret=SECRET, api_tokens=("sesame",))
        assert ask(create_app(packaged_service(), guarded).test_client(), "help").status_code == 200

    @pytest.mark.parametrize(("forwarded", "scheme"), [(None, "http"), ("https, http", "https"), ("http", "http")])
    def test_links_lead_where_slack_reached_us(self, slack_settings, forwarded, scheme):
        client = create_app(packaged_service(), replace(slack_settings, public_url=None)).test_client()
        body = form("resnet50 0.757", trigger_id=str(forwarded))
        headers = signed(body) | ({"X-Forwarded-Proto": forwarded} if forwarded else {})
        said = client.post(PATH, data=body, headers=headers).get_data(as_text=True)
        assert set(re.findall(r"(https?)://localhost", said)) == {scheme}

    def test_it_is_a_post(self, client):
        assert client.get(PATH).status_code == 405


class NoPrices:
    def catalogue(self):
        raise NotReady("the price store is out of reach; ask again in a few seconds")

    def trouble(self):
        return "out of reach"


class BrokenPrices(NoPrices):
    def catalogue(self):
        raise RuntimeError("secret internals")


class TestTrouble:
    """A friendly line with status 200, whatever happened here."""

    def test_before_the_first_snapshot(self, slack_settings):
        client = create_app(service_of(NoPrices()), slack_settings).test_client()
        payload = answered(client, "resnet50 0.757")
        assert (payload["response_type"], "ask again" in payload["text"]) == ("ephemeral", True)

    def test_with_the_store_gone_the_last_prices_answer_and_one_worker_remembers(self, tmp_path, caplog):
        gone = Settings(f"sqlite:///{tmp_path}/never/prices.sqlite3", slack_signing_secret=SECRET)
        client = create_app(packaged_service(), gone).test_client()
        body = form("resnet50 0.757")
        headers = signed(body)
        assert "table" in str(client.post(PATH, data=body, headers=headers).json)
        assert "remembered by one worker alone" in caplog.text
        refused(client.post(PATH, data=body, headers=headers), 401)
        assert not (tmp_path / "never").exists()

    def test_a_crash_is_a_line_and_its_cause_goes_to_the_log(self, slack_settings, caplog):
        client = create_app(service_of(BrokenPrices()), slack_settings).test_client()
        payload = answered(client, "resnet50 0.757")
        assert "secret" not in payload["text"]
        assert "secret internals" in caplog.text
