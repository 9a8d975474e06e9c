"""The reply in Slack: its figures are those of GET /cost, its blocks within Slack's limits."""

import re
from decimal import Decimal
from urllib.parse import urlsplit

import pytest
from fakes.slack import SECRET, form, signed
from slack_sdk.models.blocks import Block
from support.services import packaged_service
from support.slack import PATH, answered, table_of

from api.settings import Settings
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
            rows = table_of(answered(client, text))[1:]
            estimates = client.get(f"/cost?{query}&limit=5").json["estimates"]
            assert len(rows) == len(estimates) > 0
            for row, estimate in zip(rows, estimates, strict=True):
                assert row[0] == str(estimate["rank"])
                assert Decimal(row[6].lstrip("$").replace(",", "")) == Decimal(str(estimate["billed_cost"]))
                assert re.fullmatch(r"\$[\d,]+\.\d\d", row[6])
                assert row[4] == f"{estimate['hours']:,.2f} h"
                low, high = estimate["billed_cost_low"], estimate["billed_cost_high"]
                assert row[7] == f"${low:,.2f}–${high:,.2f}"
                assert row[8] == estimate["sources"]["price"]["observed_at"][:10]
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

    def test_the_frontier_is_one_line(self, client, payload):
        [line] = [block["text"]["text"] for block in payload["blocks"] if "best of both" in str(block)]
        front = client.get("/cost?model=resnet50&target=0.757&frontier=true&limit=1000").json["estimates"]
        fastest = min(front, key=lambda each: each["hours"])
        balanced = min(front, key=lambda each: each["billed_cost"] * each["hours"])
        assert "\n" not in line
        for kind, each in (("cheapest", front[0]), ("fastest", fastest), ("best of both", balanced)):
            assert f"*{kind}* ${each['billed_cost']:,.2f} in {each['hours']:,.2f} h" in line

    def test_what_was_assumed_is_told(self, client, payload):
        told = str(payload["blocks"])
        for estimate in client.get("/cost?model=resnet50&target=0.757&limit=5").json["estimates"]:
            for line in estimate["assumptions"]:
                assert line.split(";")[0][:40].replace("'", "\\'") in told

    def test_links_ask_the_same_question(self, client):
        payload = answered(client, "resnet50 0.93 top5 on aws limit=3")
        links = dict(
            reversed(pair.split("|")) for pair in re.findall(r"<([^>]*)>", payload["blocks"][-2]["text"]["text"])
        )
        assert set(links) == {"Full answer", "CSV", "Excel", "Picture"}
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
        assert answered(client, "resnet50 75.7 share")["response_type"] == "ephemeral"

    def test_without_a_public_address_links_lead_to_where_slack_reached_us(self, slack_settings):
        app = create_app(packaged_service(), Settings(slack_settings.database_url, slack_signing_secret=SECRET))
        body = form("resnet50 0.757", response_url="")
        headers = {**signed(body), "Host": "prices.internal", "X-Forwarded-Proto": "https"}
        payload = app.test_client().post(PATH, data=body, headers=headers).json
        assert "<https://prices.internal/cost.csv?model=resnet50&amp;target=0.757|CSV>" in str(payload["blocks"])
        assert "cost.png" not in str(payload["blocks"])

    def test_a_target_nobody_reached_is_told_with_the_best_there_is(self, client):
        text = answered(client, "resnet50 0.99")["text"]
        assert "no estimate matches these filters" in text
        assert "torchvision-v2-resnet50" in text

    def test_effective_costs_stand_beside_what_is_paid(self, client):
        rows = table_of(answered(client, "resnet50 0.757 effective"))
        assert rows[0][-1] == "Share of use"
        assert rows[1][-1].startswith("$")
