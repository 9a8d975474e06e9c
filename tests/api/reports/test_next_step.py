"""The verdict's last line: a step has the figures, the way to buy and the limits of its sentence, on every surface."""

import re
import shlex
from html import unescape
from itertools import product
from operator import attrgetter
from random import Random

import pytest
import yaml
from click.testing import CliRunner
from support.sampled import sampled

from api.cli.main import main
from api.formats.launch_files import launch_file
from api.reports.advice import Advice
from api.reports.launch import LaunchSchema, launch_report
from api.slack.reply import Replier

MODELS = (
    ("resnet50", "0.757"),
    ("resnet50", "0.76"),
    ("vit_b16", "0.79"),
    ("bert-large", "0.72"),
    ("resnet18", "0.69"),
)
BESIDE = (
    {}, {"sort": "time"}, {"sort": "cost"}, {"pick": "balanced"}, {"pick": "surest"}, {"purchase": "spot"}, {"region": "eu"},
    {"provider": "aws,lambda"}, {"max_hours": "12"}, {"max_cost": "90", "currency": "EUR"}, {"accelerator": "A100,GH200"},
    {"nodes": "2"}, {"instance_type": "p4d.24xlarge"}, {"training": "record"}, {"recipes": "all"}, {"discount": "aws:0.2"},
    {"basis": "effective"}, {"runs": "5", "max_cost": "300"}, {"hour_worth": "40"}, {"regions": "all"}, {"confidence": "0.95"},
    {"training": "ordinary"}, {"precision": "amp", "provider": "gcp"}, {"purchase": "spot,on_demand"},
    {"provider": "aws,gcp,azure", "max_cost": "8"}, {"region": "europe", "max_cost": "200"}, {"own": "1x RTX 4090"},
    {"provider": "aws", "purchase": "spot", "max_hours": "9", "currency": "GBP"}, {"purchase": "reserved"},
    {"discount": "0.3", "currency": "JPY", "fx": "JPY:150", "max_cost": "9000"},
)  # fmt: skip
ASKED = [{"model": model, "target": target, **beside} for (model, target), beside in product(MODELS, BESIDE)]
FIGURES = attrgetter(
    "rented", "region", "hours", "hours_low", "hours_high", "billed_cost", "billed_cost_low", "billed_cost_high", "currency",
    "effective_cost", "hourly_rate", "runs_here", "confirmed", "recipe_command",
)  # fmt: skip
SHUFFLED = Random(29).sample(ASKED, len(ASKED))


@pytest.fixture
def answered(service):
    def answer(asked):
        catalogue = service.catalogue()
        query, _ = service.question({name: [text] for name, text in asked.items()}, catalogue)
        return Advice(service, catalogue, query).answer

    return answer


@pytest.fixture
def launched(service):
    """The report of a launch command as it is printed."""

    def launch(command):
        catalogue, (_, _, model, target, *options) = service.catalogue(), shlex.split(command)
        given = {name[2:].replace("-", "_"): [text] for name, text in zip(options[::2], options[1::2], strict=True)}
        asked = {"model": [model], "target": [target], **given}
        return launch_report(service, catalogue, service.parse(LaunchSchema(), asked, catalogue)[0])

    return launch


def test_a_launch_file_is_of_the_estimate_that_its_sentence_names(answered, launched):
    started, instead = 0, 0
    for asked in sampled(SHUFFLED, 5):
        found = answered(asked)
        step = found.next
        if step is None or "costcalc launch" not in (step.command or ""):
            continue
        assert found.verdict[-1] == f"Next: {step.text}."
        report = launched(step.command)
        assert FIGURES(report.machines()[0].estimate) == FIGURES(step.estimate), (asked, step.text)
        assert not report.trains_nothing, asked
        assert (f"{step.command} starts it " in step.text) == (step.estimate == found.lead), asked
        started, instead = started + 1, instead + (step.estimate != found.lead)
    assert started > 10


