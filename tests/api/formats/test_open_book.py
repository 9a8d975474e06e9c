"""The open book: plain files that other tools read, to which rows are only added."""

import json
import re
import subprocess
import sys
from datetime import timedelta
from io import BytesIO
from pathlib import Path

import jsonschema_rs
import pandas
from support.prices import NOW, offer

from api.formats import open_book
from costcalc.catalogue.catalogue import Catalogue
from costcalc.offer import ENDED

DAY = timedelta(days=1)
PAGE = (Path(__file__).parents[3] / "docs" / "open-book.md").read_text()


def catalogue(*offers):
    return Catalogue.from_offers(offers, "")


def test_a_month_grows_by_what_changed_alone():
    first = open_book.month("", catalogue(offer(), offer("5", NOW - 30 * DAY, region="october")), NOW)
    assert [line.split(",")[1] for line in first.splitlines()[1:]] == ["us-east-1"]
    unchanged = open_book.month(first, catalogue(offer(observed_at=NOW + DAY)), NOW + DAY)
    assert unchanged == first
    moved = open_book.month(
        first, catalogue(offer("3", NOW + DAY), offer(region="b", observed_at=NOW + DAY)), NOW + DAY
    )
    assert moved.startswith(first)
    assert len(moved.splitlines()) == 4
    ended = open_book.month(moved, catalogue(offer("3", NOW + 2 * DAY, flags=(ENDED,))), NOW + 2 * DAY)
    assert len(ended.splitlines()) == 5


def test_the_rows_keep_the_schema():
    checks = jsonschema_rs.validator_for(json.loads(open_book.schema()))
    offers = offer(flags=("rounded", "single_zone")), offer("5", region="b", effective_from=NOW - DAY)
    sheet = pandas.read_csv(BytesIO(b"".join(open_book.latest(catalogue(*offers), NOW))))
    rows = json.loads(sheet.to_json(orient="records"))
    assert [*sheet] == [*json.loads(open_book.schema())["properties"]]
    assert [[error.message for error in checks.iter_errors(row)] for row in rows] == [[], []]
    assert [*checks.iter_errors({**rows[0], "hourly_rate": "dear"})] != []


def test_what_the_page_shows_runs(tmp_path):
    (tmp_path / "latest.csv").write_bytes(b"".join(open_book.latest(catalogue(offer("24", provider="acme")), NOW)))
    [shown] = re.findall("```python\n(.*?)```", PAGE, re.DOTALL)
    command = [sys.executable, "-c", shown.replace("'H100'", "'V100'")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "acme    24.0" in done.stdout
