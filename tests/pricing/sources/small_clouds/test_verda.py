import json
from decimal import Decimal

import pytest
from support.recorded_sources import NOW, RECORDED, SECRET, recorded

from pricing.sources.small_clouds.verda import offers
from pricing.sources.source import SchemaChanged


def test_prices_are_texts_and_memory_is_that_of_all_accelerators():
    found = {offer.key[2:4]: offer for offer in offers(json.loads(recorded("verda/instance_types.json")), NOW).offers}
    assert {key: offer.hourly_rate for key, offer in found.items()} == {
        ("1H100.80S.30V", "on_demand"): Decimal("3.95"),
        ("1H100.80S.30V", "spot"): Decimal("1.70"),
        ("2A6000.20V", "on_demand"): Decimal("1.98"),
        ("2A6000.20V", "spot"): Decimal("0.70"),
    }
    machine = found["2A6000.20V", "spot"].machine
    assert (machine.accelerator, machine.accelerators, machine.accelerator_memory_gib) == ("RTX A6000", 2, 48)


def test_another_currency_is_a_gap():
    reasons = [gap.reason for gap in offers(json.loads(recorded("verda/instance_types.json")), NOW).gaps]
    assert reasons == ["prices in another currency than USD left out: 1V100.6V"]


def test_the_client_signs_in_first(httpserver):
    cloud = RECORDED["verda"]
    cloud.serve(httpserver)
    cloud.collect(httpserver.url_for(""))
    (asked, _), (priced, _) = httpserver.log
    assert asked.get_json() == {"grant_type": "client_credentials", "client_id": SECRET, "client_secret": SECRET}
    assert priced.headers["Authorization"] == "Bearer t0ken"


def test_an_answer_without_a_token_is_a_changed_schema(httpserver):
    httpserver.expect_request("/v1/oauth2/token").respond_with_json({"token": "t0ken"})
    with pytest.raises(SchemaChanged, match="access_token"):
        RECORDED["verda"].collect(httpserver.url_for(""))
