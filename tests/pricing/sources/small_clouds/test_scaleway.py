import json
from decimal import Decimal

import pytest
from support.recorded_sources import RECORDED

from costcalc.hardware import Machine
from pricing.sources.source import SchemaChanged

SOURCE = RECORDED["scaleway"]
STOCK, PRICES = SOURCE.answers
TYPES = json.loads(PRICES.body)["servers"]


@pytest.fixture
def collect(httpserver):
    """What the source collects where the recorded types are changed so."""

    def collected(**types):
        STOCK.serve(httpserver)
        PRICES.expect(httpserver).respond_with_json({"servers": TYPES | types})
        return SOURCE.collect(httpserver.url_for(""))

    return collected


def test_a_type_costs_what_its_hour_costs_in_euros(collect):
    found = {offer.instance_type: offer for offer in collect().offers}
    assert len(found) == 17
    offer = found["H100-SXM-8-80G"]
    assert (offer.hourly_rate, offer.currency, offer.region) == (Decimal("25.3308"), "EUR", "fr-par-2")
    assert offer.machine == Machine("H100", 8, 80, 128, 960)
    assert {offer.purchase_option.value for offer in found.values()} == {"on_demand"}


def test_the_form_of_an_accelerator_is_told_by_its_name(collect):
    found = {offer.instance_type: offer.machine.accelerator for offer in collect().offers}
    assert (found["H100-1-80G"], found["H100-SXM-2-80G"], found["B300-SXM-2-288G"]) == ("H100-PCIe", "H100", "B300")


def test_a_type_in_shortage_is_flagged(collect):
    found = {offer.instance_type: offer.flags for offer in collect().offers}
    assert (found["H100-2-80G"], found["H100-1-80G"]) == (("no_capacity",), ("available",))


def test_minutes_are_billed_but_for_the_oldest_type(collect):
    steps = {offer.instance_type: offer.billing_increment_seconds for offer in collect().offers}
    assert {name for name, seconds in steps.items() if seconds != 60} == {"RENDER-S"}


def test_slices_and_retired_types_are_no_offers(collect):
    slice_of_one = {**TYPES["H100-1-80G"], "mig_profile": "1g.10gb"}
    retired = {**TYPES["L4-1-24G"], "end_of_service": True}
    collected = collect(**{"H100-1-80G": slice_of_one, "L4-1-24G": retired})
    assert len(collected.offers) == 15
    assert [gap.reason for gap in collected.gaps] == ["slices of an accelerator left out: H100-1-80G"]


def test_an_accelerator_that_nobody_knows_is_named(collect):
    odd = {**TYPES["L4-1-24G"], "gpu_info": {"gpu_name": "Z900", "gpu_memory": 2**34}}
    assert [gap.reason for gap in collect(**{"L4-1-24G": odd}).gaps] == ["accelerators not known here left out: Z900"]


def test_a_full_page_is_followed_by_another(httpserver):
    plain = {f"PLAIN-{number}": TYPES["BASIC2-A2C-4G"] for number in range(100)}
    STOCK.serve(httpserver)
    for page, types in (("1", plain), ("2", TYPES)):
        asked = httpserver.expect_request(PRICES.path, query_string={"per_page": "100", "page": page})
        asked.respond_with_json({"servers": types})
    assert len(SOURCE.collect(httpserver.url_for("")).offers) == 17


def test_pages_without_an_end_are_a_changed_schema(httpserver, monkeypatch):
    monkeypatch.setattr("pricing.sources.small_clouds.scaleway.MOST_PAGES", 3)
    STOCK.serve(httpserver)
    full = {f"PLAIN-{number}": TYPES["BASIC2-A2C-4G"] for number in range(100)}
    PRICES.expect(httpserver).respond_with_json({"servers": full})
    with pytest.raises(SchemaChanged, match="no end"):
        SOURCE.collect(httpserver.url_for(""))


def test_every_zone_is_asked(httpserver):
    for answer in SOURCE.answers:
        for zone in ("fr-par-2", "pl-waw-2"):
            httpserver.expect_request(answer.path.replace("fr-par-2", zone)).respond_with_data(answer.body)
    collected = SOURCE.collect(httpserver.url_for(""), COSTCALC_SCALEWAY_ZONES="fr-par-2, pl-waw-2")
    assert {offer.region for offer in collected.offers} == {"fr-par-2", "pl-waw-2"}
