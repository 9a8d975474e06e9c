"""The pictures in docs/: each holds the words that it shows, since pixels differ between machines and words do not."""

import io
import re
import subprocess
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from tempfile import TemporaryDirectory

from openpyxl import load_workbook
from PIL import Image, ImageOps, PngImagePlugin
from playwright.sync_api import sync_playwright
from support.browser import chromium, serving
from support.office import convert
from support.services import packaged_service

from api.slack.reply import Replier

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
ASKED = "/?model=resnet50&target=0.757"
HELD = "costcalc"
SUMMARY_ROWS = 20
SLACK_STYLE = (
    "<!doctype html><style>body{font:13px/1.45 sans-serif;margin:14px 20px;color:#1d1c1d}p{margin:.5em 0}a{color:#1264a3}"
    ".typed{background:#f4ede4;border-radius:6px;padding:.5em .7em;width:max-content}.context{color:#616061;font-size:11px}"
    "table{border-collapse:collapse;font-size:11px}td{border:1px solid #ddd;padding:.25em .6em}tr:first-child{font-weight:700}"
    "small{color:#616061}</style>"
)


@dataclass(frozen=True)
class Picture:
    """A part of the first screen: its name, size and theme, and the element that it begins at."""

    name: str
    width: int
    height: int
    theme: str
    part: str

    @property
    def file(self):
        return PICTURES / f"{self.name}.png"

    def words(self, app):
        """What the page says now, down to its table."""
        page = app.test_client().get(ASKED, headers={"Accept": "text/html"}).get_data(as_text=True)
        shown = page.partition("<header")[2].partition('<section id="estimates"')[0]
        return unescape(" ".join(re.sub(r"<[^>]+>", " ", f"<header{shown}").split()))

    def draw(self, app):
        """Takes it anew of an application's first screen."""
        with serving(app) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            size = {"width": self.width, "height": self.height}
            page = browser.new_page(viewport=size, color_scheme=self.theme)
            page.goto(address + ASKED)
            page.locator(self.part).evaluate("element => element.scrollIntoView()")
            page.screenshot(path=self.file)
            browser.close()
        _hold(self.file, self.words(app))


@dataclass(frozen=True)
class Summary:
    """The first sheet of the workbook, as LibreOffice prints it."""

    name = "summary"
    file = PICTURES / "summary.png"

    def words(self, app):
        """The cells of its upper part now."""
        sheet = load_workbook(io.BytesIO(self._book(app)), data_only=True)["Summary"]
        cells = (value for row in sheet.iter_rows(max_row=SUMMARY_ROWS, values_only=True) for value in row)
        return " | ".join(str(value) for value in cells if value is not None)

    def draw(self, app):
        """Prints it anew."""
        with TemporaryDirectory() as folder:
            book = Path(folder) / "summary.xlsx"
            book.write_bytes(self._book(app))
            pdf = convert(book, "pdf")
            subprocess.run(["pdftoppm", "-png", "-singlefile", "-r", "96", pdf, pdf.with_suffix("")], check=True)
            with Image.open(pdf.with_suffix(".png")) as image:
                paper = image.convert("RGB")
                paper.crop(ImageOps.invert(paper).getbbox()).save(self.file)
        _hold(self.file, self.words(app))

    def _book(self, app):
        return app.test_client().get(ASKED.replace("/?", "/cost.xlsx?")).data


@dataclass(frozen=True)
class Rounds:
    """The chart of /mlperf/all."""

    name = "mlperf-in-dollars"
    file = PICTURES / "mlperf-in-dollars.png"

    def words(self, app):
        """Its texts now."""
        drawn = app.test_client().get("/mlperf/all.svg").text
        return " | ".join(
            filter(str.strip, map(unescape, re.findall(r">([^<]+)<", re.sub(r"(?s)<style.*?</style>", "", drawn))))
        )

    def draw(self, app):
        """Draws it anew."""
        self.file.write_bytes(app.test_client().get("/mlperf/all.png").data)
        _hold(self.file, self.words(app))


@dataclass(frozen=True)
class Reply:
    """What Slack shows of the reply of /cost, laid out about as Slack does."""

    name = "slack-reply"
    file = PICTURES.parent / "slack-reply.png"
    typed = "resnet50 75.7% on aws, gcp, azure"

    def words(self, app):
        """The texts of its blocks now."""
        shown = re.sub(r"<style>.*?</style>|<[^>]+>", " ", self._page(), flags=re.S)
        return unescape(re.sub(r"\s+", " ", shown)).strip()

    def draw(self, app):
        """Takes it anew."""
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1040, "height": 200})
            page.set_content(self._page())
            page.screenshot(path=self.file, full_page=True)
            browser.close()
        _hold(self.file, self.words(app))

    def _page(self):
        reply = Replier(packaged_service()).reply(self.typed, "https://cost.example.org")
        blocks = "".join(map(_block, reply.answer.blocks))
        who = "<p><b>costcalc</b> <small>Only visible to you</small></p>"
        return f"{SLACK_STYLE}<p class=typed>/cost {self.typed}</p>{who}{blocks}"


def _block(block):
    """A block of a message as HTML."""
    if block["type"] == "table":
        cells = ("".join(f"<td>{escape(cell['text'])}</td>" for cell in row) for row in block["rows"])
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
    texts = [block["text"], *block.get("fields", [])] if "text" in block else block.get("elements", [])
    return "".join(f"<p class={block['type']}>{_marked(each['text'])}</p>" for each in texts)


def _marked(text):
    """Slack's own markup as HTML; what is escaped in it is escaped in HTML too."""
    linked = re.sub(r"<(?:[^|>]+)\|([^>]+)>", r"<a>\1</a>", text)
    return re.sub(r"(?<!\w)\*([^*\n]+)\*", r"<b>\1</b>", linked).replace("\n", "<br>")


def held(picture):
    """The words that a picture shows."""
    with Image.open(picture.file) as image:
        return image.text.get(HELD)


def _hold(file, words):
    said = PngImagePlugin.PngInfo()
    said.add_itxt(HELD, words)
    with Image.open(file) as image:
        image.save(file, optimize=True, pnginfo=said)


EVERY = (
    Picture("page-answer-1280-light", 1280, 1000, "light", "body"),
    Picture("page-chart-390-dark", 390, 844, "dark", "#chart"),
    Summary(),
    Rounds(),
    Reply(),
)
