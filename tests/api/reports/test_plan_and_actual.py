"""What was predicted of one's own runs stands beside what they took, and is scored over all of them."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from msgspec.structs import replace
from support.own_training_runs import own_run
from support.services import packaged_catalogue, packaged_service

from api.questions.errors import NotFound
from api.reports.plan_and_actual import comparisons, score
from api.stored import FixedPrices, KnownRuns
from costcalc.offer import YOURS, Offer, PurchaseOption

FIRST = own_run()
LATER = {"name": "again", "added_at": FIRST.added_at + timedelta(hours=1)}


def service_with(*runs):
    rows = tuple(run.stored() for run in runs)
    return packaged_service().changed(runs=KnownRuns(rows)).seen_by(None)


def terms(compared):
    return {term.name: (term.predicted, term.took) for term in compared.terms}


def test_a_second_run_is_predicted_from_the_first_and_never_from_itself():
    slower = own_run(**LATER, accelerators=1, samples_per_second=900.0)
    _, second = comparisons(service_with(FIRST, slower))
    found = terms(second)
    assert second.predicted_from.startswith("my-run: Your own speed, carried over to 1 x A100-80GB, 2,000 samples/s")
    assert found["epochs"] == (8, 8)
    predicted, took = found["speed"]
    assert (900 < predicted < 1400, took) == (True, 900)
    assert found["rate"][0] == found["rate"][1] > 0
    assert second.error == pytest.approx(second.hours.predicted / second.hours.took - 1)


def test_the_same_run_again_takes_as_long_as_predicted():
    _, second = comparisons(service_with(FIRST, own_run(**LATER)))
    assert second.error == pytest.approx(0, abs=0.01)
    assert second.is_within
    assert terms(second)["dollars"][0] == pytest.approx(terms(second)["dollars"][1], rel=0.01)


def test_nothing_is_predicted_of_what_nobody_knows():
    (alone,) = comparisons(service_with(FIRST), "My Run")
    assert (alone.predicted_from, alone.error, alone.is_within) == (None, None, None)
    assert score([alone]).mape is None


def test_a_known_network_on_other_data_has_its_speed_predicted_and_its_own_samples():
    run = own_run(model="resnet50", ran_on=datetime(2026, 11, 19, tzinfo=UTC).date())
    (one,) = comparisons(service_with(run))
    found = terms(one)
    assert found["epochs"] == (None, 8)
    assert 1000 < found["speed"][0] < 10_000
    assert found["training"][0] == pytest.approx(8 * 1_200_000 / found["speed"][0] / 3600, rel=0.05)


def test_the_score_is_over_all_that_was_predicted():
    compared = comparisons(service_with(FIRST, own_run(**LATER)))
    found = score(compared)
    assert (found.runs, found.predicted, found.within) == (2, 1, 1)
    assert found.mape == pytest.approx(0, abs=0.01)


def test_a_run_that_is_not_there_is_not_compared():
    with pytest.raises(NotFound, match="did you mean my-run"):
        comparisons(service_with(FIRST), "my-rum")


def test_what_a_run_cost_is_by_the_users_own_rate_where_a_bill_or_a_sheet_has_one():
    (known,) = (row for row in packaged_catalogue().vocabulary.instances if row[:2] == ("gcp", "a2-ultragpu-2g"))
    bill = rate(known, 4, observed_at=datetime(2026, 10, 31, tzinfo=UTC), source="bill of October", flags=(YOURS,))
    list_price = replace(bill, hourly_rate=Decimal(9), flags=(), source="list")
    long_ago = replace(bill, hourly_rate=Decimal(1), observed_at=datetime(2025, 1, 31, tzinfo=UTC))
    spot = replace(bill, hourly_rate=Decimal(2), purchase_option=PurchaseOption.SPOT)
    prices = FixedPrices(packaged_catalogue().with_offers((list_price, long_ago, spot, bill)))
    run = own_run(**LATER, provider="gcp", instance_type="a2-ultragpu-2g")
    alone, second = comparisons(service_with(FIRST, run).changed(prices=prices))
    found = terms(second)
    assert second.paid_by == alone.paid_by == "bill of October"
    assert found["rate"][1] == 4
    assert found["dollars"][1] == pytest.approx(4 * found["hours"][1])
    assert terms(alone)["dollars"] == (None, pytest.approx(4 * FIRST.hours))
    unknown = comparisons(
        service_with(FIRST, run).changed(prices=FixedPrices(packaged_catalogue().with_offers((list_price,))))
    )
    assert [each.paid_by for each in unknown] == [None, None]


def rate(known, hourly, **given):
    provider, kind, machine = known
    option = PurchaseOption.ON_DEMAND
    return Offer(provider, "us-central1", kind, machine, option, Decimal(hourly), offering_class="own", **given)
