"""What holds of every smaller source alike: faults become reasons, keys stay secret, unchanged answers judge well."""

import json
import logging

import pytest
from support.small_clouds import CLOUDS, NOW, SECRET
from werkzeug import Request, Response

from costcalc.evidence import load_evidence
from pricing.checks import Judged, violations
from pricing.packaged.offers import read_packaged
from pricing.sources import SOURCES
from pricing.sources.source import CredentialsMissing, SourceError

EVERY = pytest.mark.parametrize("cloud", CLOUDS.values(), ids=CLOUDS)
KEYS = {
    "lambda": "COSTCALC_LAMBDA_API_KEY",
    "digitalocean": "COSTCALC_DIGITALOCEAN_TOKEN",
    "verda": "COSTCALC_VERDA_CLIENT_ID",
}
OPTIONAL_KEYS = {"runpod": "COSTCALC_RUNPOD_API_KEY", "vast": "COSTCALC_VAST_API_KEY"}


@EVERY
def test_a_recorded_answer_becomes_offers_that_hold(cloud, httpserver):
    cloud.serve(httpserver)
    collected = cloud.collect(httpserver.url_for(""))
    keys = [offer.key for offer in collected.offers]
    assert keys
    assert len(set(keys)) == len(keys)
    assert violations(Judged(collected.offers, frozenset(load_evidence().accelerators), {}, NOW)) == []
    assert all(gap.source == cloud.name for gap in collected.gaps)


@EVERY
@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_stays_down_is_a_reason(cloud, httpserver, status):
    httpserver.expect_request("").respond_with_data("", status=status, headers={"Retry-After": "0"})
    with pytest.raises(SourceError, match=str(status)):
        cloud.collect(httpserver.url_for(""))
    assert len(httpserver.log) == 2  # tried again, and given up


@EVERY
def test_throttling_that_ends_is_waited_for(cloud, httpserver):
    first = [True]

    def throttled(request: Request) -> Response:
        if first.pop() if first else False:
            return Response(status=429, headers={"Retry-After": "0"})
        answer = next(answer for answer in cloud.answers if answer.path == request.path)
        return Response(answer.body, content_type=answer.content_type)

    httpserver.expect_request("").respond_with_handler(throttled)
    for answer in cloud.answers:
        httpserver.expect_request(answer.path).respond_with_handler(throttled)
    assert cloud.collect(httpserver.url_for("")).offers


@EVERY
@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b"null", b'"text"', b'{"hello": [1, 2]}', b"[1, 2]", b"<!doctype html><title>Sign in</title>"],
    ids=["nothing", "object", "list", "null", "text", "other", "numbers", "page"],
)
def test_an_answer_of_another_shape_is_a_reason(cloud, httpserver, body):
    for answer in cloud.answers[:-1]:
        httpserver.expect_request(answer.path).respond_with_data(answer.body)
    httpserver.expect_request(cloud.priced.path).respond_with_data(body)
    with pytest.raises(SourceError):
        cloud.collect(httpserver.url_for(""))


