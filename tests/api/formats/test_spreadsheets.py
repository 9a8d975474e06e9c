"""`docs/spreadsheets.md`: every example in it is asked of a service with a token, and does what the page says."""

import csv
import io
import re
from datetime import datetime
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from openpyxl import load_workbook
from support.focus_rules import violations
from support.office import GERMAN, needs_office, opened_csvs
from support.services import packaged_service

from api.settings import Settings
from api.web.app import create_app

PAGE = Path(__file__).parents[3] / "docs" / "spreadsheets.md"
TEXT = PAGE.read_text(encoding="utf-8")
SERVICE = "https://costs.example.com"
IMPORTS = re.findall(r"=IMPORTDATA\((.*)\)", TEXT)
LINKS = re.findall(rf"^{SERVICE}(/\S+)$", TEXT, re.MULTILINE)
LARGEST_PICTURE = 150_000


@pytest.fixture(scope="module")
def guarded():
    return create_app(packaged_service(), Settings(api_tokens=("TOKEN",))).test_client()


def link(*parts):
    [found] = [each for each in LINKS if all(part in each for part in parts)]
    return found


def double_click():
    """The address of a file for Excel, where commas separate cells."""
    return link("excel=1", "label=").replace("&sep=%3B&decimal=%2C", "")


def asked(client, path, **headers):
    response = client.get(path, headers={"Authorization": "Bearer TOKEN", **headers})
    assert response.status_code == 200, response.text
    return response


def rows_of(text, sep=","):
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=sep))


def test_the_page_has_every_way_in():
    assert len(IMPORTS) == 2
    assert {urlsplit(each).path for each in LINKS} == {"/cost.csv", "/cost.xlsx", "/plan.csv"}


@pytest.mark.parametrize("formula", IMPORTS)
def test_importdata_needs_the_address_alone_and_a_changed_one_is_answered_alike(guarded, formula):
    address = formula.partition("&A1")[0].strip('"').removeprefix(SERVICE)
    assert {"token", "_"} <= set(parse_qs(urlsplit(address).query, keep_blank_values=True))
    first, second = (guarded.get(f"{address}{number}") for number in (1, 2))
    assert first.status_code == second.status_code == 200
    assert first.content_type == "text/csv; charset=utf-8"
    assert "Set-Cookie" not in first.headers
    assert first.text == second.text
    assert len(rows_of(first.text)) >= 1
    assert guarded.get(address.replace("TOKEN", "WRONG")).status_code == 401


def power_query():
    """Path, query, headers and delimiter as the formula language spells them."""
    [source] = re.findall(r"```powerquery\n(.*?)```", TEXT, re.DOTALL)
    [path] = re.findall(r'RelativePath = "(.*?)"', source)
    records = (re.findall(rf"{name} = \[(.*?)\]", source)[0] for name in ("Query", "Headers"))
    query, headers = (dict(re.findall(r'(\w+) = "(.*?)"', record)) for record in records)
    typed = dict(re.findall(r'\{"(\w+)", ([\w. ]+)\}', source))
    return f"/{path}", query, headers, typed


def test_power_query_sends_the_token_as_a_header_and_finds_its_columns(guarded):
    path, query, headers, typed = power_query()
    assert headers == {"Authorization": "Bearer TOKEN"}
    response = guarded.get(path, query_string=query, headers=headers)
    assert response.status_code == 200
    assert response.data.decode("utf-8")[0] != "\ufeff"
    rows = rows_of(response.text)
    assert {row["provider"] for row in rows} <= {"aws", "gcp", "azure"}
    assert len(typed) == 3
    for name, kind in typed.items():
        pattern = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ" if "datetime" in kind else r"\d+(\.\d+)?"
        assert all(re.fullmatch(pattern, row[name]) for row in rows)
    assert guarded.get(path, query_string=query).status_code == 401


