"""Language models by tokens: `method=` with `tokens=` or `examples=`."""

import pytest
from support.services import packaged_service

from api.web.app import create_app

LORA = "/cost?model=llama-3.1-8b&method=lora&tokens=50M"
PRETRAIN = "/cost?model=any&parameters=1.3B&method=pretrain&tokens=100B"


@pytest.fixture(scope="module")
def client():
    return create_app(packaged_service()).test_client()


def test_lora_is_answered_in_the_words_of_every_training(client):
    answer = client.get(f"{LORA}&accelerator=H100&accelerators=1").json
    first = answer["estimates"][0]
    assert first["recipe"] == "law-lora-plain"
    assert first["recipe_kind"] == "law"
    assert first["target"] is first["metric"] is first["images_per_second"] is first["success_probability"] is None
    assert answer["query"]["target"] is answer["query"]["metric"] is None
    assert first["tokens_per_second"] == pytest.approx(50e6 / first["train_hours"] / 3600)
    assert 4_000 < first["tokens_per_second"] < 12_000
    assert first["hours_low"] < first["hours"] < first["hours_high"]
    assert first["billed_cost_low"] < first["billed_cost"] < first["billed_cost_high"]
    assert "LoRA on 50 million tokens (4,096 a sequence, packed, 16 bits)" in answer["verdict"][0]


def test_pretraining_of_a_described_model(client):
    first = client.get(f"{PRETRAIN}&accelerator=H100&accelerators=8").json["estimates"][0]
    reached = first["tokens_per_second"] * 6 * 1.3e9 / (8 * 989.5e12)
    assert first["recipe"] == "law-pretrain-tuned"
    assert 0.3 < reached < 0.5


@pytest.mark.parametrize(
    "name",
    [
        "meta-llama/Llama-3.1-8B-Instruct",
        "llama 3.1 8b",
        "Llama-3.1-8B",
        "llama3.1-8b",
    ],
)
def test_a_model_has_its_name_with_or_without_its_maker(client, name):
    answer = client.get("/cost", query_string={"model": name, "method": "lora", "tokens": "1M", "limit": 1}).json
    assert answer["query"]["model"] == "llama-3.1-8b"


def test_names_of_tasks_stay_tasks_without_tokens(client):
    assert client.get("/cost?model=llama3.1-8b&limit=1").json["query"]["metric"] == "log_perplexity"
    tokens = client.get("/cost?model=llama2-70b-lora&method=lora&tokens=1M&limit=1").json
    assert tokens["query"]["model"] == "llama-2-70b"


@pytest.mark.parametrize(
    ("asked", "shown", "words"),
    [
        ("", "amp", "16 bits"),
        ("bf16", "bf16", "bf16"),
        ("fp16", "fp16", "fp16"),
        ("fp8", "fp8", "fp8"),
        ("tf32", "tf32", "tf32"),
    ],
)
def test_the_precision_is_the_one_that_is_named_or_any_of_16_bits(client, asked, shown, words):
    answer = client.get(f"{LORA}&precision={asked}&accelerator=H100&limit=1").json
    assert answer["estimates"][0]["precision"] == shown
    assert f"packed, {words})" in answer["verdict"][0]


@pytest.mark.parametrize("precision", ["bf16", "fp8", "tf32"])
def test_a_precision_that_the_accelerator_lacks_is_refused_by_its_name(client, precision):
    refused = client.get(f"{LORA}&precision={precision}&accelerator=T4")
    assert f"T4 cannot compute in {precision}" in refused.json["errors"]["precision"][0]


def test_what_does_not_fit_is_counted_with_what_it_needs(client):
    asked = "/cost?model=llama-3.1-70b&method=full&tokens=50M&accelerator=L4"
    answer = client.get(asked).json
    assert answer["count"] == 0
    assert answer["rejections"]["does_not_fit_memory"] > 100
    assert "GiB" in " ".join(answer["verdict"])
    mine = client.get(f"{asked}&own=1x RTX 4090".replace("&accelerator=L4", "")).json
    assert not mine["owned"]
    assert "Your 1 RTX 4090 has too little memory" in " ".join(mine["verdict"])


