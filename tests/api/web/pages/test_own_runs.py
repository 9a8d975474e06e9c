"""One's own runs as a page: with curve and machine, removed by those who may, and no name in a log becomes markup."""

import html
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from support.browser import follow, serving
from support.own_runs import add, app_of

HOSTILE = "<img src=x onerror=alert(1)>"
BROWSER = {"Accept": "text/html"}
TOKENS = {"api_tokens": ("hers", "read:his")}


def test_a_run_stands_with_its_curve_and_machine_and_is_removed(look):
    app = app_of()
    add(app)
    with serving(app) as root:
        page = look("/recipes", root=root)
        card = page.locator(".runs li")
        assert all(words in card.inner_text() for words in ("my-run", "4 × A100-80GB", "wmt14", "BLEU", "2.0 h"))
        assert len(card.locator("polyline").get_attribute("points").split()) == 10
        page.get_by_role("button", name="Remove my-run").click()
        page.get_by_text("No run is kept here.").wait_for()


def test_a_pasted_log_is_drawn_asked_about_and_kept(look):
    app = app_of()
    with serving(app) as root:
        page = look("/recipes", root=root)
        follow(page.get_by_role("button", name="Read it"))  # the example
        assert "accelerator: missing" in page.locator("form.plan").inner_text()
        for name, value in (
            ("accelerator", "4xA100-80GB"),
            ("dataset", "mine"),
            ("batch_size", "256"),
            ("samples_per_epoch", "90000"),
        ):
            page.locator(f"[name={name}]").fill(value)
        follow(page.get_by_role("button", name="Read it"))
        tried = page.locator("#tried")
        assert len(tried.locator("polyline").get_attribute("points").split()) == 8
        assert "8 values of val_accuracy in 8 epochs and 1.6 h" in tried.inner_text()
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        before = tried.inner_text().partition("What it costs elsewhere")[2]
        assert "$" in before
        with page.expect_navigation():
            page.locator("[name=target]").evaluate(
                "(slider) => { slider.value = 0.5; slider.dispatchEvent(new Event('change')); }"
            )
        assert "0.5" in tried.locator("output").inner_text()
        assert tried.inner_text().partition("What it costs elsewhere")[2] != before
        assert page.get_by_text("No run is kept here.").is_visible()
        page.get_by_role("button", name="Keep it").click()
        page.locator(".runs li").wait_for()


DROP = """(box) => {
    const dropped = new DataTransfer();
    dropped.items.add(new File(["Epoch 1: val_acc=0.5\\n"], "run.log"));
    box.dispatchEvent(new DragEvent("drop", {dataTransfer: dropped, bubbles: true, cancelable: true}));
}"""


def test_a_dropped_log_stands_in_the_box(look):
    with serving(app_of()) as root:
        page = look("/recipes", root=root)
        box = page.locator("textarea[name=log]")
        box.evaluate(DROP)
        expect(box).to_have_value(re.compile("^Epoch 1: val_acc"))


def test_a_log_that_is_only_tried_is_answered_as_json_too():
    app = app_of()
    client = app.test_client()
    log = "epoch,hours,acc\n1,0.5,0.4\n2,1,0.6\n"
    asked = "accelerator=8xA100-80GB&dataset=mine&batch_size=64&samples_per_epoch=9000&keep=false"
    answer = client.post(f"/recipes?{asked}&target=0.5", data=log).json
    assert (answer["target"], answer["recipe"]["reached"], len(answer["curve"])) == (0.5, 0.6, 2)
    assert answer["verdict"]
    assert client.get("/recipes").json["recipes"] == []
    refused = client.post(f"/recipes?{asked}&target=0.9", data=log)
    assert refused.status_code == 400
    assert "reached 0.6 acc" in refused.json["detail"]


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


@pytest.mark.parametrize(("metric", "target", "said"), [("bleu", 28, "BLEU"), ("loss", 2, "loss")])
def test_a_question_about_a_run_speaks_of_its_metric_and_its_data(metric, target, said):
    app = app_of()
    add(app, metric)
    client = app.test_client()
    asked = f"model=my-run&target={target}"
    pages = {
        path: html.unescape(client.get(f"{path}?{asked}{more}", headers=BROWSER).text)
        for path, more in (("/", "&_columns=machine,speed"), ("/estimate", ""), ("/commitments", ""))
    }
    assert f"my-run to {said} {target}, at prices" in pages["/"]
    assert f"my-run to {said} {target} on" in pages["/estimate"]
    assert f"The curve of {said}" in pages["/estimate"]
    assert "Those of your data set, wmt14." in pages["/estimate"]
    found = client.get(f"/cost?{asked}").json["picks"][0]["estimate"]
    assert f"{found['images_per_second']:,.0f} samples/s" in pages["/"]
    assert all(f"{said} <input".casefold() in pages[path].casefold() for path in ("/", "/commitments"))
    for page in pages.values():
        assert not re.search(
            r"top-1|tenth of a percent|images (a|per) second|images/s", page.partition("Assumptions")[0]
        )


def test_the_chart_of_a_run_has_its_own_metric_and_points():
    app = app_of()
    add(app, "loss")
    chart = app.test_client().get("/estimate.svg?model=my-run&target=2").text
    assert "<title>my-run: loss by epoch</title>" in chart
    assert re.findall(r"<title>([\d.]+) after ", chart)[:2] == ["21", "14.7"]
    assert ">target 2<" in chart


def test_a_run_is_among_the_models_that_are_suggested():
    app = app_of()
    add(app)
    assert '<option value="my-run">' in app.test_client().get("/").text
