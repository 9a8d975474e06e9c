"""The service answers to its own names alone, and no page of another site changes anything."""

import pytest
from support.own_runs import LOG, RUN, app_of
from support.services import packaged_service

from api.settings import BadSetting, Settings, read_settings
from api.web.app import create_app

PUBLIC = {"public_url": "https://cost.example.org/prices"}
EVERYWHERE = {"bind": "0.0.0.0:8000"}
EVIL = "https://evil.example"


OWN = ("localhost", "LOCALHOST:8000", "app.localhost", "localhost.", "127.0.0.1:9", "[::1]:8000")
OTHER = ("evil.com", "localhost.evil.com", "10.0.0.5:8000", "127.0.0.1.evil.com", "a b", "[::1", "a,b")


@pytest.mark.parametrize(
    ("settings", "host", "status"),
    [
        *[({}, host, 200) for host in OWN],
        *[({}, host, 421) for host in OTHER],
        ({"bind": "10.0.0.5:8000"}, "10.0.0.5:8000", 200),
        ({"bind": "10.0.0.5:8000"}, "10.0.0.6:8000", 421),
        ({"bind": "build-box:8000"}, "build-box:8000", 200),
        *[(EVERYWHERE, host, 200) for host in ("10.0.0.6", "[2001:db8::1]:8000", "localhost")],
        ({"bind": "[::]:8000"}, "192.0.2.1:8000", 200),
        *[(EVERYWHERE, host, 421) for host in ("evil.com", "0x7f.1", "2130706433", "build-box")],
        ({"bind": "unix:/run/costcalc"}, "localhost", 200),
        ({"bind": "unix:/run/costcalc"}, "10.0.0.5", 421),
        (PUBLIC, "cost.example.org", 200),
        (PUBLIC, "example.org", 421),
        ({"hosts": ("build-box", "costs.example.org")}, "Costs.example.org.:443", 200),
        ({"hosts": ("build-box",)}, "build-box.evil.com", 421),
    ],
)  # fmt: skip
def test_it_answers_to_its_own_names(settings, host, status):
    client = create_app(packaged_service(), Settings(**settings)).test_client()
    answer = client.get("/models", headers={"Host": host})
    assert answer.status_code == status
    assert status == 200 or "COSTCALC_HOSTS" in answer.json["detail"]


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_probes_ask_under_any_name(client, path):
    assert client.get(path, headers={"Host": "10.1.2.3:8000"}).status_code == 200


def test_what_is_remembered_is_not_told_under_another_name(client):
    ask = "/cost?model=resnet50&target=0.757&limit=1"
    assert [client.get(ask).status_code for _ in range(3)] == [200] * 3
    assert client.get(ask, headers={"Host": "evil.com"}).status_code == 421


@pytest.mark.parametrize(
    ("settings", "sent", "status"),
    [
        ({}, {}, 201),
        ({}, {"Origin": EVIL}, 403),
        ({}, {"Origin": "null"}, 403),
        ({}, {"Origin": "http://["}, 403),
        ({}, {"Origin": ""}, 403),
        ({}, {"Origin": "http://localhost:3000"}, 403),
        ({}, {"Origin": "http://localhost"}, 201),
        ({}, {"Origin": EVIL, "Sec-Fetch-Site": "cross-site"}, 403),
        ({}, {"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"}, 403),
        ({}, {"Sec-Fetch-Site": "cross-site"}, 403),
        ({}, {"Origin": "null", "Sec-Fetch-Site": "same-origin"}, 201),
        (PUBLIC, {"Origin": "https://cost.example.org"}, 201),
        ({"cors_origins": (EVIL,)}, {"Origin": EVIL, "Sec-Fetch-Site": "cross-site"}, 201),
        ({"cors_origins": ("*",)}, {"Origin": EVIL}, 403),
    ],
)
def test_no_page_of_another_site_stores_a_run(settings, sent, status):
    client = app_of(**settings).test_client()
    answer = client.post(RUN, data=LOG, content_type="text/plain", headers=sent)
    assert answer.status_code == status
    assert len(client.get("/recipes").json["recipes"]) == (status == 201)
    assert status == 201 or "COSTCALC_CORS_ORIGINS" in answer.json["detail"]


def test_no_page_of_another_site_removes_a_run_or_signs_anybody_in():
    client = app_of().test_client()
    client.post(RUN, data=LOG)
    assert client.delete("/recipes/my-run", headers={"Origin": EVIL}).status_code == 403
    guarded = create_app(packaged_service(), Settings(api_tokens=("sesame",))).test_client()
    answer = guarded.post("/signin", data={"token": "sesame"}, headers={"Origin": EVIL})
    assert (answer.status_code, "Set-Cookie" in answer.headers) == (403, False)
    assert guarded.post("/signin", data={"token": "sesame"}, headers={"Origin": "http://localhost"}).status_code == 303


def test_a_page_of_any_site_may_plan_where_every_site_may_ask():
    sent = {"data": "model,target\nresnet50,0.757\n", "content_type": "text/csv", "headers": {"Origin": EVIL}}
    assert app_of().test_client().post("/plan", **sent).status_code == 403
    assert app_of(cors_origins=("*",)).test_client().post("/plan", **sent).status_code == 200


def test_names_of_hosts_are_read_from_the_setting():
    assert read_settings({"COSTCALC_HOSTS": "Build-Box, [::1] ,cost.example.org."}).hosts == (
        "build-box",
        "::1",
        "cost.example.org",
    )


@pytest.mark.parametrize(
    "text", ["https://cost.example.org", "cost.example.org:8000", "cost.example.org/prices", "*", "a b"]
)
def test_what_is_no_name_of_a_host_is_refused(text):
    with pytest.raises(BadSetting, match=r"COSTCALC_HOSTS=.* without scheme, port or path"):
        read_settings({"COSTCALC_HOSTS": text})
