"""Answers of providers that other projects kept as they were, which nobody here wrote: each file names its origin and licence."""

import json
from decimal import Decimal

from support.recorded_sources import NOW, recorded

from pricing.sources.gcp.skus import ON_DEMAND, Skipped, rate_book, read_sku
from pricing.sources.small_clouds import oci


def kept(name):
    """The body of an answer, whose origin is stated."""
    document = json.loads(recorded(name), parse_float=Decimal)
    assert all("@" in line and "Apache-2.0" in line for line in document["origin"])
    return document["body"]


def test_a_page_of_googles_catalogue_makes_the_published_rate_of_an_a100():
    read = [read_sku(row) for row in kept("gcp/skus_kept_by_opencost.json")["skus"]]
    rates = rate_book(sku for sku in read if not isinstance(sku, Skipped))
    sizes = {"A2 vCPU": 12, "A2 GiB": 85, "nvidia-tesla-a100": 1}
    parts = {part: rates.rate(part, ON_DEMAND, "us-central1") for part in sizes}
    assert sum(rate.hourly * sizes[part] for part, rate in parts.items()) == Decimal("3.673385")
    assert sum(isinstance(sku, Skipped) for sku in read) == 4, "those that are priced in another currency"


def test_oracles_list_prices_every_accelerator_that_it_names():
    found = oci.offers(kept("oci/products_kept_by_opencost.json"), NOW)
    on_demand = {
        offer.instance_type: offer.hourly_rate for offer in found.offers if offer.purchase_option == "on_demand"
    }
    wanted = {"BM.GPU2.2": "2.55", "VM.GPU2.1": "1.275", "VM.GPU3.1": "2.95", "BM.GPU4.8": "24.4", "BM.GPU.A100-v2.8": "32",
              "VM.GPU.A10.1": "2", "BM.GPU.H100.8": "80"}  # fmt: skip
    assert {name: on_demand[name] for name in wanted} == {name: Decimal(rate) for name, rate in wanted.items()}
    assert not found.gaps
