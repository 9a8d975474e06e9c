"""The workbook: cells that are what they hold, totals that follow rates and hours, figures equal to JSON's to the cent."""

import io
import re
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal

import pytest
from openpyxl import load_workbook
from support.office import name_of, needs_office, recalculated_all, rows_of
from support.sampled import sampled
from support.services import words

from api.formats.xlsx.book import Book, Formula

ASKED = "model=resnet50&target=0.757"
LIVE = words("billed_cost billed_cost_low billed_cost_high effective_cost effective_cost_low effective_cost_high")
QUESTIONS = (
    "limit=25&regions=all",
    "as_of=2018-04-26&recipes=all&crossing=first&overheads=none&purchase=on_demand,reserved,monthly&limit=25",
    "purchase=savings_plan,committed_use,monthly&utilization=0.4&discount=aws:0.125&currency=EUR&limit=25",
    "purchase=capacity_block,spot,monthly&max_price_age=3650&nodes=4&currency=JPY&discount=0.07&utilization=0",
    "purchase=capacity_block&provider=aws&runs=1000&limit=20",
    "purchase=owned,monthly&own=1xRTX3090,8xV100&pue=1.3&utilization=0.5&basis=effective&limit=25&currency=EUR",
    "purchase=free,on_demand&recipes=all&regions=all&limit=25&runs=3",
    "limit=25&runs=12&storage_gb=150&storage_rate=0.023&egress_gb=20&egress_rate=0.09&discount=0.1",
)
SOME = sampled(QUESTIONS, one_in=2, first=1)


def ask(client, path, more):
    response = client.get(f"{path}?{ASKED}&{more}")
    assert response.status_code == 200, response.text
    return response


def workbook(client, more="limit=3", **options):
    return load_workbook(io.BytesIO(ask(client, "/cost.xlsx", more).data), **options)


def table(sheet):
    """The rows below the headings, as dictionaries."""
    return rows_of(sheet.values)


def cents(value):
    return Decimal(repr(float(value))).quantize(Decimal("0.01"), ROUND_HALF_UP)


def close(value, wanted):
    """Equal in the digits that sheets keep."""
    return value == wanted or (None not in (value, wanted) and value == pytest.approx(wanted, rel=1e-12, abs=0))


def cell(sheet, row, name):
    """The cell of a column in a row, the first below the headings being 1."""
    names = [name_of(each.value) for each in sheet[1]]
    return sheet.cell(row + 1, names.index(name) + 1)


def test_it_is_a_file_with_its_sheets_and_a_chart(client):
    response = ask(client, "/cost.xlsx", "limit=3")
    assert response.headers["Content-Type"].endswith("spreadsheetml.sheet")
    assert response.headers["Content-Disposition"] == 'attachment; filename="cost-resnet50-0.757.xlsx"'
    book = load_workbook(io.BytesIO(response.data))
    assert book.sheetnames[:4] == ["Summary", "Estimates", "Rates", "Discounts"]
    assert len(book["Summary"]._charts) == 1


def test_the_summary_says_how_far_one_gets_and_what_was_left_out(client):
    asked = client.get("/cost?model=resnet50&target=0.99&provider=aws").json
    book = load_workbook(io.BytesIO(client.get("/cost.xlsx?model=resnet50&target=0.99&provider=aws").data))
    lines = list(book["Summary"].iter_rows(values_only=True))
    rows = {row[0]: row[1:3] for row in lines if row[0]}
    best = asked["best_reached"]
    assert rows["highest accuracy of any recipe"] == (best["accuracy"], best["recipe"])
    told = {row[2]: row[1] for row in lines if row[0] == "left out"}
    assert list(told.values()) == list(asked["rejections"].values()) != []
    assert told["recipes that never reach the target"] == asked["rejections"]["target_never_reached"]


