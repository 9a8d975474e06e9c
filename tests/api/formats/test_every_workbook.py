"""Every workbook in LibreOffice: as it comes, and a plan after a change, each figure is what the service answers."""

import csv
import io
from datetime import datetime
from urllib.parse import urlencode

import pytest
from openpyxl import load_workbook
from support.office import name_of, needs_office, recalculated_all, rows_of

from api.forms.register import QUESTIONS

GIVEN = {
    "compare": {"model": "resnet50", "target": "0.757", "a": "aws:p3.8xlarge", "b": "aws:g5.xlarge"},
    "cost": {"model": "resnet50", "target": "0.757", "provider": "aws,gcp", "currency": "EUR", "fx": "EUR:0.9"},
    "accuracy": {"model": "resnet18", "budget": "20"},
    "history": {"instance_type": "p3.8xlarge"},
    "offers": {"provider": "aws", "limit": "50"},
    "changes": {"since": "2026-09-01", "limit": "50"},
    "trend": {"model": "resnet18", "target": "0.69"},
    "mlperf": {"model": "ncf"},
}
ASKED = {each.path: urlencode(GIVEN.get(each.name, each.example)) for each in QUESTIONS if "xlsx" in each.files}
SHEETS = {"/cost": "Estimates"}
PLAN = "model,target,_project\nresnet50,0.757,blue\nresnet18,0.7,red\nresnet50,0.76,blue\n"


def column(sheet, name):
    """The cells below a heading."""
    [at] = [cell.column for cell in sheet[1] if name_of(cell.value) == name]
    return [sheet.cell(row, at) for row in range(2, sheet.max_row + 1)]


@pytest.fixture(scope="module")
def delivered(app):
    """Every workbook as it comes, by its path."""
    client = app.test_client()
    found = {path: client.get(f"{path}.xlsx?{query}") for path, query in ASKED.items()}
    found["/plan"] = client.post("/plan.xlsx", data=PLAN, content_type="text/csv")
    assert {path: response.text for path, response in found.items() if response.status_code != 200} == {}
    return {path: response.data for path, response in found.items()}


@pytest.fixture(scope="module")
def opened(delivered, tmp_path_factory):
    """The same as LibreOffice calculates them, and a plan that was changed."""
    folder = tmp_path_factory.mktemp("workbooks")
    paths = {name: folder / f"{number}.xlsx" for number, name in enumerate([*delivered, "changed plan"])}
    for name, data in delivered.items():
        paths[name].write_bytes(data)
    plan = load_workbook(io.BytesIO(delivered["/plan"]))
    column(plan["Plan"], "billed_cost")[1].value = 1000
    plan.save(paths["changed plan"])
    return dict(zip(paths, recalculated_all(list(paths.values())), strict=True))


def same(cell, text):
    """Whether a cell holds what CSV says."""
    if isinstance(cell, datetime):
        return f"{cell:%Y-%m-%d}" == text[:10]
    if text in ("true", "false"):
        return cell == (text == "true")
    if isinstance(cell, int | float):
        return cell == pytest.approx(float(text), rel=1e-5)  # CSV has six digits of what is estimated
    return (cell or "") == text.removeprefix("'")


@needs_office
@pytest.mark.parametrize("path", ASKED)
def test_as_it_comes_it_is_what_csv_has(client, opened, path):
    response = client.get(f"{path}.csv?{ASKED[path]}")
    wanted = list(csv.DictReader(io.StringIO(response.text, newline="")))
    book = opened[path]
    found = rows_of(book[SHEETS.get(path, book.sheetnames[1])].values)
    assert 0 < len(wanted) <= len(found)
    assert len(wanted) == len(found) or path == "/cost"  # which has the picks behind
    for row, texts in zip(found, wanted, strict=False):
        known = {name: text for name, text in texts.items() if not (path == "/cost" and name.startswith("exchange_"))}
        assert {name: text for name, text in known.items() if not same(row[name], text)} == {}  # its Summary has those


@needs_office
def test_calculated_anew_no_cell_differs(delivered, opened):
    cells = 0
    for name, data in delivered.items():
        for sheet in load_workbook(io.BytesIO(data), data_only=True):
            for row, lines in enumerate(zip(sheet.values, opened[name][sheet.title].values, strict=False)):
                for known, found in zip(*lines, strict=False):
                    cells += known is not None
                    if isinstance(known, int | float) and not isinstance(known, bool):
                        assert found == pytest.approx(known, rel=1e-9, abs=1e-9), (name, sheet.title, row)
    assert cells > 5_000


@needs_office
def test_a_plan_s_sums_follow_its_costs(opened):
    costs = [row["billed_cost"] for row in rows_of(opened["changed plan"]["Plan"].values)]
    told = {row[0]: row[2] for row in opened["changed plan"]["Summary"].values if row[0]}
    assert costs[1] == 1000
    assert told["all"] == pytest.approx(sum(costs))
    assert told["project red"] == 1000
    assert told["project blue"] == pytest.approx(costs[0] + costs[2])
