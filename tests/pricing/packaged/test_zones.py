"""Google lists rates of its GPU machines for regions that have none: those must not become offers.

Where no zone has the machine, the spot rate stands at a floor near a tenth of on demand, so the cheapest region would
always be one of them. Zones from the Compute Engine machine types that SkyPilot's catalogue lists,
skypilot-org/skypilot-catalog@006059e0 catalogs/v8/gcp/vms.csv.
"""

from decimal import Decimal

import pytest
from packaged_tables import rate, table

GPU = ("a2-", "a3-", "a4-", "g2-")
ZONED = {
    "a2-highgpu-": "asia-northeast1 asia-northeast3 asia-southeast1 europe-west4 me-west1 us-central1 us-east1 us-west1 "
    "us-west3 us-west4",
    "a2-megagpu-": "asia-southeast1 europe-west4 us-central1",
    "a2-ultragpu-": "asia-southeast1 europe-west4 us-central1 us-east4 us-east5",
    "a3-highgpu-": "asia-east1 asia-northeast1 asia-south1 asia-south2 asia-southeast1 australia-southeast1 europe-north1 "
    "europe-west1 europe-west3 europe-west4 europe-west8 europe-west9 us-central1 us-east4 us-east5 us-west1 us-west4",
    "g2-standard-": "asia-east1 asia-northeast1 asia-northeast3 asia-south1 asia-southeast1 europe-west1 europe-west2 "
    "europe-west3 europe-west4 europe-west6 me-central2 northamerica-northeast1 northamerica-northeast2 us-central1 "
    "us-east1 us-east4 us-west1 us-west4",
}


FLOOR = Decimal("0.12")  # of on demand: what Google lists as spot where no zone has the machine, or nobody asks for it


def test_no_spot_rate_of_a_google_gpu_machine_stands_at_the_floor():
    rows = [row for row in table("offers.csv") if row["provider"] == "gcp" and row["instance_type"].startswith(GPU)]
    cells = ("region", "instance_type", "observed_at")
    on_demand = {tuple(row[cell] for cell in cells): rate(row) for row in rows if row["purchase_option"] == "on_demand"}
    spot = {tuple(row[cell] for cell in cells): rate(row) for row in rows if row["purchase_option"] == "spot"}
    compared = on_demand.keys() & spot.keys()
    assert len(compared) > 50
    assert not [where for where in compared if spot[where] < FLOOR * on_demand[where]]


@pytest.mark.parametrize("family", ZONED)
def test_a_google_machine_is_offered_only_where_it_stands(family):
    offered = {
        row["region"]
        for row in table("offers.csv")
        if row["provider"] == "gcp" and row["instance_type"].startswith(family)
    }
    assert "us-central1" in offered
    assert offered - set(ZONED[family].split()) <= {"us", "unspecified"}