@pytest.mark.parametrize(
    ("query", "headers"),
    [(f"/cost.xlsx?{ASKED}", {}), (f"/cost?{ASKED}&format=xlsx", {}),
     (f"/cost?{ASKED}", {"Accept": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"})],
)  # fmt: skip
def test_it_is_asked_for_in_three_ways(client, query, headers):
    assert client.get(query, headers=headers).data[:2] == b"PK"


def test_a_bad_question_for_it_is_told_as_everywhere(client):
    response = client.get("/cost.xlsx?model=resnet50&target=757")
    assert (response.status_code, response.content_type) == (400, "application/problem+json")
    assert client.get(f"/cost.xlsx?{ASKED}&format=csv").status_code == 400


def test_cells_are_what_they_hold(client):
    book = workbook(client, "limit=3&label=%3D1%2B1&purchase=spot")
    [estimate, *_] = table(book["Estimates"])
    assert isinstance(estimate["hours"], float)
    assert isinstance(estimate["price_observed_at"], datetime)
    assert isinstance(estimate["frontier"], bool)
    assert estimate["term"] is None
    assert isinstance(cell(book["Rates"], 1, "list_rate").value, float)
    [label] = [row[1] for row in book["Summary"].iter_rows() if row[0].value == "label"]
    assert (label.value, label.data_type) == ("=1+1", "s")


def test_the_cached_values_are_the_answer(client):
    found = table(workbook(client, QUESTIONS[0], data_only=True)["Estimates"])
    wanted = ask(client, "/cost", QUESTIONS[0]).json["estimates"]
    assert len(found) > len(wanted), "the picks come after them"
    for row, estimate in zip(found, wanted, strict=False):
        assert all(close(row[key], value) for key, value in estimate.items() if isinstance(value, (int, float)))
        assert row["price_source"] == estimate["sources"]["price"]["source"]


def test_the_estimates_hold_the_picks_and_the_frontier(client):
    rows = table(workbook(client, QUESTIONS[0], data_only=True)["Estimates"])
    there = {(row["provider"], row["instance_type"], row["nodes"]) for row in rows if row["frontier"]}
    front = ask(client, "/cost", f"{QUESTIONS[0]}&frontier=true").json["estimates"]
    picks = [pick["estimate"] for pick in ask(client, "/cost", QUESTIONS[0]).json["picks"]]
    assert {(each["provider"], each["instance_type"], each["nodes"]) for each in front} <= there
    assert {each["rank"] for each in picks} <= {row["rank"] for row in rows}


def test_costs_are_formulas_over_cells_of_their_own_row(client):
    """A fixed row in a formula would be another estimate's as soon as the rows are sorted."""
    book = workbook(client, "limit=3&purchase=on_demand,reserved&storage_gb=10")
    written = [
        each for sheet in book.worksheets[1:] for row in sheet.iter_rows() for each in row if each.data_type == "f"
    ]
    assert len(written) > 200
    for each in written:
        rows = {int(row) for row in re.findall(r"\$[A-Z]+(\d+)", each.value)}
        assert rows <= {each.row}, (each.parent.title, each.coordinate, each.value)
    assert all(
        table(book["Estimates"])[0][key].startswith("=") for key in (*LIVE, "hourly_rate", "hours_low", "hours_high")
    )


def test_an_answer_without_estimates_is_a_workbook_too(client):
    book = workbook(client, "max_hours=0.0001")
    assert table(book["Estimates"]) == []
    assert "no estimate answers this question" in [row[0] for row in book["Summary"].values]


WRONG, EMPTIED = "a wrong cached value", "no cached values"


@pytest.fixture(scope="module")
def calculated(app, tmp_path_factory):
    """The workbook of each question, and two others, as LibreOffice calculates them; it starts once."""
    client, folder = app.test_client(), tmp_path_factory.mktemp("calculated")
    paths = {name: folder / f"{number}.xlsx" for number, name in enumerate((*SOME, WRONG, EMPTIED))}
    for question in SOME:
        paths[question].write_bytes(ask(client, "/cost.xlsx", question).data)
    book = Book("wrong", datetime(2026, 11, 20, tzinfo=UTC))
    book.sheet("Sums").put(0, 0, Formula("=1+1", 3))
    paths[WRONG].write_bytes(book.finish())
    assert load_workbook(paths[WRONG], data_only=True)["Sums"]["A1"].value == 3
    workbook(client, "limit=5").save(paths[EMPTIED])  # openpyxl writes formulas alone
    assert table(load_workbook(paths[EMPTIED], data_only=True)["Estimates"])[0]["billed_cost"] is None
    return dict(zip(paths, recalculated_all(list(paths.values())), strict=True))


@needs_office
def test_recalculation_overrules_what_was_cached(calculated):
    assert calculated[WRONG]["Sums"]["A1"].value == 2


@needs_office
@pytest.mark.parametrize("question", SOME)
def test_recalculated_it_equals_json_to_the_cent(client, calculated, question):
    wanted = client.get(f"/cost?{ASKED}&{question}").json["estimates"]
    found = table(calculated[question]["Estimates"])[: len(wanted)]  # after them come the picks
    assert len(found) == len(wanted) >= 20
    for row, estimate in zip(found, wanted, strict=True):
        for key in LIVE:
            # the ends of hours are binary fractions on the sheet: one on half a cent may be rounded the other way
            tie = Decimal("0.01") * key.endswith(("_low", "_high"))
            assert abs(cents(row[key]) - cents(estimate[key])) <= tie, (estimate["rank"], key)
        assert close(row["hourly_rate"], estimate["hourly_rate"])
        assert close(row["break_even_hours"] or None, estimate["break_even_hours"])
        for key in ("hours_low", "hours_high", "retry_hours", "calendar_hours", "images_per_second"):
            assert row[key] == pytest.approx(estimate[key], rel=1e-9), (estimate["rank"], key)


@needs_office
def test_without_its_cached_values_it_is_computed_all_the_same(client, calculated):
    [first, *_] = table(calculated[EMPTIED]["Estimates"])
    assert cents(first["billed_cost"]) == cents(ask(client, "/cost", "limit=1").json["estimates"][0]["billed_cost"])
