import json
import logging
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from fakes.gcp import COMPUTE, TPU, FakeGcp, machine_type, sku
from fakes.local import Fault
from fakes.server import FakeServer

import pricing.sources.common.http
import pricing.sources.gcp.source
from pricing.recording import Recording
from pricing.scope import EVERYTHING
from pricing.sources.common.http import Http
from pricing.sources.gcp.source import SPEC
from pricing.sources.source import CredentialsMissing, SchemaChanged, SourceError

RECORDINGS = Path(__file__).parents[3] / "recordings" / "gcp"
NOW = datetime(2026, 11, 20, tzinfo=UTC)
KEY = "a-key-that-nobody-may-see"
ZONES = {
    "us-central1-a": [
        machine_type("a2-highgpu-1g", "us-central1-a", 12, 85, ("nvidia-tesla-a100", 1)),
        machine_type("n1-standard-8", "us-central1-a", 8, 30),
        machine_type("e2-standard-2", "us-central1-a", 2, 8),
    ],
    "us-east1-b": [],
    "us-west1-b": [machine_type("n1-standard-8", "us-west1-b", 8, 30)],
}
SLICES = {
    "us-central1-b": ["v2-8"],
    "us-central1-c": [],
    "us-east5-a": ["v5p-8", "v5p-12288"],
    "us-south1-a": ["v6e-1"],
}
V100 = {"kind": "compute#acceleratorType", "name": "nvidia-tesla-v100", "maximumCardsPerInstance": 8}


@dataclass
class Cloud:
    """The fake, its server, and how a source is built for it."""

    fake: FakeGcp
    server: FakeServer

    def environment(self, **changes):
        return {
            "COSTCALC_GCP_BILLING_URL": self.server.url,
            "COSTCALC_GCP_COMPUTE_URL": self.server.url + "/",
            "COSTCALC_GCP_TPU_URL": self.server.url,
            "COSTCALC_GCP_API_KEY": KEY,
            "COSTCALC_GCP_PROJECT": "prices",
            **changes,
        }

    def collect(self, **changes):
        return SPEC.build(self.environment(**changes), Http(retries=2, backoff_seconds=0)).collect(NOW)


@pytest.fixture
def cloud():
    skus = {
        service: json.loads((RECORDINGS / f"skus_{name}.json").read_text())["skus"]
        for service, name in ((COMPUTE, "compute_engine"), (TPU, "cloud_tpu"))
    }
    fake = FakeGcp(skus, ZONES, {"us-central1-a": [], "us-west1-b": [V100]}, SLICES, page_size=7)
    with ExitStack() as stack:
        yield Cloud(fake, stack.enter_context(fake.server().running()))


def _rates(collected):
    return {(o.region, o.instance_type, o.purchase_option.value): o.hourly_rate for o in collected.offers}


def test_machines_are_priced_where_compute_engine_lists_them_over_all_pages(cloud):
    collected = cloud.collect()
    assert collected.whole == (EVERYTHING,)
    rates = _rates(collected)
    assert rates["us-central1", "a2-highgpu-1g", "on_demand"] == Decimal("3.673385")
    assert rates["us-east5", "v5p-12288", "on_demand"] == Decimal("25804.8")
    assert rates["us-central1", "v2-8", "on_demand"] == Decimal("4.689999")
    gpus = {key for key in rates if not key[1].startswith(("v", "tpu"))}
    assert gpus == {
        ("us-central1", "a2-highgpu-1g", "on_demand"),
        ("us-west1", "n1-standard-8+1xV100", "on_demand"),
    }


def test_what_googles_own_client_was_answered_is_kept_too(cloud, tmp_path):
    recording = Recording([KEY])
    assert SPEC.build(cloud.environment(), Http(recording=recording)).collect(NOW).offers
    text = recording.save(tmp_path, "a test").read_text()
    paths = [each["path"] for each in json.loads(text)["answers"]]
    for asked in ("/aggregated/machineTypes", "/aggregated/acceleratorTypes", "/skus", "/acceleratorTypes"):
        assert any(path.endswith(asked) for path in paths), asked
    assert KEY not in text


def test_tpu_slices_are_offered_only_in_regions_with_a_zone_that_has_them(cloud):
    placed = {key[:2] for key in _rates(cloud.collect()) if key[1].startswith(("v", "tpu"))}
    assert placed == {
        ("us-central1", "v2-8"),
        ("us-east5", "v5p-8"),
        ("us-east5", "v5p-12288"),
        ("us-south1", "v6e-1"),
    }


