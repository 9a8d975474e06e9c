"""`/offers.xlsx` and `/plan.xlsx`: the same rows as CSV, as typed cells."""

import csv
import io
from datetime import datetime

import pytest
from click.testing import CliRunner
from openpyxl import load_workbook
from support.office import name_of, rows_of
from support.services import packaged_service

from api.cli import answers as plan_terminal
from api.cli.main import main
from api.formats.xlsx import tables

QUESTIONS = "model,target,provider,_note\nresnet50,0.757,aws,=1+1\nresnet18,0.7,gcp,\nresnet50,757,aws,\n"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def book_of(response):
    assert (response.status_code, response.content_type) == (200, XLSX)
    return load_workbook(io.BytesIO(response.data))


def table(response):
    book = book_of(response)
    assert book.sheetnames[0] == "Summary"
    return rows_of(book.worksheets[1].values)


def csv_rows(response):
    return list(csv.DictReader(io.StringIO(response.text, newline="")))


def test_offers_are_those_of_csv_with_dates_and_numbers(client):
    rows = table(client.get("/offers.xlsx?provider=aws"))
    wanted = csv_rows(client.get("/offers.csv?provider=aws"))
    assert len(rows) == len(wanted) > 100
    for row, texts in zip(rows, wanted, strict=True):
        assert isinstance(row["observed_at"], datetime)
        assert row["hourly_rate"] == pytest.approx(float(texts["hourly_rate"]))
        assert (row["region"], row["source"]) == (texts["region"], texts["source"])


def test_offers_in_another_currency_have_its_rate(client):
    rows = table(client.get("/offers.xlsx?provider=lambda&currency=EUR&fx=EUR:0.5&label=a"))
    assert {(row["currency"], row["quoted_currency"], row["exchange_rate"], row["label"]) for row in rows} == {
        ("EUR", "USD", 0.5, "a")
    }


def test_a_price_sheet_that_is_too_large_says_what_was_left_out(client, monkeypatch):
    monkeypatch.setattr(tables, "MOST_ROWS", 10)
    count = client.get("/offers?provider=azure&limit=1").json["count"]
    book = book_of(client.get("/offers.xlsx?provider=azure"))  # nobody asked before, so that no memory answers
    assert book["Offers"].max_row == 11
    told = [row[0] for row in book["Summary"].values]
    assert any(str(line).startswith(f"{count - 10:,} rows are not in this workbook") for line in told)


@pytest.mark.parametrize(
    ("path", "headers"), [("/plan.xlsx", {}), ("/plan?format=xlsx", {}), ("/plan", {"Accept": XLSX})]
)
def test_a_plan_comes_back_as_a_workbook(client, path, headers):
    response = client.post(path, data=QUESTIONS, content_type="text/csv", headers=headers)
    rows, wanted = table(response), csv_rows(client.post("/plan.csv", data=QUESTIONS, content_type="text/csv"))
    assert response.headers["Content-Disposition"] == 'attachment; filename="plan.xlsx"'
    assert [row["target"] for row in rows] == [0.757, 0.7, 757]
    assert [row["billed_cost"] for row in rows] == [
        float(row["billed_cost"]) if row["billed_cost"] else None for row in wanted
    ]
    assert [row["error"] or "" for row in rows] == [row["error"] for row in wanted]
    assert rows[0]["_note"] == "=1+1"
    assert isinstance(rows[0]["price_observed_at"], datetime)
    note = book_of(response)["Plan"].cell(2, list(rows[0]).index("_note") + 1)
    assert note.data_type == "s"


@pytest.mark.parametrize("target", ["-1e400", "1e400", "nan", "9" * 400])
def test_numbers_that_no_cell_holds_are_texts(client, target):
    response = client.post("/plan.xlsx", data=f"model,target\nresnet18,{target}\n", content_type="text/csv")
    [row] = table(response)
    assert "target" in row["error"]


def test_every_model_to_every_target_is_a_workbook_too(client):
    rows = table(client.get("/plan.xlsx?model=resnet50,resnet18&target=0.7,0.69&provider=aws"))
    assert [(row["model"], row["target"]) for row in rows] == [
        ("resnet50", 0.7), ("resnet50", 0.69), ("resnet18", 0.7), ("resnet18", 0.69),
    ]  # fmt: skip


def test_the_terminal_writes_it(tmp_path, monkeypatch):
    monkeypatch.setattr(plan_terminal, "build_once", lambda settings: packaged_service())
    (tmp_path / "rows.csv").write_text(QUESTIONS)
    done = CliRunner().invoke(main, ["plan", str(tmp_path / "rows.csv"), "--format", "xlsx"])
    assert done.exit_code == 0, done.stderr
    assert load_workbook(io.BytesIO(done.stdout_bytes)).sheetnames == ["Summary", "Plan"]


def test_a_plan_has_sums_of_all_and_of_each_value_of_a_column_of_ones_own(client):
    sheet = "model,target,_project\nresnet50,0.757,blue\nresnet18,0.7,red\nresnet50,0.76,blue\nresnet50,0.99,red\n"
    response = client.post("/plan.xlsx", data=sheet, content_type="text/csv")
    costs = [row["billed_cost"] for row in table(response)]
    told = load_workbook(io.BytesIO(response.data), data_only=True)["Summary"]
    sums = {row[0]: row[1:3] for row in told.values if row[0]}
    [every] = [row[2:6] for row in told.values if row[0] == "all"]
    names = ("billed_cost", "billed_cost_low", "billed_cost_high", "calendar_hours")
    assert every == tuple(pytest.approx(sum(filter(None, (row[name] for row in table(response))))) for name in names)
    [months] = [row[6] for row in told.values if row[0] == "all"]
    assert months == pytest.approx(every[3] / 730)
    assert sums["all"] == (3, pytest.approx(sum(filter(None, costs))))
    assert sums["project blue"] == (2, pytest.approx(costs[0] + costs[2]))
    assert sums["project red"] == (1, pytest.approx(costs[1]))


def test_a_workbook_says_where_it_comes_from_without_its_askers_token(client):
    response = client.get("/throughput.xlsx?model=resnet50&limit=3&token=secret")
    cells = [cell for row in book_of(response)["Summary"].iter_rows() for cell in row if cell.value]
    assert [cell.hyperlink.target for cell in cells if cell.hyperlink] == [
        "http://localhost/throughput.xlsx?model=resnet50&limit=3&as_of=2026-11-20T12:00:00Z"
    ]


def test_a_plan_shows_what_was_given_and_folds_away_what_few_need(client):
    sheet = book_of(client.post("/plan.xlsx", data=QUESTIONS, content_type="text/csv"))["Plan"]
    headings = {cell.column_letter: name_of(cell.value) for cell in sheet[1]}
    groups = ((group.min, group.max) for group in sheet.column_dimensions.values() if group.hidden)
    folded = {number for first, last in groups for number in range(first, last + 1)}
    shown = [name for number, name in enumerate(headings.values(), 1) if number not in folded]
    assert shown[:5] == ["model", "target", "provider", "_note", "error"]
    assert {"best_provider", "hours", "billed_cost", "price_age_days"} < set(shown)
    assert not {"term", "available"} & set(shown)  # without any value
    assert not {"global_batch_size", "throughput_source", "convergence_note", "best_model"} & set(shown)
