"""Language models by tokens in Slack: as parameters and as a sentence, with the figures of HTTP."""

import json

import pytest
from support.services import packaged_service
from support.slack import answered

from api.settings import Settings
from api.web.app import create_app


@pytest.fixture(scope="module")
def client():
    from fakes.slack import SECRET

    return create_app(packaged_service(), Settings(slack_signing_secret=SECRET)).test_client()


@pytest.mark.parametrize(
    "text", ["llama-3.1-8b method=lora tokens=50M", "fine-tune llama 3.1 8b with lora on 50M tokens"]
)
def test_the_reply_has_the_figures_of_http(client, text):
    said = json.dumps(answered(client, text))
    verdict = client.get("/cost?model=llama-3.1-8b&method=lora&tokens=50M").json["verdict"]
    assert verdict[0].partition(": $")[2].partition(" ")[0] in said
    assert "By the token" in said
    assert "epochs" not in said
