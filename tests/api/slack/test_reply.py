"""The reply in Slack: its figures are those of GET /cost, its blocks within Slack's limits."""

import re
from decimal import Decimal
from math import ceil
from urllib.parse import urlsplit

import pytest
from fakes.slack import SECRET, form, signed
from slack_sdk.models.blocks import Block
from support.services import packaged_service
from support.slack import PATH, answered, table_of

from api.settings import Settings
from api.slack.message import escape
from api.web.app import create_app

QUESTIONS = (
    ("resnet50 0.757", "model=resnet50&target=0.757"),
    (
        "rn50 93% top-5 on gcp spot within 4h",
        "model=resnet50&target=0.93&metric=top5&provider=gcp&purchase=spot&max_hours=4",
    ),
    (
        "resnet50 0.757 fastest on 8 V100 as of 2019-06-01",
        "model=resnet50&target=0.757&sort=time&accelerator=V100&accelerators=8&as_of=2019-06-01",
    ),
)


BY_NAME = {
    "trend resnet50 0.757": "/trend?model=resnet50&target=0.757",
    "accuracy resnet50 budget=20": "/accuracy?model=resnet50&budget=20",
    "compare resnet50 aws:p5.4xlarge aws:p4d.24xlarge target=0.757":
        "/compare?model=resnet50&target=0.757&a=aws:p5.4xlarge&b=aws:p4d.24xlarge",
    "commitments resnet50 0.757 runs_per_month=30 provider=aws":
        "/commitments?model=resnet50&target=0.757&runs_per_month=30&provider=aws",
    "fit resnet50 accelerator=V100": "/fit?model=resnet50&accelerator=V100",
    "offers H100": "/offers?accelerator=H100&sort=accelerator",
    "tasks": "/tasks",
    "models resnet18": "/models/resnet18",
}  # fmt: skip


@pytest.fixture
def client(slack_app):
    return slack_app.test_client()


@pytest.fixture(scope="module")
def payload(slack_app):
    return answered(slack_app.test_client(), "resnet50 0.757")


