"""Tokens are known by their digests, some may only read, and a browser signs in once."""

from datetime import timedelta
from hashlib import sha256

import pytest
from click.testing import CliRunner
from itsdangerous import URLSafeSerializer, URLSafeTimedSerializer
from support.services import packaged_service

from api.cli.main import main
from api.settings import BadSetting, Settings, read_settings
from api.web.app import create_app
from api.web.asker import COOKIE, KeptSignIns

ASKED = "/cost?model=resnet50&target=0.757&limit=1"
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
HASHED = "sha256:" + sha256(b"sesame").hexdigest()


def guarded(*tokens, **more):
    service = packaged_service().changed(**more)
    return create_app(service, Settings(api_tokens=tokens or ("sesame",))).test_client()


def cookie_of(client, token="sesame"):
    return client.post("/signin", data={"token": token}).headers["Set-Cookie"].split(";")[0].removeprefix(f"{COOKIE}=")


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
    assert client.post("/recipes", headers=bearer("sesame")).status_code == 403
    assert client.post("/recipes", headers=bearer("other")).status_code == 503  # this application keeps none


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
        assert client.get(path, headers=HTML, follow_redirects=True).status_code == 200, path
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


ELSEWHERE = ("https://evil.example", "//evil.example", "/\\evil.example", "/\t/evil.example", "//[", "javascript:1", "")
BROKEN = ("/a\nb", "/a\r\nSet-Cookie: a=b", "/a\0b", "/a\x85b", "/a\u202eb", "/\u2028", "/" + "a" * 100_000)


@pytest.mark.parametrize("elsewhere", [*ELSEWHERE, *BROKEN], ids=range(14))
def test_signing_in_leads_nowhere_else(elsewhere):
    client = guarded()
    form = client.get("/signin", query_string={"next": elsewhere} if len(elsewhere) < 1000 else {})
    assert (form.status_code, 'name="next" value="/"' in form.get_data(as_text=True)) == (200, True)
    assert client.post("/signin", data={"token": "sesame", "next": elsewhere}).headers["Location"] == "/"


def test_another_sites_form_signs_nobody_in():
    sent = {"data": {"token": "sesame"}, "headers": {"Sec-Fetch-Site": "cross-site"}}
    assert guarded().post("/signin", **sent).status_code == 403


def with_cookie(value, *tokens, **more):
    client = guarded(*tokens, **more)
    client.set_cookie(COOKIE, value)
    return client.get(ASKED).status_code


def test_a_cookie_ends_with_its_token_and_with_no_other():
    sign_ins = KeptSignIns()
    value = cookie_of(guarded("sesame", "other", sign_ins=sign_ins))
    assert with_cookie(value, "other", sign_ins=sign_ins) == 401
    assert with_cookie(value, "sesame", "new", sign_ins=sign_ins) == 200


def test_a_cookie_cannot_be_made_up():
    sign_ins = KeptSignIns()
    value = cookie_of(guarded(sign_ins=sign_ins))
    signer = URLSafeSerializer(sign_ins.key(), salt="signed in")
    changed = ("A" if value[0] != "A" else "B") + value[1:]
    for wrong in (changed, "", "costcalc", signer.dumps("another text"), signer.dumps(["a list"]), signer.dumps(7)):
        assert with_cookie(wrong, sign_ins=sign_ins) == 401, wrong
    assert with_cookie(value, sign_ins=KeptSignIns()) == 401, "of another store"


def test_a_digest_is_no_token():
    """Neither the setting's nor one that stands in the store opens the door."""
    digest, sign_ins = sha256(b"sesame").digest(), KeptSignIns()
    cookie_of(guarded(HASHED, sign_ins=sign_ins))
    [sign_in] = sign_ins.known().values()
    by_digests = URLSafeTimedSerializer(sha256(digest).digest(), salt="signed in").dumps(digest.hex())
    signed = [URLSafeSerializer(sign_ins.key(), salt="signed in").dumps(text) for text in (sign_in.id, sign_in.token)]
    for forged in (by_digests, digest.hex(), sign_in.id, sign_in.token, *signed):
        assert with_cookie(forged, HASHED, sign_ins=sign_ins) == 401
        assert guarded(HASHED, sign_ins=sign_ins).get(ASKED, headers=bearer(forged)).status_code == 401


