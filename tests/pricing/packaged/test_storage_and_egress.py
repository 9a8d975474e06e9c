"""The packaged rates of storage and egress: read exactly, each with source and date, or refused by line."""

from decimal import Decimal
from itertools import pairwise

import pytest
from support.stores import packaged_edition

from costcalc.costing.storage_and_egress import UNITS
from costcalc.evidence.tables import TableError
from pricing.packaged.storage_and_egress import STORAGE_AND_EGRESS, storage_and_egress_rates

HEADER = ",".join(STORAGE_AND_EGRESS.columns) + "\n"


def test_the_three_large_clouds_have_both_rates_with_source_and_date():
    known = storage_and_egress_rates().known
    assert known.keys() == {(cloud, item) for cloud in ("aws", "azure", "gcp") for item in UNITS}
    assert (known["aws", "storage"][0].usd_per_unit, known["gcp", "egress"][0].usd_per_unit) == (
        Decimal("0.023"),
        Decimal("0.12"),
    )
    for tiers in known.values():
        assert tiers[0].above == 0
        assert all(cheap.usd_per_unit < dear.usd_per_unit for dear, cheap in pairwise(tiers))
        assert all(rate.source.startswith("https://") and rate.what and rate.observed_on.year >= 2021 for rate in tiers)
    assert all(len(known[cloud, "egress"]) > 2 for cloud in ("aws", "azure", "gcp"))


def test_their_clouds_are_named_as_in_the_offers():
    assert {provider for provider, _ in storage_and_egress_rates().known} <= {
        offer.provider for offer in packaged_edition().offers
    }


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("aws,storage,0,GB,0.02,a,b,2026-01-01", "GB"),
        ("aws,tape,0,GB,0.02,a,b,2026-01-01", "tape"),
        ("aws,egress,0,GB,0,a,b,2026-01-01", "positive"),
        ("aws,egress,0,GB,cheap,a,b,2026-01-01", "usd_per_unit 'cheap' is not a decimal number"),
        ("aws,egress,0,GB,0.02,a,,2026-01-01", "source"),
        ("aws,egress,0,GB,0.02,a,b,January", "January"),
        ("aws,egress,0,GB,0.02,a,b,2026-01-01\naws,egress,0,GB,0.03,a,b,2026-01-01", "twice"),
    ],
)
def test_a_fault_is_told_with_its_line(line, told, tmp_path):
    (tmp_path / STORAGE_AND_EGRESS.name).write_text(HEADER + line + "\n")
    with pytest.raises(TableError, match=rf"pricing/packaged/data/storage_and_egress.csv, line [23].*{told}"):
        storage_and_egress_rates(tmp_path)