@pytest.mark.parametrize(
    ("asked", "name", "says"),
    [
        ("model=llama-3.1-8b&method=lora", "tokens", "how many tokens? Add tokens=50M"),
        ("model=llama-3.1-8b&tokens=50M", "method", "add method=lora"),
        ("model=llama-3.1-8b&method=lora&tokens=5M&examples=9", "examples", "leave one of them out"),
        ("model=llama-3.1-8b&method=lora&tokens=5M&epochs=3", "epochs", "write examples="),
        ("model=llama-3.1-8b&method=lora&tokens=5M&token=50M", "token", "write tokens=50M"),
        ("model=llama-3.1-8b&method=lora&tokens=5M&target=0.7", "target", "leave it out"),
        ("model=llama-3.1-8b&method=lora&tokens=5M&parameters=8B", "parameters", "write model=any"),
        ("model=any&method=lora&tokens=5M", "parameters", "Add parameters=8B"),
        ("model=any&parameters=3B&active=8B&method=lora&tokens=5M", "active", "more than parameters="),
        ("model=lama-3.1-8b&method=lora&tokens=5M", "model", "did you mean llama-3.1-8b"),
        ("model=whisper-large&method=lora&tokens=5M", "model", "a model of speech"),
        ("model=llama-3.1-8b&method=grpo&tokens=5M", "method", "generation"),
        ("model=resnet50&target=0.757&length=512", "length", "add method= and tokens="),
    ],
)
def test_what_is_missing_or_contradicts_is_named(client, asked, name, says):
    refused = client.get(f"/cost?{asked}")
    assert refused.status_code == 400
    assert says in refused.json["errors"][name][0]


@pytest.mark.parametrize("path", ["/", "/cost.csv", "/cost.xlsx", "/cost.png", "/trend", "/estimate", "/commitments"])
@pytest.mark.parametrize("accept", ["*/*", "text/html"])
def test_other_rooms_answer_the_same(client, path, accept):
    asked = LORA.replace("/cost", path) if path != "/commitments" else f"{LORA}&runs_per_month=9".replace("/cost", path)
    assert client.get(asked, headers={"Accept": accept}).status_code in (200, 303 if path.startswith("/cost") else 200)


