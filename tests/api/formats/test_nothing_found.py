"""Where nothing is found, Slack, the page, the terminal and the workbook name the change that brings most back."""

import io

import pytest
from openpyxl import load_workbook
from support.slack import answered

from api.formats.terminal.grid import View
from api.forms.cost import CostReport, terminal

ASKED = "model=resnet50&target=0.757&accelerator=RTX+2080+Ti"


@pytest.fixture
def client(slack_app):
    return slack_app.test_client()


@pytest.fixture
def hints(client):
    """The changes that JSON names: without them no other test here says anything."""
    found = client.get(f"/cost?{ASKED}").json
    assert found["count"] == 0 < found["rejections"]["stale_price"]
    assert {each["change"].partition("=")[0] for each in found["hints"]} >= {"max_price_age", "as_of"}
    return [each for each in found["hints"] if not each["change"].startswith("own=")]


@pytest.fixture
def sentence(hints):
    return hints[0]["sentence"]


def test_what_nobody_rents_takes_hours_on_a_machine_of_ones_own(client):
    found = client.get("/cost?model=resnet50&target=0.757&accelerator=RTX+3090&accelerators=4").json
    assert found["count"] == 0
    assert found["hints"][0]["change"] == "own=4x RTX 3090, own_price=0"
    alone = client.get(f"/cost{found['hints'][0]['query_string']}").json["estimates"][0]
    assert f": {alone['hours']:.1f} h on a machine of your own." in found["hints"][0]["sentence"]


def test_slack_says_it(client, sentence):
    told = answered(client, "resnet50 0.757 on RTX 2080 Ti")["text"]
    assert f"Instead: {sentence}" in told
    assert "recipes that never reach the target (" in told


def test_the_page_links_to_it(client, hints):
    page = client.get(f"/?{ASKED}").get_data(as_text=True)
    for hint in hints:
        assert f'<a href="/{hint["query_string"].replace("&", "&amp;")}">{hint["sentence"]}</a>' in page
    assert "No estimate answers this question" in page
    assert "Left out: " in page


def test_json_has_it(client, hints):
    for hint in hints[:2]:
        many = f"{hint['count']} estimate{'s'[: hint['count'] > 1]}"
        assert hint["sentence"] == f"{many} with {hint['change']}."
        assert hint["query_string"] == f"?{ASKED}&{hint['change']}"
        assert client.get(f"/cost{hint['query_string']}").json["count"] == hint["count"] > 0
    kept = [hint["count"] for hint in hints if not hint["change"].startswith("without ")]
    assert kept == sorted((hint["count"] for hint in hints[: len(kept)]), reverse=True)


def test_the_workbook_has_it(client, sentence):
    book = load_workbook(io.BytesIO(client.get(f"/cost.xlsx?{ASKED}").data))
    assert sentence in [cell.value for sheet in book for row in sheet for cell in row]


def test_the_terminal_prints_it(service, hints):
    query, _ = service.question(
        {"model": ["resnet50"], "target": ["0.757"], "accelerator": ["RTX 2080 Ti"]}, service.catalogue()
    )
    lines = list(terminal(CostReport(service, service.catalogue(), query), View(80)))
    for hint in hints[:1]:  # as far as there is room
        option = f"--{hint['change'].replace('_', '-')}"
        assert f"Instead: {hint['sentence'].replace(hint['change'], option)}" in lines
    assert all(len(line) <= 80 for line in lines)


def test_a_sheet_for_excel_ends_with_it_and_one_for_scripts_does_not(client, sentence):
    sheet = client.get(f"/cost.csv?{ASKED}&excel=1").get_data(as_text=True)
    assert sentence in sheet.splitlines()[-1]
    assert client.get(f"/cost.csv?{ASKED}").get_data(as_text=True).count("\r\n") == 1