@EVERY
def test_an_answer_that_breaks_off_is_a_reason(cloud, httpserver):
    def broken_off(request: Request) -> Response:
        answer = Response(cloud.priced.body[: len(cloud.priced.body) // 2], content_type=cloud.priced.content_type)
        answer.automatically_set_content_length = False
        answer.headers["Content-Length"] = str(len(cloud.priced.body))
        return answer

    for answer in cloud.answers[:-1]:
        httpserver.expect_request(answer.path).respond_with_data(answer.body)
    httpserver.expect_request(cloud.priced.path).respond_with_handler(broken_off)
    with pytest.raises(SourceError):
        cloud.collect(httpserver.url_for(""))


@EVERY
def test_an_answer_without_rows_is_a_reason(cloud, httpserver):
    empty = {
        "lambda": b'{"data": {}}',
        "runpod": b'{"data": {"gpuTypes": []}}',
        "vast": b'{"offers": []}',
        "oci": b'{"items": []}',
        "digitalocean": b'{"sizes": [], "links": {}}',
        "vultr": b'{"plans": [], "plans_metal": []}',
        "sheet": b"provider,instance_type,purchase_option,currency\n",
    }
    for answer in cloud.answers[:-1]:
        httpserver.expect_request(answer.path).respond_with_data(answer.body)
    httpserver.expect_request(cloud.priced.path).respond_with_data(empty.get(cloud.name, b"[]"))
    with pytest.raises(SourceError, match=r"empty|no rows|holds no|lacks|no plans|unreadable"):
        cloud.collect(httpserver.url_for(""))


@EVERY
@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_named_but_not_shown(cloud, httpserver, status, caplog):
    caplog.set_level(logging.DEBUG)
    httpserver.expect_request("").respond_with_data(f'{{"your key was": "{SECRET}"}}', status=status)
    with pytest.raises(SourceError) as refused:
        cloud.collect(httpserver.url_for(""))
    settings = SOURCES[cloud.name].settings
    assert any(name in str(refused.value) for name in settings) or "no catalogue" in str(refused.value)
    assert SECRET not in str(refused.value) + repr(refused.value.__cause__) + caplog.text


@EVERY
def test_no_representation_shows_a_key(cloud, httpserver):
    from pricing.sources.common.http import Http

    http = Http()
    source = SOURCES[cloud.name].build(cloud.environment("http://127.0.0.1:1"), http)
    http.close()
    assert SECRET not in repr(source)


@pytest.mark.parametrize("name", ["lambda", "runpod", "oci", "digitalocean", "cirrascale"])
def test_live_offers_bear_the_names_of_packaged_ones_and_so_supersede_them(name, httpserver):
    CLOUDS[name].serve(httpserver)
    live = {offer.key for offer in CLOUDS[name].collect(httpserver.url_for("")).offers}
    assert live & {offer.key for offer in read_packaged().offers}


@pytest.mark.parametrize("name", KEYS)
def test_the_real_address_asks_for_its_key(name):
    with pytest.raises(CredentialsMissing, match=KEYS[name]):
        CLOUDS[name].collect("https://127.0.0.1:1", **dict.fromkeys(SOURCES[name].secrets, ""))


@pytest.mark.parametrize("name", [*KEYS, *OPTIONAL_KEYS])
def test_a_plain_address_needs_no_key(name, httpserver):
    cloud = CLOUDS[name]
    cloud.serve(httpserver)
    assert cloud.collect(httpserver.url_for("") + "/", **dict.fromkeys(SOURCES[name].secrets, "")).offers
    assert not any("Authorization" in request.headers for request, _ in httpserver.log)


@pytest.mark.parametrize("name", ["lambda", "digitalocean", *OPTIONAL_KEYS])
def test_a_key_travels_in_the_header(name, httpserver):
    CLOUDS[name].serve(httpserver)
    CLOUDS[name].collect(httpserver.url_for(""))
    assert {request.headers["Authorization"] for request, _ in httpserver.log} == {f"Bearer {SECRET}"}


@pytest.mark.parametrize(
    "name", [name for name, cloud in CLOUDS.items() if cloud.priced.content_type == "application/json"]
)
def test_a_row_that_cannot_be_read_costs_only_itself(name, httpserver):
    cloud = CLOUDS[name]
    cloud.serve(httpserver)
    before = cloud.collect(httpserver.url_for(""))
    httpserver.clear()
    for answer in cloud.answers[:-1]:
        httpserver.expect_request(answer.path).respond_with_data(answer.body)
    httpserver.expect_request(cloud.priced.path).respond_with_json(_with_odd_row(json.loads(cloud.priced.body)))
    after = cloud.collect(httpserver.url_for(""))
    assert set(after.offers) == set(before.offers)
    assert any("could not be read" in gap.reason for gap in after.gaps)


def _with_odd_row(document):
    """The document with a row in its list that has none of the fields."""
    if isinstance(document, list):
        return [*document, {"product_name": "GEX131", "gpu": "?"}]
    name = next(name for name in ("data", "offers", "items", "sizes", "plans", "gpuTypes") if name in document)
    inner = document[name]
    if isinstance(inner, dict) and "gpuTypes" not in inner:
        return {name: {**inner, "odd": {"instance_type": {}}}}
    if isinstance(inner, dict):
        return {name: _with_odd_row(inner)}
    odd = {"metricName": "GPU Per Hour", "gpu_info": {"count": 1}, "id": -1}
    return {**document, name: [*inner, odd]}