def test_two_machines_are_compared_on_a_page_too(client):
    page = client.get(LORA.replace("/cost?", "/compare?a=H100&b=A100-80GB&"), headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert "tokens/s" in page.get_data(as_text=True)


def test_links_ask_the_same(client):
    first = client.get(f"{LORA}&provider=lambda").json
    assert first["hints"] == [] or all("method=lora" in hint["query_string"] for hint in first["hints"])
    csv = client.get("/cost.csv?model=mistral-7b&method=qlora&examples=10k&length=512&epochs=3&limit=1")
    assert 'rel="next"' in csv.headers["Link"]
    again = client.get(csv.headers["Link"].partition(">")[0].removeprefix("<").replace("http://localhost", ""))
    assert again.status_code == 200


def test_packed_examples_take_less(client):
    asked = "/cost?model=llama-3.2-1b&method=lora&examples=10000&length=128&accelerator=H100&accelerators=1&limit=1"
    padded, packed = (client.get(f"{asked}{more}").json["estimates"][0]["hours"] for more in ("", "&packed=true"))
    assert packed < padded


@pytest.mark.parametrize(
    ("sentence", "understood"),
    [
        (
            "how much to fine-tune llama 3.1 8b with lora on 50M tokens",
            {"model": "llama-3.1-8b", "method": "lora", "tokens": "50000000"},
        ),
        (
            "pretrain a 1.3B model on 100B tokens on 8 H100",
            {
                **{"model": "any", "parameters": "1300", "method": "pretrain", "tokens": "100000000000"},
                **{"accelerator": "H100", "accelerators": "8"},
            },
        ),
        (
            "finetune mistral 7b on 10k examples of 512 tokens, 3 epochs",
            {"model": "mistral-7b", "examples": "10000", "length": "512", "epochs": "3"},
        ),
        (
            "LoRA on meta-llama/Llama-3.1-8B-Instruct, 5,000 conversations of 2048 tokens each, under $20",
            {"model": "llama-3.1-8b", "method": "lora", "examples": "5000", "length": "2048", "max_cost": "20"},
        ),
        (
            "train a 7B LLM from scratch on 2T tokens, how long on 256 H100?",
            {
                **{"model": "any", "parameters": "7000", "method": "pretrain", "tokens": "2e+12"},
                **{"accelerator": "H100", "accelerators": "256"},
            },
        ),
        ("llama2-70b-lora on 8 h100", {"model": "llama2-70b-lora", "accelerator": "H100", "accelerators": "8"}),
    ],
)
def test_a_sentence_says_so_too(client, sentence, understood):
    reply = client.get("/ask", query_string={"q": sentence}).json
    assert reply["understood"] == understood
    assert reply["answer"]["estimates"]


@pytest.mark.parametrize(
    "asked",
    [
        "/cost?model=any&parameters=7B&tokens=15T&limit=1",
        "/cost?model=llama-3.1-8b&tokens=200B&limit=1",
        "/cost?model=gpt2&tokens=10B&limit=1",
        "/ask?q=train a 7B model on 15T tokens",
        "/ask?q=GPU hours to train OLMo 7B on 2.5T tokens",
    ],
)
def test_more_tokens_than_anybody_fine_tunes_on_are_pretraining_and_it_says_so(client, asked):
    reply = client.get(asked).json
    answer = reply.get("answer") or reply
    assert answer["query"]["method"] == "pretrain"
    assert "No method named: so many tokens are pretraining" in " ".join(answer["verdict"])


def test_a_named_method_holds_for_any_number_of_tokens(client):
    named = client.get("/cost?model=llama-3.1-8b&tokens=200B&method=full&limit=1").json
    assert named["query"]["method"] == "full"
    assert "No method named" not in " ".join(named["verdict"])


def test_fine_tuning_alone_counts_as_lora_and_says_so(client):
    reply = client.get("/ask?q=finetune mistral 7b on 1M tokens").json
    assert "method=full trains all weights" in reply["asked"][0]
    assert reply["answer"]["query"]["method"] == "lora"


@pytest.mark.parametrize(
    ("sentence", "says"),
    [
        ("grpo on qwen2.5 7b", "generation"),
        ("train mistral 7b lora on a 4090", "How many tokens?"),
        ("train llama 3.1 8b on my data", "How? Write LoRA"),
        ("train llama 3.1 8b on our documents", "How many tokens?"),
        ("train a 7B model on 50M tokens", "add method=lora"),
        ("llama 3.1 8b by lora or full on 20M tokens", "lora or full? Ask for one of them at a time"),
        ("full and LoRA fine-tuning of mistral 7b on 20M tokens", "Ask for one of them at a time"),
        ("what did MiniCPM cost", "ask what it cost with model=paper:minicpm"),
        ("ViT-B/16 takes 36 min per epoch on a 4090", "the time of an epoch limits no training"),
        ("LoRA of Wan 2.1 on my 4090", "a video network"),
        ("train a 1B speech model on 100B tokens", "a speech network"),
        ("train a 3B diffusion transformer on 1T tokens", "an image generator"),
        ("fine-tune a 7B multimodal model on 50M tokens", "a network of images and text"),
        ("lora of llama 3.1 8b on 5M tokens against bert-large", "one network at a time"),
        ("a new language for Orpheus TTS on 7k hours", "a speech network"),
    ],
)
def test_what_is_not_answered_is_asked_or_refused(client, sentence, says):
    reply = client.get("/ask", query_string={"q": sentence}).json
    assert says in " ".join(reply["asked"])
    assert not reply["answer"]


def test_a_step_of_fewer_sequences_than_accelerators_runs_on_fewer(client):
    asked = "/cost?model=llama-3.1-8b&method=lora&tokens=1M&batch=4&accelerator=H100"
    assert client.get(f"{asked}&accelerators=8").json["rejections"]["batch_too_small"]
    assert client.get(f"{asked}&accelerators=4").json["count"]


def test_machines_of_a_sentence_by_tokens_are_compared(client):
    reply = client.get("/ask?q=llama 3.1 8b lora 50M tokens on 8 h100 or 4 a100").json
    assert "8 H100: $" in reply["asked"][0]
    assert "4 A100: $" in reply["asked"][0]
    assert {reply["answer"]["query"]["accelerators"]} <= {4, 8}
