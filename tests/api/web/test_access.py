"""Tokens are known by their digests, some may only read, and a browser signs in once."""

import time
from hashlib import sha256

import pytest
from click.testing import CliRunner
from itsdangerous import TimestampSigner
from support.services import packaged_service

from api.cli.main import main
from api.settings import BadSetting, Settings, read_settings
from api.web.access import COOKIE, Token
from api.web.app import create_app

ASKED = "/cost?model=resnet50&target=0.757&limit=1"
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
HASHED = "sha256:" + sha256(b"sesame").hexdigest()


def guarded(*tokens):
    return create_app(packaged_service(), Settings(api_tokens=tokens or ("sesame",))).test_client()


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def test_a_hashed_token_opens_and_its_digest_does_not():
    client = guarded(HASHED)
    assert client.get(ASKED, headers=bearer("sesame")).status_code == 200
    assert client.get(f"{ASKED}&token=sesame").status_code == 200
    for wrong in (HASHED, HASHED.removeprefix("sha256:"), "", "sesame2"):
        assert client.get(ASKED, headers=bearer(wrong)).status_code == 401


def test_a_read_only_token_reads_and_asks_but_stores_nothing():
    client = guarded("read:sesame", "other")
    sheet = "model,target\nresnet50,0.757\n"
    assert client.get(ASKED, headers=bearer("sesame")).status_code == 200
    assert client.post("/plan", data=sheet, content_type="text/csv", headers=bearer("sesame")).status_code == 200
    assert client.post("/signout", headers=bearer("sesame")).status_code == 403
    assert client.post("/signout", headers=bearer("other")).status_code == 303


def test_a_browser_signs_in_once():
    client = guarded()
    sent_away = client.get("/?model=resnet50&target=0.757", headers=HTML)
    assert (sent_away.status_code, sent_away.headers["Location"]) == (
        303,
        "/signin?next=/?model%3Dresnet50%26target%3D0.757",
    )
    assert 'name="token"' in client.get(sent_away.headers["Location"], headers=HTML).get_data(as_text=True)
    signed_in = client.post("/signin", data={"token": "sesame", "next": "/?model=resnet50&target=0.757"})
    assert (signed_in.status_code, signed_in.headers["Location"]) == (303, "/?model=resnet50&target=0.757")
    cookie = signed_in.headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert "sesame" not in cookie
    for path in ("/", "/docs", ASKED, ASKED.replace("/cost", "/cost.csv"), "/openapi.json"):
        assert client.get(path, headers=HTML).status_code == 200, path
    client.post("/signout")
    assert client.get("/", headers=HTML).status_code == 303


def test_what_is_kept_for_a_browser_that_signed_in_stays_closed_to_others():
    app = create_app(packaged_service(), Settings(api_tokens=("sesame",)))
    inside, outside = app.test_client(), app.test_client()
    inside.post("/signin", data={"token": "sesame"})
    assert inside.get(ASKED).status_code == 200
    assert outside.get(ASKED).status_code == 401


def test_a_wrong_token_is_told_and_remembers_nothing():
    answered = guarded().post("/signin", data={"token": "wrong", "next": "/docs"})
    assert (answered.status_code, "Set-Cookie" in answered.headers) == (401, False)
    assert "not accepted" in answered.get_data(as_text=True)
    assert 'value="/docs"' in answered.get_data(as_text=True)


@pytest.mark.parametrize("elsewhere", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:1", ""])
def test_signing_in_leads_nowhere_else(elsewhere):
    assert guarded().post("/signin", data={"token": "sesame", "next": elsewhere}).headers["Location"] == "/"


def test_another_sites_form_signs_nobody_in():
    sent = {"data": {"token": "sesame"}, "headers": {"Sec-Fetch-Site": "cross-site"}}
    assert guarded().post("/signin", **sent).status_code == 403


def test_a_cookie_ends_with_its_token_and_cannot_be_made_up():
    first = guarded("sesame", "other")
    value = (
        first.post("/signin", data={"token": "sesame"}).headers["Set-Cookie"].split(";")[0].removeprefix(f"{COOKIE}=")
    )
    for client in (guarded("other"), guarded("sesame", "new")):
        client.set_cookie(COOKIE, value)
        assert client.get(ASKED).status_code == 401
    changed = guarded("sesame", "other")
    changed.set_cookie(COOKIE, ("A" if value[0] != "A" else "B") + value[1:])
    assert changed.get(ASKED).status_code == 401


def test_no_address_with_a_token_is_redirected():
    answered = guarded().get("//offers//history?token=sesame")
    assert (answered.status_code >= 400, "Location" in answered.headers) == (True, False)


@pytest.mark.parametrize("path", ["/style.css", "/signin", "/healthz", "/readyz"])
def test_what_a_browser_needs_to_sign_in_is_open(path):
    with guarded().get(path) as answer:
        assert answer.status_code == 200


def test_answers_are_no_ones_but_the_clients_own():
    for path in (ASKED, "/openapi.json"):
        assert guarded().get(path, headers=bearer("sesame")).headers["Cache-Control"].startswith("private")


@pytest.mark.parametrize("text", [" , ", "", ",", "read:", "sha256:abc", "read:sha256:zz"])
def test_tokens_that_are_none_do_not_open_the_door(text):
    with pytest.raises(BadSetting, match="COSTCALC_API_TOKENS"):
        read_settings({"COSTCALC_API_TOKENS": text})


@pytest.mark.parametrize("options", [[], ["--read-only"]])
def test_the_command_makes_a_token_and_its_setting(options):
    lines = CliRunner().invoke(main, ["token", *options]).output.splitlines()
    made = lines[0].rpartition(" ")[2]
    settings = read_settings(dict([lines[1].split("=", 1)]))
    assert made not in lines[1]
    assert ("read:" in lines[1]) == bool(options)
    assert guarded(*settings.api_tokens).get(ASKED, headers=bearer(made)).status_code == 200


@pytest.mark.parametrize(("seconds", "status"), [(60, 200), (-60, 401)])
def test_a_browser_stays_signed_in_for_thirty_days(monkeypatch, seconds, status):
    client, thirty_days = guarded(), 30 * 86_400
    signed_at = int(time.time()) - thirty_days + seconds
    monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _: signed_at)
    assert f"Max-Age={thirty_days}" in client.post("/signin", data={"token": "sesame"}).headers["Set-Cookie"]
    assert client.get(ASKED).status_code == status


def test_the_form_calls_nothing_wrong_before_a_token_was_sent():
    client = guarded()
    assert "not accepted" not in client.get("/signin").get_data(as_text=True)
    assert "not accepted" in client.post("/signin", data={"token": "wrong"}).get_data(as_text=True)


def test_signing_out_forgets_the_cookie_at_the_path_where_it_was_set():
    client = guarded()
    mounted = {"base_url": "http://localhost/prices"}
    signed_in = client.post("/signin", data={"token": "sesame"}, **mounted).headers["Set-Cookie"]
    signed_out = client.post("/signout", **mounted).headers["Set-Cookie"]
    assert "Path=/prices" in signed_in
    assert "Path=/prices" in signed_out
    assert "Path=/" in client.post("/signin", data={"token": "sesame"}).headers["Set-Cookie"].split("; ")
    assert "Path=/" in client.post("/signout").headers["Set-Cookie"].split("; ")


def test_a_digest_of_another_length_is_no_token():
    with pytest.raises(ValueError, match="64 hexadecimal digits, not 62"):
        Token.of("sha256:" + "ab" * 31)
