"""Pages on paper: no controls, no dark ground, nothing cut off, and every chart as a picture."""

import pytest

ASKED = "model=resnet50&target=0.757"
PATHS = (
    f"/?{ASKED}",
    f"/estimate?{ASKED}&provider=aws",
    f"/compare?{ASKED}&a=aws:p3.8xlarge&b=aws:g5.xlarge",
    f"/commitments?{ASKED}&provider=aws&limit=2",
    "/offers/history?instance_type=p3.8xlarge",
    "/mlperf/all",
    "/tasks",
)
A4_WIDTH = 703  # CSS pixels between the margins
CONTROLS = """() => [...document.querySelectorAll('header, form, input, select, button, textarea, summary')]
    .filter(each => each.checkVisibility()).map(each => each.outerHTML.slice(0, 80))"""
CUT_OFF = """width => [...document.querySelectorAll('main *')].filter(each => each.checkVisibility() && !each.closest('svg, .sr'))
    .filter(each => each.getBoundingClientRect().right > width + 1).map(each => each.outerHTML.slice(0, 80))"""
COLOURS = (
    "() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.documentElement).colorScheme]"
)


@pytest.mark.parametrize("path", PATHS)
def test_paper_has_no_controls_no_dark_ground_and_nothing_cut_off(look, path):
    page = look(path, width=A4_WIDTH)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(COLOURS) == ["rgb(255, 255, 255)", "light only"]
    assert page.evaluate(CONTROLS) == []
    assert page.evaluate(CUT_OFF, A4_WIDTH) == []


def test_a_chart_on_top_is_printed_as_soon_as_the_page_is_loaded(look):
    assert look("/mlperf/all").locator(".chart img").evaluate("image => image.complete && image.naturalWidth") == 860


def test_a_chart_that_nobody_scrolled_to_is_printed_too(look):
    page = look(PATHS[1])
    page.pdf(format="A4")
    assert page.locator(".chart img").last.evaluate("image => image.decode().then(() => image.naturalWidth)") == 720
