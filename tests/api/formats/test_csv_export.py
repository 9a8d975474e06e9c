"""CSV: numbers stay numbers, nulls stay empty, and no text becomes a formula."""

import csv
import io
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from api.formats.csv_export import Cells, columns_of, document, number
from api.questions.schemas.layout import Layout
from costcalc.offer import PurchaseOption

cell = Cells(Layout()).text


@dataclass(frozen=True)
class Row:
    name: str | None
    amount: Decimal | float | None
    seen: datetime | None = None


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠"])
def test_text_that_could_start_a_formula_is_prefixed(start):
    text = f"{start}HYPERLINK(1)"
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["p3.8xlarge", "a=b", "1-2", "'quoted", " x", "日本"])
def test_other_text_stays_as_it_is(text):
    assert cell(text) == text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Decimal("-12.50"), "-12.50"),
        (-3, "-3"),
        (-0.5, "-0.5"),
        (1e-9, "0.000000001"),
        (Decimal("1E+3"), "1000.0"),
        (Decimal(0), "0.0"),
        (1e22, "10000000000000000000000.0"),
        (True, "true"),
        (None, None),
        ((), None),
        ("", None),
        (("rounded", "second_hand"), "rounded;second_hand"),
        (("=cmd",), "'=cmd"),
        (PurchaseOption.ON_DEMAND, "on_demand"),
        (datetime(2018, 4, 26, tzinfo=UTC), "2018-04-26T00:00:00Z"),
    ],
)
def test_values_are_raw(value, written):
    assert cell(value) == written


def test_a_decimal_comma_touches_numbers_alone():
    german = Cells(Layout(decimal=",")).text
    assert german(Decimal("-12.5")) == "-12,5"
    assert german("p3.8xlarge") == "p3.8xlarge"


def sheet(rows, **layout):
    return document(columns_of(Row), rows, Layout(**layout))


def test_a_sheet_is_rfc_4180_without_a_byte_order_mark():
    rows = [Row('say "hi", twice\nover', Decimal("1.5"), datetime(2020, 1, 1, tzinfo=UTC)), Row(None, None)]
    text = sheet(rows).decode()
    assert text == 'name,amount,seen\r\n"say ""hi"", twice\nover",1.5,2020-01-01T00:00:00Z\r\n,,\r\n'
    assert list(csv.reader(io.StringIO(text, newline="")))[1][0] == 'say "hi", twice\nover'


def test_excel_gets_moments_as_sheets_read_them_in_utc():
    moment = datetime(2026, 11, 21, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert sheet([Row("x", 0.5, moment)], excel=True).decode().splitlines()[1] == "x,0.5,2026-11-20 23:30:00"


@pytest.mark.parametrize(
    "path",
    [
        "/offers.csv",
        "/offers.csv?currency=EUR",
        "/offers/changes.csv?since=2025-06-01",
        "/offers/history.csv?instance_type=p3.8xlarge",
        "/throughput.csv?model=resnet50&limit=2000",
        "/cost.csv?model=resnet50&target=0.757&limit=1000&runs=20&utilization=0.5",
        "/cost.csv?model=resnet50&target=0.757&limit=1000&profile=focus&purchase=reserved,monthly,on_demand",
        "/commitments.csv?model=resnet50&target=0.757&runs_per_month=20",
        "/commitments.csv?model=resnet50&target=0.757&table=cash",
        "/accuracy.csv?model=resnet50&budget=20",
    ],
)
def test_the_numbers_of_a_column_are_all_whole_or_all_have_a_point(client, path):
    """Who guesses a column's type from its first hundred rows, as polars does, guesses right for all."""
    headings, *rows = cells(client, path)
    for name, *column in zip(headings, *rows, strict=True):
        forms = {"." in text for text in column if re.fullmatch(r"-?\d+(\.\d+)?", text)}
        assert len(forms) <= 1, name


def test_excel_gets_its_mark_and_other_locales_their_signs():
    assert sheet([], excel=True).startswith(b"\xef\xbb\xbfname")
    assert sheet([Row("a;b", 0.5)], sep=";", decimal=",").decode().splitlines()[1] == '"a;b";0,5;'
    assert sheet([Row("x", 0.5)], sep=",", decimal=",").decode().splitlines()[1] == 'x,"0,5",'


@pytest.mark.parametrize("query", ["excel=1&sep=%3B&decimal=%2C", "decimal=,"])
def test_the_parameters_reach_the_sheet(client, query):
    body = client.get(f"/cost.csv?model=resnet50&target=0.757&limit=1&{query}").get_data(as_text=True)
    assert body.startswith("\ufeff") == ("excel" in query)
    header, row, *_ = csv.reader(io.StringIO(body.lstrip("\ufeff")), delimiter=";")
    assert "," in dict(zip(header, row, strict=True))["hours"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/offers.csv?provider=lambda", "offers.csv"),
        ("/throughput.csv?model=resnet50&provider=lambda", "throughput.csv"),
        ("/accuracy.csv?model=resnet50&budget=20&provider=aws", "accuracy-resnet50.csv"),
        ("/plan.csv?model=resnet50&target=0.7&provider=aws", "plan.csv"),
    ],
)
def test_only_a_sheet_for_excel_is_saved_by_browsers(client, path, name):
    assert client.get(f"{path}&excel=1").headers["Content-Disposition"] == f'attachment; filename="{name}"'
    assert "Content-Disposition" not in client.get(path).headers


