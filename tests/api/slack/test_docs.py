"""What docs/slack.md tells people to paste and type works."""

import json
import re
from pathlib import Path

from support.slack import PATH, answered

from api.settings import SETTINGS

DOCS = Path(__file__).parents[3] / "docs"
TEXT = (DOCS / "slack.md").read_text()


def test_the_manifest_names_the_path_we_serve():
    manifest = json.loads((DOCS / "slack-manifest.json").read_text())
    [command] = manifest["features"]["slash_commands"]
    assert (command["command"], command["url"]) == ("/cost", f"https://cost.example.org{PATH}")
    assert manifest["oauth_config"]["scopes"]["bot"] == ["commands"]
    assert len(manifest["display_information"]["name"]) <= 35
    assert all(len(command[name]) <= most for name, most in (("description", 2000), ("usage_hint", 1000)))


def test_what_can_be_typed_is_answered(slack_app):
    typed = [line.removeprefix("/cost ") for line in re.findall(r"`(/cost [^`]+)`", TEXT)]
    assert len(typed) >= 8
    for text in typed:
        payload = answered(slack_app.test_client(), text)
        assert "Try `/cost resnet50 0.757`, or" not in payload["text"], text


def test_every_setting_is_named():
    for setting in SETTINGS:
        if "SLACK" in setting.variable:
            assert setting.variable in TEXT


def test_the_picture_is_small_enough_for_a_page():
    assert 10_000 < (DOCS / "slack-reply.png").stat().st_size < 150_000
