"""One's own runs as a page: with curve and machine, removed by those who may, and no name in a log becomes markup."""

import html
from dataclasses import replace

import pytest
from fakes.kept_runs import KeptRuns
from support.browser import serving
from support.services import packaged_service

from api.settings import Settings
from api.web.app import create_app

LOG = "epoch,minutes,{metric}\n" + "".join(f"{epoch},{12 * epoch},{30 * (1 - 0.7**epoch)}\n" for epoch in range(1, 11))
RUN = "/recipes?name=my-run&accelerator=4xA100-80GB&batch_size=256&samples_per_epoch=4500000&dataset=wmt14"
HOSTILE = "<img src=x onerror=alert(1)>"
BROWSER = {"Accept": "text/html"}
TOKENS = {"api_tokens": ("hers", "read:his")}


def app_of(**settings):
    kept = KeptRuns()
    service = replace(packaged_service(), runs=kept.all, keeper=kept, _seen={})
    return create_app(service, Settings(**settings))


def add(app, metric="bleu", **more):
    added = app.test_client().post(RUN, data=LOG.format(metric=metric), **more)
    assert added.status_code == 201, added.text


def test_a_run_stands_with_its_curve_and_machine_and_is_removed(look):
    app = app_of()
    add(app)
    with serving(app) as root:
        page = look("/recipes", root=root)
        card = page.locator(".runs li")
        assert all(words in card.inner_text() for words in ("my-run", "4 × A100-80GB", "wmt14", "bleu", "2.0 h"))
        assert len(card.locator("polyline").get_attribute("points").split()) == 10
        page.get_by_role("button", name="Remove my-run").click()
        page.get_by_text("No run is kept here.").wait_for()


@pytest.mark.parametrize(("token", "sees", "may_remove"), [("hers", True, True), ("his", False, False)])
def test_a_token_sees_its_own_runs_and_removes_them_if_it_may_write(token, sees, may_remove):
    app = app_of(**TOKENS)
    add(app, headers={"Authorization": "Bearer hers"})
    page = app.test_client().get("/recipes", headers={**BROWSER, "Authorization": f"Bearer {token}"}).text
    assert ("my-run" in page) == sees
    assert ("data-remove" in page) == may_remove


def test_no_name_in_a_log_becomes_markup():
    app = app_of()
    add(app, HOSTILE)
    page = app.test_client().get("/recipes", headers=BROWSER).text
    assert html.escape(HOSTILE) in page
    assert "<img" not in page
