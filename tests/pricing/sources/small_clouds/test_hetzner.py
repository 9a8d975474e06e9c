import json
from decimal import Decimal

from support.recorded_sources import NOW, RECORDED, recorded

from costcalc.offer import tariff
from pricing.sources.small_clouds.hetzner import offers


def by_key():
    found = offers(json.loads(recorded("hetzner/available_configurations.json"), parse_float=Decimal), NOW).offers
    return {offer.key[1:4]: offer for offer in found}


def test_a_setup_fee_is_part_of_the_bill():
    month = by_key()["hel1", "GEX131", "monthly"]
    assert (month.currency, month.upfront, month.monthly) == ("EUR", Decimal(2912), Decimal("3808.3"))
    assert tariff(month).fee == Decimal("896.30") + 2912
    assert month.recurring_hourly.quantize(Decimal("0.0001")) == Decimal("1.2278")  # 896.30 / 730
    assert month.hourly_rate.quantize(Decimal("0.0001")) == Decimal("5.2168")
    assert month.flags == ("available", "setup_fee_in_each_month")


def test_with_a_setup_fee_there_is_no_rate_by_the_hour_alone():
    assert ("hel1", "GEX131", "on_demand") not in by_key()


def test_without_one_there_are_both_and_the_month_is_the_cap():
    found = by_key()
    hour, month = found["fsn1", "GEX44", "on_demand"], found["fsn1", "GEX44", "monthly"]
    assert (hour.hourly_rate, hour.currency) == (Decimal("0.2949"), "EUR")
    assert tariff(month).fee == 184 < hour.hourly_rate * 730
    assert (month.upfront, month.flags) == (None, ("available",))


def test_the_machine_comes_from_the_product_and_its_parts():
    machine = by_key()["hel1", "GEX131", "monthly"].machine
    assert (machine.accelerator, machine.accelerators, machine.accelerator_memory_gib) == ("RTX PRO 6000 Max-Q", 1, 96)
    assert (machine.vcpus, machine.memory_gib) == (48, 256)


def test_a_place_without_stock_is_flagged():
    assert "no_capacity" in by_key()["fsn1", "GEX131", "monthly"].flags


def test_gpu_servers_that_are_not_known_are_named_and_others_pass_in_silence():
    collected = offers(json.loads(recorded("hetzner/available_configurations.json")), NOW)
    assert [gap.reason for gap in collected.gaps] == ["GPU servers not known here left out: GEX999"]


def test_the_cheapest_configuration_of_a_product_stands_for_it():
    rows = json.loads(recorded("hetzner/available_configurations.json"))
    dear = json.loads(json.dumps(rows[1]))
    dear["availabilities"]["FSN1"]["price"] |= {"monthly": "250.0000", "hourly": "0.4000"}
    found = {offer.key[3]: offer for offer in offers([dear, rows[1]], NOW).offers}
    assert found["monthly"].monthly == 184


def test_euros_are_asked_for(httpserver):
    RECORDED["hetzner"].serve(httpserver)
    RECORDED["hetzner"].collect(httpserver.url_for(""))
    assert httpserver.log[0][0].args["currency"] == "EUR"
