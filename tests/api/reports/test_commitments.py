"""`/commitments`: the same comparison as JSON, CSV and sheets, on the machines that suit the question."""

import csv
import io
from decimal import Decimal

import pytest
from openpyxl import load_workbook
from support.office import rows_of

from costcalc import recall

ASKED = "model=resnet50&target=0.757"
RISEML = f"{ASKED}&as_of=2018-04-26&overheads=none&crossing=first"
FIXED = {"reserved", "savings_plan", "committed_use", "monthly"}


def get(client, more="", path="/commitments", asked=ASKED):
    response = client.get(f"{path}?{asked}&{more}")
    assert response.status_code == 200, response.text
    return response


def sheet(client, more="", asked=ASKED):
    return list(csv.DictReader(io.StringIO(get(client, more, "/commitments.csv", asked).text)))


def test_reserving_four_v100_by_hand(client):
    """On demand 12.24, reserved for a year without upfront 8.354: it pays from 68.25 % of the hours."""
    answer = get(client, "instance_type=p3.8xlarge&term=1y&payment=no_upfront&runs_per_month=50", asked=RISEML).json
    [machine] = [each for each in answer["machines"] if each["nodes"] == 1]
    assert (machine["on_demand"]["hourly_rate"], machine["on_demand"]["same_machine"]) == (12.24, True)
    way = machine["ways"][0]
    assert (way["hourly_rate"], way["months"], way["total"], way["monthly"]) == (8.354, 12, 73181.04, 6098.42)
    assert way["break_even_hours_per_term"] == pytest.approx(73181.04 / 12.24, abs=1e-6)
    assert way["break_even_utilization"] == pytest.approx(8.354 / 12.24, abs=1e-6)
    assert sum(map(Decimal, map(str, way["cash_by_month"]))) == Decimal("73181.04")
    [asked] = [usage for usage in way["usage"] if usage["asked"]]
    assert asked["hours_per_month"] == pytest.approx(50 * machine["hours_per_run"], abs=1e-6)
    assert asked["cost_per_month"] == 6098.42
    assert asked["on_demand_per_month"] == pytest.approx(12.24 * asked["hours_per_month"], abs=0.005)


def test_renting_by_the_month_is_compared_with_the_same_accelerators_on_demand(client):
    """Cirrascale's 7,500 a month against 12.24 an hour: 84 % of the month."""
    answer = get(client, "provider=cirrascale&accelerators=4", asked=RISEML).json
    [machine] = [each for each in answer["machines"] if each["accelerator"] == "V100" and each["nodes"] == 1]
    assert (machine["on_demand"]["instance_type"], machine["on_demand"]["same_machine"]) == ("p3.8xlarge", False)
    assert any("same accelerators" in line for line in machine["assumptions"])
    way = machine["ways"][0]
    assert (way["total"], way["cash_by_month"]) == (7500, [7500])
    assert way["break_even_hours_per_month"] == pytest.approx(7500 / 12.24, abs=1e-6)
    assert way["break_even_utilization"] == pytest.approx(0.8394, abs=1e-4)


def test_owning_the_same_four_v100_by_hand(client):
    """40,000 less a resale of 10,000 over two years are 1,250 a month; 2 kW at 0.10 add 0.20 an hour to it, on demand 12.24."""
    own = "own_price=40000&own_years=2&own_watts=2000&electricity=0.1"
    answer = get(client, f"instance_type=p3.8xlarge&nodes=1&{own}", asked=RISEML).json
    owned = answer["machines"][0]["owned"]
    assert (owned["purchase_option"], owned["term"], owned["months"], owned["total"]) == ("owned", "2y", 24, 30_000)
    assert owned["hourly_rate"] == pytest.approx(1250 / 730 + 0.2)
    assert owned["break_even_hours_per_month"] == pytest.approx(1250 / (12.24 - 0.2), abs=1e-6)
    assert [each["cost_per_month"] for each in owned["usage"]] == [
        pytest.approx(1250 + 0.2 * each["hours_per_month"], abs=0.005) for each in owned["usage"]
    ]
    assert (owned["upfront"], owned["monthly"], owned["cash_by_month"]) == (None, None, None)
    assert owned["price"]["source"] == "your own price"


def test_two_machines_of_ones_own_cost_twice_as_much(client):
    own = "instance_type=p5.48xlarge&own_price=100000"
    one, two = (get(client, f"{own}&nodes={nodes}").json["machines"][0]["owned"] for nodes in (1, 2))
    assert (two["total"], two["hourly_rate"]) == (2 * one["total"], pytest.approx(2 * one["hourly_rate"]))


def test_where_nobody_knows_what_they_were_sold_for_nothing_is_owned(client):
    machine = get(client, "instance_type=v5p-8").json["machines"][0]
    assert (machine["accelerator"], machine["owned"]) == ("TPU v5p", None)


def test_it_takes_the_few_machines_of_least_effective_cost_unless_told(client):
    machines = get(client, "provider=aws,azure,gcp").json["machines"]
    assert 0 < len(machines) <= 3
    assert len(get(client, "provider=aws,azure,gcp&limit=5").json["machines"]) == 5
    for machine in machines:
        assert {way["purchase_option"] for way in machine["ways"]} <= FIXED
        assert [usage["utilization"] for usage in machine["ways"][0]["usage"]] == [0.1, 0.25, 0.5, 0.75, 1]
        rates = [way["hourly_rate"] for way in machine["ways"]]
        assert rates == sorted(rates)
    only = get(client, "purchase=savings_plan").json["machines"]
    assert {way["purchase_option"] for machine in only for way in machine["ways"]} == {"savings_plan"}


