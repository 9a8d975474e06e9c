"""The first screen: how long a warm process takes for one that nobody asked before, how many bytes come before charts do, and
in Chromium, when its content is first seen and whether it moves."""

from __future__ import annotations

import re
import sys
from itertools import count
from pathlib import Path
from time import perf_counter

from flask import Flask
from playwright.sync_api import sync_playwright

from api.service import Service
from api.stored import FixedPrices
from api.web.app import create_app
from benchmarks.synthetic import NOW
from benchmarks.timing import median, milliseconds, report, slowness
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import load_evidence
from pricing.packaged.offers import read_packaged

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from support.browser import chromium, serving

ROUNDS = 15
MOST_MILLISECONDS, MOST_BYTES = 100, 60_000
LOADS = 9
SEEN = """() => new Promise(done => {
    let moved = 0;
    new PerformanceObserver(list => list.getEntries().forEach(each => { moved += each.value }))
        .observe({type: 'layout-shift', buffered: true});
    setTimeout(() => done([performance.getEntriesByName('first-contentful-paint')[0].startTime, moved]), 300);
})"""
PATH, BARE = "/", "/healthz"
PACKED = {"Accept-Encoding": "gzip", "Accept": "text/html"}


def run() -> bool:
    packaged = Catalogue.from_offers(read_packaged().offers, "packaged")
    app = create_app(Service(load_evidence(), FixedPrices(packaged), lambda: NOW))
    client = app.test_client()
    number = count()

    def first_screen() -> str:
        response = client.get(f"/?model=resnet50&target=0.757&_={next(number)}", headers=PACKED)
        sizes.append(len(response.data))
        return str(response.status_code)

    sizes: list[int] = []
    first_screen()
    took, most = median(milliseconds([first_screen] * ROUNDS)), MOST_MILLISECONDS * slowness()
    page = client.get("/").get_data(as_text=True)
    parts = re.findall(r'(?:src|href)="(/[^"]*\.(?:css|js|svg)\?v=[^"]*)"', page)
    total = sizes[-1] + sum(len(client.get(part, headers=PACKED).data) for part in parts)
    fine = report("the first screen, warm", f"{took:.0f} ms of processor", f"at most {most:.0f} ms", took <= most)
    told = f"{total:,} bytes"
    fine &= report("the first screen before charts", told, f"at most {MOST_BYTES:,}", total <= MOST_BYTES)
    return _seen(app) and fine


def _seen(app: Flask) -> bool:
    """Reports what Chromium sees of it, loaded again and again in turns with a line of text, which has no style."""
    with serving(app) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        turns = [[page.goto(address + path) and page.evaluate(SEEN) for path in (PATH, BARE)] for _ in range(LOADS + 1)]
        browser.close()
    loads, least = zip(*turns[1:], strict=True)
    first, moved = median([seen for seen, _ in loads]), max(shift for _, shift in loads)
    told = f"{first:.0f} ms (median), a line of text {median([seen for seen, _ in least]):.0f}"
    most = MOST_MILLISECONDS * slowness(perf_counter)
    fine = report("its content in Chromium", told, f"at most {most:.0f} ms", first <= most)
    return report("its layout shift", f"{moved:.3f}", "none", moved == 0) and fine