def cells(client, path):
    return list(csv.reader(io.StringIO(client.get(path).text)))


@pytest.mark.parametrize(
    "path",
    [
        "/offers.csv?provider=lambda",
        "/offers.csv?provider=lambda&currency=EUR",
        "/offers/changes.csv?provider=lambda&since=2025-06-01",
        "/offers/history.csv?instance_type=p3.8xlarge",
        "/throughput.csv?model=resnet50&provider=lambda",
        "/cost.csv?model=resnet50&target=0.757",
        "/commitments.csv?model=resnet50&target=0.757",
        "/accuracy.csv?model=resnet50&budget=20&provider=aws",
    ],
)
def test_own_words_stand_in_every_row_of_every_sheet(client, path):
    plain, worded, short = (
        cells(client, path + more) for more in ("", "&label=%3DQ4&cost_center=R%26D", "&cost_center=7")
    )
    assert len(plain) > 1
    assert [row[:-2] for row in worded] == plain
    assert [row[-2:] for row in worded] == [["label", "cost_center"], *[["'=Q4", "R&D"]] * (len(plain) - 1)]
    assert short[0] == [*plain[0], "cost_center"]


def test_columns_are_chosen_in_their_order_and_unknown_ones_are_told(client):
    asked = "/cost.csv?model=resnet50&target=0.757&limit=3"
    whole, some = client.get(asked), client.get(f"{asked}&columns=billed_cost,provider")
    every = list(csv.DictReader(io.StringIO(whole.text)))
    assert list(csv.reader(io.StringIO(some.text))) == [
        ["billed_cost", "provider"],
        *([row["billed_cost"], row["provider"]] for row in every),
    ]
    offers = client.get("/offers.csv?provider=lambda&limit=2&columns=hourly_rate,label&label=a").text
    assert [line.count(",") for line in offers.splitlines()] == [1, 1, 1]
    wrong = client.get(f"{asked}&columns=billed_costs")
    assert wrong.status_code == 400
    assert "did you mean billed_cost" in wrong.text


def test_what_was_estimated_has_six_significant_digits_and_amounts_have_all(client):
    [row] = csv.DictReader(io.StringIO(client.get("/cost.csv?model=resnet50&target=0.757&limit=1&sort=time").text))
    [each] = client.get("/cost?model=resnet50&target=0.757&limit=1&sort=time").json["estimates"]
    assert float(row["hours"]) == pytest.approx(each["hours"], rel=1e-5)
    for name in ("hours", "epochs", "success_probability", "train_hours", "images_per_second"):
        assert len(row[name].replace(".", "").strip("0")) <= 6
    assert float(row["billed_cost"]) == each["billed_cost"]
    assert number(1281167.04) == "1281167.0"
    assert number(1e-7) == "0.0000001"
    assert number(Decimal(7500) / 730) == "10.2739726027397"
