"""LibreOffice without a screen: opens files as a person's double click would, and says what their cells hold then."""

import csv
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from openpyxl import load_workbook

SOFFICE = shutil.which("soffice")
REQUIRED = os.environ.get("CI") == "true"  # there it is a failure, elsewhere a skip
needs_office = pytest.mark.skipif(SOFFICE is None and not REQUIRED, reason="no LibreOffice (Debian: libreoffice-calc)")
ALWAYS_CALCULATE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
</oor:items>"""
GERMAN, ENGLISH = 1031, 1033
UTF_8 = 76


@cache
def _profile():
    """Settings of our own: what was cached in a file is computed again."""
    folder = Path(mkdtemp(prefix="office-"))
    (folder / "user").mkdir()
    (folder / "user" / "registrymodifications.xcu").write_text(ALWAYS_CALCULATE)
    return folder


def convert(path, form, *options):
    """The file in another form, beside it."""
    assert SOFFICE, "LibreOffice is not installed"
    out = path.parent / "converted"
    command = [SOFFICE, f"-env:UserInstallation=file://{_profile()}", "--headless", *options]
    done = subprocess.run(
        [*command, "--convert-to", form, "--outdir", out, path],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    result = out / f"{path.stem}.{form.partition(':')[0]}"
    assert result.exists(), done.stderr
    return result


def recalculated(path):
    """The values of a workbook after its formulas were computed anew."""
    return load_workbook(convert(path, "xlsx"), data_only=True)


def opened_csv(path, sep=",", language=ENGLISH):
    """The only sheet of a CSV file, its formulas still formulas."""
    tokens = f"CSV:{ord(sep)},34,{UTF_8},1,,{language},false,true"
    return load_workbook(convert(path, "xlsx", f"--infilter={tokens}")).active


def recalculated_all(paths):
    """The same of many workbooks in one folder, which takes hardly longer than one."""
    out = _converted(paths, "xlsx")
    return [load_workbook(out / path.name, data_only=True) for path in paths]


def recalculated_rows(paths, sheet, number):
    """The rows of one sheet of many workbooks in one folder, the same way: half the time of whole workbooks.

    `number` is the place of the sheet, 1 for the first.
    """
    out = _converted(
        paths, f"csv:Text - txt - csv (StarCalc):44,34,{UTF_8},1,,0,false,false,false,false,false,{number}"
    )
    texts = ((out / f"{path.stem}-{sheet}.csv").read_text("utf-8") for path in paths)
    return [list(csv.DictReader(text.splitlines())) for text in texts]


def _converted(paths, form):
    """The folder of these files in another form."""
    assert SOFFICE, "LibreOffice is not installed"
    out = paths[0].parent / "converted"
    command = [SOFFICE, f"-env:UserInstallation=file://{_profile()}", "--headless", "--convert-to", form]
    done = subprocess.run([*command, "--outdir", out, *paths], check=False, capture_output=True, text=True, timeout=300)
    assert len(list(out.iterdir())) == len(paths), done.stderr
    return out
