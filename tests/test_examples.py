"""Every example that the help, Slack, the page, the OpenAPI document or the documents show finds something, now and in a year."""

import html
import json
import re
import shlex
from dataclasses import replace
from datetime import timedelta
from itertools import chain
from pathlib import Path
from urllib.parse import urlencode

import pytest
from click.testing import CliRunner
from support.openapi import inlined
from support.sampled import sampled
from support.services import packaged_service

from api.cli.main import main
from api.questions.schemas.training import OWNED
from api.slack.reply import Replier
from api.web.app import create_app
from costcalc.query import parameters_of

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
YEARS = (0, 1)
QUESTION = {"model": "resnet50", "target": "0.757"}
MACHINE = {"own": "1x RTX 3090"}  # beside what is said of one's own machine
NAMED_OTHERWISE = {
    "/compare": {"a": "own:1x RTX 3090"},
    "/commitments": {},
}  # there it has the accelerators of each machine
HOURS = {"took": "72h", "on": "8xA100-80GB"}  # of a training that is not named
TOKENS = {"model": "any", "parameters": 8000, "method": "lora", "tokens": 50_000_000}  # of a language model
ANY_NETWORK = {"model": "any", "epochs": 90, "parameters": 25.6, "gmacs": 4.1}
FEW_RECIPES = {"every": {"model": "llama2-70b-lora"}}  # each quarter of ResNet-50 takes 11 s of processor time
OF_ANY_NETWORK = ("parameters", "gmacs", "samples_per_epoch")
NARROWED_AS = dict.fromkeys(
    ("/accuracy", "/compare", "/launch", "/mlperf", "/plan", "/trend"), "/cost"
)  # whose estimates they show
OF_EVERY_LIST = ("limit", "offset", "sep", "decimal", "excel", "format")  # the same code for all
FOUND_NOTHING = ("no estimate matches", "no offer matches")
ON_PURPOSE = (
    "model=resnet5O",  # how a mistake is answered
    "target=757",  # and another
    "available=true",  # the packaged prices do not say who had a machine free
    "my-run",  # one's own, which nobody has stored here
    "budget=0.01",  # how too small a budget is
    "below=3.50",  # how a feed waits until it costs less
    "max_cost=0.01",  # how a row without an estimate is
    "target=0.764&as_of=2018-04-26&overheads=none&crossing=first&recipes=all&recipe=riseml-2018-v100",  # how a rejection is
)
"""Examples of what is answered where nothing is found."""
FORM_OF_WORDS = re.compile(r"\b(MODEL|TARGET|INSTANCE_TYPE|DATE|N)\b")
FOUND = ("count", "answered", "offers", "throughputs", "models", "history", "changes", "estimates", "machines")


def in_years(years):
    """The packaged service so many years after its last prices."""
    packaged = packaged_service()
    return replace(packaged, clock=lambda: packaged.clock() + timedelta(days=365 * years))


@pytest.fixture(scope="module", params=YEARS, ids=["now", "in a year"])
def service(request):
    return in_years(request.param)


@pytest.fixture(scope="module")
def client(service):
    return create_app(service).test_client()


def found(response):
    """How much a response has found."""
    assert response.status_code == 200, response.get_data(as_text=True)[:300]
    if response.mimetype == "text/csv":
        return response.get_data(as_text=True).count("\n") - 1
    if response.mimetype != "application/json":
        return len(response.data) > 1000
    answer = response.json
    known = [answer[name] for name in FOUND if name in answer] or [answer]
    return known[0] if isinstance(known[0], int) else len(known[0])


def in_documents(pattern):
    """What matches in the documents, each with where it stands."""
    for document in DOCUMENTS:
        for match in re.findall(pattern, document.read_text("utf-8"), re.MULTILINE):
            if not any(part in match for part in ON_PURPOSE) and not FORM_OF_WORDS.search(match):
                yield pytest.param(match, id=f"{document.name}: {match[:60]}")


ADDRESSES = list(in_documents(r"^(?!.*--data).*?https?://[^/\s]+(/[a-z/.]+\?[^\s'\"`)<>|]+)"))
COMMANDS = list(
    in_documents(r"costcalc ((?:cost|models|offers|accuracy|commitments|history|changes|throughput) [^`|\n]*)")
)
IN_SLACK = list(in_documents(r"`/cost ([^`]+)`"))


@pytest.mark.parametrize("address", ADDRESSES)
def test_addresses_of_the_documents_find_something(client, address):
    assert found(client.get(re.sub(r"&token=TOKEN|&_=$", "", address))) > 0


