"""One estimate explained: every term of the API with its source, so that a reader can redo it."""

import html

import pytest

BROWSER = {"Accept": "text/html"}
ASKED = "model=resnet50&target=0.757&provider=aws&purchase=on_demand"


@pytest.fixture(scope="module")
def found(app):
    return app.test_client().get(f"/estimate?{ASKED}&offset=3").json


@pytest.fixture(scope="module")
def page(app):
    return html.unescape(app.test_client().get(f"/estimate?{ASKED}&offset=3", headers=BROWSER).get_data(as_text=True))


def test_it_is_the_estimate_of_that_place_in_the_answer(client, found):
    assert found["estimate"] == client.get(f"/cost?{ASKED}&offset=3&limit=1").json["estimates"][0]
    assert found["recipe"]["name"] == found["estimate"]["recipe"]


def test_its_terms_give_its_hours_and_its_bill(found, page):
    each = found["estimate"]
    trained = each["epochs"] * found["images_per_epoch"] / each["images_per_second"] / 3600
    assert trained == pytest.approx(each["train_hours"])
    assert f"{each['train_hours']:,.4f} h" in page
    for words in (f"{each['hours']:,.4f} h", f"${each['billed_cost']:,.2f}", f"{each['images_per_second']:,.1f}"):
        assert words in page
    assert sum(part["amount"] for part in each["components"]) == pytest.approx(each["billed_cost"])


def test_every_assumption_is_said_and_every_source_is_linked(found, page):
    each = found["estimate"]
    for line in each["assumptions"]:
        assert f"<li>{line}</li>" in page
    repository = each["sources"]["price"]["source"].partition("@")[0]
    assert f'href="https://github.com/{repository}/' in page
    for source in (each["evidence_notes"]["throughput"], each["evidence_notes"]["convergence"]):
        assert source in page


def test_its_own_address_finds_it_alone(client, found, page):
    own = page.partition('<a class="keeps" href="')[2].partition('"')[0]
    assert "as_of=" in own
    again = client.get(own).json["estimate"]
    apart = {"rank": 0, "frontier": again["frontier"], "pick": again["pick"]}
    assert {**again, **apart} == {**found["estimate"], **apart}


def test_where_nothing_is_found_it_says_what_brings_more(client):
    page = html.unescape(
        client.get("/estimate?model=resnet50&target=0.757&max_cost=0.01", headers=BROWSER).get_data(as_text=True)
    )
    assert "No estimate answers this question" in page
    assert "Instead: <a" in page


def test_commands_to_copy_name_the_host_that_was_asked_and_no_other(app):
    client = app.test_client()
    for host in ("app.localhost", "127.0.0.1:8000"):
        page = client.get(f"/estimate?{ASKED}", headers={**BROWSER, "Host": host}).get_data(as_text=True)
        assert f"http://{host}/cost" in page
    assert "app.localhost" not in page
