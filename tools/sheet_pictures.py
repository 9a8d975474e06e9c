"""Makes the pictures of docs/spreadsheets.md: what the service answers, as LibreOffice shows it.

`python -m tools.sheet_pictures`; needs LibreOffice, pdftoppm (Debian: libreoffice-calc, libreoffice-draw, poppler-utils) and
Pillow. The sheets of CSV are shown without most of their columns.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from openpyxl import load_workbook
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.worksheet import Worksheet
from PIL import Image, ImageOps

from api.bootstrap import FixedPrices
from api.service import Service
from api.web.app import create_app
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import load_evidence
from pricing.packaged.offers import read_packaged

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
ASKED = "model=resnet50&target=0.757&limit=10&frontier=true"
SHOWN = ("rank", "provider", "region", "instance_type", "recipe", "hours", "effective_cost", "billed_cost", "currency",
         "price_observed_at", "label")  # fmt: skip
LOCALE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<item oor:path="/org.openoffice.Setup/L10N">
<prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>{}</value></prop></item>
</oor:items>"""
ENVELOPE, A5 = 20, 11  # paper sizes of OOXML: a wide strip, a page
BELOW_THE_CHART = "estimates here, of"
DOTS_PER_INCH, COLORS, MARGIN = 140, 64, 6


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: what is asked, how a sheet reads the answer, and in which locale."""

    name: str
    query: str
    sep: str = ","
    language: int = 1033
    locale: str = "en-US"


SHOTS = (
    Shot("importdata", "&_=1"),
    Shot("power-query", "&provider=aws,gcp,azure"),
    Shot("excel", "&excel=1&label=Größe"),
    Shot("german", "&excel=1&sep=%3B&decimal=%2C&currency=EUR&label=Größe", ";", 1031, "de-DE"),
)


def office(folder: Path, locale: str, *arguments: object) -> None:
    """Runs LibreOffice in a locale, in a profile of its own."""
    user = folder / locale / "user"
    user.mkdir(parents=True, exist_ok=True)
    (user / "registrymodifications.xcu").write_text(LOCALE.format(locale))
    command = ["soffice", f"-env:UserInstallation=file://{folder / locale}", "--headless"]
    subprocess.run([*command, *map(str, arguments), "--outdir", folder], check=True, capture_output=True)


def set_page(sheet: Worksheet, paper: int, lines: bool) -> None:
    """All of the sheet on one page, without header and footer."""
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    sheet.page_setup.paperSize, sheet.page_setup.orientation = paper, "landscape"
    sheet.page_setup.fitToWidth = sheet.page_setup.fitToHeight = 1
    sheet.print_options.gridLines = sheet.print_options.headings = lines
    sheet.oddHeader.center.text = sheet.oddFooter.center.text = " "
    sheet.oddFooter.left.text = sheet.oddFooter.right.text = " "


def choose_columns(sheet: Worksheet) -> None:
    """Only what fits a picture, each column as wide as its text."""
    for column in range(sheet.max_column, 0, -1):
        if sheet.cell(1, column).value not in SHOWN:
            sheet.delete_cols(column)
    for column in range(1, sheet.max_column + 1):
        texts = [str(cell.value or "")[:34] for [cell] in sheet.iter_rows(min_col=column, max_col=column)]
        sheet.column_dimensions[get_column_letter(column)].width = min(max(map(len, texts)), 34) + 2


def picture(folder: Path, name: str, locale: str) -> None:
    """The workbook's first page, cropped."""
    office(folder, locale, "--convert-to", "pdf", folder / f"{name}.xlsx")
    command = ["pdftoppm", "-r", str(DOTS_PER_INCH), "-png", "-singlefile", folder / f"{name}.pdf", folder / name]
    subprocess.run(command, check=True)
    with Image.open(folder / f"{name}.png") as page:
        plain = page.convert("RGB")
        box = ImageOps.invert(plain.convert("L")).point(lambda light: 255 * (light > 8)).getbbox()
        ImageOps.expand(plain.crop(box), MARGIN, "white").quantize(COLORS).save(PICTURES / f"{name}.png", optimize=True)


def main() -> None:
    """Makes all of them."""
    prices = FixedPrices(Catalogue.from_offers(read_packaged().offers, "packaged"))
    client = create_app(Service(load_evidence(), prices, lambda: NOW)).test_client()
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as name:
        folder = Path(name)
        for shot in SHOTS:
            file = folder / f"{shot.name}.csv"
            file.write_bytes(client.get(f"/cost.csv?{ASKED}{shot.query}").data)
            filters = f"--infilter=CSV:{ord(shot.sep)},34,76,1,,{shot.language},false,true"
            office(folder, shot.locale, filters, "--convert-to", "xlsx", file)
            book = load_workbook(folder / f"{shot.name}.xlsx")
            choose_columns(book.active)
            set_page(book.active, ENVELOPE, lines=True)
            book.save(folder / f"{shot.name}.xlsx")
            picture(folder, shot.name, shot.locale)
        book_file = folder / "summary.xlsx"
        book_file.write_bytes(client.get("/cost.xlsx?model=resnet50&target=0.757&limit=20").data)
        book = load_workbook(book_file)
        for each in book.sheetnames[1:]:
            book[each].sheet_state = "hidden"
        set_page(book["Summary"], A5, lines=False)
        below = next(cell.row for cell in book["Summary"]["A"] if cell.value == BELOW_THE_CHART)
        book["Summary"].print_area = f"A1:{get_column_letter(book['Summary'].max_column)}{below - 1}"
        book.save(book_file)
        picture(folder, "summary", "en-US")


if __name__ == "__main__":
    main()
