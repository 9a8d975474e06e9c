"""What is deployed is read by the programs that will read it: nginx, promtool, and Kubernetes' own schemas."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from importlib import import_module
from importlib.metadata import distributions
from pathlib import Path

import pytest
import yaml

from api.settings import SETTINGS
from api.web import health
from api.web.serving import refreshing, server
from tools.cluster.program import installed

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = sorted(DEPLOY.glob("kubernetes/[!k]*.yaml"))
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
BY_DIGEST = re.compile(r"[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}")
ALERTS = DEPLOY / "prometheus" / "alerts.yaml"


@pytest.mark.parametrize("file", KUBERNETES, ids=lambda file: file.name)
def test_kubernetes_knows_every_field(file):
    import kubernetes_validate  # which takes seconds

    for document in yaml.safe_load_all(file.read_text()):
        kubernetes_validate.validate(document, "1.31", strict=True)


def test_every_manifest_is_applied():
    listed = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())["resources"]
    assert sorted(listed) == [file.name for file in KUBERNETES]


def test_only_the_named_namespaces_reach_a_server():
    policy = yaml.safe_load((DEPLOY / "kubernetes" / "network.yaml").read_text())["spec"]
    assert "Ingress" in policy["policyTypes"]
    [rule] = policy["ingress"]
    [peer] = rule["from"]
    [chosen] = peer["namespaceSelector"]["matchExpressions"]
    assert (chosen["key"], chosen["operator"]) == ("kubernetes.io/metadata.name", "In")


def test_a_count_of_proxies_is_trusted_not_a_network_with_clients_in_it():
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["x-costcalc"]["environment"]
    [pod, *_] = yaml.safe_load_all((DEPLOY / "kubernetes" / "web.yaml").read_text())
    kubernetes = {each["name"]: each.get("value") for each in pod["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert compose["COSTCALC_TRUSTED_PROXIES"] == kubernetes["COSTCALC_TRUSTED_PROXIES"] == "1"


def test_every_service_of_compose_is_hardened_and_asks_for_its_password():
    compose = (DEPLOY / "compose.yaml").read_text()
    for name, service in yaml.safe_load(compose)["services"].items():
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"]), name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert set(service.get("cap_add", ())) <= {"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"}, name
    assert "--requirepass" in compose
    assert "redis://:${REDIS_PASSWORD" in compose


def test_the_image_is_named_by_the_version():
    [image] = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())["images"]
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert (image["newTag"], compose["x-costcalc"]["image"]) == (VERSION, f"costcalc:{VERSION}")


def test_a_server_may_take_its_time_to_stop():
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["web"]["stop_grace_period"]
    unit = ConfigParser(strict=False, interpolation=None)
    unit.read(DEPLOY / "systemd" / "costcalc.service")
    pod = next(yaml.safe_load_all((DEPLOY / "kubernetes" / "web.yaml").read_text()))["spec"]["template"]["spec"]
    before = pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1]
    kubernetes = pod.get("terminationGracePeriodSeconds", 30) - int(before)
    longest = server.STOP_SECONDS + refreshing.STOP_SECONDS
    assert min(int(compose.removesuffix("s")), int(unit["Service"]["TimeoutStopSec"]), kubernetes) > longest


def test_what_others_built_is_named_by_its_digest():
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"].values()
    theirs = [service["image"] for service in services if "build" not in service]
    stages = re.findall(r"^FROM (\S+)", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    assert (len(theirs), len(stages)) == (3, 2)
    assert all(map(BY_DIGEST.fullmatch, [*theirs, *stages]))
    assert len(set(stages)) == 1


def test_the_monitor_of_the_operator_finds_the_servers_and_its_token():
    monitor = yaml.safe_load((DEPLOY / "kubernetes" / "prometheus-operator" / "pod-monitor.yaml").read_text())
    deployment, *_ = yaml.safe_load_all((DEPLOY / "kubernetes" / "web.yaml").read_text())
    pod = deployment["spec"]["template"]
    [container] = pod["spec"]["containers"]
    [endpoint] = monitor["spec"]["podMetricsEndpoints"]
    labels = pod["metadata"]["labels"]
    assert monitor["spec"]["selector"]["matchLabels"] == labels
    assert endpoint["port"] in [port["name"] for port in container["ports"]]
    assert labels[monitor["spec"]["jobLabel"]] == "costcalc", "the job that the alerts look for"
    credentials = endpoint["authorization"]["credentials"]
    assert credentials["name"] in [source["secretRef"]["name"] for source in container["envFrom"]]
    assert credentials["key"] in {setting.variable for setting in SETTINGS}


def test_containers_run_as_nobody_on_a_file_system_they_cannot_write():
    documents = [document for file in KUBERNETES for document in yaml.safe_load_all(file.read_text())]
    text = [str(document) for document in documents if document["kind"] == "Deployment"]
    assert len(text) == 1
    assert all("'readOnlyRootFilesystem': True" in each and "'runAsNonRoot': True" in each for each in text)


def test_nginx_takes_its_configuration(tmp_path):
    own = (DEPLOY / "nginx.conf").read_text().replace("web:8000", "127.0.0.1:8000").replace("/tmp/", f"{tmp_path}/")
    (tmp_path / "nginx.conf").write_text(own)
    command = [installed("nginx", "nginx-light"), "-t", "-c", str(tmp_path / "nginx.conf")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_promtool_takes_the_alerts():
    command = [installed("promtool", "prometheus"), "check", "rules", ALERTS]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_each_alert_fires_when_it_should_and_only_then():
    cases = Path(__file__).with_name("alerts.yaml")
    ended = subprocess.run(
        [installed("promtool", "prometheus"), "test", "rules", cases], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    tests = yaml.safe_load(cases.read_text())["tests"]
    fired = {case["alertname"] for test in tests for case in test.get("alert_rule_test", ()) if case["exp_alerts"]}
    assert fired == {rule["alert"] for rule in yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]}


def test_promtool_takes_the_scraping(tmp_path):
    for file in (ALERTS, DEPLOY / "prometheus" / "prometheus.yaml"):
        shutil.copy(file, tmp_path)
    (tmp_path / "token.txt").write_text("a token")
    command = [installed("promtool", "prometheus"), "check", "config", tmp_path / "prometheus.yaml"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def expressions():
    """What the alerts ask Prometheus for."""
    return [rule["expr"] for rule in yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]]


def test_alerts_ask_for_metrics_that_there_are():
    asked = {name for expression in expressions() for name in re.findall(r"costcalc_\w+", expression)}
    import_module("api.web.app")  # and with it whatever counts
    known = {sample.name for metric in health.REGISTRY.collect() for sample in metric.samples}
    named = {metric.name for metric in health.REGISTRY.collect()}
    endings = {f"{name}{ending}" for name in named for ending in ("", "_total", "_bucket")}
    assert len(asked) > 5
    assert asked <= known | endings


def test_each_alert_has_its_paragraph():
    titles = re.findall(r"^### (\w+)$", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE)
    rules = yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]
    assert sorted(rule["alert"] for rule in rules) == sorted(titles)
    assert all(rule["annotations"]["runbook"] == f"docs/operations.md#{rule['alert'].lower()}" for rule in rules)


@pytest.mark.parametrize("file", ["compose.yaml", "Dockerfile", "kubernetes/web.yaml", "systemd/costcalc.service"])
def test_only_settings_that_there_are_are_set(file):
    known = {setting.variable for setting in SETTINGS}
    assert set(re.findall(r"COSTCALC_[A-Z_]+", (DEPLOY / file).read_text())) <= known


def test_units_name_what_is_installed():
    for file in DEPLOY.glob("systemd/*.service"):
        unit = ConfigParser(strict=False, interpolation=None)
        unit.optionxform = str
        unit.read(file)
        assert unit["Service"]["ExecStart"].startswith("/opt/costcalc/bin/costcalc ")
        assert unit["Service"]["ProtectSystem"] == "strict"


def test_the_image_gets_every_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = {name.removesuffix("*") for name in project["tool"]["setuptools"]["packages"]["find"]["include"]}
    sent = {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines()}
    assert packages <= sent


@pytest.mark.parametrize("file", ["requirements.txt", "signing.txt"])
def test_the_image_and_what_signs_get_every_dependency_by_its_hash(file):
    project = (ROOT / "pyproject.toml").read_text()
    wanted = re.findall(
        r'^    "([A-Za-z0-9-]+)', project.partition("dependencies = [")[2].partition("]\n")[0], re.MULTILINE
    )
    pinned = (DEPLOY / file).read_text()
    assert len(wanted) > 10
    for name in wanted:
        assert re.search(rf"^{name}(\[\w+\])?==\S+ \\\n    --hash=sha256:", pinned, re.MULTILINE | re.IGNORECASE), name


def make(*arguments):
    """`make` without setting anything up."""
    command = ["make", "--silent", "--old-file", "setup", f"BIN={Path(sys.executable).parent}", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)


@pytest.mark.nightly
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the image has Python 3.11")
def test_the_tests_run_the_versions_of_the_image():
    pinned = re.findall(r"^([\w.-]+)==(\S+)", (DEPLOY / "requirements.txt").read_text(), re.MULTILINE)
    installed = {each.name.lower().replace("_", "-"): each.version for each in distributions()}
    assert {name: version for name, version in pinned if installed[name] != version} == {}


@pytest.mark.nightly
def test_the_bill_of_materials_has_every_package_of_the_image(tmp_path):
    ended = make("sbom", f"SBOM={tmp_path}/sbom.json")
    assert ended.returncode == 0, ended.stderr
    bill = json.loads((tmp_path / "sbom.json").read_text())
    pinned = re.findall(r"^([\w.-]+)(?:\[.*\])?==(\S+)", (DEPLOY / "requirements.txt").read_text(), re.MULTILINE)
    assert (bill["bomFormat"], bill["metadata"]["component"]["version"]) == ("CycloneDX", VERSION)
    assert {part["purl"] for part in bill["components"]} == {f"pkg:pypi/{name}@{version}" for name, version in pinned}


def test_the_check_says_in_words_when_nothing_can_be_audited():
    ended = make("audit", "ADVISORIES=http://127.0.0.1:9/")
    assert (ended.returncode, ended.stdout.partition(":")[0]) == (0, "not audited"), ended.stderr
    assert "audit" in re.search(r"^check:.*?\n\n", (ROOT / "Makefile").read_text(), re.MULTILINE | re.DOTALL)[0]
