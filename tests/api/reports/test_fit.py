"""`/fit`: the largest batch of networks on accelerators."""

import pytest


def ask(client, tail):
    return client.get(f"/fit?{tail}")


def test_a_network_on_a_card(client):
    found = ask(client, "model=ResNet-50&accelerator=RTX2080Ti").get_json()
    (one,) = found["fits"]
    assert (one["model"], one["accelerator"], one["precision"], one["image_size"]) == (
        "resnet50",
        "RTX 2080 Ti",
        "16bit",
        224,
    )
    assert one["fits"]
    assert one["largest_batch_low"] < one["largest_batch"] < one["largest_batch_high"]
    assert (one["evidence"], found["nearest"]) == ("modelled", None)
    half = ask(client, "model=ResNet-50&accelerator=RTX2080Ti&precision=32bit").get_json()["fits"][0]
    assert half["largest_batch"] == pytest.approx(one["largest_batch"] / 2, abs=1)


def test_what_does_not_fit_names_the_nearest_that_does(client):
    found = ask(client, "model=pix2pix hd&accelerator=RTX 2060&as_of=2020-02-20").get_json()
    assert found["fits"][0]["largest_batch"] == 0
    assert (found["nearest"]["memory_gib"], found["nearest"]["fits"]) == (24, True)


def test_without_a_card_every_one_and_without_a_network_every_one(client):
    cards = ask(client, "model=deeplab_v3&as_of=2020-02-20").get_json()
    assert cards["count"] > 30
    every = ask(client, "accelerator=H100-SXM&limit=5")
    assert (every.get_json()["count"] > 150, len(every.get_json()["fits"])) == (True, 5)
    lines = client.get("/fit.csv?model=resnet50&accelerator=RTX 3090").text.splitlines()
    assert lines[0].startswith("model,accelerator,memory_gib,precision,image_size,fits,largest_batch,")


@pytest.mark.parametrize(
    ("tail", "status", "name", "told"),
    [
        ("model=resnet51", 404, "model", "resnet50"),
        ("model=resnet50&accelerator=RTX 4091", 400, "accelerator", "did you mean RTX 4090"),
        ("model=resnet50&image_size=0", 400, "image_size", "must be a whole number from 1"),
        ("model=resnet50&precision=8", 400, "precision", "write 16bit or 32bit"),
    ],
)
def test_what_is_wrong_is_told_with_what_to_type(client, tail, status, name, told):
    response = ask(client, tail)
    assert response.status_code == status
    assert told in response.get_json()["errors"][name][0]
