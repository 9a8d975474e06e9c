"""`/plan`: every row is answered as `/cost` answers it, or has its error beside it."""

import csv
import io
import json
import re

import pytest
from click.testing import CliRunner
from support.services import packaged_service

from api.cli import answers as plan_terminal
from api.cli.main import main
from api.forms import plan as plans
from api.reports.rows import MOST_ROWS
from api.service import Service
from api.web.app import create_app

SHEET = """model,target,provider,max_hours,_team,label
resnet50,0.757,"aws,gcp",,vision,Q4
ResNet-18,0.70,,2,tiny,
resnet5O,0.757,,,typo,
resnet50,757,,,percent,
resnet50,0.99,aws,,never,
resnet50,0.757,aws,0.00001,rushed,
"""
ERRORS = (
    None,
    None,
    "did you mean resnet5",
    "such as 0.757 or 75.7%",
    "the best reaches",
    "runs of more than 0.036 s",
)


def post(client, body=SHEET, more="", kind="text/csv", path="/plan"):
    return client.post(f"{path}?{more}", data=body, content_type=kind)


def rows_of(response, sep=","):
    assert response.status_code == 200, response.text
    assert response.content_type == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(response.text.removeprefix("\ufeff")), delimiter=sep))


def best(client, query):
    """What the verdict begins with."""
    return next(
        pick["estimate"] for pick in client.get(f"/cost?limit=1&{query}").json["picks"] if pick["name"] == "cheapest"
    )


def test_rows_come_back_in_order_with_their_best_or_their_error(client):
    rows = rows_of(post(client))
    given = list(csv.DictReader(io.StringIO(SHEET)))
    for row, asked, error in zip(rows, given, ERRORS, strict=True):
        assert {name: row[name] for name in asked} == asked
        assert (row["error"] == "") == (error is None)
        assert (error or "") in row["error"]
        assert (row["billed_cost"] == "") == (error is not None)


def test_the_figures_are_those_of_cost(client):
    first, second, *_ = rows_of(post(client))
    queries = ("model=resnet50&target=0.757&provider=aws,gcp", "model=resnet18&target=0.7&max_hours=2")
    for row, query in zip((first, second), queries, strict=True):
        estimate = best(client, query)
        for name in ("billed_cost", "effective_cost", "hours", "hours_low", "billed_cost_high"):
            assert float(row[name]) == (estimate[name] if "cost" in name else pytest.approx(estimate[name], rel=1e-5))
        assert row["best_provider"] == estimate["provider"]
        assert (row["best_model"], row["instance_type"]) == (estimate["model"], estimate["instance_type"])


def test_a_list_comes_back_as_a_list(client):
    asked = [{"model": "resnet50", "target": 0.757, "provider": ["aws", "gcp"], "_id": 7}, {"model": "resnetaa50d"}]
    answer = post(client, json.dumps(asked), kind="application/json").json
    assert (answer["answered"], [row["row"] for row in answer["rows"]]) == (1, [1, 2])
    assert answer["rows"][0]["estimate"] == best(client, "model=resnet50&target=0.757&provider=aws,gcp")
    assert (
        answer["rows"][1]["error"]
        == "target: missing: add target=0.757; no training of this network has been published"
    )
    assert answer["prices"]["snapshot"]


@pytest.mark.parametrize(
    ("more", "headers", "path", "kind"),
    [
        ("", {}, "/plan", "text/csv"),
        ("", {"Accept": "*/*"}, "/plan", "text/csv"),
        ("", {"Accept": "application/json"}, "/plan", "application/json"),
        ("format=json", {}, "/plan", "application/json"),
        ("", {"Accept": "application/json"}, "/plan.csv", "text/csv"),
    ],
)
def test_the_form_of_the_answer(client, more, headers, path, kind):
    response = client.post(f"{path}?{more}", data=SHEET, content_type="text/csv", headers=headers)
    assert response.mimetype == kind


