import math
import re
from pathlib import Path

import pytest

from science.validation.method_page import documented, inserted, require_markers, worked_example
from science.validation.report import ON_THE_PAGE, Report
from science.validation.scores import Case, score

MARKERS = "<!-- example: begin -->\nold\n<!-- example: end -->\n<!-- validate: begin --><!-- validate: end -->\n"


@pytest.fixture(scope="module")
def example(packaged_evidence):
    return worked_example(packaged_evidence.fitted)


class TestMarkers:
    """The text between two comments of the page."""

    def test_only_what_stands_between_them_is_written_anew(self):
        page = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb <!-- y: begin -->kept<!-- y: end -->\n"
        assert inserted(page, "x", "new\n") == page.replace("old", "new")

    @pytest.mark.parametrize(
        "page", ["nothing", "<!-- x: begin -->", "<!-- x: end -->", "<!-- x: end -->\n<!-- x: begin -->"]
    )
    def test_a_page_without_both_in_order_is_refused(self, page):
        with pytest.raises(ValueError, match="needs a line <!-- x: begin --> and, below it, a line <!-- x: end -->"):
            inserted(page, "x", "new")

    def test_both_sections_are_required(self):
        require_markers(MARKERS)
        for section in ("example", "validate"):
            with pytest.raises(ValueError, match=f"<!-- {section}: begin -->"):
                require_markers(MARKERS.replace(section, "another"))


def test_a_page_gets_the_report_and_the_example(example):
    report = Report("e", "s" * 64, (score("a made-up experiment", [Case("a", "b", 0.1, 0.2)]),), {}, ())
    page = documented(MARKERS, report)
    assert example in page
    assert report.markdown() in page
    assert "old" not in page
    require_markers(page)


class TestWorkedExample:
    """One prediction whose terms a reader can add up."""

    def test_it_stands_on_the_page(self, example, method_page):
        assert example in method_page, "run `costcalc validate --into docs/method.md`"

    def test_its_terms_add_up(self, example):
        rows = [line.split("|") for line in example.splitlines() if line.startswith("| ")]
        terms = [(float(row[2]), float(row[3]), float(row[4])) for row in rows[1:-1]]
        total = float(rows[-1][4].strip(" *"))
        assert sum(added for _, _, added in terms) == pytest.approx(total, abs=6e-4)
        for effect, times, added in terms:
            assert effect * times == pytest.approx(added, abs=2e-4)

    def test_its_minutes_follow_from_its_rate(self, example):
        log_rate = float(re.search(r"X = e\^([\d.]+)", example)[1])
        training = 35 * 1_281_167 / (8 * math.exp(log_rate))
        factor, power = map(float, re.search(r"\+ ([\d.]+) x [\d,]+\^([\d.]+)", example).groups())
        minutes = float(re.search(r"= ([\d.]+) min", example)[1])
        assert (training + factor * training**power) / 60 == pytest.approx(minutes, abs=0.01)

    def test_its_interval_holds_the_published_minutes(self, example):
        low, high = map(float, re.search(r"([\d.]+) to ([\d.]+) min", example).groups())
        published = [float(minutes) for minutes in re.findall(r"\d\d\.\d\d", example.split("Published")[1])]
        minutes = float(re.search(r"= ([\d.]+) min", example)[1])
        assert low * high == pytest.approx(minutes**2, rel=1e-3)
        assert sum(low <= each <= high for each in published) >= 0.6 * len(published)


def test_every_row_outside_its_binomial_interval_is_explained():
    """And no other: the list on the page is that of today's scores."""
    page = (Path(__file__).parents[3] / "docs" / "method.md").read_text("utf-8")
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ") and line.endswith(" |")]
    marked = {row[0].removeprefix("| ") for row in rows if len(row) == len(ON_THE_PAGE) and "!" in row[-1]}
    listed = page.partition("marked `!`:**\n")[2].partition("\n- ")[0]
    assert set(re.findall(r"^  - \*(.+?)\*:", listed, re.MULTILINE)) == marked