def test_a_launch_file_keeps_budget_and_time(answered, launched):
    """Of each machine that it may rent, and for all runs together; in dollars by the provider's list, whatever was asked."""
    for asked in [each for each in SHUFFLED if {"max_cost", "max_hours"} & each.keys()]:
        step = answered(asked).next
        if step is None or "costcalc launch" not in (step.command or ""):
            continue
        report = launched(step.command)
        settings, query = yaml.safe_load(launch_file(report)), report.query
        environment = settings.get("envs") or dict(each.split("=", 1) for each in settings["env"])
        hours = int(environment["LIMIT_SECONDS"]) / 3600
        resources = settings.get("resources", {})
        rates = [each["max_hourly_cost"] for each in resources.get("ordered", [resources]) if "infra" in each]
        for machine, rate in zip(report.machines(), rates or [settings.get("max_price")], strict=bool(rates)):
            paid = rate * machine.estimate.nodes / float(report.listed_dollars(machine.estimate, 1))
            if query.max_cost:
                assert paid * hours * query.runs <= float(query.max_cost) * 1.001, asked
            if query.max_hours:
                assert hours * query.runs <= query.max_hours
            assert paid >= float(machine.estimate.hourly_rate) * 0.9999, asked


def test_one_bought_otherwise_than_on_demand_says_so_with_its_budget(answered):
    step = answered({"model": "resnet50", "target": "0.757", "provider": "aws,gcp,azure", "max_cost": "8"}).next
    assert step.estimate.purchase_option == "spot"
    for asked in (step.command.replace(" ", "="), step.link.replace("_", "-")):
        assert "purchase=spot" in asked
        assert "max-cost=8" in asked


def test_every_step_can_be_run_as_it_is_printed(answered, filled_url, monkeypatch):
    monkeypatch.setenv("COSTCALC_DATABASE_URL", filled_url)
    for asked in sampled(SHUFFLED, 15):
        step = answered(asked).next
        if step and step.command and " measure " not in step.command:
            ran = CliRunner().invoke(main, shlex.split(step.command)[1:])
            assert ran.exit_code == 0, (asked, ran.output)


def test_every_link_of_the_page_and_of_json_leads_to_the_figures_beside_it(client, answered):
    for asked in sampled(SHUFFLED, 12):
        step = client.get("/cost", query_string=asked).json["next"]
        page = unescape(client.get("/", query_string=asked).text)
        for link in re.findall(r'<p class="step"><a class="button" href="([^"]*)"', page):
            assert step["link"] == link
        if step and step["link"] and step["link"].startswith("/"):
            text = client.get(step["link"])
            assert text.status_code == 200, asked
            if step["link"].startswith("/launch"):
                expected = f"and {step['estimate']['billed_cost']:.2f} {step['estimate']['currency']} ("
                assert expected in text.text, asked


def test_every_link_of_a_page_opens_and_its_launch_files_are_of_the_cards(client):
    for asked in sampled(SHUFFLED, 75, 3):
        page, answer = unescape(client.get("/", query_string=asked).text), client.get("/cost", query_string=asked).json
        links = sorted({*re.findall(r'href="(/[^"#]*)"', page)})
        assert len(links) > 20, asked
        named = [(answer["next"] or {}).get("estimate"), *(pick["estimate"] for pick in answer["picks"])]
        paid = {f"{each['billed_cost']:.2f} {each['currency']}" for each in named if each}
        for link in sampled(links, 6):
            assert client.get(link, headers={"Accept": "text/html"}, follow_redirects=True).status_code == 200, (
                asked,
                link,
            )
        for link in [link for link in links if link.startswith("/launch")]:
            expected = re.search(r"# Expected.* and ([\d.]+ [A-Z]{3}) \(", client.get(link).text)
            assert expected, link
            assert expected[1] in paid, link


def test_commands_beside_a_verdict_keep_the_filters_of_the_question(client, filled_url, monkeypatch):
    monkeypatch.setenv("COSTCALC_DATABASE_URL", filled_url)
    sentence = "is reserving worth it for resnet50 75.7% on aws, 3 times a week"
    told = client.get("/ask", query_string={"q": sentence}).json["asked"]
    command = next(line for line in told if "ask costcalc commitments resnet50" in line).partition("ask ")[2]
    assert "--provider aws" in command
    assert CliRunner().invoke(main, shlex.split(command)[1:]).exit_code == 0


def test_slack_has_the_address_where_a_terminal_has_the_command(service, answered):
    step = answered({"model": "resnet50", "target": "0.757", "provider": "aws"}).next
    told = Replier(service).reply("resnet50 0.757 provider=aws", "https://cost.example.org").answer.text
    assert f"Next: https://cost.example.org{step.link}".replace("&", "&amp;") in told
    assert "costcalc launch" not in told
