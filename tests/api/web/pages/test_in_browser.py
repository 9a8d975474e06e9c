"""The first screen in a real Chromium: asking, filtering, sorting, paging, sharing, with and without scripts."""

import re

import pytest
from support.browser import follow, reach

from tools.cluster.cluster import wait_for

ASKED = "/?model=resnet50&target=0.757"
NO_SCRIPTS = {"java_script_enabled": False}


def answer(client, question):
    """What the API answers to the question of a page."""
    return client.get(question.replace("/?", "/cost?")).json


def rows(page):
    return page.locator("#estimates tbody tr")


def test_one_asks_and_sees_the_picks_of_the_api(look, client):
    page = look()
    page.get_by_label("Train", exact=True).fill("resnet18")
    page.get_by_label("accuracy", exact=True).fill("0.69")
    follow(page.get_by_role("button", name="Answer"))
    assert page.url.endswith("/?model=resnet18&target=0.69")
    for pick in answer(client, "/?model=resnet18&target=0.69")["picks"]:
        told = page.locator(
            ".strip tr", has=page.get_by_role("rowheader", name=re.compile(rf"^[a-z, ]*{pick['name']}", re.I))
        ).inner_text()
        assert f"${pick['estimate']['billed_cost']:,.2f}" in told
    assert (
        page.get_by_role("heading", level=1).inner_text().replace("\n", " ")
        in answer(client, "/?model=resnet18&target=0.69")["verdict"][0]
    )


@pytest.mark.parametrize("scripts", [True, False])
def test_two_clicks_and_one_field_narrow_the_question(look, client, scripts):
    page = look(ASKED, java_script_enabled=scripts)
    follow(page.get_by_role("link", name=re.compile(r"^aws [\d,]+$")))
    follow(page.get_by_role("link", name=re.compile("^on demand")))
    page.get_by_label("At most hours").fill("4")
    follow(page.get_by_label("At most hours"), "Enter")
    found = answer(client, f"{ASKED}&provider=aws&purchase=on_demand&max_hours=4")
    assert f"{found['count']:,} estimates" in page.locator(".summary").inner_text()
    first = rows(page).first.inner_text()
    assert f"${found['picks'][0]['estimate']['billed_cost']:,.2f}" in first
    follow(page.get_by_role("link", name=re.compile("max hours: 4")))
    assert f"{answer(client, f'{ASKED}&provider=aws&purchase=on_demand')['count']:,} estimates" in page.content()


def test_counts_beside_the_filters_are_what_a_click_brings(look, client):
    page = look(f"{ASKED}&purchase=spot")
    for name in ("gcp", "verda"):
        link = page.locator("#filters").get_by_role("link", name=re.compile(f"^{name}"))
        count = int(link.locator(".count").inner_text().replace(",", ""))
        assert count == answer(client, f"{ASKED}&purchase=spot&provider={name}")["count"] > 0
    assert page.get_by_role("link", name=re.compile("^spot")).get_attribute("aria-current") == "true"


def test_presets_are_switched_on_and_off(look, client):
    page = look(ASKED)
    follow(page.get_by_role("link", name="Only what was measured"))
    assert "evidence=measured" in page.url
    assert (
        f"{answer(client, f'{ASKED}&evidence=measured')['count']:,} estimates" in page.locator(".summary").inner_text()
    )
    follow(page.get_by_role("link", name="Only what was measured"))
    assert "evidence" not in page.url


def test_the_table_is_sorted_and_paged_through_to_the_last_estimate(look, client):
    page = look(f"{ASKED}&provider=lambda,verda")
    every = answer(client, f"{ASKED}&provider=lambda,verda&sort=time&limit=1000")["estimates"]
    follow(page.get_by_role("link", name="Hours", exact=True))
    seen = []
    while True:
        seen += rows(page).locator("td.is-hours").evaluate_all("cells => cells.map(cell => cell.firstChild.data)")
        following = page.get_by_role("link", name="Next")
        if not following.count():
            break
        follow(following)
    assert seen == [f"{each['hours']:,.2f}" for each in every]
    assert len(seen) > 40


def test_columns_are_chosen_and_stay_in_the_address(look, client):
    page = look(ASKED)
    page.get_by_text("Columns", exact=True).click()
    for name in ("Recipe", "Share of use"):
        page.locator(".choose").get_by_label(name, exact=True).uncheck()
    for name in ("vCPUs", "Accelerator memory", "Price age"):
        page.locator(".choose").get_by_label(name, exact=True).check()
    follow(page.get_by_role("button", name="Show"))
    titles = page.locator("#estimates thead th").all_inner_texts()
    assert "vCPUs" in titles
    assert "Recipe" not in titles
    first = answer(client, ASKED)["picks"][0]["estimate"]
    told = rows(page).first.inner_text()
    for words in (f"{first['accelerator_memory_gib']:g} GiB", f"{first['price_age_days']} days", str(first["vcpus"])):
        assert words in told
    follow(page.get_by_role("link", name="Hours", exact=True))
    after = page.locator("#estimates thead th").all_inner_texts()
    assert [title.strip(" ↑") for title in after] == [title.strip(" ↑") for title in titles]


@pytest.mark.parametrize("scripts", [True, False])
def test_columns_are_chosen_by_keyboard_alone(look, client, scripts):
    page, keys = (opened := look(ASKED, java_script_enabled=scripts)), opened.keyboard
    reach(page, page.locator("details.choose summary"))
    keys.press("Enter")
    for name in ("Recipe", "vCPUs"):
        reach(page, page.locator(".choose").get_by_label(name, exact=True))
        keys.press("Space")
    with page.expect_navigation():
        keys.press("Enter")
    titles = page.locator("#estimates thead th").all_inner_texts()
    assert ("vCPUs" in titles, "Recipe" in titles) == (True, False)
    told = rows(page).locator("td.is-vcpus").all_inner_texts()
    picked = {each["estimate"]["rank"]: each["estimate"]["vcpus"] for each in answer(client, ASKED)["picks"]}
    assert told[: len(picked)] == [f"{vcpus:,}" if vcpus else "" for vcpus in picked.values()]
    assert any(told)


