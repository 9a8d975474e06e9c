"""Two machines beside each other, and many trainings at once: with the figures of the API, with and without scripts."""

import csv
import io

import pytest
from playwright.sync_api import expect
from support.browser import follow

from costcalc.units import in_words

ASKED = "model=resnet50&target=0.757"
NO_SCRIPTS = {"java_script_enabled": False}
SHEET = "model,target,provider,_project\nresnet50,0.757,aws,vision\nresnet50,757,,vision\nresnet18,0.69,,search\n"


def test_two_machines_stand_beside_each_other_with_the_verdict_of_the_api(look, client):
    page = look("/compare", **NO_SCRIPTS)
    page.get_by_label("Machine a").fill("aws:p3.2xlarge")
    page.get_by_label("Machine b").fill("aws:p3.8xlarge:2")
    follow(page.get_by_role("button", name="Compare"))
    found = client.get(f"/compare?{ASKED}&a=aws:p3.2xlarge&b=aws:p3.8xlarge:2").json
    cards = page.locator(".picks li")
    for card, side in zip(cards.all(), "ab", strict=True):
        told = card.inner_text()
        assert f"${found[side]['effective_cost']:,.2f}" in told
        assert found[side]["instance_type"] in told
        assert ("costs less" in told) == (found["cheaper"] == side)
    shown = page.get_by_role("main").inner_text()
    assert f"b costs less below {found['break_even_hourly_rate']:,.4g} USD an hour" in shown
    assert f"worth more than {found['cost_per_hour_saved']:,.2f} USD" in shown
    assert all(line in shown for line in found["verdict"][1:3])


def test_a_machine_of_ones_own_says_when_it_pays(look, client):
    asked = f"/compare?{ASKED}&a=lambda:gpu_1x_a10&b=own:1x RTX 4090"
    found = client.get(asked).json
    hours = found["owned"][0]["break_even"][0]["break_even_hours"]
    assert hours > 0
    assert f"Your 1x RTX 4090 pays off above {hours:,.0f} hours of use" in look(asked).get_by_role("main").inner_text()


def test_a_machine_that_nobody_rents_is_told_above_the_form_as_it_was_filled(look):
    page = look(f"/compare?{ASKED}&a=aws:p3.2xlarg&b=aws:p3.8xlarge")
    assert "did you mean p3.2xlarge" in page.get_by_role("alert").inner_text()
    assert page.get_by_label("Machine a").input_value() == "aws:p3.2xlarg"


@pytest.mark.parametrize("scripts", [True, False])
def test_a_pasted_sheet_comes_back_with_answers_and_errors_beside_its_rows(look, client, scripts):
    page = look("/plan", java_script_enabled=scripts)
    page.get_by_label("Rows").fill(SHEET)
    follow(page.get_by_role("button", name="Answer"))
    page.get_by_role("heading", name="2 of 3 rows answered").wait_for()
    every = client.post("/plan", data=SHEET, content_type="text/csv", headers={"Accept": "application/json"}).json[
        "rows"
    ]
    for row, found in zip(page.locator("tbody tr").all(), every, strict=True):
        told = row.inner_text()
        assert (found["error"] or f"${found['estimate']['billed_cost']:,.2f}") in told
    assert page.get_by_label("Rows").input_value().split() == SHEET.split()
    follow(page.locator("tbody tr a").first)
    assert f"{every[0]['count']:,} estimates" in page.locator(".summary").inner_text()


@pytest.mark.parametrize("kind", ["CSV", "XLSX"])
def test_the_answers_are_downloaded(look, kind):
    page = look("/plan", **NO_SCRIPTS)
    page.get_by_label("or a file").set_input_files(
        {"name": "rows.csv", "mimeType": "text/csv", "buffer": SHEET.encode()}
    )
    with page.expect_download() as download:
        page.get_by_role("button", name=kind, exact=True).click()
    assert download.value.suggested_filename == f"plan.{kind.lower()}"
    if kind == "CSV":
        assert download.value.path().read_text().count(",vision,") == 2


def test_a_dropped_file_fills_the_sheet(look):
    page = look("/plan")
    page.evaluate(
        """sheet => {
            const dropped = new DataTransfer();
            dropped.items.add(new File([sheet], "rows.csv"));
            document.querySelector("textarea").dispatchEvent(
                new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
        }""",
        SHEET,
    )
    expect(page.locator("textarea").first).to_have_value(SHEET)


def test_every_pair_of_an_address_is_a_row_and_what_is_wrong_is_told(look):
    page = look("/plan?model=resnet50,resnet18&target=0.69,0.6&provider=lambda")
    assert page.locator("tbody tr").count() == 4
    assert "not UTF-8" not in page.content()
    page.get_by_label("Rows").fill("modell,target\nresnet50,0.757")
    follow(page.get_by_role("button", name="Answer"))
    assert "modell" in page.get_by_role("alert").inner_text()
    assert page.url.endswith("/plan?provider=lambda")


@pytest.mark.parametrize("scripts", [True, False])
def test_two_machines_are_ticked_and_compared(look, scripts):
    page = look("/?model=resnet50&target=0.757&currency=EUR", java_script_enabled=scripts)
    tray = page.locator("form.tray button")
    assert tray.is_disabled() == scripts
    machines = [row.inner_text() for row in page.locator(".strip .what small").all()[:2]]
    for tick in page.locator(".strip input[name=_with]").all()[:2]:
        tick.check()
    follow(tray)
    told = page.locator("main").inner_text()
    assert all(machine.partition(",")[0] in told for machine in machines)
    assert page.get_by_label("Machine a").input_value()
    assert "currency=EUR" in page.url


def test_the_currency_asked_for_last_is_asked_for_again(look):
    page = look("/?model=resnet18&target=0.69&currency=EUR")
    page.goto(page.url.partition("&currency")[0])
    follow(page.get_by_role("button", name="Answer"))
    assert "currency=EUR" in page.url
    assert "€" in page.get_by_role("heading", level=1).inner_text()
    follow(page.get_by_role("link", name="Commitments", exact=True))
    assert "€" in page.get_by_role("heading", level=1).inner_text()


def test_a_plan_ends_with_its_sums(client):
    sheet = "model,target,_project\nresnet50,0.757,blue\nresnet18,0.69,blue\nresnet50,0.76,red\n"
    page = client.post("/plan", data={"rows": sheet}, content_type="multipart/form-data").get_data(as_text=True)
    rows = [*csv.DictReader(io.StringIO(client.post("/plan.csv", data=sheet, content_type="text/csv").text))]
    costs, low, high = ([float(row[f"billed_cost{end}"]) for row in rows] for end in ("", "_low", "_high"))
    sums = page.partition("In all")[2]
    assert f"${sum(costs):,.2f} (${sum(low):,.2f} to ${sum(high):,.2f}) for 3 rows, " in sums
    assert f"{in_words(sum(float(row['calendar_hours']) for row in rows))} one after another" in sums
    for total in (sum(costs), costs[0] + costs[1], costs[2]):
        assert f"${total:,.2f}" in sums
