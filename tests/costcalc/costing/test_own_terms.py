"""Own terms: campaigns of runs, storage and egress, discounts and currencies, to the cent."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from msgspec.structs import replace
from support.engine import answer
from support.order import check_order

from costcalc.catalogue.catalogue import Catalogue
from costcalc.costing.bills import Bill
from costcalc.costing.storage_and_egress import Market, StorageAndEgressRates, StorageOrEgressRate
from costcalc.duration import overheads
from costcalc.money import ExchangeRate, cents
from costcalc.offer import PurchaseOption
from costcalc.query import Discount, EstimateQuery
from costcalc.training import DATA_SET_GB

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
STORAGE = StorageOrEgressRate("aws", "storage", Decimal(0), Decimal("0.023"), "a tier", "a list", date(2026, 1, 2))
EGRESS = StorageOrEgressRate("aws", "egress", Decimal(0), Decimal("0.09"), "a tier", "a list", date(2026, 1, 2))
RATES = StorageAndEgressRates.of((STORAGE, EGRESS))
EURO = ExchangeRate("EUR", Decimal("0.8950948800572860723236663086"), date(2026, 10, 30), "the bank")
WAYS = (PurchaseOption.ON_DEMAND, PurchaseOption.SPOT, PurchaseOption.SAVINGS_PLAN, PurchaseOption.MONTHLY)


@pytest.fixture
def costs(packaged_evidence, packaged_prices):
    """Asks for resnet50 to 0.757 with storage and egress rates of AWS and a rate of the euro."""

    def costs(prices=packaged_prices, **parameters):
        query = EstimateQuery("resnet50", 0.757, **{"limit": 1000, **parameters})
        return answer(query, packaged_evidence, prices, NOW, Market({"EUR": EURO}, RATES))

    return costs


def keyed(found):
    return {
        (e.provider, e.instance_type, e.nodes, e.purchase_option, e.term, e.payment, e.offering_class): (e, e.bill)
        for e in found.estimates
    }


class TestCampaigns:
    """N runs one after another: N times the hours but for those that machines take to boot and load, and one bill for all."""

    def test_hours_multiply_and_commitments_are_bought_once(self, costs):
        asked = {"provider": ("aws", "verda", "lambda"), "purchase": WAYS, "pipeline": "none"}
        one, many = (keyed(costs(runs=runs, **asked)) for runs in (1, 20))
        shared = one.keys() & many.keys()
        assert {key[3] for key in shared} >= {
            PurchaseOption.ON_DEMAND,
            PurchaseOption.SPOT,
            PurchaseOption.SAVINGS_PLAN,
        }
        for key in shared:
            (single, bill), (campaign, _) = one[key], many[key]
            assert campaign.train_hours == pytest.approx(20 * single.train_hours, rel=1e-12)
            if key[3] is not PurchaseOption.SPOT:
                once = (
                    overheads.STARTUP_HOURS - overheads.INITIALISING_HOURS + float(overheads.staging_hours(DATA_SET_GB))
                )
                assert campaign.hours == pytest.approx(20 * single.hours - 19 * once, rel=1e-12)
            assert campaign.billed_cost == cents(bill.billed(Decimal(repr(campaign.hours))))
            assert campaign.images_per_second == pytest.approx(single.images_per_second, rel=1e-12)
            assert (campaign.epochs, campaign.success_probability) == (single.epochs, single.success_probability)
            assert campaign.hourly_rate == single.hourly_rate
            if campaign.term and campaign.hours < 700:
                assert campaign.billed_cost == single.billed_cost

    def test_machines_that_are_kept_boot_and_load_once(self, costs):
        """Twenty runs on p4d.24xlarge paid for twenty boots and loads: a third too much."""
        asked = {
            "provider": ("aws",),
            "instance_type": ("p4d.24xlarge",),
            "nodes": 1,
            "purchase": ("on_demand",),
            "recipe": ("mosaicml-mild-29ep",),
        }
        one, twenty = (costs(**asked, runs=runs).estimates[0] for runs in (1, 20))
        assert (one.hours, twenty.hours) == pytest.approx((0.7453, 9.8762), abs=0.0001)
        assert (one.billed_cost, twenty.billed_cost) == (Decimal("16.37"), Decimal("216.86"))

    def test_commitments_begin_to_pay(self, costs):
        purchase = (PurchaseOption.ON_DEMAND, PurchaseOption.SAVINGS_PLAN)
        for runs, option in ((1, PurchaseOption.ON_DEMAND), (200_000, PurchaseOption.SAVINGS_PLAN)):
            every = costs(provider=("aws",), purchase=purchase, runs=runs, limit=1000).estimates
            assert min(every, key=lambda one: one.billed_cost).purchase_option is option

    def test_the_assumption_stands_only_there(self, costs):
        told = [
            any("20 runs" in line for line in costs(runs=runs, limit=1).estimates[0].assumptions) for runs in (1, 20)
        ]
        assert told == [False, True]


class TestBesideMachines:
    """Storage for the hours of the runs, and egress once."""

    def test_they_are_lines_of_the_bill_and_nothing_else_changes(self, costs):
        asked = {"storage_gb": Decimal(149), "egress_gb": Decimal(10)}
        bare, full = (keyed(costs(provider=("aws",), purchase=WAYS, **more)) for more in ({}, asked))
        assert bare.keys() == full.keys()
        for key, (plain, _) in bare.items():
            estimate, bill = full[key]
            storage, egress = estimate.components[-2:]
            hours = Decimal(repr(estimate.hours))
            assert (storage.name, storage.unit, storage.rate) == ("data set storage", "GB-months", Decimal("0.023"))
            assert abs(storage.quantity - 149 * hours / 730) < Decimal("1e-20")
            assert (egress.quantity, egress.unit, egress.rate) == (10, "GB", Decimal("0.09"))
            extra = storage.quantity * storage.rate + egress.quantity * egress.rate
            assert estimate.billed_cost == cents(Bill(bill.offer, bill.terms).billed(hours) + extra)
            assert abs(estimate.effective_cost - plain.effective_cost - extra) <= Decimal("0.01")
            assert estimate.hourly_rate == plain.hourly_rate
            assert estimate.break_even_hours == plain.break_even_hours
            assert sum(line.amount for line in estimate.components) == estimate.billed_cost

    @pytest.mark.parametrize("basis", ["billed", "effective"])
    def test_the_order_counts_them(self, costs, basis):
        """Egress is unknown at Lambda and dear at AWS: what the arrays rank by is what the bills say."""
        found = costs(
            purchase=(PurchaseOption.ON_DEMAND,), egress_gb=Decimal(5000), storage_gb=Decimal(9000), basis=basis
        )
        check_order(found, lambda each: each.cost(basis).cost)
        assert "aws" not in {estimate.provider for estimate in found.estimates[:20]}

    def test_an_unknown_rate_is_named_and_left_out(self, costs):
        estimate = costs(provider=("lambda",), storage_gb=Decimal(149), limit=1).estimates[0]
        [told] = [line for line in estimate.assumptions if "storage" in line]
        assert "left out" in told
        assert "storage_rate=" in told
        assert len(estimate.components) == 1

    def test_own_rates_hold_everywhere_in_the_asked_currency(self, costs):
        own = {"storage_gb": Decimal(100), "storage_rate": Decimal("0.02"), "currency": "EUR"}
        for provider in ("aws", "lambda"):
            estimate = costs(provider=(provider,), purchase=(PurchaseOption.ON_DEMAND,), limit=1, **own).estimates[0]
            assert estimate.components[-1].rate == Decimal("0.02")
            assert any("own rate of 0.02 EUR per GB-month" in line for line in estimate.assumptions)

    def test_list_rates_are_converted_and_not_discounted(self, costs):
        more = {"egress_gb": Decimal(1000), "currency": "EUR", "discount": (Discount(Decimal("0.5")),)}
        line = (
            costs(provider=("aws",), purchase=(PurchaseOption.ON_DEMAND,), limit=1, **more).estimates[0].components[-1]
        )
        assert line.rate == Decimal("0.09") * EURO.per_usd
        leftover = Decimal("0.01")  # of rounding, which the largest line takes
        assert abs(line.amount - cents(90 * EURO.per_usd)) <= leftover


class TestDiscounts:
    """The general form and that of one provider."""

    @pytest.mark.parametrize("discount", [Discount(Decimal("0.12")), Discount(Decimal("0.12"), "aws")])
    def test_it_lowers_the_list_rate(self, costs, discount):
        more = {"provider": ("aws", "gcp"), "purchase": (PurchaseOption.ON_DEMAND, PurchaseOption.SAVINGS_PLAN)}
        listed, own = keyed(costs(**more)), keyed(costs(discount=(discount,), **more))
        assert {key[0] for key in listed.keys() & own.keys()} == {"aws", "gcp"}
        for key in listed.keys() & own.keys():
            factor = Decimal("0.88") if discount.provider in (None, key[0]) else 1
            assert own[key][0].hourly_rate == listed[key][0].hourly_rate * factor

    def test_the_providers_own_wins_over_the_general(self, costs):
        both = (Discount(Decimal("0.5")), Discount(Decimal("0.1"), "aws"))
        found = keyed(costs(provider=("aws", "gcp"), purchase=(PurchaseOption.ON_DEMAND,), discount=both))
        factors = {(key[0], bill.terms.price_factor) for key, (_, bill) in found.items()}
        assert factors == {("aws", Decimal("0.9")), ("gcp", Decimal("0.5"))}


class TestCurrencies:
    """Quotes in euros and dollars in one answer, whichever is asked for."""

    @pytest.fixture
    def mixed(self, packaged_prices):
        rows = packaged_prices.current_offers(NOW).rows[:400].tolist()
        offers = [each for each in map(packaged_prices.offer, rows) if each.currency == "USD"]
        euros = [replace(each, provider="euro-" + each.provider, currency="EUR") for each in offers]
        return Catalogue.from_offers([*offers, *euros], "mixed")

    @pytest.mark.parametrize("currency", ["USD", "EUR"])
    def test_every_amount_is_the_exact_one_converted_and_rounded_once(self, costs, mixed, currency):
        found = keyed(costs(mixed, currency=currency, pipeline="none"))  # volumes are known by a provider's name
        pairs = [(key, each) for key, each in found.items() if key[0].startswith("euro-")]
        assert pairs
        for key, (estimate, bill) in pairs:
            dollars, plain = found[(key[0].removeprefix("euro-"), *key[1:])]
            ratio = Decimal(1) / EURO.per_usd
            if estimate.purchase_option != "spot":  # who interrupts how often is known by a provider's name
                assert estimate.hours == pytest.approx(dollars.hours, rel=1e-4)  # one is the log of its own system
            assert abs(estimate.hourly_rate - dollars.hourly_rate * ratio) < Decimal("1e-20")
            exact = bill.billed(Decimal(repr(estimate.hours)))
            assert estimate.billed_cost == cents(exact)
            assert abs(exact - plain.billed(Decimal(repr(estimate.hours))) * ratio) < Decimal("1e-15")
            assert sum(line.amount for line in estimate.components) == estimate.billed_cost

    def test_the_rate_and_its_day_are_named(self, costs, mixed):
        dollars, euros = (costs(mixed, currency=currency) for currency in ("USD", "EUR"))
        assert (dollars.exchange, dollars.quoted_exchange) == (None, (EURO,))
        assert (euros.exchange, euros.quoted_exchange) == (EURO, ())
        for found, wanted in ((dollars, "Quoted in EUR"), (euros, "Converted to EUR")):
            told = {estimate.provider[:5] == "euro-": estimate.assumptions for estimate in found.estimates}
            for is_euro, lines in told.items():
                named = [line for line in lines if "0.895095 per USD on 2026-10-30 (the bank)" in line]
                assert len(named) == (is_euro == (found is dollars))
                assert all(line.startswith(wanted) for line in named)
