"""Does ten tasks on the page in Chromium and counts clicks, fields and seconds: `python -m tools.page_tasks`.

Exit status 1 where a task takes more than three clicks or more than one field, or does not end where it should.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from playwright.sync_api import Page, sync_playwright

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from support.browser import chromium, serving
from support.services import packaged_service

from api.web.app import create_app

MOST_CLICKS, MOST_FIELDS = 3, 1


@dataclass
class Hand:
    """One who clicks and types, and is counted."""

    page: Page
    clicks: int = 0
    fields: int = 0

    def click(self, name: str, role: str = "link") -> Hand:
        """Clicks what begins with this name."""
        self.page.get_by_role(role, name=re.compile(f"^{re.escape(name)}")).first.click()
        return self._clicked()

    def open(self, text: str) -> Hand:
        """Opens a panel."""
        self.page.locator("summary", has_text=text).first.click()
        return self._clicked()

    def write(self, label: str, text: str) -> Hand:
        """Fills a field and presses Enter in it."""
        field = self.page.get_by_label(label, exact=True).first
        field.fill(text)
        field.press("Enter")
        self.page.wait_for_load_state()
        self.fields += 1
        return self

    def _clicked(self) -> Hand:
        self.page.wait_for_load_state()
        self.clicks += 1
        return self


@dataclass(frozen=True)
class Task:
    """What somebody wants, how it is done, and what must stand on the page in the end."""

    wanted: str
    do: Callable[[Hand], Hand]
    ends: str
    start: str = "/"


TASKS = (
    Task("the cheapest on AWS on demand under 4 hours",
         lambda hand: hand.click("aws").click("on demand").write("At most hours", "4"), "max hours: 4"),
    Task("the same in 2019", lambda hand: hand.write("Prices as of", "2019-06-30"), "Then and today"),
    Task("export for finance", lambda hand: hand.open("Export"), "XLSX"),
    Task("why this number", lambda hand: hand.click("Why this number"), "The figure, term by term"),
    Task("only what was measured", lambda hand: hand.click("Only what was measured"), "evidence: measured"),
    Task("the fastest first", lambda hand: hand.click("Hours"), "Hours ↑"),
    Task("another accuracy", lambda hand: hand.write("accuracy", "0.76"), "resnet50 to 0.76"),
    Task("rent or commit", lambda hand: hand.click("Rent or commit"), "Pays from"),
    Task("what a tenth of a percent more costs", lambda hand: hand.click("Which accuracy for how much"),
         "No known recipe reaches"),
    Task("how the price of a machine moved", lambda hand: hand.click("Why this number").click("Every rate of this machine"),
         "History of a rate"),
)  # fmt: skip


def main() -> int:
    """Prints each task with its counts."""
    failed = False
    with serving(create_app(packaged_service())) as root, sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"]).new_page()
        for task in TASKS:
            page.goto(root + task.start)
            begun, hand = perf_counter(), task.do(Hand(page))
            done = hand.page.get_by_text(task.ends).locator("visible=true").count() > 0
            passed = done and hand.clicks <= MOST_CLICKS and hand.fields <= MOST_FIELDS
            failed |= not passed
            seconds = perf_counter() - begun
            print(
                f"{'' if passed else 'FAILED '}{task.wanted}: {hand.clicks} clicks, {hand.fields} fields, {seconds:.1f} s"
            )
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
