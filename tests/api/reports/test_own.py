"""`own=`: machines that the asker owns, beside what can be rented."""

import pytest

CASE = "/cost?model=resnet50&target=0.757"


def ask(client, tail):
    response = client.get(f"{CASE}&{tail}")
    return response.status_code, response.get_json()


def mine(client, tail):
    status, found = ask(client, tail)
    assert status == 200, found
    return found["owned"]


def fault(client, tail):
    status, found = ask(client, tail)
    assert status == 400
    return found["errors"]


def test_an_own_machine_stands_beside_the_offers_whatever_filters_them(client):
    (one,) = mine(client, "own=1xRTX4090&provider=aws&purchase=on_demand&region=us-east-1&available=false")
    estimate = one["estimate"]
    assert (estimate["provider"], estimate["instance_type"]) == ("own", "1x RTX 4090")
    assert (estimate["purchase_option"], estimate["term"]) == ("owned", "3y")
    assert estimate["sources"]["price"]["source"].startswith("1 x RTX 4090 at 1,599 USD: NVIDIA's announcement")
    assert one["break_even"]
    assert {each["provider"] for each in one["break_even"]} == {"aws"}
    assert all(each["break_even_hours"] > 0 for each in one["break_even"])
    (unfiltered,) = mine(client, "own=1xRTX4090")
    assert estimate["break_even_hours"] == unfiltered["estimate"]["break_even_hours"]


def test_without_a_rental_in_the_question_it_is_compared_with_those_of_everybody(client):
    _, both = ask(client, "own=1x RTX 4090")
    for tail in ("own=1x RTX 4090&provider=own", "own=1x RTX 4090&purchase=owned"):
        status, alone = ask(client, tail)
        assert status == 200
        (estimate,) = alone["estimates"]
        assert estimate["break_even_hours"] == both["owned"][0]["estimate"]["break_even_hours"]


def test_no_age_makes_it_stale_and_it_is_found_among_the_estimates(client):
    status, found = ask(client, "own=1xGTX1080Ti&max_price_age=1&purchase=owned&basis=effective")
    assert status == 200
    assert [each["provider"] for each in found["estimates"]] == ["own"]
    assert found["estimates"][0] == found["owned"][0]["estimate"]


@pytest.mark.parametrize("own", ["1xA10G", "4xP40", "1xMI250X", "2xA5000", "8xH100&as_of=2023-01-01"])
def test_where_no_purchase_price_is_known_hours_and_electricity_are_answered(client, own):
    status, found = ask(client, f"own={own}")
    assert status == 200
    (mine,) = found["owned"]
    electricity = sum(component["amount"] for component in mine["estimate"]["components"])
    assert mine["estimate"]["hours"] > 0 < electricity
    assert {mine["estimate"]["billed_cost"], mine["estimate"]["effective_cost"]} == {None}
    assert {mine["estimate"]["break_even_hours"], *(each["break_even_hours"] for each in mine["break_even"])} == {None}
    told = "for electricity alone: no purchase price of it is known, so add own_price="
    assert any(told in line for line in found["verdict"])
    _, priced = ask(client, f"own={own}&own_price=2000")
    assert priced["owned"][0]["estimate"]["billed_cost"] > electricity


def test_the_parts_of_the_rate_are_shown_and_add_up(client):
    (one,) = mine(client, "own=8xV100&electricity=data_center&pue=data_center&own_watts=3000")
    estimate = one["estimate"]
    names = [each["name"] for each in estimate["components"]]
    assert names == [
        "8x V100, loss in value",
        "electricity of 3,000 W at 0.08 a kWh",
        "electricity of the building at PUE 1.56",
    ]
    assert sum(each["amount"] for each in estimate["components"]) == pytest.approx(estimate["billed_cost"])
    assert estimate["components"][0]["amount"] == pytest.approx(149_000 * 0.75)  # DGX-1's price of 2017
    assert estimate["energy_kwh"] == pytest.approx(3 * 1.56 * estimate["hours"])
    assert estimate["carbon_kg"] is None
    assert not [said for said in estimate["assumptions"] if "watts=" in said]


def test_a_machine_that_is_paid_for_costs_its_electricity_alone(client):
    (one,) = mine(client, "own=1xRTX3090&own_price=0&electricity=0.30")
    estimate = one["estimate"]
    assert (
        estimate["billed_cost"] == estimate["effective_cost"] == pytest.approx(estimate["hours"] * 0.55 * 0.3, abs=0.01)
    )
    assert estimate["break_even_hours"] in (0, None)


def test_a_machine_that_is_paid_for_pays_from_its_first_hour_on(client):
    asked = "model=resnet50&target=0.757&own_price=0"
    compared = client.get(f"/compare?{asked}&a=own:1xRTX4090&b=lambda:gpu_1x_a10").json
    assert [one["break_even"][0]["break_even_hours"] for one in compared["owned"]] == [0]
    assert compared["verdict"][-1].startswith("Your 1x RTX 4090 pays off from its first hour: ")


def test_prices_are_those_of_the_currency_asked_for(client):
    dollars = mine(client, "own=1xRTX3090")[0]["estimate"]
    yen = mine(client, "own=1xRTX3090&currency=JPY&fx=JPY:100")[0]["estimate"]
    assert yen["effective_cost"] == pytest.approx(100 * dollars["effective_cost"], rel=0.01)
    own = mine(client, "own=1xRTX3090&currency=JPY&fx=JPY:100&own_price=300000&own_resale=0")[0]["estimate"]
    assert own["components"][0]["amount"] == 300_000


@pytest.mark.parametrize(
    ("tail", "name", "told"),
    [
        ("own=1xV100&own_price=-1", "own_price", "must be a number of at least 0"),
        ("own=1xV100&own_resale=1.2", "own_resale", "from 0 to 1"),
        ("own=1xV100&own_watts=0", "own_watts", "above 0"),
        ("own=1xV100&electricity=-0.1", "electricity", "household or data_center stand for usual ones"),
        ("own=1xV100&pue=0.8", "pue", "from 1 to 10"),
        ("own=0xV100", "own", "1 to 64 accelerators, such as 1x RTX 4090"),
        ("own=2xRTX4091", "own", "did you mean RTX 4090"),
        ("own=1xA100", "own", "A100-40GB"),
        ("own=1xRTX4090&as_of=2022-10-11", "own", "no RTX 4090 was on sale before 2022-10-12: give a later as_of"),
        ("own=1xRTX4090&own_price=0&as_of=2020-02-20", "own", "no RTX 4090 was on sale before 2022-10-12"),
        ("own=1xTPU v5e&own_price=0", "own", "no watts of TPU v5e are known: give own_watts"),
    ],
)
def test_what_is_wrong_is_told_with_what_to_type(client, tail, name, told):
    assert told in fault(client, tail)[name][0]


def test_a_run_that_alone_uses_its_machine_bears_the_whole_cost_and_says_so(client):
    (one,) = mine(client, "own=1xRTX3090&utilization=0")
    estimate = one["estimate"]
    assert estimate["effective_cost"] == estimate["billed_cost"]
    assert any(line.startswith("No other work uses") for line in estimate["assumptions"])


def test_the_csv_has_own_machines_as_rows(client):
    text = client.get(f"{CASE.replace('/cost', '/cost.csv')}&own=1xRTX3090&own_price=0&limit=1000").text
    assert any(",own,any,1x RTX 3090,1,RTX 3090,1," in line for line in text.splitlines())
