import re
from pathlib import Path

import pytest

from science.scores import BEGIN, END, with_report
from science.validation.report import ON_THE_PAGE


def test_only_what_stands_between_the_markers_is_written_anew():
    page = f"a\n{BEGIN}\nold\n{END}\nb\n"
    assert with_report(page, "new\n") == page.replace("old", "new")


@pytest.mark.parametrize("page", ["nothing", BEGIN, END, f"{END}\n{BEGIN}"])
def test_a_page_without_both_in_order_is_refused(page):
    with pytest.raises(ValueError, match=f"needs a line {BEGIN} and, below it, a line {END}"):
        with_report(page, "new")


def test_every_row_outside_its_binomial_interval_is_explained():
    """And no other: the list on the page is that of today's scores."""
    page = (Path(__file__).parents[3] / "docs" / "method.md").read_text("utf-8")
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ") and line.endswith(" |")]
    marked = {row[0].removeprefix("| ") for row in rows if len(row) == len(ON_THE_PAGE) and "!" in row[-1]}
    listed = page.partition("marked `!`:**\n")[2].partition("\n- ")[0]
    assert set(re.findall(r"^  - \*(.+?)\*:", listed, re.MULTILINE)) == marked
