"""The first screen as the server writes it: form, picks, picture and table, and nothing that was typed as markup."""

import gc
import html
import re
import threading
from html.parser import HTMLParser
from math import ceil

import pytest
from support.prices import offer
from support.services import service_of

from api.formats.page import Headline
from api.reports.left_out import Hints
from api.stored import FixedPrices
from api.web.app import create_app
from costcalc.catalogue.catalogue import Catalogue
from costcalc.estimate import Asked
from tools.cluster.cluster import wait_for


def text_of(response):
    return html.unescape(response.get_data(as_text=True))


def test_without_parameters_it_answers_an_example(client):
    page = text_of(client.get("/"))
    assert "estimates</b> for resnet50 to 0.757 top-1" in page
    median = client.get("/cost?model=resnet50&target=0.757").json["freshness"]["median_age_days"]
    assert f"(half of the rates seen within {ceil(median)} days)" in page
    assert 'href="/cost.csv?model=resnet50&target=0.757"' in page


def test_it_answers_what_the_form_asks_blank_fields_left_out(client):
    page = text_of(client.get("/?model=rn50&target=0.75&provider=gcp&region=&max_cost=&purchase=spot&limit=20"))
    answer = client.get("/cost?model=resnet50&target=0.75&provider=gcp&purchase=spot").json
    assert f"{answer['count']} estimates</b> for resnet50 to 0.75 top-1" in page
    assert 'href="/cost?model=resnet50&target=0.75&provider=gcp&purchase=spot&format=json"' in page
    for estimate in answer["estimates"]:
        assert f"${estimate['billed_cost']:,.2f}" in page
        assert f"{estimate['billed_cost_low']:,.2f}–{estimate['billed_cost_high']:,.2f}" in page
        assert estimate["instance_type"] in page


def test_what_brings_more_back_is_looked_for_once_also_of_a_past_date(client, monkeypatch):
    looked, added = [], Hints.added
    monkeypatch.setattr(Hints, "added", lambda hints, found: looked.append(found) or added(hints, found))
    page = text_of(client.get("/?model=resnet50&target=0.757&max_cost=1e-6&as_of=2026-01-05"))
    assert (len(looked), looked[0].count, "without a filter on max_cost" in page) == (1, 0, True)


def test_the_picks_stand_before_the_table(client):
    page = text_of(client.get("/?model=resnet50&target=0.757&basis=effective"))
    picks = client.get("/cost?model=resnet50&target=0.757&basis=effective").json["picks"]
    rows = page.partition('<table class="strip">')[2].partition("</table>")[0].split("</tr>")[1:-1]
    assert page.index('<table class="strip">') < page.index("<table>") < page.index('id="filters"')
    once = {pick["estimate"]["rank"]: pick for pick in reversed(picks)}
    assert len(rows) == len(once) >= 3
    for card, pick in zip(rows, reversed(once.values()), strict=True):
        each = pick["estimate"]
        cost, low, high = (f"${each[f'effective_cost{end}']:,.2f}" for end in ("", "_low", "_high"))
        told = (
            pick["name"].capitalize(),
            pick["reason"],
            f"${each['hourly_rate']:,.2f} an hour",
            f"{each['price_age_days']} days ago" if each["price_age_days"] else "today",
            cost,
            f"{low}–{high}",
        )
        assert all(words in card for words in (*told, each["instance_type"]))


def test_a_pick_that_is_another_one_too_says_so(client):
    page = text_of(client.get("/?model=efficientnet_b4&target=0.82&purchase=free"))
    assert "Cheapest, fastest, balanced" in page
    assert "$0.00 to $0.00" not in page


def test_free_tiers_stand_below_the_table_with_their_time_on_the_calendar(client):
    page = text_of(client.get("/?model=efficientnet_b4&target=0.82"))
    told = re.search(
        r"kaggle GPU T4 x2</a>: \d+ days of work take (\d+) days at 30 h a week", page.partition("</table>")[2]
    )
    asked = text_of(client.get("/?model=efficientnet_b4&target=0.82&purchase=free"))
    assert f"{told[1]} days with waiting" in asked.partition("<table>")[2].partition("</table>")[0]


def test_old_and_second_hand_rates_are_marked_and_the_marks_explained(client):
    page = text_of(client.get("/?model=resnet50&target=0.757&limit=20"))
    for each in client.get("/cost?model=resnet50&target=0.757").json["estimates"]:
        marks = ("†" if each["price_age_days"] > 30 else "") + ("" if each["price_first_hand"] else "‡")
        assert f"{each['sources']['price']['observed_at'][:10]}{marks}<" in page
    assert "†: the rate is more than 30 days old. ‡: a third party states it" in page
    assert "†" not in text_of(client.get("/?model=resnet50&target=0.99"))


