"""Ten tasks on the first screen, each in at most two clicks, or in at most twelve keys beside the words that are typed."""

import re
from collections.abc import Callable
from typing import NamedTuple

from playwright.sync_api import expect

from tools.cluster.cluster import wait_for

ASKED = "/?model=resnet50&target=0.757"
MOST_CLICKS, MOST_KEYS = 2, 12
TO_THE_ANSWER, TO_THE_BOX = ["Tab", "Tab", "Enter"], ["/"]


class Task(NamedTuple):
    """What is clicked, and what waits until it is done; the keys with which one starts, what is typed, and the keys on the first
    place of a click, to which the Tab key leads. Without keys it is for the pointer alone."""

    clicks: list[Callable]
    done: Callable
    start: list[str]
    typed: str
    keys: list[str]


def link(name):
    return lambda page: page.get_by_role("link", name=re.compile(name)).first


def at(pattern):
    return lambda page: page.wait_for_url(re.compile(pattern), wait_until="commit")


def export(page):
    return page.locator(".strip .take summary").first


def second_tick(page):
    return page.locator(".strip input[name=_with]").nth(1)


def compare(page):
    return page.get_by_role("button", name="Compare both")


def is_copied(page):
    """Not by what the link says for two seconds, which one may miss."""
    wait_for(lambda: "as_of=" in page.evaluate("navigator.clipboard.readText()"))
    page.evaluate("navigator.clipboard.writeText('')")


def dark(page):
    return page.get_by_role("button", name="Dark")


def is_dark(page):
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


TASKS = {
    "only AWS": Task([link(r"^aws [\d,]+$")], at("provider=aws|q="), TO_THE_BOX, "resnet50 75.7% on aws", ["Enter"]),
    "no spot": Task([link("^on demand")], at("purchase=on_demand|q="), TO_THE_BOX, "resnet50 75.7% no spot", ["Enter"]),
    "measured alone": Task([link("was measured")], at("measured|q="), TO_THE_BOX, "resnet50 75.7% measured", ["Enter"]),
    "why this number": Task([link("^Why$")], at("/estimate"), TO_THE_ANSWER, "", ["Enter"]),
    "a link that keeps": Task([link("^Permalink$")], is_copied, TO_THE_ANSWER, "", ["Enter"]),
    "two compared": Task([second_tick, compare], at("/compare"), TO_THE_ANSWER, "", ["Space", "Enter"]),
    "a launch file": Task([export], lambda page: link("^SkyPilot$")(page).wait_for(), TO_THE_ANSWER, "", ["Enter"]),
    "its past": Task([link("^Over time$")], at("/trend.*target=0.757"), [], "", ["Enter"]),
    "rent or commit": Task([link("^Commitments$")], at("/commitments.*target=0.757"), [], "", ["Enter"]),
    "the other theme": Task([dark], is_dark, [], "", ["Enter"]),
}


def test_ten_tasks_take_two_clicks_or_twelve_keys(look):
    page = look(ASKED)
    start = page.url
    assert len(TASKS) == 10
    for task in TASKS.values():
        page.goto(start)
        assert len(task.clicks) <= MOST_CLICKS
        for each in task.clicks:
            each(page).click()
        task.done(page)
    dark(page).or_(page.get_by_role("button", name="Light")).click()
    for name, task in TASKS.items():
        if task.keys:
            page.goto(start)
            assert _keys(page, task) <= MOST_KEYS, name
            task.done(page)


def _keys(page, task):
    """Does a task by the keyboard alone, and returns how many keys that took."""
    pressed, (first, *_) = list(task.start), task.clicks
    for key in pressed:
        page.keyboard.press(key)
    page.keyboard.type(task.typed)
    while not task.typed and not first(page).evaluate("element => element === document.activeElement"):
        page.keyboard.press("Tab")
        pressed.append("Tab")
        assert len(pressed) < 4 * MOST_KEYS
    for key in task.keys:
        page.keyboard.press(key)
    return len(pressed) + len(task.keys)


def test_the_theme_that_was_chosen_is_kept(look):
    page = look(ASKED, color_scheme="light")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    dark(page).click()
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != paper
    page.get_by_role("button", name="Light").click()
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == paper
