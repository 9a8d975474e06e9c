"""Draws docs/pictures/page-*.png: the pages in Chromium, light and dark, at 1280 and 390 pixels, on the packaged prices.

`python -m tools.page_pictures`; needs Chromium and the package playwright.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, sync_playwright

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from support.browser import chromium, serving
from support.services import packaged_service

from api.web.app import create_app

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
ASKED = "?model=resnet50&target=0.757"
HEIGHTS = {1280: 1000, 390: 844}


class Shot(NamedTuple):
    """A picture: its name, the page, the chart to wait for, and whether the page is scrolled to it."""

    name: str
    path: str
    chart: str = ""
    scroll: str = ""


SHOTS = (
    Shot("answer", f"/{ASKED}"),
    Shot("chart", f"/{ASKED}", scroll="#chart"),
    Shot("estimate", f"/estimate{ASKED}&provider=aws&purchase=on_demand"),
    Shot("curve", f"/estimate{ASKED}&recipe=dawnbench-fastai-rn50-p3&recipes=all", ".chart", ".halves"),
    Shot("compare", f"/compare{ASKED}&a=aws:p3.8xlarge&b=aws:p3.8xlarge:2"),
    Shot("plan", "/plan?model=resnet50,resnet18,vit_b16&target=0.757,0.69"),
    Shot("accuracy", "/accuracy?model=resnet50", ".chart"),
    Shot("commitments", f"/commitments{ASKED}&provider=aws", ".chart"),
    Shot("history", "/offers/history?instance_type=p3.8xlarge", ".chart"),
    Shot("offers", "/offers?accelerator=H100"),
    Shot("models", "/models"),
    Shot("docs", "/docs"),
)


def shoot(browser: Browser, root: str, shot: Shot, width: int, theme: str) -> Path:
    """Takes one picture."""
    context = browser.new_context(viewport={"width": width, "height": HEIGHTS[width]}, color_scheme=theme)
    page = context.new_page()
    page.goto(root + shot.path)
    if shot.chart:
        page.locator(shot.chart).first.scroll_into_view_if_needed()
        page.wait_for_selector(f"{shot.chart}[data-drawn]", timeout=60_000)
        page.evaluate("scrollTo(0, 0)")
    if shot.scroll:
        page.evaluate("place => document.querySelector(place).scrollIntoView()", shot.scroll)
    path = PICTURES / f"page-{shot.name}-{width}-{theme}.png"
    page.screenshot(path=path)
    context.close()
    return path


def main(names: list[str]) -> None:
    """Takes all pictures, or those named."""
    with serving(create_app(packaged_service())) as root, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for shot in SHOTS:
            for width in HEIGHTS if not names or shot.name in names else ():
                for theme in ("light", "dark"):
                    print(shoot(browser, root, shot, width, theme))


if __name__ == "__main__":
    main(sys.argv[1:])