def test_the_headline_is_the_first_sentence_with_a_figure_and_the_warning_stands_before_it():
    warning, answer, rate = (
        "No rate is confirmed.",
        "Rent 1 T4G at AWS (g5g.xlarge): $10.27, 19.6 h.",
        "Seen 9 days ago.",
    )
    assert Headline.of([f"{answer} {rate}", "Recipe: code."]) == (answer[:-1], [rate, "Recipe: code."], "", ())
    assert Headline.of([f"{warning} {answer} {rate}"]) == (answer[:-1], [rate], warning, ())
    assert Headline.of(["No target named.", f"{answer}"], ["No target named."]) == (
        answer[:-1],
        [],
        "",
        ("No target named.",),
    )
    assert Headline.of([f"No target named. {answer}"], ["No target named."]).first == answer[:-1]
    assert Headline.of([warning]) == (warning[:-1], [], "", ())


def test_of_a_headline_the_figures_are_read_first_and_its_words_stay_the_verdicts():
    headline = Headline("Rent 1 L4 at AWS on demand: $5.50 ($4.96 to $6.16), 3.1 h (2.8 to 3.4 h), speed measured", [])
    assert headline.what == "Rent 1 L4 at AWS on demand"
    assert [part for part, is_first in headline.figures if is_first] == ["$5.50", "3.1 h"]
    assert f"{headline.what}: {''.join(part for part, _ in headline.figures)}" == headline.first
    assert Headline("Training it cost $2.", []).what == ""


def test_a_long_headline_ends_at_its_first_half():
    first, second = (
        f"Do not commit: 30 runs cost $10 {'on demand ' * 10}".strip(),
        "the cheapest commitment is $12 a month",
    )
    assert Headline.of([f"{first}; {second}. It pays."]) == (first, [f"T{second[1:]}. It pays."], "", ())


def test_an_empty_answer_links_to_the_question_that_brings_most_back(client):
    answer = client.get("/cost?model=resnet50&target=0.757&provider=aws&purchase=spot&max_cost=1").json
    page = text_of(client.get("/?model=resnet50&target=0.757&provider=aws&purchase=spot&max_cost=1"))
    assert answer["hints"]
    for hint in answer["hints"]:
        assert f'<a href="/{hint["query_string"]}">{hint["sentence"]}</a>' in page


def test_on_a_narrow_screen_figures_carry_their_names(client):
    page = text_of(client.get("/"))
    for name in ("Hours", "To pay", "Share of use", "Reaches it"):
        assert page.count(f'data-is="{name}"') == page.partition('id="estimates"')[2].count('scope="row"') > 0
    with client.get("/style.css") as style:
        assert "content: attr(data-is)" in text_of(style)
        assert style.headers["Cache-Control"] == "public, max-age=3600"


def test_where_nothing_is_found_it_says_how_far_one_gets(client):
    nowhere = text_of(client.get("/?model=resnet50&target=0.99"))
    assert "<table>" not in nowhere
    assert "The highest accuracy of any recipe of resnet50 is 0.8" in nowhere
    assert "No top-1 curve of xception is known" in text_of(client.get("/?model=xception&target=0.5"))


def test_an_address_that_begins_after_the_last_row_leads_to_the_first(client):
    page = text_of(client.get("/?model=resnet50&target=0.757&offset=99999"))
    assert "<table>" not in page
    assert '<a href="/?model=resnet50&target=0.757">to the first</a>' in page


def test_bold_is_explained_where_something_is_bold(client):
    assert "Bold: " in text_of(client.get("/"))
    assert "Bold: " not in text_of(client.get("/?model=resnet50&target=757"))


def test_what_is_wrong_stands_beside_what_was_typed(client):
    response = client.get("/?model=resnet50&target=757")
    assert response.status_code == 400
    page = text_of(response)
    assert "such as 0.757 or 75.7%" in page
    assert 'value="757"' in page


