"""Asking `/slack/cost` as Slack does."""

import time

from fakes.slack import form, signed

PATH = "/slack/cost"


def ask(client, text, **more):
    """One signed command, unlike any before."""
    body = form(text, **{"trigger_id": str(time.monotonic_ns()), **more})
    return client.post(PATH, data=body, headers=signed(body))


def answered(client, text):
    """The message for a text."""
    response = ask(client, text)
    assert response.status_code == 200
    return response.json


def table_of(payload):
    """The texts of the only table."""
    [table] = [block for block in payload["blocks"] if block["type"] == "table"]
    return [[cell["text"] for cell in row] for row in table["rows"]]


def refused(response, status):
    """Why it was refused."""
    assert response.status_code == status
    assert response.content_type == "application/problem+json"
    return response.json["detail"]
