"""What holds of every source with a recording alike: faults become reasons, keys stay secret, what is read keeps the rules."""

import json
import logging
from itertools import cycle

import pytest
from support.recorded_sources import NOW, RECORDED, RECORDINGS, SECRET
from support.stores import packaged_edition
from werkzeug import Request, Response

from costcalc.evidence import load_evidence
from pricing.checks import SourceListing, violations
from pricing.sources import SOURCES
from pricing.sources.common.http import Http
from pricing.sources.source import CredentialsMissing, SourceError

EVERY = pytest.mark.parametrize("source", RECORDED.values(), ids=RECORDED)


def in_turn(name, values):
    """Every source with one of these values, in turn."""
    cases = list(zip(RECORDED.values(), cycle(values), strict=False))
    return pytest.mark.parametrize(("source", name), cases, ids=RECORDED)


NEEDS_KEY = [name for name in RECORDED if SOURCES[name].secrets and SOURCES[name].missing({})]
TAKES_KEY = [name for name in RECORDED if SOURCES[name].secrets and name not in NEEDS_KEY]


def test_every_source_is_tested_on_recordings_or_against_a_fake_of_its_own():
    fakes = RECORDINGS.parent / "fakes"
    assert [name for name in SOURCES if name not in RECORDED and not (fakes / f"{name}.py").exists()] == []


@EVERY
def test_a_recorded_answer_becomes_offers_that_hold_and_says_what_was_read_whole(source, httpserver):
    source.serve(httpserver)
    collected = source.collect(httpserver.url_for(""))
    keys = [offer.key for offer in collected.offers]
    assert keys
    assert len(set(keys)) == len(keys)
    assert violations(SourceListing(collected.offers, frozenset(load_evidence().accelerators), {}, NOW)) == []
    assert all(gap.source == source.name for gap in collected.gaps)
    ended_if_missing = [any(scope.holds(offer.key) for scope in collected.whole) for offer in collected.offers]
    assert any(ended_if_missing), "an offer that it no longer lists would stand for ever"


@in_turn("status", [429, 500, 503])
def test_a_server_that_stays_down_is_a_reason(source, httpserver, status):
    httpserver.expect_request("").respond_with_data("", status=status, headers={"Retry-After": "0"})
    with pytest.raises(SourceError, match=str(status)):
        source.collect(httpserver.url_for(""))
    assert len(httpserver.log) == 2  # tried again, and given up


@EVERY
def test_throttling_that_ends_is_waited_for(source, httpserver):
    source.serve(httpserver)
    throttled = Response(status=429, headers={"Retry-After": "0"})
    httpserver.expect_oneshot_request("").respond_with_response(throttled)
    assert source.collect(httpserver.url_for("")).offers
    assert httpserver.log[0][1].status_code == 429


@EVERY
def test_an_answer_of_another_shape_is_a_reason(source, httpserver):
    for body in (
        "",
        "{}",
        "[]",
        "null",
        '"text"',
        '{"hello": [1, 2]}',
        "[1, 2]",
        "<!doctype html><title>Sign in</title>",
    ):
        httpserver.clear()
        source.serve_all_but_prices(httpserver)
        source.priced.expect(httpserver).respond_with_data(body)
        with pytest.raises(SourceError):
            source.collect(httpserver.url_for(""))


