"""What is wrong with machines that one owns is told alike over HTTP and in the terminal, with what to type."""

import pytest
from click.testing import CliRunner
from support.services import packaged_service

from api.cli import answers as terminal
from api.cli.main import main

WRONG = [
    ({"own": "1xRTX4090", "own_price": "-5"}, "own_price", "of at least 0"),
    ({"own": "1xRTX4090", "own_watts": "-300"}, "own_watts", "above 0"),
    ({"own": "1xRTX4090", "own_watts": "0"}, "own_watts", "above 0"),
    ({"own": "1xRTX4090", "own_resale": "25"}, "own_resale", "from 0 to 1"),
    ({"own": "1xRTX4090", "own_years": "0"}, "own_years", "from 1 to 20"),
    ({"own": "1xRTX4090", "electricity": "-0.3"}, "electricity", "from 0 to 1000"),
    ({"own": "1xRTX4090", "pue": "0.9"}, "pue", "from 1 to 10"),
    ({"own": "1xRTX4090", "utilization": "-0.1"}, "utilization", "from 0 to 1"),
    ({"own": "0xRTX4090"}, "own", "1 to "),
    ({"own": "1xRTX9999"}, "own", "unknown accelerator"),
    ({"own_price": "1500"}, "own_price", "own=1xRTX4090"),
    ({"own_years": "2"}, "own_years", "own=1xRTX4090"),
    ({"own_resale": "0.1"}, "own_resale", "own=1xRTX4090"),
    ({"own_watts": "700"}, "own_watts", "own=1xRTX4090"),
    ({"electricity": "0.30"}, "electricity", "own=1xRTX4090"),
    ({"pue": "1.2"}, "pue", "own=1xRTX4090"),
]
wrong = pytest.mark.parametrize(
    ("given", "parameter", "says"),
    WRONG,
    ids=[" ".join(f"{name}={value}" for name, value in one.items()) for one, *_ in WRONG],
)


@pytest.fixture
def run(monkeypatch, tmp_path):
    """The command in process, on the packaged prices and an empty home."""
    monkeypatch.setattr(terminal, "build_once", lambda settings: packaged_service())
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    return lambda *arguments: CliRunner().invoke(main, list(arguments))


@wrong
def test_over_http(client, given, parameter, says):
    response = client.get("/cost", query_string={"model": "resnet50", "target": "0.757", **given})
    assert response.status_code == 400
    (message,) = response.json["errors"][parameter]
    assert says in message


@wrong
def test_in_the_terminal(run, given, parameter, says):
    options = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
    found = run("cost", "resnet50", "0.757", *options)
    assert found.exit_code == 2
    assert f"--{parameter.replace('_', '-')}: " in found.output
    assert says in found.output


def test_a_comparison_names_them_as_one_of_its_sides(client):
    question = {"model": "resnet50", "target": "0.757", "a": "aws:p3.8xlarge", "own_price": "0"}
    response = client.get("/compare", query_string={**question, "b": "aws:p3.2xlarge"})
    assert response.status_code == 400
    assert "a=own:1xRTX4090" in response.json["errors"]["own_price"][0]
    assert client.get("/compare", query_string={**question, "b": "own:1xRTX4090"}).status_code == 200


def test_beside_a_sheet_they_are_what_its_rows_may_name(client):
    sheet = b"model,target,own,purchase\nresnet50,0.757,1xRTX4090,owned\n"
    response = client.post("/plan?own_price=0&format=json", data=sheet, content_type="text/csv")
    assert response.status_code == 200
    assert response.json["rows"][0]["estimate"]["provider"] == "own"


def test_without_other_work_an_own_machine_costs_its_whole_loss_in_value(client):
    """Nought is a share: nothing else uses the machine."""
    question = "/cost?model=resnet50&target=0.757&own=1xRTX4090&own_price=1000&own_years=1&own_resale=0"
    (alone,) = client.get(f"{question}&utilization=0").json["owned"]
    (shared,) = client.get(f"{question}&utilization=1").json["owned"]
    assert alone["estimate"]["effective_cost"] >= 1000 > shared["estimate"]["effective_cost"]