def assert_a_command_finds_something(monkeypatch, service, command):
    monkeypatch.setattr("api.cli.answers.build_once", lambda _: service)
    done = CliRunner().invoke(main, shlex.split(command))
    assert done.exit_code == 0, done.output
    assert not any(words in done.stdout.lower() for words in FOUND_NOTHING), command


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_documents_find_something(monkeypatch, service, command):
    assert_a_command_finds_something(monkeypatch, service, command)


def helps(command=main, path=()):
    """Every command's help."""
    yield CliRunner().invoke(main, [*path, "--help"]).output
    for name, each in getattr(command, "commands", {}).items():
        yield from helps(each, (*path, name))


def test_examples_in_the_help_of_commands_find_something(monkeypatch, service):
    examples = chain.from_iterable(re.findall(r"^ +\$? ?costcalc ([a-z]+ .*)$", text, re.MULTILINE) for text in helps())
    for command in examples:
        if command.partition(" ")[0] in ("cost", "offers", "accuracy", "commitments", "history", "models"):
            assert_a_command_finds_something(monkeypatch, service, command)


def said(service, text):
    """What Slack is answered."""
    return Replier(service).reply(text, "https://cost.example.org").answer.text


def assert_slack_finds_something(service, text):
    answered = said(service, text)
    assert not answered.startswith("•"), text
    assert not any(words in answered.lower() for words in FOUND_NOTHING), text


@pytest.mark.parametrize("text", IN_SLACK)
def test_examples_of_slack_in_the_documents_find_something(service, text):
    assert_slack_finds_something(service, text)


def test_examples_that_slack_shows_find_something(service):
    examples = re.findall(r"`/cost ([^`]+)`", said(service, "help") + said(service, "x"))
    assert len(examples) > 4
    for text in examples:
        assert_slack_finds_something(service, text)


def test_examples_in_the_pages_form_find_something(client):
    form = dict(
        re.findall(r'name="(\w+)"[^>]* placeholder="(?:e\.g\. )?([^"]+)"', client.get("/").get_data(as_text=True))
    )
    assert len(form) > 5
    page = client.get("/", query_string={"q": html.unescape(form.pop("q"))}, follow_redirects=True)
    assert 'id="estimates"' in page.get_data(as_text=True)
    for name, value in form.items():
        asked = QUESTION | (MACHINE if name in OWNED else {}) | {name: html.unescape(value)}
        if f"{name}={value}" in ON_PURPOSE:
            continue
        assert client.get(f"/cost?{urlencode(asked)}").json["count"] > 0, (name, value)


def questions_of(document):
    """Every path of the OpenAPI document with its required parameters' examples, and with each further example alone.

    What a sheet shares with the path that it is a form of is asked once, what others take from `/cost` there, and what every
    list takes of one of them.
    """
    seen = set()
    for path, methods in document["paths"].items():
        if "get" not in methods:
            continue
        told = [each for each in methods["get"].get("parameters", ()) if "example" in each]
        few = {"limit": 5} if any(each["name"] == "limit" for each in told) else {}
        needed = [each for each in told if each.get("required") or each["name"] == "since"]  # by default the last days
        required = few | {each["name"]: first(each["example"]) for each in needed}
        yield path, required
        for each in told:
            root = "any list" if each["name"] in OF_EVERY_LIST else path.partition(".")[0]
            if (asked := (NARROWED_AS.get(root, root), each["name"])) not in seen:
                seen.add(asked)
                beside = NAMED_OTHERWISE.get(asked[0], MACHINE) if each["name"] in OWNED else {}
                named = few | ANY_NETWORK if each["name"] in OF_ANY_NETWORK else required
                if each["name"] in parameters_of("stated"):
                    named = few | HOURS
                if each["name"] in parameters_of("language"):
                    named = few | {
                        name: value for name, value in TOKENS.items() if {name, each["name"]} != {"tokens", "examples"}
                    }
                yield path, named | beside | FEW_RECIPES.get(each["name"], {}) | {each["name"]: first(each["example"])}


def first(example):
    return example[0] if isinstance(example, list) else example


@pytest.mark.timeout(600)
def test_examples_of_the_openapi_document_find_something():
    """Asked in a year, which is harder than now: prices only grow old."""
    client = create_app(in_years(1)).test_client()
    document = inlined(json.loads(client.get("/openapi.json").data))
    asked = [each for each in questions_of(document) if not re.search(r"\{|\.png|\.svg", each[0])]
    assert len(asked) > 100
    addresses = [f"{path}?{urlencode(parameters)}" for path, parameters in sampled(asked, one_in=4)]
    addresses = [address for address in addresses if not any(part in address for part in ON_PURPOSE)]
    assert [address for address in addresses if not found(client.get(address))] == []