@EVERY
def test_an_answer_that_breaks_off_is_a_reason(source, httpserver):
    def broken_off(request: Request) -> Response:
        answer = Response(source.priced.body[: len(source.priced.body) // 2], content_type=source.priced.content_type)
        answer.automatically_set_content_length = False
        answer.headers["Content-Length"] = str(len(source.priced.body))
        return answer

    source.serve_all_but_prices(httpserver)
    source.priced.expect(httpserver).respond_with_handler(broken_off)
    with pytest.raises(SourceError):
        source.collect(httpserver.url_for(""))


@EVERY
def test_an_answer_without_rows_is_a_reason(source, httpserver):
    source.serve_all_but_prices(httpserver)
    source.priced.expect(httpserver).respond_with_data(_emptied(source.priced))
    with pytest.raises(SourceError, match=r"empty|no rows|holds no|not one rate|unreadable"):
        source.collect(httpserver.url_for(""))


def _emptied(answer):
    """A document whose lists and objects are empty, a text's first line, or a file without anything."""
    if answer.content_type == "application/json":
        document = json.loads(answer.body)
        empty = {name: type(value)() for name, value in document.items()} if isinstance(document, dict) else []
        return json.dumps(empty)
    return answer.body.partition(b"\n")[0] if answer.content_type.startswith("text/") else b""


@in_turn("status", [401, 403])
def test_a_refused_key_is_named_but_not_shown(source, httpserver, status, caplog):
    caplog.set_level(logging.DEBUG)
    httpserver.expect_request("").respond_with_data(f'{{"your key was": "{SECRET}"}}', status=status)
    with pytest.raises(SourceError) as refused:
        source.collect(httpserver.url_for(""))
    variables = [setting.variable for setting in SOURCES[source.name].settings]
    assert any(variable in str(refused.value) for variable in variables) or "no catalogue" in str(refused.value)
    assert SECRET not in str(refused.value) + repr(refused.value.__cause__) + caplog.text


@EVERY
def test_no_representation_shows_a_key(source):
    http = Http()
    built = SOURCES[source.name].build(source.environment("http://127.0.0.1:1"), http)
    http.close()
    assert SECRET not in repr(built)


@pytest.mark.parametrize("name", ["lambda", "runpod", "oci", "digitalocean", "cirrascale"])
def test_live_offers_bear_the_names_of_packaged_ones_and_so_supersede_them(name, httpserver):
    RECORDED[name].serve(httpserver)
    live = {offer.key for offer in RECORDED[name].collect(httpserver.url_for("")).offers}
    assert live & {offer.key for offer in packaged_edition().offers}


@pytest.mark.parametrize("name", NEEDS_KEY)
def test_the_real_address_asks_for_its_key(name):
    with pytest.raises(CredentialsMissing, match="|".join(SOURCES[name].secrets)):
        RECORDED[name].collect("https://127.0.0.1:1", **dict.fromkeys(SOURCES[name].secrets, ""))


@pytest.mark.parametrize("name", [*NEEDS_KEY, *TAKES_KEY])
def test_a_plain_address_needs_no_key(name, httpserver):
    source = RECORDED[name]
    source.serve(httpserver)
    assert source.collect(httpserver.url_for("") + "/", **dict.fromkeys(SOURCES[name].secrets, "")).offers
    assert not any("Authorization" in request.headers for request, _ in httpserver.log)


@pytest.mark.parametrize("name", [name for name in (*NEEDS_KEY, *TAKES_KEY) if len(SOURCES[name].secrets) == 1])
def test_a_key_travels_in_the_header(name, httpserver):
    RECORDED[name].serve(httpserver)
    RECORDED[name].collect(httpserver.url_for(""))
    assert {request.headers["Authorization"] for request, _ in httpserver.log} == {f"Bearer {SECRET}"}


@pytest.mark.parametrize(
    "source",
    [each for each in RECORDED.values() if each.priced.content_type == "application/json"],
    ids=lambda each: each.name,
)
def test_a_row_that_cannot_be_read_costs_only_itself(source, httpserver):
    source.serve(httpserver)
    before = source.collect(httpserver.url_for(""))
    httpserver.clear()
    source.serve_all_but_prices(httpserver)
    source.priced.expect(httpserver).respond_with_json(_with_odd_rows(json.loads(source.priced.body)))
    after = source.collect(httpserver.url_for(""))
    assert set(after.offers) == set(before.offers)
    assert any("could not be read" in gap.reason for gap in after.gaps)
    assert before.whole
    assert after.whole == (), "an offer that could not be read has not ended"


def _with_odd_rows(document):
    """The document with each row of its longest list or table once more, without any of its numbers."""
    if isinstance(document, list):
        return document + [_without_numbers(row) for row in document]
    if all(isinstance(row, dict) for row in document.values()) and len(document) > 1:
        return document | {f"odd {name}": _without_numbers(row) for name, row in document.items()}
    longest = max(document, key=lambda name: len(json.dumps(document[name])))
    return document | {longest: _with_odd_rows(document[longest])}


def _without_numbers(value):
    """Booleans stay, since they say whether a row is ours at all; ids become others, as each row has its own."""
    if isinstance(value, dict):
        return {name: _without_numbers(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_numbers(each) for each in value]
    return "?" if isinstance(value, int | float) and not isinstance(value, bool) else value