@pytest.mark.parametrize("token", ["sesame", "read:sesame"])
def test_signing_out_ends_the_sign_in_also_where_its_cookie_was_copied(token):
    here, elsewhere = (client.application for client in [guarded(token)] for _ in range(2))
    browser, thief = here.test_client(), elsewhere.test_client()
    thief.set_cookie(COOKIE, cookie_of(browser))
    assert thief.get(ASKED).status_code == 200
    assert browser.post("/signout").status_code == 303
    assert thief.get(ASKED).status_code == 401, "nor from memory"
    again = cookie_of(browser)
    other = here.test_client()
    other.set_cookie(COOKIE, cookie_of(other))
    browser.set_cookie(COOKIE, again)
    browser.post("/signout")
    assert other.get(ASKED).status_code == 200, "who signed in elsewhere stays so"


def test_a_token_has_a_last_day():
    moments = [packaged_service().clock()]
    client = guarded("until=2026-11-21:sesame", clock=lambda: moments[0])
    value = cookie_of(client)
    for day, status in ((0, 200), (1, 200), (2, 401)):
        moments[0] = packaged_service().clock() + timedelta(day)
        for ask in ({"headers": bearer("sesame")}, {"query_string": {"token": "sesame"}}, {}):
            client.set_cookie(COOKIE, value)
            assert client.get("/models", **ask).status_code == status, (day, ask)
    assert client.post("/signin", data={"token": "sesame"}).status_code == 401


def test_no_answer_in_memory_outlives_a_token():
    moments = [packaged_service().clock() + timedelta(1)]
    client = guarded("until=2026-11-21:sesame", clock=lambda: moments[0])
    for status in (200, 401):
        assert client.get(ASKED, headers=bearer("sesame")).status_code == status
        moments[0] += timedelta(1)


def test_a_page_in_memory_is_not_that_of_one_who_may_sign_out():
    client, asked = guarded(), "/train"
    plain = client.get(asked, headers=bearer("sesame"))
    client.set_cookie(COOKIE, cookie_of(client))
    signed_in = client.get(asked)
    assert ["/signout" in page.text for page in (plain, signed_in)] == [False, True]
    assert signed_in.headers["ETag"] == plain.headers["ETag"]


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


@pytest.mark.parametrize(
    "text",
    [
        " , ",
        "",
        ",",
        "read:",
        "anna:",
        "sha256:abc",
        "read:sha256:zz",
        "anna:ben:sesame",
        "a b:sesame",
        "until=soon:sesame",
    ],
)
def test_tokens_that_are_none_do_not_open_the_door(text):
    with pytest.raises(BadSetting, match="COSTCALC_API_TOKENS"):
        read_settings({"COSTCALC_API_TOKENS": text})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], ""),
        (["--read-only"], "read:"),
        (["--name", "anna", "--until", "2027-06-30", "--read-only"], "anna:until=2027-06-30:read:"),
    ],
)
def test_the_command_makes_a_token_and_its_setting(options, words):
    lines = CliRunner().invoke(main, ["token", *options]).output.splitlines()
    made = lines[0].rpartition(" ")[2]
    settings = read_settings(dict([lines[1].split("=", 1)]))
    assert made not in lines[1]
    assert lines[1].startswith(f"COSTCALC_API_TOKENS={words}sha256:")
    assert guarded(*settings.api_tokens).get(ASKED, headers=bearer(made)).status_code == 200


def test_the_command_refuses_a_name_that_cannot_be_one():
    refused = CliRunner().invoke(main, ["token", "--name", "Anna Berger"])
    assert (refused.exit_code, "one name" in refused.output) == (2, True)


def test_a_browser_stays_signed_in_for_thirty_days():
    moments = [packaged_service().clock()]
    client, thirty_days = guarded(clock=lambda: moments[0]), timedelta(days=30)
    signed_in = client.post("/signin", data={"token": "sesame"})
    assert f"Max-Age={int(thirty_days.total_seconds())}" in signed_in.headers["Set-Cookie"]
    for after, status in ((timedelta(minutes=-1), 200), (timedelta(0), 401)):
        moments[0] = packaged_service().clock() + thirty_days + after
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
