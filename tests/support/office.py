"""LibreOffice without a screen: opens files as a person's double click would, and says what their cells hold then."""

import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from xml.sax.saxutils import escape

import pytest
from openpyxl import load_workbook

from tools.cluster.program import NotInstalled

SOFFICE = shutil.which("soffice")
needs_office = pytest.mark.skipif(SOFFICE is None, reason=str(NotInstalled("soffice", "libreoffice-calc")))
ALWAYS_CALCULATE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
</oor:items>"""
GERMAN, ENGLISH = 1031, 1033
UTF_8 = 76
LIBRARIES = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE library:libraries PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "libraries.dtd">
<library:libraries xmlns:library="http://openoffice.org/2000/library" xmlns:xlink="http://www.w3.org/1999/xlink">
<library:library library:name="Standard" xlink:href="$(USER)/basic/Standard/{0}.xlb/" xlink:type="simple" library:link="false"/>
</library:libraries>"""
LIBRARY = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE library:library PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "library.dtd">
<library:library xmlns:library="http://openoffice.org/2000/library" library:name="Standard" library:readonly="false"
 library:passwordprotected="false">{0}</library:library>"""
MODULE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE script:module PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "module.dtd">
<script:module xmlns:script="http://openoffice.org/2000/script" script:name="Hand" script:language="StarBasic">{0}</script:module>
"""
BASIC = """
Sub SortTable(book, name, column, ascending)
  Dim field As New com.sun.star.table.TableSortField
  Dim options(1) As New com.sun.star.beans.PropertyValue
  area = Table(book, name)
  field.Field = column
  field.IsAscending = ascending
  options(0).Name = "SortFields"
  options(0).Value = Array(field)
  options(1).Name = "ContainsHeader"
  options(1).Value = True
  area.sort(options())
End Sub

Sub FilterTable(book, name, column, text)
  Dim field As New com.sun.star.sheet.TableFilterField
  area = Table(book, name)
  filter = area.createFilterDescriptor(True)
  field.Field = column
  field.Operator = com.sun.star.sheet.FilterOperator.EQUAL
  field.StringValue = text
  filter.setFilterFields(Array(field))
  filter.ContainsHeader = True
  area.filter(filter)
End Sub

Function Table(book, name)
  sheet = book.Sheets.getByName(name)
  cursor = sheet.createCursor()
  cursor.gotoEndOfUsedArea(False)
  last = cursor.RangeAddress
  Table = sheet.getCellRangeByPosition(0, 0, last.EndColumn, last.EndRow)
End Function

Sub SaveAs(book, address)
  Dim options(0) As New com.sun.star.beans.PropertyValue
  options(0).Name = "FilterName"
  options(0).Value = "Calc MS Excel 2007 XML"
  book.calculateAll()
  book.storeToURL(address, options())
End Sub

Sub Work
  Dim options(0) As New com.sun.star.beans.PropertyValue
  options(0).Name = "Hidden"
  options(0).Value = True
  book = StarDesktop.loadComponentFromURL("{opened}", "_blank", 0, options())
{steps}
  book.close(True)
End Sub
"""


@cache
def _profile():
    """Settings of our own: what was cached in a file is computed again."""
    folder = Path(mkdtemp(prefix="office-"))
    (folder / "user").mkdir()
    (folder / "user" / "registrymodifications.xcu").write_text(ALWAYS_CALCULATE)
    return folder


def convert(path, form, *options, profile=None):
    """The file in another form, beside it; a profile of its own is LibreOffice as it is installed, which calculates less."""
    out = path.parent / "converted"
    command = [SOFFICE, f"-env:UserInstallation=file://{profile or _profile()}", "--headless", *options]
    done = subprocess.run(
        [*command, "--convert-to", form, "--outdir", out, path],
        check=False,
        capture_output=True,
        text=True,
        timeout=240,
    )
    result = out / f"{path.stem}.{form.partition(':')[0]}"
    assert result.exists(), done.stderr
    return result


def recalculated(path):
    """The values of a workbook after its formulas were computed anew."""
    return load_workbook(convert(path, "xlsx"), data_only=True)


def opened_csvs(paths, sep=",", language=ENGLISH):
    """The only sheet of each of these CSV files in one folder, its formulas still formulas."""
    tokens = f"CSV:{ord(sep)},34,{UTF_8},1,,{language},false,true"
    out = _converted(paths, "xlsx", f"--infilter={tokens}")
    return [load_workbook(out / f"{path.stem}.xlsx").active for path in paths]


def recalculated_all(paths):
    """The same of many workbooks in one folder, which takes hardly longer than one."""
    out = _converted(paths, "xlsx")
    return [load_workbook(out / path.name, data_only=True) for path in paths]


def name_of(heading):
    """The name of a column by its heading: `billed_cost` of `Billed cost (USD)`."""
    name = heading.partition(" (")[0]
    return name if name.startswith("_") else name.lower().replace(" ", "_").replace("top-", "top")


def rows_of(lines):
    """The rows below the headings, each by the names of its columns without their units."""
    headings, *rows = lines
    names = list(map(name_of, headings))
    return [dict(zip(names, row, strict=True)) for row in rows]


def _converted(paths, form, *options):
    """The folder of these files in another form."""
    assert SOFFICE, "LibreOffice is not installed"
    out = paths[0].parent / "converted"
    command = [SOFFICE, f"-env:UserInstallation=file://{_profile()}", "--headless", *options, "--convert-to", form]
    done = subprocess.run([*command, "--outdir", out, *paths], check=False, capture_output=True, text=True, timeout=300)
    assert len(list(out.iterdir())) == len(paths), done.stderr
    return out


def sorted_again_and_again(path, orders):
    """The values of a workbook after each of `orders`: {sheet: (column, ascending)} sorts the rows below the headings, or
    {sheet: (column, text)} leaves those in sight that have this text. All is calculated anew after each."""
    out = path.parent / "sorted"
    out.mkdir()
    steps, saved = [], [out / f"{number}.xlsx" for number in range(len(orders))]
    for order, file in zip(orders, saved, strict=True):
        steps += [_step(sheet, column, how) for sheet, (column, how) in order.items()]
        steps.append(f'  SaveAs(book, "{file.as_uri()}")')
    _basic(BASIC.replace("{opened}", path.as_uri()).replace("{steps}", "\n".join(steps)))
    command = [SOFFICE, f"-env:UserInstallation=file://{_profile()}", "--headless", "macro:///Standard.Hand.Work"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=240)
    assert saved[-1].exists(), done.stderr
    return [load_workbook(file, data_only=True) for file in saved]


def _step(sheet, column, how):
    if isinstance(how, bool):
        return f'  SortTable(book, "{sheet}", {column}, {how})'
    return f'  FilterTable(book, "{sheet}", {column}, "{how}")'


def _basic(text):
    """Makes this the module Hand of our own macros, in the folder that LibreOffice makes at its first start."""
    folder = _profile() / "user" / "basic"
    if not folder.exists():
        start = [SOFFICE, f"-env:UserInstallation=file://{_profile()}", "--headless", "--terminate_after_init"]
        subprocess.run(start, check=False, capture_output=True, timeout=240)
    (folder / "script.xlc").write_text(LIBRARIES.format("script"))
    (folder / "dialog.xlc").write_text(LIBRARIES.format("dialog"))
    (folder / "Standard" / "script.xlb").write_text(LIBRARY.format('<library:element library:name="Hand"/>'))
    (folder / "Standard" / "dialog.xlb").write_text(LIBRARY.format(""))
    (folder / "Standard" / "Hand.xba").write_text(MODULE.format(escape(text)))