class TestReply:
    """Best five, what they rest on, the frontier, links."""

    def test_the_figures_are_those_of_http(self, client):
        for text, query in QUESTIONS:
            rows = table_of(answered(client, f"{text} limit=5"))[1:]
            estimates = client.get(f"/cost?{query}&limit=5").json["estimates"]
            assert len(rows) == len(estimates) > 0
            for row, estimate in zip(rows, estimates, strict=True):
                assert row[0] == str(estimate["rank"]) or row[0].startswith(
                    ("yours", "cheapest", "fastest", "balanced", "surest", "least cost")
                )
                assert Decimal(row[6].lstrip("$").replace(",", "")) == Decimal(str(estimate["billed_cost"]))
                assert re.fullmatch(r"\$[\d,]+\.\d\d", row[6])
                assert row[4] == f"{estimate['hours']:,.2f} h"
                low, high = estimate["billed_cost_low"], estimate["billed_cost_high"]
                assert row[7] == f"${low:,.2f}–${high:,.2f}"
                assert row[8].rstrip("†‡") == estimate["sources"]["price"]["observed_at"][:10]
                assert row[3].startswith(estimate["purchase_option"].replace("_", " "))
                assert estimate["instance_type"] in row[1]

    def test_the_blocks_are_valid_and_within_limits(self, client):
        for text in (
            "resnet50 0.757",
            "resnet50 0.757 limit=1000 regions=all",
            "help",
            "models",
            "recipes resnet50",
            "x",
            *BY_NAME,
        ):
            payload = answered(client, text)
            assert len(payload["blocks"]) <= 50
            assert 0 < len(payload["text"]) <= 4000
            for block in payload["blocks"]:
                Block.parse(block).validate_json()
                assert len(block.get("text", {}).get("text", "")) <= 3000
            cells = [row for block in payload["blocks"] if block["type"] == "table" for row in block["rows"]]
            assert len(cells) <= 100
            assert all(len(row) <= 20 for row in cells)
            assert all(cell["text"] for row in cells for cell in row)
            assert sum(len(cell["text"]) for row in cells for cell in row) <= 10_000

    def test_the_verdict_comes_first_and_the_picks_lead_the_table(self, client, payload):
        answer = client.get("/cost?model=resnet50&target=0.757").json
        *lines, step = payload["blocks"][1]["text"]["text"].split("\n")
        assert lines == [escape(line) for line in answer["verdict"][:-1]]
        assert escape(answer["next"]["link"]) in step
        assert escape(answer["verdict"][0]) in payload["text"]
        rows = table_of(payload)[1:]
        assert 0 < len(rows) <= 5
        by_name = {name: row for row in rows for name in row[0].split(", ")}
        for pick in answer["picks"]:
            assert by_name[pick["name"]][6] == f"${pick['estimate']['billed_cost']:,.2f}"
        assert "at unconfirmed rates" in payload["text"]

    def test_how_fresh_rates_are_is_told_and_old_and_second_hand_ones_are_marked(self, client, payload):
        payload = answered(client, "resnet50 0.757 limit=5")
        answer = client.get("/cost?model=resnet50&target=0.757&limit=5").json
        median = ceil(answer["freshness"]["median_age_days"])
        assert f"(half of the rates seen within {median} days)" in payload["blocks"][0]["text"]["text"]
        shown = [each for each in answer["estimates"] if each["price_age_days"] > 30 and not each["price_first_hand"]]
        assert [row[8].endswith("†‡") for row in table_of(payload)[1:]].count(True) == len(shown) > 0
        for mark in ("†: the rate is more than 30 days old.", "‡: a third party states it"):
            assert mark in str(payload["blocks"])
            assert mark in payload["text"]

    def test_free_tiers_stand_beside_with_their_time_on_the_calendar(self, client):
        payload = answered(client, "efficientnet_b4 0.82")
        [free] = [block["text"]["text"] for block in payload["blocks"] if "Free, if you can wait" in str(block)]
        tiers = client.get("/cost?model=efficientnet_b4&target=0.82").json["free"]
        [(work, waited)] = [(each["hours"], each["calendar_hours"]) for each in tiers if each["provider"] == "kaggle"]
        assert waited == pytest.approx(work * 168 / 30, rel=0.03)  # 30 hours of each week's 168, and restarts
        on_calendar = f"{waited / 24:.0f} days"
        assert f"• kaggle GPU T4 x2, any region: {work / 24:.0f} days of work take {on_calendar} at 30 h a week" in free
        assert free in payload["text"]
        assert "free" not in " ".join(row[3] for row in table_of(payload))
        asked = table_of(answered(client, "efficientnet_b4 0.82 free"))
        assert any(f"h ({on_calendar} with waiting)" in row[4] for row in asked)

    def test_machines_of_one_s_own_stand_beside_with_the_use_from_which_they_pay(self, client):
        payload = answered(client, "resnet50 0.757 own=1xRTX3090 own_price=3000")
        [own] = [block["text"]["text"] for block in payload["blocks"] if "Your own" in str(block)]
        (one,) = client.get("/cost?model=resnet50&target=0.757&own=1xRTX3090&own_price=3000").json["owned"]
        even = one["estimate"]["break_even_hours"]
        pays = f"pays off above {even:,.0f} h of use" if even else "its electricity alone costs more than renting"
        assert f"• own 1x RTX 3090: {one['estimate']['hours']:.2f} h" in own
        assert pays in own
        assert own in payload["text"]

    def test_small_print_is_short_and_a_link_leads_to_what_the_figure_rests_on(self, client):
        payload = answered(client, "resnet50 0.757 currency=EUR fx=EUR:0.9")
        [notes] = [block for block in payload["blocks"] if block["type"] == "context"]
        assert len(notes["elements"][0]["text"].split("\n")) <= 6
        assert "1 USD = 0.9000 EUR" in notes["elements"][0]["text"]
        why = re.search(r"<https://cost.example.org([^>|]*)\|Why this figure>", str(payload["blocks"]))[1]
        lead = client.get(why.replace("&amp;", "&")).json["estimate"]
        assert table_of(payload)[1][0].startswith("cheapest")
        assert table_of(payload)[1][6] == f"€{lead['billed_cost']:,.2f}"
        assert lead["assumptions"]

    def test_links_ask_the_same_question(self, client):
        payload = answered(client, "resnet50 0.93 top5 on aws limit=3")
        links = dict(
            reversed(pair.split("|")) for pair in re.findall(r"<([^>]*)>", payload["blocks"][-2]["text"]["text"])
        )
        assert set(links) == {"Full answer", "Why this figure", "CSV", "Excel", "Picture"}
        for url in links.values():
            assert url.startswith("https://cost.example.org/")
        url = urlsplit(links["CSV"].replace("&amp;", "&"))
        sheet = client.get(f"{url.path}?{url.query}").get_data(as_text=True)
        assert sheet.count("\r\n") == 4
        assert table_of(payload)[1][9] in sheet.splitlines()[1]

    def test_without_an_address_to_follow_to_the_picture_stands_in_the_answer(self, payload):
        assert payload["blocks"][-1]["image_url"] == "https://cost.example.org/cost.png?model=resnet50&target=0.757"

    def test_share_shows_it_to_the_channel_but_never_a_mistake(self, client):
        assert answered(client, "resnet50 0.757 share")["response_type"] == "in_channel"
        for mistake in ("target=757", "max_hours=soon"):
            assert answered(client, f"resnet50 {mistake} share")["response_type"] == "ephemeral"

    def test_without_a_public_address_links_lead_to_where_slack_reached_us(self, slack_settings):
        own = {"slack_signing_secret": SECRET, "hosts": ("prices.internal",)}
        app = create_app(packaged_service(), Settings(slack_settings.database_url, **own))
        body = form("resnet50 0.757", response_url="")
        headers = {**signed(body), "Host": "prices.internal", "X-Forwarded-Proto": "https"}
        payload = app.test_client().post(PATH, data=body, headers=headers).json
        csv = "<https://prices.internal/cost.csv?model=resnet50&amp;target=0.757&amp;as_of=2026-11-20T12:00:00Z|CSV>"
        assert csv in str(payload["blocks"])
        assert "cost.png" not in str(payload["blocks"])

    def test_a_target_nobody_reached_is_told_with_the_best_there_is(self, client):
        text = answered(client, "resnet50 0.99")["text"]
        assert "no estimate answers this question" in text
        assert "torchvision-v2-resnet50" in text

    def test_effective_costs_stand_beside_what_is_paid(self, client):
        rows = table_of(answered(client, "resnet50 0.757 effective"))
        assert rows[0][-1] == "Share of use"
        assert rows[1][-1].startswith("$")