@pytest.mark.parametrize("fault", [Fault.UNAUTHORIZED, Fault.FORBIDDEN, Fault.MISSING])
def test_where_the_zones_of_tpus_cannot_be_read_a_gap_says_that_prices_stand_in(cloud, fault):
    cloud.server.fail(fault, path="/v2/projects")
    collected = cloud.collect()
    assert ("europe-west4", "v5p-128", "committed_use") in _rates(collected)
    assert collected.whole == ()
    assert [gap.reason for gap in collected.gaps if "TPU" in gap.reason and "zones" in gap.reason] == [
        f"zones of TPUs are not read, the Cloud TPU API answered {fault.value}: TPU slices are offered wherever their chips "
        "are priced"
    ]


def test_google_is_not_asked_for_zones_of_tpus_without_a_project(cloud):
    collected = cloud.collect(COSTCALC_GCP_PROJECT="", COSTCALC_GCP_TPU_URL="")
    assert any(gap.reason.startswith("zones of TPUs are not read, set COSTCALC_GCP_PROJECT") for gap in collected.gaps)


def test_a_passing_fault_of_the_tpu_zones_is_retried_and_a_lasting_one_fails_the_source(cloud):
    cloud.server.fail(Fault.BROKEN, times=1, path="acceleratorTypes")
    assert _rates(cloud.collect())
    for fault in (Fault.BROKEN, Fault.HALF_JSON):
        cloud.server.fail(fault, path="/v2/projects")
        with pytest.raises(SourceError, match="/v2/projects/prices/locations"):
            cloud.collect()


def test_the_catalogue_is_asked_for_dollars_with_the_key_and_read_to_the_last_page(cloud):
    cloud.collect()
    asked = [request.query for request in cloud.server.asked if COMPUTE in request.path]
    assert {(query["currencyCode"], query["key"]) for query in asked} == {("USD", KEY)}
    assert [query.get("pageToken") for query in asked] == [None, *map(str, range(1, 7))]


def test_a_plain_http_address_is_called_without_a_token_and_without_a_project(cloud):
    rates = _rates(cloud.collect(COSTCALC_GCP_PROJECT="", COSTCALC_GCP_API_KEY=""))
    assert rates["us-central1", "a2-highgpu-1g", "on_demand"] == Decimal("3.673385")
    assert not [name for request in cloud.server.asked for name in request.headers if name.lower() == "authorization"]
    assert not [request for request in cloud.server.asked if "key" in request.query]


def test_skus_that_give_no_rate_are_gaps_and_the_rest_is_offered(cloud):
    cloud.fake.skus[COMPUTE].append(sku("Nvidia Rubin R100 GPU running in Iowa", "OnDemand", "20", ["us-central1"]))
    cloud.fake.skus[COMPUTE].append(sku("TpuV6e running in Dallas", "OnDemand", "3", ["us-south1"]))
    cloud.fake.skus[COMPUTE].append(sku("TpuV6e running in Tokyo", "OnDemand", "3", ["asia-northeast1"], unit="d"))
    rupiah = sku("TpuV6e running in Jakarta", "OnDemand", "40000", ["asia-southeast2"])
    rupiah["pricingInfo"][0]["pricingExpression"]["tieredRates"][0]["unitPrice"]["currencyCode"] = "IDR"
    cloud.fake.skus[COMPUTE].append(rupiah)
    collected = cloud.collect()
    assert [gap.reason for gap in collected.gaps] == [
        "SKUs in another currency than USD left out (1): IDR",
        "SKUs of accelerators that are not known here left out (1): Nvidia Rubin R100 GPU",
        "SKUs without a readable price, unit or region left out (1): TpuV6e running in Tokyo",
        "two SKUs differ on TPU v6e: the dearer one is taken",
    ]
    assert {gap.source for gap in collected.gaps} == {"gcp"}
    assert collected.whole == (), "a rate that could not be read has not ended"
    assert _rates(collected)["us-south1", "v6e-1", "on_demand"] == 3


@pytest.mark.parametrize("fault", [Fault.UNAUTHORIZED, Fault.FORBIDDEN])
def test_where_compute_engine_refuses_the_packaged_machine_types_stand_in(cloud, fault):
    cloud.server.fail(fault, path="machineTypes")
    collected = cloud.collect()
    assert _rates(collected)["us-east1", "a2-highgpu-1g", "on_demand"] == Decimal("3.673385")
    assert collected.whole == ()
    said = "refused" if fault is Fault.UNAUTHORIZED else "answered 403"
    assert any(said in gap.reason and "packaged machine types" in gap.reason for gap in collected.gaps)


def test_without_a_project_the_packaged_machine_types_stand_in(cloud):
    collected = cloud.collect(COSTCALC_GCP_PROJECT="", COSTCALC_GCP_COMPUTE_URL="")
    assert ("us-central1", "a2-highgpu-8g", "on_demand") in _rates(collected)
    assert any("COSTCALC_GCP_PROJECT" in gap.reason for gap in collected.gaps)


