"""Questions about what machines cost an hour are answered with their rates, in a line, on every surface."""

import re
from statistics import median

import pytest
from click.testing import CliRunner
from support.slack import answered

from api.cli.main import main


def ask(client, sentence):
    return client.get("/ask", query_string={"q": sentence}).json


@pytest.mark.parametrize(
    ("sentence", "understood"),
    [
        ("what does an H100 cost per hour", {"accelerator": "H100"}),
        ("cheapest h100", {"accelerator": "H100"}),
        ("spot price a100 aws", {"accelerator": "A100", "provider": "aws", "purchase": "spot"}),
        ("mi300x", {"accelerator": "MI300X"}),
        ("8 h100", {"accelerator": "H100", "accelerators": "8"}),
        ("gpu prices aws", {"accelerator": "GPU", "provider": "aws"}),
        ("cheapest 8xH100 node per hour right now", {"accelerator": "H100", "accelerators": "8"}),
        ("how much is a p4d.24xlarge", {"instance_type": "p4d.24xlarge"}),
        ("was kostet eine a100 pro stunde", {"accelerator": "A100"}),
        ("H100一小时多少钱", {"accelerator": "H100"}),
        ("tpu v4 rates in 2024", {"accelerator": "TPU v4", "as_of": "2024"}),
    ],
)
def test_a_question_about_rates_is_answered_with_them(client, sentence, understood):
    document = ask(client, sentence)
    assert document["understood"] == understood
    assert document["asked"] == []
    (line,) = document["answer"]["verdict"]
    assert re.search(
        r"\$[\d.]+ to \$[\d.]+ an hour for one accelerator, \$[\d.]+ in the median of \d+ \w+ rates?, seen .* days ago",
        line,
    )
    assert re.search(r"The least is .* at \w", line)
    assert document["link"] == document["answer"]["link"]


def test_the_link_leads_to_the_same_figures(client):
    answer = ask(client, "cheapest 8xH100 node in euros")["answer"]
    sheet = client.get(answer["link"]).json
    assert answer["summary"] == sheet["summary"]
    (of_h100, *_) = (each for each in sheet["summary"] if each["accelerator"] == "H100")
    h100 = [
        float(each["hourly_rate"]) / each["accelerators"] for each in sheet["offers"] if each["accelerator"] == "H100"
    ]
    assert {each["accelerators"] for each in sheet["offers"]} == {8}
    assert of_h100["currency"] == "EUR"
    assert of_h100["count"] == len(h100)
    figures = [float(of_h100[name]) for name in ("least", "median", "most")]
    assert figures == pytest.approx([min(h100), median(h100), max(h100)], abs=1e-3)


def test_two_accelerators_have_a_line_each(client):
    verdict = ask(client, "h100 vs a100")["answer"]["verdict"]
    assert [line.split()[0] for line in verdict] == ["H100", "A100"]


@pytest.mark.parametrize(
    "sentence",
    [
        "what does training on an H100 cost",
        "rent 8 A100 for 3 days",
        "price of foo on h100",
        "how long on h100",
        "price",
        "my 4090 price",
    ],
)
def test_what_is_not_about_rates_alone_is_asked_about(client, sentence):
    document = ask(client, sentence)
    assert document["answer"] is None
    assert document["asked"]


def test_what_nobody_rents_out_is_said(client):
    answer = ask(client, "price of mi300x on gcp")["answer"]
    assert answer["verdict"] == ["MI300X on demand at gcp: no rate is known."]
    assert answer["summary"] == []


def test_rates_that_are_not_confirmed_are_called_so(client):
    document = ask(client, "tpu v4 price")
    assert "unconfirmed rate" in document["answer"]["verdict"][0]
    assert "rates=" not in document["link"]


def test_the_page_slack_and_the_terminal_say_the_same(client, monkeypatch, filled_url, slack_app):
    (line,) = ask(client, "cheapest h100")["answer"]["verdict"]
    page = client.get("/", query_string={"q": "cheapest h100"}).text
    assert line in page
    assert 'href="/offers?accelerator=H100&amp;purchase=on_demand&amp;rates=confirmed"' in page
    assert line in str(answered(slack_app.test_client(), "cheapest h100"))
    monkeypatch.setenv("COSTCALC_DATABASE_URL", filled_url)
    told = CliRunner().invoke(main, ["ask", "cheapest h100"]).output
    assert told.startswith("Understood: accelerator=H100\n")
    assert line.partition(", seen")[0] in " ".join(told.split())
    assert told.endswith("Exactly: costcalc offers --accelerator H100 --purchase on_demand --rates confirmed\n")


def test_an_accelerator_of_offers_needs_no_option_and_its_table_is_a_screenful(monkeypatch, filled_url):
    monkeypatch.setenv("COSTCALC_DATABASE_URL", filled_url)
    by_name, by_option = (
        CliRunner().invoke(main, ["offers", *words]).output for words in (["T4"], ["--accelerator", "T4"])
    )
    assert by_name == by_option
    assert re.search(r"\n3 of [\d,]+ rates .*; --limit \d+ shows all", by_name)
    assert "\n50 of " in CliRunner().invoke(main, ["offers"]).output
    several = CliRunner().invoke(
        main, ["offers", "--accelerator", "MI300X", "--accelerator", "P100", "--format", "csv"]
    )
    assert "MI300X" in several.output
    assert "P100" in several.output
