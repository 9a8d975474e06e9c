"""What holds of every page: little moves, nothing is cut off, axe finds no violation in either dress or width, no markup."""

import html
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from support.browser import serving
from support.own_runs import add, app_of
from support.prices import offer
from support.sampled import WHOLE
from support.services import service_of

from api.forms.register import QUESTIONS
from api.stored import FixedPrices
from api.web.app import create_app
from costcalc.catalogue.catalogue import Catalogue
from costcalc.offer import Payment, PurchaseOption

BROWSER = {"Accept": "text/html"}
ASKED = "model=resnet50&target=0.757"
PAGES = {
    "/": f"{ASKED}&as_of=2019-06-30",
    "/estimate": f"{ASKED}&provider=aws",
    "/compare": f"{ASKED}&a=lambda:gpu_1x_a10&b=own:1x RTX 4090",
    "/plan": "model=resnet50,resnet18&target=0.757",
    "/commitments": f"{ASKED}&provider=aws",
    "/accuracy": "model=resnet18",
    "/offers": "accelerator=H100",
    "/offers/history": "instance_type=p3.8xlarge",
    "/offers/changes": "since=2026-10-01",
    "/trend": "model=resnet18&target=0.69&every=year",
    "/throughput": "model=resnet50",
    "/fit": "model=resnet50",
    "/small": "",
    "/tasks": "",
    "/mlperf": "",
    "/mlperf/all": "",
    "/models": "",
    "/models/resnet50": "",
    "/recipes": "",
    "/train": "",
    "/train/llama-3.1-8b": "",
    "/docs": "",
    "/docs/terminal": "",
    "/docs/method": "",
    "/signin": "",
}
OF_A_RUN = (
    "/recipes",
    "/?model=my-run&target=28&_columns=machine,speed",
    "/estimate?model=my-run&target=28",
    "/commitments?model=my-run&target=28&provider=aws",
    "/compare?model=my-run&target=28&a=lambda:gpu_1x_a10&b=own:1x RTX 4090",
)
OF_NO_FEED = "/models", "/recipes", "/train", "/docs", "/signin", "/small", "/tasks", "/mlperf"
WRONG = {
    "/": f"{ASKED}5",
    "/offers": "nonsense=1",
    "/compare": f"{ASKED}&a=aws:nothing&b=",
    "/plan": "model=nothing&target=2",
}
EMPTY = (
    "/?model=resnet50&target=0.99",
    "/estimate?model=resnet50&target=0.757&max_hours=0.001",
    "/commitments?model=resnet50&target=0.757&provider=kaggle",
    "/trend?model=resnet50&target=0.757&provider=runpod&as_of=2018-06-01",
    "/offers?provider=lambda&accelerator=TPU v4",
    "/nowhere",
)
OF_A_TASK = "/?model=bert-large", "/?q=mi300x", "/trend?model=bert-large&every=year"
# Rows and points far below are like those above, and axe reads them one by one.
CUT = """() => document.querySelectorAll(
    'tbody tr:nth-child(n + 9), #filters details li, .plot .behind use').forEach(row => row.remove())"""
CUT_OFF = """() => [...document.querySelectorAll('input[placeholder]:placeholder-shown')].filter(field => {
    const style = getComputedStyle(field), pen = document.createElement('canvas').getContext('2d');
    pen.font = `italic ${style.fontSize} ${style.fontFamily}`;
    const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    return field.clientWidth && pen.measureText(field.placeholder).width > room;
}).map(field => `${field.name}: ${field.placeholder}`)"""
LITTLE = 0.01  # 0.1 is called good
MOVED = """() => new Promise(done => {
    let moved = 0;
    new PerformanceObserver(list => list.getEntries().forEach(each => { moved += each.value }))
        .observe({type: 'layout-shift', buffered: true});
    setTimeout(() => done(moved), 20);
})"""
HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>'


def addresses(pages):
    return [f"{path}?{query}" for path, query in pages.items()]


@pytest.fixture(scope="module")
def root():
    app = app_of()
    add(app)
    with serving(app) as address:
        yield address


def test_every_question_with_a_page_is_among_them():
    assert {each.path.replace("{model}", "resnet50") for each in QUESTIONS if each.has_page} - {
        "/cost",
        "/ask",
    } <= PAGES.keys()