def _figures(document):
    """Every amount and number of a document, as tables write them."""
    if isinstance(document, dict):
        document = list(document.values())
    if isinstance(document, list):
        return {figure for each in document for figure in _figures(each)}
    is_figure = isinstance(document, (int, float)) and not isinstance(document, bool)
    return {f"{Decimal(str(document)):,.2f}"} if is_figure else set()


class TestByName:
    """Every command of the terminal is answered by its name, with the figures of its path."""

    @pytest.mark.parametrize("text", BY_NAME)
    def test_the_table_has_the_figures_of_the_path(self, client, text):
        payload, known = answered(client, text), _figures(client.get(BY_NAME[text]).json)
        rows = table_of(payload)
        saving = rows[0].index("Saves a month") if "Saves a month" in rows[0] else None  # which no document has
        cells = [cell for row in rows[1:] for place, cell in enumerate(row) if place != saving]
        assert {each for cell in cells for each in re.findall(r"\$([\d,]+\.\d\d)", cell)} <= known
        assert len(rows) > 1
        page = re.search(r"<https://cost.example.org([^>|]*)\|Full answer>", payload["text"])[1].replace("&amp;", "&")
        assert client.get(page, headers={"Accept": "text/html"}).status_code == 200

    def test_what_it_says_first_is_the_verdict_and_its_picture_follows(self, client):
        payload, document = answered(client, "trend resnet50 0.757"), client.get(BY_NAME["trend resnet50 0.757"]).json
        assert payload["blocks"][0]["text"]["text"] == "\n".join(map(escape, document["verdict"]))
        assert payload["blocks"][-1]["image_url"].startswith("https://cost.example.org/trend.png?")
        assert answered(client, "trend resnet50 0.757 share")["response_type"] == "in_channel"
        as_in_a_terminal = answered(client, "trend resnet50 0.757 --purchase on_demand --every=year")
        assert as_in_a_terminal["blocks"][0] == payload["blocks"][0]

    def test_a_sentence_that_begins_with_such_a_word_stays_a_sentence(self, client):
        assert "/cost.csv" in answered(client, "accuracy of 0.757 with resnet50")["text"]
