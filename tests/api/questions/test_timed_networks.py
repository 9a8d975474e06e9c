"""Networks that were timed on images, on so many epochs of one's own: their speed is known, and no accuracy."""

import pytest
from support.services import packaged_service

from api.web.app import create_app
from costcalc.evidence.timed_networks import find_timed_network, timed_networks

ASKED = "/cost?model=retinanet-r50&samples_per_epoch=5000&epochs=12"
HOME = "&accelerator=V100&accelerators=8&nodes=1&overheads=none"


@pytest.fixture(scope="module")
def client():
    return create_app(packaged_service()).test_client()


def test_hours_where_it_was_timed_by_hand(client):
    """60,000 images, 16 of them in 0.205 s."""
    answer = client.get(f"{ASKED}{HOME}&accelerator=V100").json
    [first] = [each for each in answer["estimates"] if each["accelerator"] == "V100"][:1]
    assert first["hours"] == pytest.approx(60_000 / 16 * 0.205 / 3600)
    assert first["hours_high"] / first["hours"] == pytest.approx(1.13, abs=0.01)  # another run, on other images
    assert (first["model"], first["recipe"], first["metric"], first["precision"]) == (
        "retinanet-r50",
        "your-epochs",
        "epochs",
        "fp32",
    )
    assert "RetinaNet R50 of detectron2 trains 78 images a second on 8 V100 (https://" in answer["verdict"][0]
    assert "what they reach is not estimated" in " ".join(answer["verdict"])


def test_elsewhere_the_range_is_that_between_chips(client):
    first = client.get(f"{ASKED}&accelerator=H100&accelerators=1&limit=1").json["estimates"][0]
    assert first["hours_high"] / first["hours"] > 1.2
    assert "Carried over from the 8 V100 that Facebook stated" in first["evidence_notes"]["throughput"]


@pytest.mark.parametrize(
    ("asked", "name", "says"),
    [
        (ASKED.replace("&epochs=12", ""), "epochs", "how many epochs?"),
        (ASKED.replace("&samples_per_epoch=5000", ""), "samples_per_epoch", "how many images have you?"),
        (f"{ASKED}&target=0.4", "target", "no accuracy: leave it out"),
        (f"{ASKED}&metric=box_map", "metric", "no accuracy: leave it out"),
        (f"{ASKED}&precision=amp", "precision", "in fp32"),
        (f"{ASKED}&tokens=5M", "tokens", "leave it out"),
        (f"{ASKED}&took=3h", "took", "leave it out"),
        (f"{ASKED}&method=lora", "method", "lora is for language models"),
        (ASKED.replace("5000", "-3"), "samples_per_epoch", "1"),
    ],
)
def test_what_is_missing_or_unknown_is_named(client, asked, name, says):
    refused = client.get(asked)
    assert refused.status_code == 400
    assert says in refused.json["errors"][name][0]


def test_a_task_of_that_name_stays_a_task_without_images_of_ones_own(client):
    assert client.get("/cost?model=mask-rcnn&limit=1").json["query"]["metric"] == "box_map"
    asked = "/cost?model=mask-rcnn&samples_per_epoch=5000&epochs=20&limit=1"
    assert client.get(asked).json["query"]["model"] == "mask-rcnn-r50-fpn"


@pytest.mark.parametrize(
    "sentence",
    [
        "train mask r-cnn on 5000 of my images for 20 epochs on a 4090",
        "faster rcnn on 20k of our images, 12 epochs, under $50",
        "train panoptic fpn on 10k images 12 epochs",
    ],
)
def test_a_sentence_says_so_too(client, sentence):
    reply = client.get("/ask", query_string={"q": sentence}).json
    assert "of detectron2 trains" in reply["answer"]["verdict"][0]
    again = client.get(reply["link"]).json
    assert again["picks"] == reply["answer"]["picks"]


def test_other_rooms_answer_and_links_ask_the_same(client):
    csv = client.get(f"{ASKED.replace('/cost', '/cost.csv')}&limit=1")
    assert csv.status_code == 200
    page = client.get(ASKED.replace("/cost", "/"), headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert "retinanet-r50" in page.get_data(as_text=True)
    hints = client.get(f"{ASKED}&max_cost=0.001").json["hints"]
    assert hints
    assert all("epochs=12" in hint["query_string"] for hint in hints)


def test_an_adapter_of_an_image_generator_fits_what_it_was_measured_to_need(client):
    """LoRA of FLUX.2 klein: 750 steps of 2 in 759.2 s on one L40S, 9.97 GiB."""
    asked = "/cost?model=flux2-klein-lora&samples_per_epoch=20&epochs=75&overheads=none"
    answer = client.get(f"{asked}&accelerator=L40S&accelerators=1&limit=1").json
    assert answer["estimates"][0]["hours"] == pytest.approx(759.2 / 3600, rel=1e-3)
    assert "it needs 10.5 GiB" in answer["verdict"][0]
    mine = client.get(f"{asked}&own=1x RTX 3080&own_price=0").json
    assert not mine["owned"]
    assert mine["rejections"]["does_not_fit_memory"]
    assert client.get(f"{asked}&method=lora&limit=1").status_code == 200


def test_every_network_is_found_by_each_of_its_names():
    for each in timed_networks().values():
        for word in each.words:
            assert find_timed_network(word.replace("-", " ")) is each
        assert 0.1 < each.images_per_second < 130
