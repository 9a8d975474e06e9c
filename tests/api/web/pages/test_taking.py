"""How an estimate is taken elsewhere: what is copied and linked asks for that estimate, and says where a token goes."""

import html
import os
import re
import shlex
from urllib.request import Request, urlopen

import pytest
import yaml
from support.browser import serving

from api.settings import Settings
from api.web.app import create_app

ASKED = "/?model=resnet50&target=0.757&provider=lambda&runs=3&software=recipe"
TOKEN = "right-token"
LAUNCHED = re.compile(r'<a href="(/launch[^"]*)">(SkyPilot|dstack)</a>')
COPIED = re.compile(r'<input id="take-cheapest-(curl|Sheet)" value="([^"]*)" readonly>')


def text_of(response):
    return html.unescape(response.get_data(as_text=True))


def test_cards_link_launch_files_of_their_machines_alone(client):
    links = LAUNCHED.findall(text_of(client.get(ASKED)))
    assert {name for _, name in links} == {"SkyPilot", "dstack"}
    picks = client.get(ASKED.replace("/?", "/cost?")).json["picks"]
    assert len(links) == 2 * len({pick["estimate"]["rank"] for pick in picks})
    for path, _ in links:
        assert "lambda" in str(yaml.safe_load(client.get(path).data))


def test_a_channel_is_told_below_nine_tenths_of_the_cost(client):
    [told] = re.findall(
        r'<input id="take-all-Alert" value="/feed subscribe http://localhost([^"]*)"', text_of(client.get(ASKED))
    )
    cost = client.get(ASKED.replace("/?", "/cost?")).json["picks"][0]["estimate"]["billed_cost"]
    assert float(told.rpartition("below=")[2]) == pytest.approx(0.9 * cost, abs=0.006)
    assert client.get(told).mimetype == "application/atom+xml"


def test_what_no_launcher_rents_has_no_launch_file(client):
    assert not LAUNCHED.findall(text_of(client.get("/?model=resnet50&target=0.757&purchase=reserved")))


@pytest.fixture
def locked(service):
    with serving(create_app(service, Settings(api_tokens=(TOKEN,)))) as root:
        yield root


def copied(root):
    with urlopen(
        Request(f"{root}{ASKED}", headers={"Authorization": f"Bearer {TOKEN}", "Accept": "text/html"})
    ) as answer:
        page = answer.read().decode()
    assert TOKEN not in page
    return {name: html.unescape(text) for name, text in COPIED.findall(page)}


def test_where_tokens_are_set_what_is_copied_has_a_place_for_one(locked, monkeypatch):
    lines = copied(locked)
    monkeypatch.setenv("COSTCALC_TOKEN", TOKEN)
    program, flag, header, address = shlex.split(os.path.expandvars(lines["curl"]))
    assert (program, flag) == ("curl", "-H")
    with urlopen(Request(address, headers=dict([header.split(": ")]))) as answer:
        assert answer.status == 200
    sheet = re.fullmatch(r'=IMPORTDATA\("(.*)"\)', lines["Sheet"])[1]
    with urlopen(sheet.replace("YOUR_TOKEN", TOKEN)) as answer:
        assert answer.read().count(b"\n") == 2


def test_without_tokens_nothing_speaks_of_one(client):
    page = text_of(client.get(ASKED))
    assert "YOUR_TOKEN" not in page
    assert "COSTCALC_TOKEN" not in page


def test_past_dates_are_those_on_which_ones_own_machines_were_on_sale(client):
    def years(own):
        page = client.get(f"{ASKED}&own={own}").get_data(as_text=True)
        return re.findall(r">(20\d\d)</a>", re.search(r'<p class="dates">.*?</p>', page)[0])

    assert years("1x RTX 4090") == ["2022", "2024"]
    assert years("1x V100") == ["2018", "2020", "2022", "2024"]
