"""Storage and egress come on top of the machines where they are asked for; several runs cost several times the hours."""

from datetime import date
from decimal import Decimal

import pytest
from fakes.offers import DAY, monthly, offer
from support.engine import answer

from costcalc.catalogue.catalogue import Catalogue
from costcalc.costing.storage_and_egress import Market, StorageAndEgressRates, StorageOrEgressRate
from costcalc.money import ExchangeRate, cents
from costcalc.query import EstimateQuery

STORAGE = StorageOrEgressRate(
    "acme", "storage", Decimal(0), Decimal("0.02"), "standard tier", "a price list", date(2024, 1, 1)
)
EGRESS = StorageOrEgressRate(
    "acme", "egress", Decimal(0), Decimal("0.09"), "first 10 TB", "a price list", date(2024, 1, 1)
)
MORE = StorageOrEgressRate("acme", "egress", Decimal(1000), Decimal("0.05"), "above 1 TB", "a list", date(2024, 1, 1))
RATES = StorageAndEgressRates.of((STORAGE, EGRESS))
EURO = {"EUR": ExchangeRate("EUR", Decimal("0.5"), date(2024, 1, 1), "a bank")}


@pytest.fixture
def the_one(packaged_evidence):
    """The one estimate of a question about one V100."""

    def the_one(one=None, rates=RATES, exchange=None, **parameters):
        prices = Catalogue.from_offers([one or offer()], "made up")
        query = EstimateQuery("resnet50", 0.757, as_of=DAY, nodes=1, **parameters)
        (estimate,) = answer(query, packaged_evidence, prices, DAY, Market(exchange or {}, rates)).estimates
        return estimate

    return the_one


def beside(estimate):
    """The lines that are not machines, by name."""
    return {line.name: line for line in estimate.components if line.unit != "hours"}


def test_nothing_comes_on_top_unasked(the_one):
    assert beside(the_one()) == {}


@pytest.mark.parametrize(
    ("parameters", "rate"),
    [
        ({}, "0.02"),
        ({"storage_rate": Decimal("0.03")}, "0.03"),
        ({"currency": "EUR", "exchange": EURO}, "0.01"),
        ({"currency": "EUR", "exchange": EURO, "storage_rate": Decimal("0.03")}, "0.03"),
    ],
)
def test_storage_is_kept_while_the_run_lasts(the_one, parameters, rate):
    plain = the_one(**{key: value for key, value in parameters.items() if key != "storage_rate"})
    one = the_one(storage_gb=Decimal(149), **parameters)
    line = beside(one)["data set storage"]
    assert (line.unit, line.rate) == ("GB-months", Decimal(rate))
    assert float(line.quantity) == pytest.approx(149 * one.hours / 730)
    for cost in ("billed_cost", "effective_cost"):
        added = getattr(one, cost) - getattr(plain, cost)
        assert added == pytest.approx(line.quantity * line.rate, abs=Decimal("0.01"))
    assert sum(line.amount for line in one.components) == one.billed_cost
    assert one.hourly_rate == plain.hourly_rate


def test_egress_is_paid_once(the_one):
    short, long = (the_one(egress_gb=Decimal(10), runs=runs) for runs in (1, 5))
    lines = [beside(one)["data egress"] for one in (short, long)]
    assert [(line.quantity, line.unit, line.amount) for line in lines] == [(10, "GB", Decimal("0.90"))] * 2


def test_each_tier_is_paid_at_its_own_rate(the_one):
    tiers = StorageAndEgressRates.of((MORE, EGRESS))
    one, own = (the_one(egress_gb=Decimal(2500), rates=tiers, **rate) for rate in ({}, {"egress_rate": Decimal(1)}))
    assert {name: line.amount for name, line in beside(one).items()} == {
        "data egress": Decimal("90.00"),
        "data egress above 1,000 GB": Decimal("75.00"),
    }
    assert {name: line.amount for name, line in beside(own).items()} == {"data egress": Decimal("2500.00")}
    assert "first 10 TB (a price list, 2024-01-01); at 0.05 USD per GB: above 1 TB" in " ".join(one.assumptions)
    [whole] = beside(the_one(egress_gb=Decimal(1000), rates=tiers)).values()
    assert whole.amount == Decimal("90.00")


def test_the_cheapest_is_the_cheapest_with_everything(packaged_evidence):
    cheap, dear = offer(provider="bolt"), offer(hourly_rate=Decimal("2.99"))
    prices = Catalogue.from_offers([cheap, dear], "made up")

    def cheapest(egress):
        query = EstimateQuery("resnet50", 0.757, as_of=DAY, nodes=1, egress_gb=Decimal(egress))
        return answer(query, packaged_evidence, prices, DAY, Market(rates=RATES)).estimates

    assert [one.provider for one in cheapest(0)] == ["acme", "bolt"]
    assert [one.provider for one in cheapest(1000)] == ["bolt", "acme"]
    assert cheapest(1000)[1].billed_cost == cheapest(0)[0].billed_cost + 90


def test_each_rate_is_named_or_said_to_be_missing(the_one):
    asked = {"storage_gb": Decimal(149), "egress_gb": Decimal("1.5")}
    listed = " ".join(the_one(**asked).assumptions)
    assert "Data set storage of 149 GB at 0.02 USD per GB-month: standard tier" in listed
    assert "Data egress of 1.5 GB at 0.09 USD per GB: first 10 TB" in listed
    assert "(a price list, 2024-01-01)" in listed
    own = " ".join(the_one(**asked, egress_rate=Decimal("0.05")).assumptions)
    assert "Data egress of 1.5 GB at the own rate of 0.05 USD per GB." in own
    unknown = the_one(**asked, rates=StorageAndEgressRates({}))
    assert beside(unknown) == {}
    assert "no rate of acme is known; give one as egress_rate=." in " ".join(unknown.assumptions)


def test_several_runs_take_several_times_the_hours(the_one):
    once, thrice = (the_one(runs=runs, overheads="none") for runs in (1, 3))
    for name in ("train_hours", "overhead_hours", "hours", "hours_low", "hours_high", "retry_hours"):
        assert getattr(thrice, name) == pytest.approx(3 * getattr(once, name))
    assert (thrice.epochs, thrice.success_probability) == (once.epochs, once.success_probability)
    assert thrice.effective_cost == pytest.approx(3 * once.effective_cost, abs=Decimal("0.02"))
    assert any("cover 3 runs" in sentence for sentence in thrice.assumptions)
    assert not any("runs, one after another" in sentence for sentence in once.assumptions)


def test_several_runs_are_billed_as_one_rental(the_one):
    once, twice = (the_one(monthly(), runs=runs, overheads="none") for runs in (1, 2))
    assert once.billed_cost == twice.billed_cost == 730
    assert cents(twice.effective_cost) == pytest.approx(2 * once.effective_cost, abs=Decimal("0.01"))