def test_a_server_that_knows_no_inventory_is_a_gap(cloud):
    cloud.fake.machine_types = None
    assert any("answered 404" in gap.reason for gap in cloud.collect().gaps)


@pytest.mark.parametrize(
    "path", ["/v1/services/6F81", "/v1/services/E000", "machineTypes", "aggregated/acceleratorTypes", "/v2/projects"]
)
@pytest.mark.parametrize("fault", [Fault.THROTTLED, Fault.BROKEN])
def test_a_passing_fault_is_retried(cloud, fault, path):
    cloud.server.fail(fault, times=1, path=path)
    collected = cloud.collect()
    assert (collected.whole, _rates(collected)) == ((EVERYTHING,), _rates(cloud.collect()))


@pytest.mark.parametrize("path", ["/v1/services/6F81", "/v1/services/E000", "machineTypes"])
@pytest.mark.parametrize(
    "fault",
    [Fault.THROTTLED, Fault.BROKEN, Fault.STALLED, Fault.TRUNCATED, Fault.HALF_JSON, Fault.WEB_PAGE],
)
def test_a_lasting_fault_fails_the_source_and_says_where(cloud, fault, path, monkeypatch):
    monkeypatch.setattr(pricing.sources.common.http, "TIMEOUT_SECONDS", (5, 1))
    monkeypatch.setattr("pricing.sources.gcp.source.CALL_SECONDS", 1)
    monkeypatch.setattr("pricing.sources.gcp.source.RETRY_SECONDS", 1)
    cloud.server.fail(fault, path=path)
    with pytest.raises(SourceError) as raised:
        cloud.collect()
    assert ("Compute Engine" if path == "machineTypes" else path) in str(raised.value)
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("fault", [Fault.UNAUTHORIZED, Fault.FORBIDDEN])
def test_a_refused_key_names_the_variable_and_not_the_key(cloud, fault):
    cloud.server.fail(fault, path="/v1/services")
    with pytest.raises(CredentialsMissing, match="COSTCALC_GCP_API_KEY") as raised:
        cloud.collect()
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("fault", [Fault.FORBIDDEN, Fault.MISSING])
def test_a_refusal_of_the_older_tpus_service_alone_is_a_gap(cloud, fault):
    cloud.server.fail(fault, path=TPU)
    collected = cloud.collect()
    assert [gap.reason for gap in collected.gaps if "TPU v2 to v4" in gap.reason and str(fault.value) in gap.reason]
    assert {offer.machine.accelerator for offer in collected.offers} >= {"A100-40GB", "TPU v5p"}


def test_google_itself_is_not_asked_without_a_key(cloud):
    with pytest.raises(CredentialsMissing, match="COSTCALC_GCP_API_KEY"):
        cloud.collect(COSTCALC_GCP_BILLING_URL="", COSTCALC_GCP_API_KEY="")


@pytest.mark.parametrize("fault", [Fault.BROKEN, Fault.TRUNCATED])
def test_the_key_stands_in_no_log(cloud, fault, caplog):
    caplog.set_level(logging.DEBUG)
    cloud.server.fail(fault, path="/v1/services")
    with pytest.raises(SourceError):
        cloud.collect()
    assert "/v1/services/6F81-5844-456A/skus" in caplog.text
    assert KEY not in caplog.text


def test_prices_in_another_currency_only_are_no_prices(cloud):
    for listed in [listed for skus in cloud.fake.skus.values() for listed in skus]:
        listed["pricingInfo"][0]["pricingExpression"]["tieredRates"][0]["unitPrice"]["currencyCode"] = "EUR"
    with pytest.raises(SchemaChanged, match="USD"):
        cloud.collect()


@pytest.mark.parametrize(
    "answer",
    [{"skus": {}}, ["skus"], {"items": []}, {"skus": [{"displayName": "TpuV5e", "price": 1}]}],
)
def test_another_shape_of_answer_is_a_changed_schema(cloud, answer, monkeypatch):
    monkeypatch.setattr(cloud.server, "answer", lambda asked: answer if "services" in asked.path else {})
    with pytest.raises(SchemaChanged):
        cloud.collect()


def test_pages_without_end_are_a_changed_schema(cloud, monkeypatch):
    monkeypatch.setattr(cloud.server, "answer", lambda _: {"skus": [], "nextPageToken": "again"})
    with pytest.raises(SchemaChanged, match="no end"):
        cloud.collect()


def test_googles_library_is_only_imported_when_compute_engine_is_asked():
    code = "import sys, pricing.sources.gcp.source; print([name for name in sys.modules if name.startswith('google.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
