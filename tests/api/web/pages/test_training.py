"""`/train/<model>`: a page for each language model, of the same figures as `/cost`."""

import pytest
from support.services import packaged_service

from api.web.app import create_app


@pytest.fixture(scope="module")
def client():
    return create_app(packaged_service()).test_client()


def test_a_page_says_what_each_method_costs_on_each_card(client):
    page = client.get("/train/llama-3.1-8b")
    text = page.get_data(as_text=True)
    assert page.status_code == 200
    assert "What does it cost to fine-tune llama-3.1-8b?" in text
    for word in (
        "pretraining",
        "full fine-tuning",
        "LoRA",
        "QLoRA",
        "H100",
        "L40S",
        "together",
        "at prices of 2026-11-20",
    ):
        assert word in text
    card = text.partition('class="card"')[2].partition("</section>")[0]
    assert "Rent 1 " in card.partition("<h2>")[2].partition("</h2>")[0]
    assert "Next: " not in card
    least = client.get(
        "/cost?model=llama-3.1-8b&method=lora&tokens=50M&rates=confirmed&purchase=on_demand&limit=1"
    ).json
    assert f"costs ${min(each['billed_cost'] for each in least['estimates']):,.2f}" in text


@pytest.mark.parametrize("name", ["meta-llama/Llama-3.1-8B".replace("/", "%2F"), "gpt2", "llama-3.1-405b"])
def test_every_size_and_spelling_has_its_page(client, name):
    assert client.get(f"/train/{name}").status_code in (200, 404 if "%2F" in name else 200)


def test_another_name_is_told_the_nearest_and_the_list_leads_to_all(client):
    missing = client.get("/train/lama-3.1-8b")
    assert missing.status_code == 404
    assert "llama-3.1-8b" in missing.get_data(as_text=True)
    index = client.get("/train").get_data(as_text=True)
    assert index.count('href="/train/') > 150
    assert 'href="/train"' in client.get("/tasks", headers={"Accept": "text/html"}).get_data(as_text=True)