def test_curl_without_a_content_type_is_understood(client):
    kind = "application/x-www-form-urlencoded"
    assert len(rows_of(post(client, kind=kind))) == 6
    assert post(client, '[{"model": "resnet50", "target": 0.7}]', kind=kind).json["answered"] == 1


def test_parameters_beside_the_rows_hold_where_a_row_says_nothing(client):
    body = "model,target,currency\nresnet50,0.757,\nresnet50,0.757,GBP\n"
    first, second = rows_of(post(client, body, "currency=EUR&provider=aws"))
    assert (first["best_currency"], second["best_currency"]) == ("EUR", "GBP")
    assert (first["exchange_rate_date"], second["exchange_rate_date"]) == ("2026-10-30", "2026-10-30")
    assert {first["provider"], second["provider"]} == {"aws"}
    [row] = rows_of(post(client, "provider\naws\n", "model=resnet50&target=0.757"))
    assert float(row["billed_cost"]) == best(client, "model=resnet50&target=0.757&provider=aws")["billed_cost"]


def test_words_beside_the_rows_travel_into_the_answer(client):
    body, beside = "model,target,label\nresnet50,0.7,own\nresnet50,0.7,\nresnet5O,0.7,\n", "label=%3D1&cost_center=4711"
    rows = rows_of(post(client, body, beside))
    assert [row["label"] for row in rows] == ["own", "'=1", "'=1"]
    assert {row["cost_center"] for row in rows} == {"4711"}
    [row] = rows_of(client.get(f"/plan.csv?model=resnet50&target=0.7&{beside}"))
    assert (row["label"], row["cost_center"]) == ("'=1", "4711")
    assert "label" not in rows_of(post(client, "model,target\nresnet50,0.7\n"))[0]


def test_a_german_sheet(client):
    body = "\ufeffmodel;target;max_cost\r\nresnet50;0,757;12,5\r\n"
    [row] = rows_of(post(client, body, "excel=1&sep=;&decimal=,"), ";")
    estimate = best(client, "model=resnet50&target=0.757&max_cost=12.5")
    assert row["target"] == "0,757"
    assert float(row["billed_cost"].replace(",", ".")) == estimate["billed_cost"]


@pytest.mark.parametrize(
    ("cell", "discount"),
    [("0,12", "0.12"), ("gcp:0,12", "gcp:0.12"), ("0,1, gcp:0,12", "0.1,gcp:0.12"), ("0.12", "0.12")],
)
def test_a_discount_of_a_german_sheet_has_a_decimal_comma(client, cell, discount):
    body = f'model;target;discount;fx;currency\nresnet50;0,757;"{cell}";EUR:0,92;EUR\n'
    [row] = rows_of(post(client, body, "sep=;&decimal=,"), ";")
    estimate = best(client, f"model=resnet50&target=0.757&discount={discount}&fx=EUR:0.92&currency=EUR")
    assert float(row["billed_cost"].replace(",", ".")) == estimate["billed_cost"]


def test_text_in_a_row_is_no_formula_in_the_answer(client):
    body = 'model,target,_note,label\nresnet50,0.757,"=1+1","@SUM(A1)"\n"=cmd|x",0.7,-2,+3\n'
    first, second = rows_of(post(client, body))
    assert (first["_note"], first["label"]) == ("'=1+1", "'@SUM(A1)")
    assert second["model"].startswith("'=")
    assert not second["error"].startswith("=")


