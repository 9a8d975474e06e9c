"""Lists as pages: to a browser HTML, to a program JSON as ever; the same rows in both."""

import html
import re

import pytest

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
ASKED = "model=resnet50&target=0.757"
LISTS = {
    "/models": "models",
    "/models/resnet50": "recipes",
    "/offers?provider=lambda": "offers",
    "/offers/history?instance_type=p3.8xlarge": "history",
    "/offers/changes?since=2025-01-01": "changes",
    "/throughput?model=resnet50": "throughputs",
    "/fit?model=resnet50": "fits",
}


@pytest.mark.parametrize("path", LISTS)
def test_a_browser_gets_a_page_and_a_program_json(client, path):
    whole = f"{path}?_all=1" if path.startswith("/models") else path
    page, document = client.get(whole, headers=BROWSER), client.get(path)
    assert (page.mimetype, document.mimetype) == ("text/html", "application/json")
    assert client.get(path, headers={"Accept": "*/*"}).json == document.json
    joined = f"{path}{'&' if '?' in path else '?'}format=json"
    assert client.get(joined, headers=BROWSER).json == document.json
    rows = page.get_data(as_text=True).rpartition("<tbody>")[2].count("<tr>")
    every = document.json[LISTS[path]]
    assert rows == (len(every) if path.startswith("/models") else min(len(every), 50)) > 0


def test_one_pages_through_all_offers(client):
    path, seen = "/offers?provider=runpod,verda", 0
    count = client.get(path).json["count"]
    while path:
        page = client.get(path, headers=BROWSER).get_data(as_text=True)
        seen += page.rpartition("<tbody>")[2].count("<tr>")
        following = re.search(r'rel="next" href="([^"]+)"', page)
        path = html.unescape(following[1]) if following else None
    assert seen == count > 50


def test_a_page_of_commitments_has_the_break_even_of_the_api(client):
    document = client.get(f"/commitments?{ASKED}&provider=aws").json
    page = html.unescape(client.get(f"/commitments?{ASKED}&provider=aws", headers=BROWSER).get_data(as_text=True))
    for machine in document["machines"]:
        for way in machine["ways"]:
            assert f"{way['total']:,.2f}" in page
            if way["break_even_hours_per_month"] is not None:
                assert f"{way['break_even_hours_per_month']:,.0f} h a month" in page


def test_a_machine_that_is_not_sold_on_demand_is_compared_with_another_which_is_named(client):
    asked = f"/commitments?{ASKED}&as_of=2018-04-26&provider=cirrascale&accelerators=4"
    compared = client.get(asked).json["machines"][0]["on_demand"]
    assert not compared["same_machine"]
    page = html.unescape(client.get(asked, headers=BROWSER).get_data(as_text=True))
    assert f"On demand ({compared['provider']} {compared['instance_type']}): " in page


def test_a_page_of_accuracies_has_the_message_of_the_api(client):
    document = client.get("/accuracy?model=resnet50&budget=5").json
    page = html.unescape(client.get("/accuracy?model=resnet50&budget=5", headers=BROWSER).get_data(as_text=True))
    words = re.sub("<[^>]+>", "", page)  # the figures of a headline are set apart
    assert document["message"].split(". ")[0].removesuffix(".") in words


def test_models_are_found_by_a_part_of_their_names(client):
    page = client.get("/models?_find=EfficientNet-B", headers=BROWSER).text
    shown = re.findall(r'href="/models/([^"]+)"', page)
    assert shown == [
        each["model"] for each in client.get("/models").json["models"] if "efficientnet_b" in each["model"]
    ]
    assert 'value="EfficientNet-B"' in page
    assert "Nothing matches" in client.get("/models?_find=nonsense", headers=BROWSER).text


def test_fields_suggest_the_names_that_the_api_knows(client):
    page = html.unescape(client.get("/offers", headers=BROWSER).text)
    for kind in ("provider", "region", "instance_type", "accelerator"):
        named = page.partition(f'<datalist id="known-{kind}">')[2].partition("</datalist>")[0]
        assert {f'value="{row[kind]}"' for row in client.get("/offers").json["offers"] if row[kind]} <= set(
            re.findall('value="[^"]*"', named)
        )
    assert '<option value="own:' not in page
    assert '<option value="aws:p3.2xlarge">' in client.get("/compare", headers=BROWSER).text


def test_what_is_wrong_is_a_page_to_a_browser_and_a_problem_to_a_program(client):
    for path, status in (("/offers?provider=nope", 400), ("/models/nope", 404), ("/nowhere", 404)):
        page, told = client.get(path, headers=BROWSER), client.get(path)
        assert (page.status_code, page.mimetype) == (status, "text/html")
        assert (told.status_code, told.mimetype) == (status, "application/problem+json")
    assert "/nowhere" in html.unescape(client.get("/nowhere", headers=BROWSER).get_data(as_text=True))
    assert client.get("/offers.csv?provider=nope", headers=BROWSER).mimetype == "text/csv"


@pytest.mark.parametrize("path", ["/models", "/offers", "/throughput", f"/commitments?{ASKED}", "/accuracy?model=resnet18",
                                  f"/estimate?{ASKED}", "/docs", "/signin"])  # fmt: skip
def test_hostile_words_in_the_address_become_no_markup(client, path):
    hostile = '"><script>alert(1)</script>'
    mark = "&" if "?" in path else "?"
    for name in ("_x", "label", "provider", "next"):
        raw = client.get(f"{path}{mark}{name}={hostile}", headers=BROWSER).get_data(as_text=True)
        assert "<script>alert" not in raw


def test_offers_begin_with_the_newest_accelerators_at_confirmed_rates_on_demand(client):
    rows = client.get("/offers?purchase=on_demand&rates=confirmed&sort=accelerator").json["offers"]
    page = client.get("/offers", headers=BROWSER).get_data(as_text=True)
    places = [page.index(f">{row['provider']} {row['instance_type']}<") for row in rows[:5]]
    assert places == sorted(places)
    h100 = [row["hourly_rate"] / row["accelerators"] for row in rows if row["accelerator"] == "H100"]
    assert h100 == sorted(h100) != []
    assert all(row["confirmed"] for row in rows)
    rates = client.get("/offers?provider=lambda&sort=rate").json["offers"]
    assert [row["hourly_rate"] for row in rates] == sorted(row["hourly_rate"] for row in rates)
    seen = client.get("/offers?provider=gcp&sort=seen&limit=50").json["offers"]
    assert [row["observed_at"] for row in seen] == sorted((row["observed_at"] for row in seen), reverse=True)


@pytest.mark.parametrize(
    "path", ["/throughput", "/fit", "/offers/changes", "/accuracy", "/small", "/commitments", "/trend"]
)
def test_a_page_that_is_asked_nothing_answers_an_example(client, path):
    assert client.get(path, headers=BROWSER).status_code == 200


def test_speeds_begin_at_confirmed_rates_and_say_of_which_rates_nobody_vouches(client):
    first = client.get("/throughput", headers=BROWSER).get_data(as_text=True)
    [further] = re.findall('<a href="([^"]+)">Unconfirmed rates too', first)
    every = client.get(html.unescape(further), headers=BROWSER).get_data(as_text=True)
    assert [page.count("not confirmed") > 0 for page in (first, every)] == [False, True]


def test_a_long_list_shows_its_first_rows_and_then_all(client):
    few, every = (client.get(f"/models{more}", headers=BROWSER).get_data(as_text=True) for more in ("", "?_all=1"))
    assert few.count("<tr>") < every.count("<tr>")
    assert "_all=1" in few
    assert 'href="/models?_all=1"' not in every
