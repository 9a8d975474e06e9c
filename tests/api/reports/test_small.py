"""`/small`: networks given by their layers, with the figures of `costcalc small`."""

import pytest
from click.testing import CliRunner

from api.cli.main import main
from costcalc.units import in_words


def test_the_figures_are_those_of_the_terminal(client, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    found = client.get("/small?model=mlp:784-100-10&batch_size=1024&hourly_rate=0.2").json
    shown = CliRunner().invoke(main, ["small", "mlp:784-100-10", "--batch-size", "1024", "--hourly-rate", "0.2"]).stdout
    assert (found["steps"], found["hourly_rate"]) == (590, 0.2)
    assert shown.split()[: len(found["verdict"][0].split())] == found["verdict"][0].split()
    for each in found["devices"]:
        (line,) = [line for line in shown.splitlines() if line.startswith(f"{each['device']} ")]
        assert in_words(each["train_seconds"] / 3600) in line
        assert f"{each['worth_up_to_hourly']:,.3g}" in line


def test_samples_batch_and_epochs_count(client):
    one, more = (
        client.get(f"/small?model=mlp:784-512-512-10&{tail}").json for tail in ("epochs=1", "epochs=3&samples=120000")
    )
    assert more["steps"] == pytest.approx(6 * one["steps"], rel=0.01)
    seconds = [found["devices"][0]["train_seconds"] for found in (one, more)]
    assert seconds[1] == pytest.approx(6 * seconds[0], rel=0.01)
    home = next(each for each in one["devices"] if each["device"] == one["reference"])
    assert (home["turns_at"], home["worth_up_to_hourly"]) == (None, pytest.approx(one["hourly_rate"]))
    assert home["train_seconds_low"] < home["train_seconds"] < home["train_seconds_high"]


@pytest.mark.parametrize(
    ("query", "parameter", "says"),
    [
        ("", "model", "missing: add model=mlp:784-512-512-10"),
        ("model=mlp:784-many-10", "model", "layers must be whole numbers with - between them"),
        ("model=mlp:784", "model", "mlp:784-512-512-10 for dense layers"),
        ("model=cnn:28x28-32-10", "model", "cnn:28x28x1-32-64-10"),
        ("model=mlp:784-0-10", "model", "at most 100 layers, each of 1 to 10,000,000 units"),
        ("model=mlp:784-100-10&batch_size=0", "batch_size", "of at least 1"),
        ("model=mlp:784-100-10&samples=-5", "samples", "of at least 1"),
        ("model=mlp:784-100-10&epochs=1.5", "epochs", "whole number"),
        ("model=mlp:784-100-10&hourly_rate=0", "hourly_rate", "above 0"),
        ("model=mlp:784-100-10&hourly_rate=-1", "hourly_rate", "above 0"),
    ],
)
def test_bad_input_is_told_with_what_to_type(client, query, parameter, says):
    response = client.get(f"/small?{query}")
    assert response.status_code == 400
    (message,) = response.json["errors"][parameter]
    assert says in message


@pytest.mark.parametrize("path", ["/cost", "/accuracy", "/compare", "/fit"])
def test_other_paths_say_who_answers_layers(client, path):
    tail = {
        "/compare": "target=0.9&a=aws:p3.8xlarge&b=aws:p3.2xlarge",
        "/accuracy": "budget=5",
        "/cost": "target=0.9",
    }.get(path, "")
    response = client.get(f"{path}?model=mlp:784-512-512-10&{tail}")
    assert response.status_code == 404
    assert response.json["errors"]["model"] == [
        '"mlp:784-512-512-10" describes a network by its layers: ask /small?model=, in the terminal `costcalc small`'
    ]


@pytest.mark.parametrize("path", ["/cost?target=0.9&model=", "/fit?model="])
def test_other_paths_say_what_is_wrong_with_layers(client, path):
    response = client.get(f"{path}mlp:784-many-10")
    assert response.status_code == 404
    assert response.json["errors"]["model"][0].startswith("layers must be whole numbers with - between them: mlp:784-")
