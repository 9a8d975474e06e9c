"""Every packaged source is judged: whether it is the provider's own word."""

import pytest
from packaged_tables import table
from support.stores import packaged_edition

STARTS = {row["source"]: row["hand"] for row in table("price_sources.csv")}


@pytest.mark.parametrize("name", ["offers.csv", "owned.csv", "free_tiers.csv"])
def test_every_source_is_judged_once(name):
    for row in table(name):
        assert len([start for start in STARTS if row["source"].startswith(start)]) == 1, row["source"]


def test_every_judgement_is_of_a_source_that_is_packaged():
    sources = {row["source"] for name in ("offers.csv", "owned.csv", "free_tiers.csv") for row in table(name)}
    assert all(any(source.startswith(start) for source in sources) for start in STARTS)


def test_what_somebody_else_collected_is_flagged_second_hand():
    by_source = {offer.source.partition("@")[0]: offer for offer in packaged_edition().offers}
    assert by_source["aws/karpenter-provider-aws"].first_hand
    assert by_source["tardellirs/gpu-pricing"].flags == ("second_hand",)
    assert not by_source["Cyclenerd/google-cloud-pricing-cost-calculator"].first_hand


def test_the_rates_themselves_leave_that_to_the_table():
    assert not [row for row in table("offers.csv") if "second_hand" in row["flags"]]
