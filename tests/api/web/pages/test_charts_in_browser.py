"""Charts in a browser: the first screen's leads to each estimate on the frontier, the others are pictures with words."""

import pytest

ASKED = "model=resnet50&target=0.757"


def test_a_point_on_the_frontier_leads_to_its_estimate(look):
    page = look(f"/?{ASKED}&provider=lambda")
    point = page.locator(".plot a.front").first
    assert point.get_attribute("aria-label") == point.locator("title").text_content()
    point.click(force=True)
    page.wait_for_url("**/estimate?**")
    assert page.get_by_role("heading", name="Why lambda").is_visible()


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
