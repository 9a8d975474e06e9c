import json
from decimal import Decimal

from support.recorded_sources import NOW, RECORDED, recorded

from pricing.sources import SOURCES
from pricing.sources.small_clouds.verda import offers


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


def test_dollars_are_asked_for_without_credentials(httpserver):
    RECORDED["verda"].serve(httpserver)
    RECORDED["verda"].collect(httpserver.url_for(""))
    [(asked, _)] = httpserver.log
    assert (asked.args["currency"], asked.headers.get("Authorization")) == ("usd", None)
    assert SOURCES["verda"].missing({}) is None
