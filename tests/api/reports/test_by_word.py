"""A training that the question describes itself: so many epochs of a network with a name, a speed or a size."""

import pytest

SPEED = "images_per_second=1100@1xA100-80GB"
RENTED = "purchase=on_demand&limit=100"


def cost(client, query):
    return client.get(f"/cost?{query}&{RENTED}").get_json()


def test_a_speed_is_kept_on_the_machine_that_has_it_and_carried_over_elsewhere(client):
    found = cost(client, f"model=any&epochs=300&{SPEED}")
    assert (found["query"]["metric"], found["query"]["target"]) == ("epochs", 300)
    on_it = [each for each in found["estimates"] if each["accelerator"] == "A100-80GB" and each["accelerators"] == 1]
    assert on_it
    for each in on_it:
        assert each["images_per_second"] == pytest.approx(1100, rel=1e-6)
        assert each["train_hours"] == pytest.approx(300 * 1_281_167 / 1100 / 3600)
        assert each["evidence"]["throughput"] == "measured"
    assert len({each["accelerator"] for each in found["estimates"]}) > 5
    assert {each["success_probability"] for each in found["estimates"]} == {None}
    assert found["picks"]
    assert "It trains for 300 epochs" in " ".join(found["verdict"])


CARDS = ("A100-80GB", "H100")


def test_several_speeds_each_hold_on_their_own_card(client):
    found = cost(
        client, f"model=any&epochs=90&{SPEED}&images_per_second=2500@1xH100&accelerator=H100,A100-80GB&accelerators=1"
    )
    alone = [each for each in found["estimates"] if each["nodes"] == 1]
    rates = {name: max(each["images_per_second"] for each in alone if each["accelerator"] == name) for name in CARDS}
    assert rates == {"A100-80GB": pytest.approx(1100), "H100": pytest.approx(2500)}


def test_a_size_alone_is_as_wide_as_that_is_known(client):
    by_size = cost(client, "model=any&epochs=90&parameters=25.6&gmacs=4.1&accelerator=H100&accelerators=1")[
        "estimates"
    ][0]
    named = cost(client, "model=resnet50&epochs=90&accelerator=H100&accelerators=1")["estimates"][0]
    assert by_size["hours_low"] < named["hours"] < by_size["hours_high"]
    assert by_size["hours_high"] / by_size["hours_low"] > 1.2 * named["hours_high"] / named["hours_low"]


def test_a_network_whose_epochs_nobody_published_takes_those_that_are_named(client):
    nothing = cost(client, "model=hiera_small_224&target=0.8")
    assert nothing["count"] == 0
    assert "epochs=" in " ".join(nothing["verdict"])
    twice, once = (cost(client, f"model=timm/convnext_nano.d1h_in1k&epochs={epochs}") for epochs in (600, 300))
    hours = [
        {(e["instance_type"], e["nodes"]): e["train_hours"] for e in found["estimates"]} for found in (twice, once)
    ]
    both = hours[0].keys() & hours[1].keys()
    assert both
    assert all(hours[0][name] == pytest.approx(2 * hours[1][name]) for name in both)


def test_named_epochs_may_have_a_target(client):
    found = cost(client, "model=resnet50&target=0.76&epochs=40")
    assert {(each["target"], each["metric"], each["epochs"]) for each in found["estimates"]} == {(0.76, "top1", 40)}


def test_own_data_have_their_own_samples(client):
    small, usual = (
        cost(client, f"model=any&epochs=10&{SPEED}{more}&accelerator=A100-80GB&accelerators=1")["estimates"][0]
        for more in ("&samples_per_epoch=50000", "")
    )
    assert small["dataset"] == "own"
    assert usual["train_hours"] / small["train_hours"] == pytest.approx(1_281_167 / 50_000)


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("model=any", {"epochs", "images_per_second"}),
        ("model=any&epochs=3", {"images_per_second"}),
        ("model=any&epochs=3&gmacs=4", {"parameters"}),
        (f"model=any&epochs=3&target=0.7&{SPEED}", {"target"}),
        (f"model=any&epochs=0&{SPEED}", {"epochs"}),
        ("model=any&epochs=3&images_per_second=1100@1xQ900", {"images_per_second"}),
        ("model=resnet50&epochs=3&gmacs=4", {"gmacs"}),
        ("model=resnet50&target=0.7&samples_per_epoch=4", {"samples_per_epoch"}),
        ("model=resnet50&target=0.7&parameters=4", {"parameters"}),
        ("model=nonsense&epochs=4", {"model"}),
    ],
)
def test_what_is_missing_or_too_much_is_named(client, query, wrong):
    answer = client.get(f"/cost?{query}")
    assert answer.status_code in {400, 404}
    assert answer.get_json()["errors"].keys() == wrong


@pytest.mark.parametrize("query", [f"model=any&epochs=300&{SPEED}", "model=resnet50&target=0.76&epochs=40"])
@pytest.mark.parametrize(
    "path", ["/cost.csv", "/cost.xlsx", "/cost.svg", "/", "/estimate", "/commitments", "/launch", "/trend"]
)
def test_every_form_of_answer_has_it(client, path, query):
    more = {"/launch": "&to=skypilot&run=python train.py"}.get(path, "")
    answer = client.get(
        f"{path}?{query}{more}&provider=aws,lambda", headers={"Accept": "text/html,*/*"} if path == "/" else {}
    )
    assert answer.status_code == 200, answer.get_data(as_text=True)[:500]


def test_its_address_asks_the_same(client):
    found = client.get(f"/?model=any&epochs=300&{SPEED}", headers={"Accept": "text/html"}).get_data(as_text=True)
    assert "metric=epochs" not in found


@pytest.mark.parametrize(
    ("images", "epochs", "steps"), [(5_000, 51.2, "500"), (100_000, 51.2, "10,000"), (2_000_000, 5.1, "20,000")]
)
def test_own_images_train_as_long_as_a_published_schedule_says(client, images, epochs, steps):
    found = cost(client, f"model=vit_b16&method=full&samples_per_epoch={images}")
    assert found["query"]["epochs"] == epochs
    assert found["verdict"][0].startswith(
        f"{epochs:g} epochs, {steps} steps of 512 images, are Big Transfer's schedule for so many. "
    )
    stated = cost(client, f"model=vit_b16&epochs={epochs}&samples_per_epoch={images}")
    assert stated["estimates"] == found["estimates"]
    assert {each["success_probability"] for each in found["estimates"]} == {None}


def test_own_images_train_for_the_epochs_that_are_named(client):
    found = cost(client, "model=resnet50&method=full&samples_per_epoch=20000&epochs=10")
    assert found["query"]["epochs"] == 10
    assert "Big Transfer" not in " ".join(found["verdict"])


@pytest.mark.parametrize(
    ("asked", "name", "says"),
    [
        ("method=lora&samples_per_epoch=5000", "method", "lora is for language models"),
        ("method=full", "samples_per_epoch", "how many images have you?"),
        ("method=full&samples_per_epoch=none", "samples_per_epoch", "whole number"),
    ],
)
def test_what_own_images_lack_is_named(client, asked, name, says):
    refused = client.get(f"/cost?model=vit_b16&{asked}")
    assert refused.status_code == 400
    assert says in refused.json["errors"][name][0]


def test_a_sentence_fine_tunes_on_own_images(client):
    reply = client.get("/ask?q=fine-tune convnext tiny on 100,000 images of my own on a 4090").json
    assert reply["understood"] == {
        "method": "full", "model": "convnext_tiny", "accelerator": "RTX 4090", "samples_per_epoch": "100000"
    }  # fmt: skip
    assert reply["answer"]["picks"]
