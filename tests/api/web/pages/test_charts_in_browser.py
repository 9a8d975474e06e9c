"""Charts in a browser: the first screen's leads to each estimate on the frontier, the others are pictures with words."""

import pytest
from support.browser import follow

from tools.cluster.cluster import wait_for

ASKED = "model=resnet50&target=0.757"


def test_a_point_on_the_frontier_leads_to_its_estimate(look):
    page = look(f"/?{ASKED}&provider=lambda")
    point = page.locator(".plot a.front").first
    assert point.get_attribute("aria-label") == point.locator("title").text_content()
    follow(point, "Enter")
    assert "/estimate?" in page.url
    assert page.get_by_role("heading", name="Why lambda").is_visible()


def fits(point, most_cost=float("inf"), most_hours=float("inf")):
    return point["cost"] <= most_cost and point["hours"] <= most_hours


def test_a_budget_and_a_deadline_are_set_by_dragging_and_by_keys_and_the_sentence_follows(look):
    page = look(f"/?{ASKED}")
    points = page.locator("a.front").evaluate_all(
        "all => all.map(p => ({cost: +p.dataset.cost, hours: +p.dataset.hours, words: p.getAttribute('aria-label')}))"
    )
    told, ask = page.locator(".follows output"), page.get_by_role("link", name="Ask with these limits")
    assert "Drag the dashed lines" in told.inner_text()
    deadline = page.get_by_role("slider", name="Deadline")
    deadline.focus()
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    hours = sorted(point["hours"] for point in points)[-2]
    cheapest = min((p for p in points if fits(p, most_hours=hours)), key=lambda p: p["cost"])
    assert f"Rent {cheapest['words']}. It is the cheapest within" in told.inner_text()
    page.keyboard.press("Escape")
    area = page.locator("svg.decide").bounding_box()
    page.mouse.move(area["x"] + 99, area["y"] + 2)
    page.mouse.down()
    page.mouse.move(area["x"] + 99, area["y"] + area["height"] / 2)
    page.mouse.up()
    budget = float(page.get_by_role("slider", name="Budget").get_attribute("aria-valuenow"))
    fastest = min((p for p in points if fits(p, budget)), key=lambda p: p["hours"])
    assert f"Rent {fastest['words']}. It is the fastest for at most ${budget:,.2f}." in told.inner_text()
    follow(ask)
    assert budget <= float(page.url.partition("max_cost=")[2]) <= budget * 1.01
    found = page.locator("a.front").evaluate_all("all => all.map(point => point.getAttribute('aria-label'))")
    assert fastest["words"] in found


def test_arrow_keys_walk_the_frontier_which_is_one_stop_of_the_tab_key(look):
    page = look(f"/?{ASKED}")
    points = page.locator("a.front")
    assert points.evaluate_all("all => all.filter(point => point.tabIndex >= 0).length") == 1
    points.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.locator(".follows output").inner_text() == points.nth(2).get_attribute("aria-label")
    with page.expect_navigation(url="**/estimate?**"):
        page.keyboard.press("Enter")


def test_the_price_of_a_training_is_replayed_and_each_date_leads_to_its_arithmetic(look, client):
    asked = "model=resnet18&target=0.69&every=year"
    page, points = look(f"/trend?{asked}"), client.get(f"/trend?{asked}").json["points"]
    slider = page.get_by_role("slider", name="Date")
    slider.focus()
    page.keyboard.press("Home")
    told = page.locator(".replay output")
    assert told.inner_text().startswith(f"{points[0]['date'][:10]}: ${points[0]['cost']:,.2f}, ")
    page.keyboard.press("ArrowRight")
    assert told.inner_text().startswith(points[1]["date"][:10])
    follow(told.get_by_role("link"))
    assert f"${points[1]['cost']:,.2f}" in page.get_by_role("heading", level=1).inner_text()


def test_of_a_past_date_the_page_says_what_it_would_be_today_and_a_link_keeps_an_answer(look):
    page = look(f"/?{ASKED}&as_of=2023-06-30")
    today = page.locator(".today").inner_text()
    follow(page.get_by_role("link", name="today's answer"))
    assert page.locator(".strip tbody tr b").nth(1).inner_text() in today
    link = page.get_by_role("link", name="Permalink")
    kept = link.evaluate("link => link.href")
    assert "as_of=20" in kept
    link.click()
    wait_for(lambda: page.evaluate("navigator.clipboard.readText()") == kept)
    assert "as_of" not in page.url
    address, picture = (
        page.locator(f"meta[property='og:{name}']").get_attribute("content") for name in ("url", "image")
    )
    assert address == kept
    assert page.request.get(picture).headers["content-type"] == "image/png"


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


def test_a_chart_is_a_picture_with_words_that_leads_to_itself(look):
    page = look("/accuracy?model=resnet18", java_script_enabled=False)
    picture = page.get_by_role("img", name="The least cost of each accuracy")
    address = picture.evaluate("image => image.src")
    assert page.request.get(address).headers["content-type"].startswith("image/svg+xml")
    assert page.locator("a.chart").first.evaluate("link => link.href") == address
