"""Filters that can't hold together are errors that say what to type."""

import pytest

from api.contradictions import contradictions
from costcalc.offers import Payment, PurchaseOption

ON_DEMAND, SPOT, RESERVED = PurchaseOption.ON_DEMAND, PurchaseOption.SPOT, PurchaseOption.RESERVED


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        ({"purchase": (ON_DEMAND,), "term": ("1y",)}, {"term"}),
        ({"purchase": (SPOT, ON_DEMAND), "term": ("1y",), "payment": (Payment.NO_UPFRONT,)}, {"term", "payment"}),
        ({"purchase": (ON_DEMAND, RESERVED), "term": ("1y",)}, set()),
        ({"term": ("1y",)}, set()),
        ({"purchase": (ON_DEMAND,)}, set()),
        ({"accelerators": 8, "nodes": 3}, {"accelerators"}),
        ({"accelerators": 8, "nodes": 4}, set()),
        ({"accelerators": 8, "nodes": None}, set()),
    ],
)
def test_contradictions(values, wrong):
    found = contradictions(values)
    assert set(found) == wrong
    assert all("leave" in message or "write" in message for messages in found.values() for message in messages)


def test_over_http(client):
    response = client.get("/cost?model=resnet50&target=0.757&purchase=on_demand&term=1y")
    assert response.status_code == 409  # each is right by the OpenAPI document, so that 400 would be wrong
    assert response.json["errors"] == {
        "term": ["on_demand has no term: leave term out, or ask for purchase=reserved,monthly"]
    }