class Tags(HTMLParser):
    """The tags and attribute names of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes = set(), set()
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}


@pytest.mark.parametrize(
    "hostile", ['"><script>alert(1)</script>', "{{7*7}}", '" onfocus="alert(1)', "' onfocus=alert(1) x='"]
)
def test_nothing_typed_becomes_markup(client, hostile):
    page = client.get("/", query_string={"model": hostile, "target": "0.7", "_x": hostile}).get_data(as_text=True)
    plain = Tags(client.get("/?model=nope&target=0.7&_x=1").get_data(as_text=True))
    assert Tags(page).tags == plain.tags
    assert Tags(page).attributes == plain.attributes
    assert hostile in html.unescape(page)


def test_a_hostile_price_feed_becomes_no_markup():
    rate = offer(instance_type="<script>alert(1)</script>", source='"><img src=x onerror=alert(1)>')
    client = create_app(service_of(FixedPrices(Catalogue.from_offers([rate], "hostile")))).test_client()
    raw, plain = (client.get(f"/?model=resnet50&target={target}").get_data(as_text=True) for target in (0.7, 757))
    assert "&lt;script&gt;alert(1)" in raw
    assert raw.count("<script") == plain.count("<script")
    assert "<img src=x" not in raw


def test_of_very_many_estimates_some_are_drawn_and_the_page_says_so(client):
    few, many = (
        client.get(f"/?model=resnet50&target=0.7&regions=all&recipes=all{more}").get_data(as_text=True)
        for more in ("&provider=lambda&accelerators=1&as_of=2026-11-01", "")
    )
    assert "is drawn, and the whole line" not in few
    drawn = many.count("<use ") + many.count("h0")
    assert re.search(r"One estimate in \d+ is drawn, and the whole line\.", many)
    assert 1000 < drawn < 10_000
    assert len(many) < 1_000_000


def test_a_page_leaves_nothing_large_behind(client):
    """Looked at when no earlier page's request is under way: objects that another thread is making can't be looked at."""
    wait_for(lambda: not any("process_request" in thread.name for thread in threading.enumerate()))
    gc.collect()
    gc.disable()
    try:
        assert client.get("/?model=resnet50&target=0.757&limit=50").status_code == 200
        assert not any(isinstance(each, Asked) for each in gc.get_objects())
    finally:
        gc.enable()


def test_what_one_owns_is_the_first_row_and_can_be_compared(client):
    asked = "/?model=resnet50&target=0.757&own=1x+RTX+4090"
    first, paid_for = (
        text_of(client.get(address)).partition('<table class="strip">')[2].split("</tr>")[1]
        for address in (asked, f"{asked}&own_price=0&provider=own,lambda")
    )
    mine = client.get("/cost?model=resnet50&target=0.757&own=1x+RTX+4090&provider=own").json["estimates"][0]
    assert f"<b>${mine['effective_cost']:,.2f}</b>" in first
    assert all(each in first for each in ("Yours", "than the cheapest rental", 'value="own:1x RTX 4090"'))
    assert "Costs least" in paid_for


def test_all_ways_to_rent_but_one_are_named_by_the_one_that_is_left_out(client):
    page = client.get("/?q=resnet50+75.7%25+aws+no+spot", headers={"Accept": "text/html"}).text
    chips = re.findall('title="Take this away">([^<]+) <', page)
    assert chips == ["provider: aws", "purchase: not spot"]


def test_a_sentence_is_answered_in_the_currency_that_a_browser_remembers(client):
    assert "€" in text_of(client.get("/?q=resnet50+76%25&currency=EUR")).partition("<h1>")[2].partition("</h1>")[0]
    assert (
        "£" in text_of(client.get("/?q=resnet50+76%25+in+GBP&currency=EUR")).partition("<h1>")[2].partition("</h1>")[0]
    )
    assert "€" in text_of(client.get("/?currency=EUR")).partition("<h1>")[2].partition("</h1>")[0]


def test_a_message_leads_to_pages_where_a_terminal_would_be_told_commands(client):
    page = client.get("/?q=which+accuracy+for+%2450", headers={"Accept": "text/html"}).text
    told = page.partition("Which network?")[2].partition("</p>")[0]
    assert (
        '<a href="/models">Models</a> lists them; for another, <a href="/recipes">Your runs</a> reads your log' in told
    )
    page = client.get("/?model=resnet50&target=0.757&own=1x+RTX+4090", headers={"Accept": "text/html"}).text
    assert '<a href="/docs/choosing">A measurement</a> says how fast your machine is' in page
    refused = client.get("/?model=%3Cb%3E&target=0.7", headers={"Accept": "text/html"}).text
    assert "&lt;b&gt;" in refused
    assert "<b>" not in refused.partition('role="alert">')[2].partition("</p>")[0]