ADDRESSES = [*addresses(PAGES), *addresses(WRONG), *OF_A_RUN, *OF_A_TASK, *EMPTY]
DRESSES = ((1280, "light"), (390, "dark"))
READ_BY_AXE = {(path, DRESSES[turn % 2]) for turn, path in enumerate(ADDRESSES)}
"""Every page in one of the two, in turn: at night in both."""


@pytest.mark.parametrize("path", ADDRESSES)
def test_little_moves_nothing_is_cut_off_and_axe_finds_no_violation_in_either_dress_and_width(look, root, path):
    page = look(path, root=root)
    assert page.evaluate(MOVED) < LITTLE
    page.evaluate(CUT)
    for width, theme in DRESSES:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(CUT_OFF) == []
        page.emulate_media(color_scheme=theme)
        if WHOLE or (path, (width, theme)) in READ_BY_AXE:
            found = Axe().run(page)
            assert found.violations_count == 0, f"{width} {theme}: {found.generate_report()}"


class Tags(HTMLParser):
    """The tags and attribute names of a page."""

    def __init__(self, page):
        super().__init__()
        self.found = set()
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found |= {(tag, name) for name, _ in attributes} | {(tag, "")}


def tags_of(response):
    return Tags(response.get_data(as_text=True)).found


def tags(client, path):
    return tags_of(client.get(path, headers=BROWSER))


@pytest.mark.parametrize("path", [*PAGES, "/nowhere"])
def test_nothing_in_an_address_becomes_markup(client, path):
    given = dict(pair.split("=") for pair in PAGES.get(path, "").split("&") if pair)
    hostile, harmless = (
        f"{path}?{urlencode({**given, 'label': text, 'provider': text, 'instance_type': text, 'a': text, text: text})}"
        for text in (HOSTILE, "nobody")
    )
    assert tags(client, hostile) == tags(client, harmless)


def fed(text):
    """A service whose only feed writes this text wherever a feed writes texts."""
    rates = [
        offer(instance_type=f"p3.2xlarge{text}", region=f"us{text}", source=f"https://feed.example/{text}", **more)
        for more in ({}, {"purchase_option": PurchaseOption.RESERVED, "term": "1y", "payment": Payment.NO_UPFRONT})
    ]
    prices = FixedPrices(Catalogue.from_offers(rates, f"feed {text}"))
    return create_app(service_of(prices)).test_client(), rates[0]


@pytest.mark.parametrize("path", [path for path in PAGES if not path.startswith(OF_NO_FEED)])
def test_nothing_in_a_price_feed_becomes_markup(path):
    found = []
    for text in (HOSTILE, "nobody"):
        client, rate = fed(text)
        machine = f"{rate.provider}:{rate.instance_type}"
        asked = (
            {"model": "resnet50"}
            if path in ("/", "/estimate", "/commitments", "/compare", "/plan", "/accuracy", "/trend")
            else {}
        )
        asked |= {"target": "0.7"} if asked and path != "/accuracy" else {}
        asked |= {"a": machine, "b": machine} if path == "/compare" else {}
        asked |= {"instance_type": rate.instance_type} if path == "/offers/history" else {}
        asked |= {"since": "2010-01-01"} if path == "/offers/changes" else {}
        response = client.get(f"{path}?{urlencode(asked)}", headers=BROWSER)
        assert response.status_code == 200
        page = response.get_data(as_text=True)
        assert path == "/fit" or html.escape(text) in page.replace("&#34;", "&quot;")
        found.append(Tags(page).found)
    assert found[0] == found[1]


def test_nothing_in_a_sheet_becomes_markup(client):
    def answer(text):
        rows = f"model,target,_note\nresnet50,0.757,{text}\n{text},0.7,\nresnet50,{text},\n".replace('"', "'")
        return tags_of(client.post("/plan", data={"rows": rows}, headers=BROWSER, content_type="multipart/form-data"))

    assert answer(HOSTILE) == answer("nobody")


def test_lines_of_templates_can_be_read():
    templates = Path(create_app.__code__.co_filename).parent.glob("templates/*.html")
    lines = [line for file in templates for line in file.read_text().splitlines()]
    assert len(lines) > 500
    assert max(map(len, lines)) <= 160