def test_break_even_is_that_of_the_estimates(client):
    machine = get(client, "provider=aws&limit=1").json["machines"][0]
    wanted = (
        f"provider=aws&instance_type={machine['instance_type']}&region={machine['region']}&nodes={machine['nodes']}"
    )
    estimates = client.get(f"/cost?{ASKED}&{wanted}&limit=100").json["estimates"]
    listed = {(e["purchase_option"], e["term"], e["payment"]): e["break_even_hours"] for e in estimates}
    for way in machine["ways"]:
        known = listed[way["purchase_option"], way["term"], way["payment"]]
        assert way["break_even_hours_per_term"] == pytest.approx(known, abs=1e-6)


def test_the_sheet_has_a_row_for_each_way_and_usage(client):
    more = "provider=aws&runs_per_month=300&currency=EUR&label=Q4"
    machines = get(client, more).json["machines"]
    rows = sheet(client, more)
    cells = [(machine, way, usage) for machine in machines for way in machine["ways"] for usage in way["usage"]]
    for row, (machine, way, usage) in zip(rows, cells, strict=True):
        assert row["instance_type"] == machine["instance_type"]
        assert (row["term"], row["payment"] or None) == (way["term"], way["payment"])
        for name in ("cost_per_month", "on_demand_per_month", "saving_per_term", "hours_per_month", "utilization"):
            assert float(row[name]) == pytest.approx(usage[name], rel=1e-5)
        assert row["asked"] == str(usage["asked"]).lower()
        assert (row["currency"], row["exchange_rate_date"], row["label"]) == ("EUR", "2026-10-30", "Q4")


def test_the_sheet_of_payments_has_a_row_for_each_month(client):
    machines = get(client, "provider=azure&limit=1").json["machines"]
    rows = sheet(client, "provider=azure&limit=1&table=cash")
    due = [amount for machine in machines for way in machine["ways"] for amount in way["cash_by_month"] or ()]
    assert [float(row["due"]) for row in rows] == due
    last = [row for row in rows if row["month"] == row["months"]]
    assert last
    assert {row["paid_so_far"] for row in last} == {row["total"] for row in last}
    assert rows[0]["utilization"] == "1.0"
    assert float(rows[0]["on_demand_so_far"]) == pytest.approx(float(rows[0]["on_demand_hourly_rate"]) * 730, abs=0.005)


def test_it_works_out_the_speeds_of_one_list_of_machines(client, monkeypatch):
    """The machines that stand first are two, four and more of a kind: all are in the list that the question asks about, whose
    speeds are worked out once, and once more for benchmark entries, as nothing else runs on some."""
    made, make = [], recall.training_matrix
    monkeypatch.setattr(recall, "training_matrix", lambda *asked: made.append(asked) or make(*asked))
    answer = get(client, "images_per_second=1234.5@1xA100-40GB&sort=time&limit=20").json
    assert len({machine["nodes"] for machine in answer["machines"]}) > 2
    assert len({machines for _, _, _, machines, _, _ in made}) == 1
    assert [care for *_, care in made] == ["tuned", "record"]


@pytest.mark.parametrize(("table", "amount"), [("break_even", "cost_per_month"), ("cash", "due")])
def test_the_workbook_has_the_rows_of_csv_as_typed_cells(client, table, amount):
    asked = f"provider=aws&table={table}"
    book = load_workbook(io.BytesIO(get(client, asked, "/commitments.xlsx").data), data_only=True)
    assert book.sheetnames == ["Summary", "Commitments"]
    rows, wanted = rows_of(book["Commitments"].values), sheet(client, asked)
    assert [row[amount] for row in rows] == [float(row[amount]) for row in wanted if row[amount]]
    assert rows[0]["on_demand_same_machine"] is True


@pytest.mark.parametrize(
    ("purchase", "is_said"), [("spot", True), ("on_demand", True), ("spot,reserved", False), ("", False)]
)
def test_a_purchase_that_is_no_commitment_is_said_to_choose_none(client, purchase, is_said):
    answer = get(client, f"instance_type=p3.8xlarge&nodes=1&purchase={purchase}", asked=RISEML).json
    assert {way["purchase_option"] for way in answer["machines"][0]["ways"]} == {"reserved"}
    assert any("purchase= names no " in note for note in answer["notes"]) == is_said


def test_nothing_to_commit_to_is_said(client):
    answer = get(client, "provider=lambda&accelerator=A10").json
    assert answer["machines"] == []
    assert "No reserved, committed or monthly offer matches" in answer["notes"][0]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("runs_per_month=0", "above 0"),
        ("runs=3", "did you mean runs_per_month"),
        ("table=chart", "break_even or cash"),
        ("profile=focus", "unknown parameter"),
        ("limit=21", "from 1 to 20"),
    ],
)
def test_bad_parameters_are_told(client, more, told):
    response = client.get(f"/commitments?{ASKED}&{more}")
    assert response.status_code == 400
    assert told in response.json["detail"]


def test_the_answer_is_tagged(client):
    etag = client.get(f"/commitments?{ASKED}").headers["ETag"]
    assert client.get(f"/commitments?{ASKED}", headers={"If-None-Match": etag}).status_code == 304
    assert client.get(f"/commitments?{ASKED}&runs_per_month=2").headers["ETag"] != etag
