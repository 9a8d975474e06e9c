"""Whatever is typed, a person learns what to type, and no sign does any harm."""

import re

import pytest
from fakes.slack import signed
from support.slack import PATH, answered, refused

STRANGE = (
    "=cmd|' /C calc'!A0", "<!channel> resnet50", "<script>&amp;", "\0\x1b[31m", "🎉🎉", "ＲＥＳＮＥＴ５０ 0.7", "@here +1",
    "a=b=c=d", "resnet50 0.757 label==SUM(A1:A9)",
)  # fmt: skip


@pytest.fixture
def client(slack_app):
    return slack_app.test_client()


class TestMistakes:
    """Whatever is typed, a person learns what to type."""

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("", "/cost resnet50 0.757"),
            ("help", "/cost models"),
            ("  HELP  ", "max_hours"),
            ("models", "resnet50; rn50"),
            ("trend resnet50 0.757 evry=month", "did you mean every"),
            ("trend", "missing: add model="),
            ("recipes resnet51", "did you mean"),
            ("resnetaa50d", "missing: add target=0.757"),
            ("resnet50", "No target named: 76.6 % top-1"),
            ("0.757", "Which network?"),
            ("resnet50 target=757", "such as 0.757 or 75.7%"),
            ("resnet50 0.757 spott", "as spot"),
            ("resnet50 0.757 provder=aws", "did you mean provider"),
            ("resnet50 0.757 gpus=8", "accelerators=8"),
            ("resnet50 0.757 provider=amazn", "did you mean"),
            ("resnett50 0.757", "resnet50"),
            ("resnet50 0.757 under 50", "Write under $50 or within 50h"),
            ("resnet50 0.757 top1 top5", "Which metric: top1 or top5?"),
            ("resnet50 0.757 on A100-88GB", "A100-80GB"),
            ("resnet50 0.757 as_of=2001-01-01", "before our first price"),
        ],
    )
    def test_the_message_says_what_to_type(self, client, text, says):
        payload = answered(client, text)
        assert payload["response_type"] == "ephemeral"
        assert says in payload["text"]

    @pytest.mark.parametrize("size", [3_000, 1_000_000])
    def test_a_megabyte_of_text_is_told_to_be_shorter(self, client, size):
        payload = answered(client, "x" * size)
        assert "write at most 2000" in payload["text"]
        assert len(str(payload)) < 2000

    def test_more_than_a_megabyte_is_not_read(self, client):
        body = b"text=" + b"x" * 1024 * 1024
        refused(client.post(PATH, data=body, headers=signed(body)), 413)

    @pytest.mark.parametrize("text", STRANGE)
    def test_strange_signs_are_harmless(self, client, text):
        payload = answered(client, text)
        assert payload["response_type"] == "ephemeral"
        assert "<" not in payload["text"].replace("<https://cost.example.org/", "")
        assert not re.search(r"[\0-\x08\x1b]", payload["text"])

    def test_a_label_is_echoed_as_plain_text(self, client):
        payload = answered(client, "resnet50 0.757 label=<!channel>&<@U1> :tada:")
        assert "label=&lt;!channel&gt;&amp;&lt;@U1&gt;" in payload["blocks"][0]["text"]["text"]
        assert "<!channel>" not in str(payload)

    def test_bytes_that_are_no_text_are_harmless(self, client):
        body = b"text=resnet50+%ff%fe+0.757"
        assert client.post(PATH, data=body, headers=signed(body)).status_code == 200
