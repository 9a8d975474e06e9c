"""Prometheus reads `/metrics` of a server that has tokens, with a token of its own that opens nothing else."""

import subprocess
import time
from hashlib import sha256
from pathlib import Path

import pytest
import requests
import yaml
from support.live_server import start_server
from support.services import packaged_service

from api.settings import BadSetting, Settings, read_settings
from api.web.app import create_app
from tools.cluster.cluster import free_ports
from tools.cluster.program import installed

DEPLOY = Path(__file__).parents[2] / "deploy"
TOKEN = "what Prometheus sends"


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture(params=[TOKEN, f"sha256:{sha256(TOKEN.encode()).hexdigest()}"], ids=["as it is", "hashed"])
def client(request):
    settings = Settings(api_tokens=("sesame",), metrics_token=request.param)
    return create_app(packaged_service(), settings).test_client()


def test_its_token_reads_the_metrics_and_nothing_else(client):
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers=bearer("wrong")).status_code == 401
    assert client.get("/metrics", headers=bearer(TOKEN)).status_code == 200
    assert client.get("/metrics", headers=bearer("sesame")).status_code == 200
    for path in ("/models", "/recipes", "/", "/openapi.json"):
        assert client.get(path, headers=bearer(TOKEN)).status_code == 401, path


def test_a_digest_that_is_none_is_refused():
    with pytest.raises(BadSetting, match=r"COSTCALC_METRICS_TOKEN.*64 hexadecimal digits"):
        read_settings({"COSTCALC_METRICS_TOKEN": "sha256:abc"})


def test_prometheus_scrapes_a_server_that_has_tokens(tmp_path):
    server = start_server(tmp_path, COSTCALC_API_TOKENS="sesame", COSTCALC_METRICS_TOKEN=TOKEN, COSTCALC_WORKERS="1")
    try:
        server.wait_until_ready()
        address = scraping(tmp_path, server.url.removeprefix("http://"))
        with subprocess.Popen(
            [
                installed("prometheus", "prometheus"),
                f"--config.file={tmp_path}/prometheus.yaml",
                f"--storage.tsdb.path={tmp_path}/data",
                f"--web.listen-address={address}",
                "--log.level=error",
            ]
        ) as prometheus:
            try:
                assert wait_for_sample(address, 'up{job="costcalc"} == 1')
                assert wait_for_sample(address, "costcalc_store_reachable")
            finally:
                prometheus.terminate()
    finally:
        server.stop()


def scraping(folder, target):
    """Writes the configuration that is deployed, with this target instead of those that a name server knows."""
    config = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yaml").read_text())
    config["global"]["scrape_interval"] = "1s"
    [job] = config["scrape_configs"]
    del job["dns_sd_configs"]
    job["static_configs"] = [{"targets": [target]}]
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
    (folder / "alerts.yaml").write_text((DEPLOY / "prometheus" / "alerts.yaml").read_text())
    (folder / "token.txt").write_text(TOKEN)
    return f"127.0.0.1:{free_ports(1)[0]}"


def wait_for_sample(address, query, seconds=120):
    """What Prometheus answers, as soon as it is not empty."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            answered = requests.get(f"http://{address}/api/v1/query", {"query": query}, timeout=30).json()
            if answered["data"]["result"]:
                return answered["data"]["result"]
        except (requests.RequestException, KeyError):
            pass
        time.sleep(0.2)
    return []
