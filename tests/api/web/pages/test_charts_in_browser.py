"""Every chart as a browser draws it: with the figures that the API gives, in both dresses, and in words where it cannot."""

import pytest
from playwright.sync_api import expect
from support.browser import Watched, reach, serving

from api.web.app import create_app

ASKED = "model=resnet50&target=0.757"
SIZE = "chart => [chart.clientWidth, chart.clientHeight]"
VALUES = "chart => chart.view.data('source_0')"


def drawn(page, selector=".chart"):
    """The rows behind a chart once it is drawn."""
    chart = page.locator(selector).first
    chart.scroll_into_view_if_needed()
    expect(chart).to_have_attribute("data-drawn", "", timeout=60_000)
    return chart.evaluate(VALUES)


def test_cost_against_time_takes_its_place_when_the_pointer_comes_and_leads_to_an_estimate(look, client):
    page = look(f"/?{ASKED}&provider=lambda")
    page.locator(".hero").scroll_into_view_if_needed()
    before = page.locator(".hero").evaluate(SIZE)
    page.locator(".hero").hover()
    rows = drawn(page, ".hero")
    every = client.get(f"/cost?{ASKED}&provider=lambda&limit=1000").json["estimates"]
    assert [row["rank"] for row in rows] == [each["rank"] for each in every]
    assert [row["cost"] for row in rows] == pytest.approx([each["billed_cost"] for each in every], abs=0.0051)
    assert page.locator(".hero").evaluate(SIZE) == before
    page.locator(".hero .mark-symbol path").last.click(force=True)
    page.wait_for_url("**/estimate?**")
    assert page.get_by_role("heading", name="Why lambda").is_visible()


def test_the_curve_crosses_the_target_after_the_epochs_of_the_estimate(look, client):
    page = look(f"/estimate?{ASKED}&recipe=dawnbench-fastai-rn50-p3&recipes=all")
    found = client.get(f"/estimate?{ASKED}&recipe=dawnbench-fastai-rn50-p3&recipes=all").json
    drawn(page)
    rows = page.locator(".chart").first.evaluate(
        "chart => Object.values(chart.view.getState({data: () => true}).data).flat().filter(row => 'accuracy' in row)"
    )
    points = {(each["epochs"], each["top1"]) for each in found["recipe"]["evaluations"] if each["top1"] is not None}
    assert {(row["epochs"], row["accuracy"]) for row in rows if "epochs" in row and "words" not in row} == points
    crossing = [row for row in rows if "epochs" in row and "words" in row]
    assert {(row["epochs"], row["accuracy"]) for row in crossing} == {(found["estimate"]["epochs"], 0.757)}


def test_each_accuracy_costs_what_the_cheapest_estimate_to_it_costs(look, client):
    rows = drawn(look("/accuracy?model=resnet18"))
    assert len(rows) > 10
    for row in (rows[0], rows[len(rows) // 2], rows[-1]):
        first = client.get(f"/cost?model=resnet18&target={row['accuracy']:g}&limit=1").json["estimates"][0]
        assert (row["cost"], row["recipe"]) == (first["billed_cost"], first["recipe"])


def test_the_slider_tells_the_cheapest_way_to_buy_for_so_many_hours(look, client):
    page = look(f"/commitments?{ASKED}&provider=aws&instance_type=p4de.24xlarge")
    machine = client.get(f"/commitments?{ASKED}&provider=aws&instance_type=p4de.24xlarge").json["machines"][0]
    drawn(page)
    page.get_by_role("slider").first.fill("73")
    page.get_by_text("73 h: least is on demand").wait_for()
    usage = machine["ways"][0]["usage"][0]
    assert usage["hours_per_month"] == 73
    told = page.get_by_text("73 h: least").first.text_content()
    assert told.endswith(f"{usage['on_demand_per_month']:,.2f}")
    assert (
        f"{machine['ways'][0]['break_even_hours_per_month']:,.0f} h a month" in page.locator("table").first.inner_text()
    )


def test_by_keyboard_alone_the_slider_tells_from_where_owning_costs_least(look, client):
    asked = f"/commitments?{ASKED}&provider=aws&instance_type=p4de.24xlarge&own_price=150000"
    page, owned = look(asked), client.get(asked).json["machines"][0]["owned"]
    rows = [row for row in drawn(page) if row["bought"] == "owned 3y"]
    assert [row["cost"] for row in rows] == [
        pytest.approx(owned["total"] / 36),
        pytest.approx(730 * owned["hourly_rate"], abs=0.01),
    ]
    slider = page.get_by_role("slider").first
    reach(page, slider)
    page.keyboard.press("Home")
    page.get_by_text("0 h: least is on demand").first.wait_for()
    for _ in range(int(owned["break_even_hours_per_month"])):
        page.keyboard.press("ArrowRight")
    page.get_by_text(f"{int(owned['break_even_hours_per_month'])} h: least is on demand").first.wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_text(f"{int(owned['break_even_hours_per_month']) + 1} h: least is owned 3y").first.wait_for()
    page.keyboard.press("End")
    page.get_by_text(f"730 h: least is owned 3y, {owned['usage'][-1]['cost_per_month']:,.2f}").first.wait_for()


@pytest.mark.parametrize("scripts", [True, False])
def test_what_a_month_costs_by_hours_of_use_stands_as_a_table_too(look, client, scripts):
    asked = f"/commitments?{ASKED}&provider=aws&instance_type=p4de.24xlarge"
    page, machine = look(asked, java_script_enabled=scripts), client.get(asked).json["machines"][0]
    page.get_by_text("What a month costs by hours of use").first.click()
    told = page.get_by_role("region", name="by hours of use").first.inner_text()
    for way in (*machine["ways"], machine["owned"]):
        for use in way["usage"]:
            assert f"${use['cost_per_month']:,.2f}" in told
            assert f"${use['on_demand_per_month']:,.2f}" in told


def test_a_history_has_every_rate_that_the_api_gives(look, client):
    rows = drawn(look("/offers/history?instance_type=p3.8xlarge&purchase=on_demand", color_scheme="dark"))
    every = client.get("/offers/history?instance_type=p3.8xlarge&purchase=on_demand").json["history"]
    assert [row["rate"] for row in rows] == [each["hourly_rate"] for each in every]


def test_without_scripts_a_chart_is_a_picture(look):
    page = look("/accuracy?model=resnet18", java_script_enabled=False)
    picture = page.get_by_role("img", name="The least cost of each accuracy")
    assert page.request.get(picture.evaluate("image => image.src")).headers["content-type"].startswith("image/svg+xml")


def test_where_the_server_has_stopped_a_chart_says_so_and_the_answer_stays(browser, service):
    with serving(create_app(service)) as root:
        watched = Watched(browser.new_context(), root)
        watched.go(f"/?{ASKED}")
    page = watched.page
    page.locator(".hero").hover()
    page.get_by_text("This chart could not be drawn here").wait_for()
    assert page.locator(".picks li").count() == 4
    page.context.close()