def test_a_double_click_finds_utf_8_and_a_name(guarded):
    response = asked(guarded, double_click())
    assert response.data.startswith(b"\xef\xbb\xbfrank,")
    assert response.headers["Content-Disposition"] == 'attachment; filename="cost-resnet50-0.757.csv"'
    *rows, last = rows_of(response.text[1:])
    assert {row["label"] for row in rows} == {"Größe"}
    assert "rows are left out" in last["rank"]


def test_where_nothing_fits_a_cost_sheet_has_no_rows_and_a_plan_says_why(guarded):
    path = link("/plan.csv")
    assert rows_of(asked(guarded, path.replace("/plan", "/cost")).text) == []
    [row] = rows_of(asked(guarded, path).text)
    assert list(row).index("error") == 2
    assert row["error"].startswith("no estimate answers this question; left out: ")
    assert "more than 0.01 USD" in row["error"]


@needs_office
def test_a_double_click_opens_as_it_is(guarded, tmp_path):
    file = tmp_path / "cost.csv"
    file.write_bytes(asked(guarded, double_click()).data)
    [sheet] = opened_csvs([file])
    assert sheet["A1"].value == "rank"
    assert sheet.cell(2, sheet.max_column).value == "Größe"
    [seen] = [each.column for each in sheet[1] if each.value == "price_observed_at"]
    assert isinstance(sheet.cell(2, seen).value, datetime)


def test_the_german_form_has_semicolons_and_commas_in_numbers_alone(guarded):
    response = asked(guarded, link("decimal=%2C"))
    [first, *_] = rows_of(response.text[1:], ";")
    assert re.fullmatch(r"\d+,\d+", first["hours"])
    assert re.fullmatch(r"\d+,\d\d", first["billed_cost"])
    assert (first["currency"], first["label"]) == ("EUR", "Größe")
    assert re.fullmatch(r"0,\d+", first["exchange_rate_per_usd"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d 00:00:00", first["price_observed_at"])


@needs_office
def test_a_german_office_reads_numbers_from_it(guarded, tmp_path):
    file = tmp_path / "kosten.csv"
    file.write_bytes(asked(guarded, link("decimal=%2C")).data)
    [sheet] = opened_csvs([file], ";", GERMAN)
    headings, *rows = sheet.iter_rows(values_only=True)
    wanted = rows_of(asked(guarded, link("decimal=%2C")).text[1:], ";")
    for row, texts in zip(rows[:-1], wanted[:-1], strict=True):
        found = dict(zip(headings, row, strict=True))
        for name in ("hours", "billed_cost", "effective_cost_high", "success_probability"):
            assert found[name] == pytest.approx(float(texts[name].replace(",", ".")), rel=1e-14)


def test_the_workbook_has_the_sheets_that_the_page_tells_of(guarded):
    book = load_workbook(io.BytesIO(asked(guarded, link("cost.xlsx")).data))
    assert [name for name in book.sheetnames if f"*{name}*" in TEXT] == book.sheetnames


def test_the_focus_example_keeps_the_rules(guarded):
    text = asked(guarded, link("profile=focus")).text
    assert violations(text) == []
    assert "x_CostCenter" in text.partition("\r\n")[0]


def test_errors_are_one_cell_that_says_what_to_type(guarded):
    response = guarded.get(f"{link('target=757')}&token=TOKEN")
    assert response.status_code == 400
    [[message]] = csv.reader(io.StringIO(response.text))
    assert message.startswith("Error 400: target:")
    assert "0.757" in message
    refused = guarded.get(link("target=757"))
    assert refused.status_code == 401
    assert len(list(csv.reader(io.StringIO(refused.text)))) == 1


def test_pictures_are_there_and_small():
    pictures = re.findall(r"!\[.+\]\((pictures/.+\.png)\)", TEXT)
    assert len(pictures) == 1
    for picture in pictures:
        data = (PAGE.parent / picture).read_bytes()
        assert data.startswith(b"\x89PNG")
        assert len(data) < LARGEST_PICTURE
