"""The pictures in docs/: each holds the words that it shows, since pixels differ between machines and words do not."""

import io
import re
import subprocess
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory

from openpyxl import load_workbook
from PIL import Image, ImageOps, PngImagePlugin
from playwright.sync_api import sync_playwright
from support.browser import chromium, serving
from support.office import convert

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
ASKED = "/?model=resnet50&target=0.757"
HELD = "costcalc"
SUMMARY_ROWS = 20
WORDS = re.compile(r"<h1>.*?</h1>|<b>.*?</b>", re.S)


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
        """The headline and the figures of the picks on the page now."""
        page = app.test_client().get(ASKED, headers={"Accept": "text/html"}).get_data(as_text=True)
        found = WORDS.findall(page.partition('id="estimates"')[0])
        return unescape(re.sub(r"<[^>]+>", "", " | ".join(found)))

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
)
