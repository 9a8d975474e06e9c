import json
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from fakes.azure import FakeAzure, item
from fakes.local import Fault
from fakes.server import FakeServer

import pricing.sources.azure.source
import pricing.sources.common.http
from pricing.sources.azure.source import SPEC
from pricing.sources.common.http import Http
from pricing.sources.source import SchemaChanged, SourceError

RECORDING = Path(__file__).parents[3] / "recordings" / "azure" / "retail_prices.json"
NOW = datetime(2026, 11, 20, tzinfo=UTC)


@dataclass
class Cloud:
    """The fake, its server, and how a source is built for it."""

    fake: FakeAzure
    server: FakeServer

    def collect(self):
        environment = {"COSTCALC_AZURE_PRICES_URL": self.server.url + "/"}
        return SPEC.build(environment, Http(retries=2, backoff_seconds=0)).collect(NOW)

    def asked(self, field):
        return [request.query.get(field, "") for request in self.server.asked]


@pytest.fixture
def cloud(monkeypatch):
    monkeypatch.setattr(pricing.sources.azure.source, "REGIONS", frozenset({"eastus", "westeurope"}))
    fake = FakeAzure(json.loads(RECORDING.read_text())["Items"], page_size=2)
    with ExitStack() as stack:
        yield Cloud(fake, stack.enter_context(fake.server().running()))


def _rates(collected):
    return {(o.region, o.instance_type, o.purchase_option.value, o.term): o.hourly_rate for o in collected.offers}


def test_on_demand_and_reservations_of_every_page_are_offered(cloud):
    collected = cloud.collect()
    assert _rates(collected) == {
        ("eastus", "Standard_ND96isr_H100_v5", "on_demand", None): Decimal("98.32"),
        ("eastus", "Standard_ND96isr_H100_v5", "reserved", "1y"): Decimal("62.924771689498"),
        ("eastus", "Standard_ND96isr_H100_v5", "reserved", "3y"): Decimal("43.162480974125"),
        ("eastus", "Standard_ND96isr_H100_v5", "reserved", "5y"): Decimal("39.327990867580"),
        ("eastus", "Standard_NC6s_v3", "on_demand", None): Decimal("3.06"),
        ("eastus", "Standard_NC40ads_H100_v5", "on_demand", None): Decimal("6.98"),
    }
    assert collected.gaps == ()
    (nc6,) = [o for o in collected.offers if o.instance_type == "Standard_NC6s_v3"]
    assert (nc6.machine.accelerator, nc6.machine.accelerators, nc6.observed_at, nc6.currency) == ("V100", 1, NOW, "USD")
    assert (nc6.billing_increment_seconds, nc6.minimum_seconds) == (1, 300)


def test_links_to_the_real_host_are_followed_on_the_configured_one_and_keep_the_version(cloud):
    cloud.collect()
    assert "2" in cloud.asked("$skip")
    assert "4" in cloud.asked("$skip")
    assert "pause" in cloud.asked("$skiptoken")
    assert set(cloud.asked("api-version")) == {"2023-01-01-preview"}


def test_savings_plans_on_a_later_page_are_seen(cloud):
    plans = [{"unitPrice": 2.0, "retailPrice": 2.0, "term": "1 Year"}]
    cloud.fake.items.append(item("Standard_NC24s_v3", 12.24, savingsPlan=plans))
    assert _rates(cloud.collect())["eastus", "Standard_NC24s_v3", "savings_plan", "1y"] == 2


def test_a_region_that_no_list_has_is_found(cloud):
    cloud.fake.items += [item("Standard_D2s_v5", 0.1, "moonnorth"), item("Standard_NC6s_v3", 4, "moonnorth")]
    assert _rates(cloud.collect())["moonnorth", "Standard_NC6s_v3", "on_demand", None] == 4


def test_an_unknown_size_is_named_and_not_guessed(cloud):
    cloud.fake.items.append(item("Standard_ND999isr_R100_v9", 300))
    cloud.fake.items.append(item("Standard_NC12s_v3", 6.12, currencyCode="EUR"))
    collected = cloud.collect()
    assert [(gap.source, gap.reason) for gap in collected.gaps] == [
        ("azure", "rows left out: priced in EUR, not USD"),
        ("azure", "sizes whose accelerators are not known here left out: Standard_ND999isr_R100_v9"),
    ]
    assert len(collected.offers) == 6
    [scope] = collected.whole
    assert scope.apart_from == {"Standard_ND999isr_R100_v9", "Standard_NC12s_v3"}, "listed, though not read"


def test_a_new_size_whose_name_states_the_chip_is_offered_uncounted(cloud):
    cloud.fake.items.append(item("Standard_ND999isr_MI355X_v9", 300))
    collected = cloud.collect()
    [offer] = [offer for offer in collected.offers if offer.instance_type == "Standard_ND999isr_MI355X_v9"]
    assert (offer.machine.accelerator, offer.machine.accelerators, offer.flags) == ("MI355X", 0, ("count_not_stated",))
    assert [gap.reason for gap in collected.gaps] == [
        "types whose number of accelerators is not stated: Standard_ND999isr_MI355X_v9"
    ]


@pytest.mark.parametrize("fault", [Fault.THROTTLED, Fault.BROKEN])
def test_a_passing_fault_is_retried(cloud, fault):
    cloud.server.fail(fault, times=2)
    assert len(cloud.collect().offers) == 6


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault.THROTTLED, "429"),
        (Fault.BROKEN, "503"),
        (Fault.UNAUTHORIZED, "401"),
        (Fault.FORBIDDEN, "403"),
        (Fault.STALLED, "stopped answering"),
        (Fault.TRUNCATED, "broke off its answer"),
        (Fault.HALF_JSON, "not JSON"),
        (Fault.WEB_PAGE, "not JSON"),
    ],
)
@pytest.mark.parametrize("after", [0, 3])
def test_a_lasting_fault_on_any_page_fails_the_source_and_says_why(cloud, fault, reason, after, monkeypatch):
    monkeypatch.setattr(pricing.sources.common.http, "TIMEOUT_SECONDS", (5, 1))
    served = cloud.server.next_fault
    cloud.server.next_fault = lambda path: fault if len(cloud.server.asked) > after else served(path)
    with pytest.raises(SourceError, match=f"azure: .*/api/retail/prices.*({reason})"):
        cloud.collect()


def test_prices_in_another_currency_only_are_no_prices(cloud):
    for row in cloud.fake.items:
        row["currencyCode"] = "EUR"
    with pytest.raises(SchemaChanged, match="EUR"):
        cloud.collect()


@pytest.mark.parametrize("answer", [{"Items": None}, {"value": []}, [], {"Items": ["NC6"]}, {"Items": []}])
def test_another_shape_of_answer_is_a_changed_schema(cloud, answer):
    cloud.server.answer = lambda _: answer
    with pytest.raises(SchemaChanged):
        cloud.collect()


def test_a_renamed_price_is_a_changed_schema(cloud):
    for row in cloud.fake.items:
        row["price"] = row.pop("retailPrice")
    with pytest.raises(SchemaChanged, match="retailPrice"):
        cloud.collect()


def test_pages_without_end_are_a_changed_schema(cloud):
    link = "https://prices.azure.com:443/api/retail/prices?$skip=1000"
    cloud.server.answer = lambda _: {"Items": [], "NextPageLink": link}
    with pytest.raises(SchemaChanged, match="no end"):
        cloud.collect()