def test_an_address_shows_everybody_the_same_and_the_back_button_returns(look):
    page = look(ASKED)
    before = page.locator(".summary").inner_text()
    follow(page.get_by_role("link", name=re.compile("^spot")))
    follow(page.get_by_role("link", name="Hours", exact=True))
    shared = look("/?" + page.url.partition("?")[2])
    assert rows(shared).all_inner_texts() == rows(page).all_inner_texts()
    page.go_back()
    page.go_back()
    assert page.locator(".summary").inner_text() == before


def is_pickable(estimate):
    return bool(estimate["confirmed"] and estimate["runs_here"] and estimate["purchase_option"] == "on_demand")


def test_every_pickable_estimate_is_a_point_and_those_on_the_frontier_say_their_figures(look, client):
    page = look(ASKED)
    every = answer(client, f"{ASKED}&limit=1000")
    dots = page.locator(".plot .behind path").get_attribute("d").count("M")
    marks, pickable = dots + page.locator(".plot .front use").count(), filter(is_pickable, every["estimates"])
    costs = {pick["name"]: pick["estimate"]["billed_cost"] for pick in every["picks"]}
    most = max(20 * costs["balanced"], *costs.values())
    shown = [each for each in pickable if each["billed_cost"] <= most]
    picked = {pick["estimate"]["rank"] for pick in every["picks"]}
    front = [each for each in shown if each["frontier"] or each["rank"] in picked]
    assert marks == len(shown)
    told = page.locator(".plot .front").evaluate_all("links => links.map(link => link.getAttribute('aria-label'))")
    assert len(told) == len(front)
    for each in front:
        costs = "${billed_cost:,.2f} (${billed_cost_low:,.2f} to ${billed_cost_high:,.2f})".format(**each)
        costs = costs if each["billed_cost_low"] < each["billed_cost_high"] else f"${each['billed_cost']:,.2f}"
        assert [text for text in told if costs in text and each["instance_type"] in text]


def test_without_scripts_nothing_is_missing(look, client):
    page = look(ASKED, **NO_SCRIPTS)
    picked = {each["estimate"]["rank"] for each in answer(client, ASKED)["picks"]}
    assert page.locator(".strip tbody tr").count() == len(picked)
    page.locator(".strip").get_by_text("Export").first.click()
    first = answer(client, ASKED)["picks"][0]["estimate"]
    assert f"provider={first['provider']}" in page.get_by_label("curl").first.input_value()
    assert page.get_by_role("button", name="Copy").count() == 0


def test_what_is_copied_asks_for_this_estimate_alone(look, client):
    page = look(ASKED)
    page.locator(".strip").get_by_text("Export").nth(1).click()
    page.locator(".strip tbody tr").nth(1).get_by_role("button", name="Copy").nth(1).click()
    sheet = re.compile(r'=IMPORTDATA\("http://127\.0\.0\.1:\d+(/cost\.csv\?[^"]+)"\)')
    wait_for(lambda: sheet.fullmatch(page.evaluate("navigator.clipboard.readText()")))
    path = sheet.fullmatch(page.evaluate("navigator.clipboard.readText()"))[1]
    [found] = client.get(path.replace(".csv", "")).json["estimates"]
    fastest = answer(client, ASKED)["picks"][1]["estimate"]
    assert (found["instance_type"], found["billed_cost"]) == (fastest["instance_type"], fastest["billed_cost"])


def test_what_is_wrong_is_told_beside_what_was_typed(look):
    page = look("/")
    page.get_by_label("accuracy", exact=True).fill("757")
    follow(page.get_by_label("accuracy", exact=True), "Enter")
    assert "such as 0.757 or 75.7%" in page.get_by_role("alert").inner_text()
    assert page.get_by_label("accuracy", exact=True).input_value() == "757"


def test_on_a_phone_the_filters_are_a_sheet(look):
    page = look(ASKED, 390)
    link = page.get_by_role("link", name=re.compile(r"^aws [\d,]+$"))
    assert not link.is_visible()
    page.get_by_role("button", name="Filters").click()
    follow(link)
    assert "provider=aws" in page.url


@pytest.mark.parametrize("scripts", [True, False])
def test_a_region_and_a_machine_are_typed(look, client, scripts):
    page = look(ASKED, java_script_enabled=scripts)
    page.get_by_label("Region", exact=True).fill("us-east-1")
    assert page.get_by_label("Region", exact=True).evaluate("field => field.list.options.length") > 50
    page.locator("#filters").get_by_label("Machine", exact=True).fill("p5.48xlarge")
    follow(page.get_by_label("Region", exact=True), "Enter")
    found = answer(client, f"{ASKED}&region=us-east-1&instance_type=p5.48xlarge")
    assert found["count"] > 0
    assert f"{found['count']:,} estimates" in page.locator(".summary").inner_text()


def test_a_parameter_is_found_and_a_path_is_tried_in_each_form(look, client):
    page = look("/docs")
    call = page.locator("#get_cost")
    call.locator("summary").click()
    call.get_by_placeholder("Find a parameter").fill("max_h")
    assert call.locator("tr:visible").count() == 1
    call.get_by_label("max_hours").fill("1")
    with page.expect_download() as download:
        call.get_by_role("button", name="CSV").click()
    written = download.value.path().read_text().splitlines()
    assert len(written) - 1 == len(answer(client, f"{ASKED}&max_hours=1")["estimates"]) > 0
