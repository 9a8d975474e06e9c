"""Where nothing is found, Slack, the page, the terminal and the workbook name the change that brings most back."""

import io

import pytest
from openpyxl import load_workbook
from support.slack import answered

from api.cli.cost import cost_lines
from api.cli.grid import View
from api.reports.cost import CostReport

SENTENCE = "1 estimate with max_price_age=2500."
ASKED = "model=resnet50&target=0.757&accelerator=RTX+2080+Ti"


@pytest.fixture
def client(slack_app):
    return slack_app.test_client()


def test_slack_says_it(client):
    told = answered(client, "resnet50 0.757 on RTX 2080 Ti")["text"]
    assert f"Instead: {SENTENCE}" in told
    assert "recipes that never reach the target (" in told


def test_the_page_links_to_it(client):
    page = client.get(f"/?{ASKED}").get_data(as_text=True)
    assert f'<a href="/?{ASKED.replace("&", "&amp;")}&amp;max_price_age=2500">{SENTENCE}</a>' in page
    assert "No estimate answers this question." in page


def test_json_has_it(client):
    hints = client.get(f"/cost?{ASKED}").json["hints"]
    assert hints[0] | {"query_string": ""} == {
        "change": "max_price_age=2500",
        "count": 1,
        "sentence": SENTENCE,
        "query_string": "",
    }
    assert client.get(f"/cost{hints[0]['query_string']}").json["count"] == 1


def test_the_workbook_has_it(client):
    book = load_workbook(io.BytesIO(client.get(f"/cost.xlsx?{ASKED}").data))
    assert SENTENCE in [cell.value for sheet in book for row in sheet for cell in row]


def test_the_terminal_prints_it(service):
    query, _ = service.question(
        {"model": ["resnet50"], "target": ["0.757"], "accelerator": ["RTX 2080 Ti"]}, service.catalogue()
    )
    lines = list(cost_lines(CostReport(service, service.catalogue(), query), View(80)))
    assert "Instead: 1 estimate with --max-price-age=2500." in lines
    assert all(len(line) <= 80 for line in lines)


def test_a_sheet_for_excel_ends_with_it_and_one_for_scripts_does_not(client):
    sheet = client.get(f"/cost.csv?{ASKED}&excel=1").get_data(as_text=True)
    assert sheet.splitlines()[-1].startswith(f'"{SENTENCE}' if "," in sheet.splitlines()[-1] else SENTENCE)
    assert client.get(f"/cost.csv?{ASKED}").get_data(as_text=True).count("\r\n") == 1
