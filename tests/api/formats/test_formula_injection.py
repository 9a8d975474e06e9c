"""Texts that a user or a price feed controls, opened by LibreOffice: none becomes a formula, numbers stay numbers."""

import csv
import io
from datetime import timedelta
from decimal import Decimal

import pytest
from openpyxl import load_workbook
from support.office import ENGLISH, GERMAN, needs_office, opened_csvs, recalculated
from support.prices import NOW, offer
from support.sampled import sampled
from support.services import service_of

from api.formats.csv_export import Cells
from api.questions.schemas.layout import Layout
from api.stored import FixedPrices
from api.web.app import create_app
from costcalc.catalogue.catalogue import Catalogue

PAYLOADS = (
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(1;1)",
    "=HYPERLINK(\"http://127.0.0.1\",\"click\")",
    "=cmd|'/C calc'!A0",
    "=IMPORTXML(CONCAT(\"http://127.0.0.1/\",A1),\"//a\")",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "＝1+1",
    "\"=1+1\"",
    "'=1+1",
    "a;=1+1",
    "a,=1+1",
    "a\n=1+1",
    "a\";=1+1;\"",
    "{=1+1}",
)  # fmt: skip
cell = Cells(Layout()).text
SEPARATORS = sampled((",", "\t", ";", "|"), one_in=2)  # LibreOffice starts for each
ASKED = {"model": "resnet50", "target": "0.757", "limit": "1000", "regions": "all"}
DOWNLOADS = (
    ("/offers.csv", {"label": "=1+1", "cost_center": "a;=1+1"}),
    ("/offers/changes.csv", {"since": "2026-11-15", "label": "=1+1"}),
    ("/cost.csv", {**ASKED, "label": "=1+1", "cost_center": "@SUM(1;1)"}),
    ("/cost.csv", {**ASKED, "label": "+1+1", "cost_center": "a;=1+1", "profile": "focus"}),
)
CHANGES = 1
NOTICED, DEFUSED = "noticed", "defused"


def hostile_offers():
    """A feed whose every text is a payload; its rates fall, so that changes are negative."""
    for number, payload in enumerate(PAYLOADS):
        yield offer(f"3.{number:02}", NOW - timedelta(days=10), region=payload, source=payload)
        yield offer(
            f"2.{number:02}", region=payload, instance_type=f"{payload} {number}", source=payload, flags=(payload,)
        )
        yield offer(f"1.{number:02}", region=payload, source=payload, provider=payload)
        yield offer(f"2.{number:02}", region=payload, source=payload)


@pytest.fixture(scope="module")
def hostile():
    catalogue = Catalogue.from_offers(hostile_offers(), "=1+1")
    return create_app(service_of(FixedPrices(catalogue))).test_client()


def cells(sheet):
    return [each for row in sheet.iter_rows() for each in row if each.value is not None]


def plain(text):
    """Without line breaks, which LibreOffice and openpyxl spell differently."""
    return text.replace("_x000D_", "").split()


def formulas(sheet):
    return [(each.coordinate, each.value) for each in cells(sheet) if each.data_type == "f"]


def table(*rows):
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


@pytest.fixture(scope="module")
def sheets(hostile, tmp_path_factory):
    """Every CSV file of this page, by what it is and what separates, as LibreOffice opens it; it starts once for each way."""
    noticed = table(["text", "number"], ["=1+1", "-0.5"], ["a;=1+1", "2"])
    defused = table(*(["x", cell(payload), cell(Decimal("-1.5"))] for payload in PAYLOADS))
    files = {(NOTICED, sep, ENGLISH): noticed for sep in ",;"}
    files |= {(DEFUSED, sep, ENGLISH): defused for sep in SEPARATORS}
    for number, (path, more) in enumerate(DOWNLOADS):
        decimal = "." if "profile" in more else ","
        comma, german = fetched(hostile, path, **more), fetched(hostile, path, **more, sep=";", decimal=decimal)
        files |= {(number, ",", ENGLISH): comma, (number, ";", ENGLISH): comma, (number, ";", GERMAN): german}
    opened = {}
    for way in dict.fromkeys(key[1:] for key in files):
        folder, keys = tmp_path_factory.mktemp("csv"), [key for key in files if key[1:] == way]
        paths = [folder / f"{number}.csv" for number in range(len(keys))]
        for path, key in zip(paths, keys, strict=True):
            path.write_bytes(files[key])
        opened |= zip(keys, opened_csvs(paths, *way), strict=True)
    return opened


def fetched(client, path, **parameters):
    response = client.get(path, query_string=parameters)
    assert response.status_code == 200, response.text
    return response.data


@needs_office
def test_this_would_notice_a_formula(sheets):
    comma, semicolon = (sheets[NOTICED, sep, ENGLISH] for sep in ",;")
    assert formulas(comma) == [("A2", "=1+1")]
    assert [place for place, _ in formulas(semicolon)] == ["A2", "B3"]  # where a semicolon separates
    assert comma["B2"].value == -0.5


@needs_office
@pytest.mark.parametrize("sep", SEPARATORS)
def test_no_cell_of_a_csv_computes_whatever_separates_in_the_readers_country(sep, sheets):
    sheet = sheets[DEFUSED, sep, ENGLISH]
    assert formulas(sheet) == []
    if sep == ",":
        assert [each.value for each in sheet["C"]] == [-1.5] * len(PAYLOADS)


@needs_office
@pytest.mark.parametrize("number", range(len(DOWNLOADS)))
def test_a_hostile_feed_and_user_get_no_formula_into_a_csv(number, sheets):
    for way in ((",", ENGLISH), (";", ENGLISH), (";", GERMAN)):
        sheet = sheets[number, *way]
        assert formulas(sheet) == []
        assert sheet.max_row > len(PAYLOADS)


@needs_office
@pytest.mark.parametrize("way", [(",", ENGLISH), (";", GERMAN)])
def test_numbers_stay_numbers_negative_ones_too(way, sheets):
    headings, *rows = sheets[CHANGES, *way].iter_rows(values_only=True)
    changes = [dict(zip(headings, row, strict=True)) for row in rows]
    fallen = [each["change"] for each in changes if each["kind"] == "changed"]
    assert len(fallen) == len(PAYLOADS)
    assert all(isinstance(change, float) and -0.4 < change < -0.2 for change in fallen)
    assert all(isinstance(each["hourly_rate"], (int, float)) for each in changes)


@needs_office
def test_a_hostile_feed_and_user_get_no_formula_into_a_workbook(hostile, tmp_path):
    file = tmp_path / "sheet.xlsx"
    file.write_bytes(fetched(hostile, "/cost.xlsx", **ASKED, label="=1+1", cost_center="=cmd|'/C calc'!A0"))
    written, computed = load_workbook(file), recalculated(file)
    for name in written.sheetnames:
        texts = {each.coordinate: each.value for each in cells(written[name]) if each.data_type == "s"}
        assert not any(payload in str(formula) for _, formula in formulas(written[name]) for payload in PAYLOADS)
        for place, value in texts.items():
            assert computed[name][place].data_type == "s", place
            assert plain(computed[name][place].value) == plain(value)
    regions = {each.value for each in written["Rates"]["C"]}
    assert {"=1+1", "@SUM(1;1)", "-1+1"} <= regions


def test_what_is_defused_still_reads_the_same(hostile):
    rows = list(csv.DictReader(io.StringIO(hostile.get("/offers.csv").text, newline="")))
    found = {row["region"].replace("'", "") for row in rows}
    assert found == {payload.replace("'", "") for payload in PAYLOADS}
