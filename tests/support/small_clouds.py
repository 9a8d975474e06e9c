"""The smaller price sources behind one local server: what each answers to which request, from its recordings."""

import io
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pytest_httpserver import HTTPServer

from pricing.sources import SOURCES
from pricing.sources.common.http import Http
from pricing.sources.source import Collected

RECORDINGS = Path(__file__).parents[1] / "recordings"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
SECRET = "a-key-that-nobody-may-see"


@dataclass(frozen=True)
class Answer:
    method: str
    path: str
    body: bytes
    content_type: str = "application/json"


@dataclass(frozen=True)
class SmallCloud:
    """A source, what it is answered, and the environment that points it to a server."""

    name: str
    answers: tuple[Answer, ...]
    environment: Callable[[str], Mapping[str, str]]

    @property
    def priced(self) -> Answer:
        """The answer with the prices: the last one asked for."""
        return self.answers[-1]

    def serve(self, server: HTTPServer) -> None:
        for answer in self.answers:
            request = server.expect_request(answer.path, method=answer.method)
            request.respond_with_data(answer.body, content_type=answer.content_type)

    def collect(self, url: str, **changes: str) -> Collected:
        http = Http(retries=1, backoff_seconds=0)
        try:
            return SOURCES[self.name].build({**self.environment(url), **changes}, http).collect(NOW)
        finally:
            http.close()


def recorded(name: str) -> bytes:
    return (RECORDINGS / name).read_bytes()


def zipped(provider: str) -> bytes:
    """A catalogue file as gpuhunt publishes it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{provider}.csv", recorded(f"gpuhunt/{provider}.csv"))
    return packed.getvalue()


def _at(variable: str, **more: str) -> Callable[[str], Mapping[str, str]]:
    return lambda url: {variable: url, **more}


def _get(path: str, recording: str, content_type: str = "application/json") -> Answer:
    return Answer("GET", path, recorded(recording), content_type)


GPUHUNT_VERSION = "20261119-7"
SKYPILOT = "/skypilot-org/skypilot-catalog/master/catalogs/v8"
CLOUDS = {
    cloud.name: cloud
    for cloud in (
        SmallCloud(
            "lambda",
            (_get("/api/v1/instance-types", "lambda/instance_types.json"),),
            _at("COSTCALC_LAMBDA_URL", COSTCALC_LAMBDA_API_KEY=SECRET),
        ),
        SmallCloud(
            "runpod",
            (Answer("POST", "/graphql", recorded("runpod/gpu_types.json")),),
            _at("COSTCALC_RUNPOD_URL", COSTCALC_RUNPOD_API_KEY=SECRET),
        ),
        SmallCloud(
            "vast",
            (Answer("POST", "/api/v0/bundles/", recorded("vast/bundles.json")),),
            _at("COSTCALC_VAST_URL", COSTCALC_VAST_API_KEY=SECRET),
        ),
        SmallCloud("oci", (_get("/pls/apex/cetools/api/v1/products/", "oci/products.json"),), _at("COSTCALC_OCI_URL")),
        SmallCloud(
            "digitalocean",
            (_get("/v2/sizes", "digitalocean/sizes.json"),),
            _at("COSTCALC_DIGITALOCEAN_URL", COSTCALC_DIGITALOCEAN_TOKEN=SECRET),
        ),
        SmallCloud(
            "vultr",
            (_get("/v2/plans-metal", "vultr/plans_metal.json"), _get("/v2/plans", "vultr/plans.json")),
            _at("COSTCALC_VULTR_URL"),
        ),
        SmallCloud(
            "hetzner",
            (_get("/order/server/available_configurations", "hetzner/available_configurations.json"),),
            _at("COSTCALC_HETZNER_URL"),
        ),
        SmallCloud(
            "cirrascale",
            (_get("/pricing", "cirrascale/pricing.html", "text/html"),),
            _at("COSTCALC_CIRRASCALE_URL"),
        ),
        SmallCloud(
            "verda",
            (
                Answer("POST", "/v1/oauth2/token", b'{"access_token": "t0ken", "expires_in": 3600}'),
                _get("/v1/instance-types", "verda/instance_types.json"),
            ),
            _at("COSTCALC_VERDA_URL", COSTCALC_VERDA_CLIENT_ID="an-id", COSTCALC_VERDA_CLIENT_SECRET=SECRET),
        ),
        SmallCloud(
            "gpuhunt",
            (
                Answer("GET", "/v3/aws/version", GPUHUNT_VERSION.encode(), "text/plain"),
                Answer("GET", f"/v3/aws/{GPUHUNT_VERSION}/catalog.zip", zipped("aws"), "application/zip"),
            ),
            _at("COSTCALC_GPUHUNT_URL", COSTCALC_GPUHUNT_PROVIDERS="aws"),
        ),
        SmallCloud(
            "skypilot",
            (_get(f"{SKYPILOT}/gcp/vms.csv", "skypilot/gcp.csv", "text/plain"),),
            _at("COSTCALC_SKYPILOT_URL", COSTCALC_SKYPILOT_CLOUDS="gcp"),
        ),
        SmallCloud(
            "sheet",
            (_get("/finance/rates.csv", "sheet/rates.csv", "text/csv"),),
            lambda url: {"COSTCALC_SHEET": f"{url}/finance/rates.csv"},
        ),
    )
}