@pytest.mark.parametrize(
    ("body", "kind", "told"),
    [
        ("", "text/csv", "there are none"),
        ("model,target\n", "text/csv", "there are none"),
        ("[]", "application/json", "there are none"),
        ("{}", "application/json", "send a list such as"),
        ("[3]", "application/json", "send a list such as"),
        ('[{"model": {"a": 1}}]', "application/json", "a value is a text"),
        ('[{"model": ' + "[" * 900_000, "application/json", "a value is a text"),
        ('[{"a":' * 150_000, "application/json", "a value is a text"),
        ('[{"_cost": ' + "1" * 5000 + "}]", "application/json", "out of range"),
        ("modell,target\nresnet50,0.7\n", "text/csv", "did you mean model"),
        ("model,target,owner\nresnet50,0.7,me\n", "text/csv", "names of your own columns start with _"),
        ("model,model\na,b\n", "text/csv", "name every column once"),
        ("model,\na,b\n", "text/csv", "name every column once"),
        (b"model,target\n\xff\xfe\n", "text/csv", "not UTF-8 at byte 14"),
        ("model,target\n" + "resnet50,0.7\n" * (MOST_ROWS + 1), "text/csv", f"at most {MOST_ROWS}"),
        (",".join(f"_{n}" for n in range(101)) + "\n1\n", "text/csv", "at most 100"),
        (",".join(f"_{n}" for n in range(100)) + "\na" * 400_000, "text/csv", "400000 rows: send at most 1000"),
        (json.dumps([{f"_{n}": n} for n in range(101)]), "application/json", "101 columns: send at most 100"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_what_to_send(client, body, kind, told):
    response = post(client, body, kind=kind, more="format=json")
    assert response.status_code == 400
    assert told in response.json["detail"]


def test_sizes_and_types_are_limited(client):
    assert post(client, b"x" * (1024 * 1024 + 1)).status_code == 413
    refused = post(client, b"\x89PNG", kind="image/png")
    assert (refused.status_code, "text/csv" in refused.text) == (415, True)
    assert post(client, more="currencyy=EUR").status_code == 400
    assert post(client, more="currency=AAA").status_code == 400
    assert client.get("/plan?model=resnet50&target=0.7&currency=AAA").status_code == 400
    assert post(client, more="currency=XXX").status_code in (200, 400)


def test_hundreds_of_rows(client):
    lines = [f"resnet50,0.7{number % 60:02d},{1 + number % 7}" for number in range(200)]
    rows = rows_of(post(client, "\n".join(["model,target,max_hours", *lines])))
    assert len(rows) == 200
    assert {row["error"] for row in rows} == {""}
    again = best(client, f"model=resnet50&target={rows[159]['target']}&max_hours={rows[159]['max_hours']}")
    assert float(rows[159]["billed_cost"]) == again["billed_cost"]


def test_every_model_to_every_target_by_get(client):
    response = client.get("/plan.csv?model=resnet50,resnet18&target=0.70,0.757&provider=aws")
    rows = rows_of(response)
    assert [(row["model"], row["target"]) for row in rows] == [
        ("resnet50", "0.7"),
        ("resnet50", "0.757"),
        ("resnet18", "0.7"),
        ("resnet18", "0.757"),
    ]
    assert [bool(row["error"]) for row in rows] == [False, False, False, True]
    etag = response.headers["ETag"]
    same = "/plan.csv?model=resnet50,resnet18&target=0.70,0.757&provider=aws"
    for again in (same, f"{same}&_=1", f"{same}&token=sesame"):
        assert client.get(again, headers={"If-None-Match": etag}).status_code == 304
    assert client.get("/plan?model=resnet51&target=0.7").status_code == 404
    assert client.get("/plan?model=resnet50&target=0.7,750").status_code == 400
    assert client.get("/plan?model=resnet50").json["errors"] == {"target": ["missing: add target=0.757,0.76"]}


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.setattr(plan_terminal, "build_once", lambda settings: packaged_service())
    monkeypatch.setenv("HOME", str(tmp_path))
    return lambda *arguments, **more: CliRunner().invoke(main, ["plan", *arguments], **more)


def test_the_command_prints_what_http_answers(run, client, tmp_path):
    (tmp_path / "rows.csv").write_text(SHEET)
    printed = run(str(tmp_path / "rows.csv"), "--currency", "EUR", "--sep", ";")
    assert printed.stdout_bytes == post(client, more="currency=EUR&sep=;").data
    assert printed.exit_code == 0
    assert "4 of 6 rows have an error" in printed.stderr
    assert re.match(r"all: €[\d.,]+ \(€[\d.,]+ to €[\d.,]+\) for 2 rows, .* one after another\n", printed.stderr)
    listed = run("-", "--format", "json", input=SHEET)
    assert json.loads(listed.stdout) == post(client, more="format=json").json


@pytest.mark.parametrize(("arguments", "status"), [(["missing.csv"], 2), (["-", "--currency", "euro"], 2)])
def test_the_command_ends_with_a_status(run, arguments, status):
    assert run(*arguments, input="model,target\nresnet50,0.7\n").exit_code == status


def test_a_row_with_more_cells_than_columns_says_so_beside_itself(client):
    answered = post(client, "model,target\nresnet50,0,757\nresnet50,0.757\n", more="format=json").json["rows"]
    assert [row["estimate"] is None for row in answered] == [True, False]
    assert answered[0]["error"] == 'more cells than columns: "757" has no column'
    first, second = rows_of(post(client, "model,target\nresnet50,0,757\nresnet50,0.757\n"))
    assert (first[""], second[""]) == ("757", "")


def test_a_column_of_ones_own_may_have_any_name(client):
    row = rows_of(post(client, "model,target,_beyond,_error\nresnet50,0.757,mine,too\n"))[0]
    assert (row["_beyond"], row["_error"], row["error"]) == ("mine", "too", "")


@pytest.mark.parametrize("name", ["_x;=1+1|cmd", "_x|=1+1", "_\t@SUM(A1)"])
def test_the_name_of_a_column_is_no_formula_in_the_answer(client, name):
    body = json.dumps([{"model": "resnet50", "target": 0.757, name: "mine"}])
    response = post(client, body, "format=csv", kind="application/json")
    [row] = rows_of(response)
    safe = name.replace("=", "'=").replace("@", "'@")
    assert row[safe] == "mine"


@pytest.mark.parametrize("path", ["/plan.csv/?model=resnet50&target=0.757", "/cost.csv/?model=resnet50&target=0.757"])
def test_a_slash_behind_the_path_changes_no_format(client, path):
    assert client.get(path).content_type == "text/csv; charset=utf-8"
    assert client.get(f"{path}&limt=1").text.startswith('"Error 400: ')


def test_equal_questions_are_answered_once(service, monkeypatch):
    asked, answer = [], Service.answer
    monkeypatch.setattr(
        Service, "answer", lambda self, query, prices: asked.append(query) or answer(self, query, prices)
    )
    client = create_app(service).test_client()
    sheet = "model,target,label\nresnet50,0.757,a\nresnet50,0.757,b\nresnet50,0.75,a\n"
    rows = client.post("/plan", data=sheet, content_type="text/csv", headers={"Accept": "application/json"}).json[
        "rows"
    ]
    assert len(asked) == 2
    assert rows[0]["estimate"] == rows[1]["estimate"] != rows[2]["estimate"]
    assert [row["given"]["label"] for row in rows] == ["a", "b", "a"]


@pytest.mark.parametrize("limit", ["MOST_SECONDS", "LONGEST_SECONDS"])
def test_a_plan_that_takes_too_long_says_which_rows_to_send_again(client, monkeypatch, limit):
    monkeypatch.setattr(plans, limit, -1)
    rows = client.post("/plan", json=[{"model": "resnet50", "target": 0.757}]).json["rows"]
    assert "send this row again" in rows[0]["error"]


@pytest.mark.parametrize(("asked", "told"), [("", "send a line of column names"), ("?own_watts=G.", "own_watts")])
def test_a_form_without_rows_is_refused(client, asked, told):
    answer = client.post(f"/plan{asked}", data={"rows": ""}, content_type="multipart/form-data")
    assert answer.status_code == 400
    assert told in answer.text
