"""Bills by tokens worked by hand: rented machines to the cent, and what APIs charge."""

import math
import subprocess
from decimal import Decimal

import pytest
import yaml
from support.services import packaged_service

from api.web.app import create_app

H100, A100, A10G = 989.5e12, 312e12, 70e12
CAUSAL = 4096  # tokens of a sequence, unless a bill says otherwise


def dense(parameters, layers, hidden, share, length=CAUSAL):
    """Tokens a second of one accelerator that computes `share` operations a second: 6 N and causal attention."""
    return share / (6 * parameters + 6 * layers * hidden * length)


def frozen(parameters, layers, hidden, share, length=CAUSAL):
    """The same where weights are frozen and activations computed twice: 6 N, and attention four times forward."""
    return share / (6 * parameters + 8 * layers * hidden * length)


def step(tokens, *seconds):
    """Tokens a second of a micro step that the slowest of these nearly decides."""
    return tokens / sum(each**3 for each in seconds) ** (1 / 3)


LLAMA, MISTRAL, LLAMA_2, LLAMA_70B = (
    (8030e6, 32, 4096), (7248e6, 32, 4096), (6738e6, 32, 4096), (70554e6, 80, 8192),
)  # fmt: skip
SHARE, LAUNCH, LAUNCH_4_BITS = 0.48427, 0.005185, 0.011719
ON_H100, ON_A10G = 0.47057 / 0.60357, 0.51104 / 0.60357  # the share of the peak beside that of an A100
MICRO = 8 * CAUSAL
BILLS = [  # question, tokens computed, tokens a second by hand, dollars an hour, seconds that are billed at least
    ("model=llama-3.1-8b&method=lora&tokens=50M&provider=lambda&accelerator=H100&accelerators=8&nodes=1", 50e6,
     8 * step(MICRO, 32 * LAUNCH, MICRO / frozen(*LLAMA, SHARE * ON_H100 * H100)), "31.92", 60),
    ("model=llama-3.1-8b&method=lora&tokens=50M&provider=aws&instance_type=p5.4xlarge", 50e6,
     step(MICRO, 32 * LAUNCH, MICRO / frozen(*LLAMA, SHARE * ON_H100 * H100)), "6.88", 1),
    ("model=llama-2-7b&method=qlora&tokens=10M&provider=aws&instance_type=g5.xlarge", 10e6,
     step(MICRO, 32 * LAUNCH_4_BITS, MICRO / frozen(*LLAMA_2, SHARE * ON_A10G * A10G)), "1.006", 1),
    ("model=llama-2-7b&method=qlora&examples=1000&length=512&epochs=3&provider=aws&instance_type=g5.xlarge", 1.536e6,
     step(4096, 32 * LAUNCH_4_BITS, 4096 / frozen(*LLAMA_2, SHARE * ON_A10G * A10G, 512)), "1.006", 1),
    ("model=any&parameters=1300&layers=24&method=pretrain&tokens=100B&provider=lambda&accelerator=H100&accelerators=8&nodes=1",
     100e9, 8 * dense(1.3e9, 24, 2125, 0.47057 * 2125 / 2425 * H100), "31.92", 60),
    ("model=gpt2&method=pretrain&tokens=10B&provider=aws&instance_type=p4d.24xlarge&nodes=1", 10e9,
     8 * dense(124e6, 12, 768, 0.60294 * 768 / 1068 * A100), "21.957642", 1),
    ("model=gpt2&method=pretrain&tokens=10B&length=1024&provider=aws&instance_type=p4d.24xlarge&nodes=1", 10e9,
     8 * dense(124e6, 12, 768, 0.60294 * 768 / 1068 * A100, 1024), "21.957642", 1),
    ("model=llama-3.1-8b&method=pretrain&tokens=1B&precision=fp8&provider=aws&instance_type=p5.48xlarge&nodes=1", 1e9,
     8 * dense(*LLAMA, 0.47057 * 2**0.5 * 4096 / 4396 * H100), "55.04", 1),
    ("model=llama-3.1-8b&method=pretrain&tokens=1B&stack=tuned&provider=aws&instance_type=p5.48xlarge&nodes=1", 1e9,
     8 * dense(*LLAMA, 0.47057 * 1.13403 * 4096 / 4396 * H100), "55.04", 1),
    ("model=llama-3.1-70b&method=lora&stack=tuned&tokens=100M&provider=aws&instance_type=p5.48xlarge&nodes=1", 100e6,
     8 * 0.47057 * 1.13403 * 8192 / 8492 * H100 / (4 * 70554e6 + 6 * 80 * 8192 * CAUSAL), "55.04", 1),
]  # fmt: skip
API_BILLS = [  # question, provider, model, dollars
    ("model=llama-3.1-8b&method=lora&tokens=50M", "together", "llama-3.1-8b", "24.00"),  # 50 x 0.48
    ("model=llama-3.1-70b&method=qlora&examples=10000&length=512&epochs=3", "fireworks", "llama-3.1-70b", "46.08"),
    ("model=mistral-nemo&method=lora&tokens=1M", "mistral", "mistral-nemo", "4.00"),  # the least that a job costs
    ("model=qwen3-8b&method=lora&tokens=12.5M&packed=false", "thinking-machines", "qwen3-8b", "5.50"),  # 12.5 x 0.44
    ("model=qwen2.5-7b&method=full&tokens=100M", "openai", "gpt-4o-mini", "300.00"),  # 100 x 3.00
]


@pytest.fixture(scope="module")
def client():
    return create_app(packaged_service()).test_client()


@pytest.mark.parametrize(("question", "tokens", "rate", "hourly", "increment"), BILLS)
def test_a_rented_machine_to_the_cent(client, question, tokens, rate, hourly, increment):
    answer = client.get(f"/cost?{question}&purchase=on_demand&overheads=none&limit=1").json
    first = answer["estimates"][0]
    assert first["tokens_per_second"] == pytest.approx(rate, rel=1e-3)
    assert first["hours"] == pytest.approx(tokens / first["tokens_per_second"] / 3600, rel=1e-9)
    periods = math.ceil(first["hours"] * 3600 / increment)
    bill = Decimal(periods * increment) / 3600 * Decimal(hourly)
    assert Decimal(str(first["billed_cost"])) == bill.quantize(Decimal("0.01"))


@pytest.mark.parametrize(("question", "provider", "model", "dollars"), API_BILLS)
def test_an_api_to_the_cent(client, question, provider, model, dollars):
    prices = client.get(f"/cost?{question}&limit=1").json["api_prices"]
    [price] = [each for each in prices if (each["provider"], each["model"]) == (provider, model)]
    assert Decimal(str(price["cost"])) == Decimal(dollars)
    assert price["observed_at"] > "2024"
    assert price["source"]


def test_six_apis_and_more_are_known_and_none_before_its_day(client):
    asked = "/cost?model=llama-3.2-1b&method=lora&tokens=1M&limit=1"
    known = client.get(asked).json["api_prices"]
    assert len({each["provider"] for each in known}) >= 6
    assert client.get(f"{asked}&as_of=2024-01-01").json["api_prices"] == []
    assert client.get("/cost?model=llama-3.2-1b&method=pretrain&tokens=1B&limit=1").json["api_prices"] == []
    assert client.get("/cost?model=resnet50&target=0.757&limit=1").json["api_prices"] == []


def test_one_sentence_says_from_how_many_tokens_renting_is_cheaper(client):
    verdict = " ".join(client.get("/cost?model=llama-3.1-8b&method=lora&tokens=50M&limit=1").json["verdict"])
    assert "By the token: $20.00 at Thinking Machines; renting is cheaper from 200,000 tokens." in verdict
    for tokens, is_cheaper in ((100_000, False), (400_000, True)):
        answer = client.get(f"/cost?model=llama-3.1-8b&method=lora&tokens={tokens}&accelerator=L40S&limit=1").json
        least = min(each["cost"] for each in answer["api_prices"] if each["model"] == "llama-3.1-8b")
        assert (answer["picks"][0]["estimate"]["billed_cost"] < least) is is_cheaper


def test_bills_below_a_cent_are_said_to_be(client):
    asked = "/cost?model=llama-3.1-8b&method=lora&examples=10&length=100&limit=1"
    assert "By the token: less than a cent at" in " ".join(client.get(asked).json["verdict"])


def test_the_memory_that_is_needed_stands_in_the_answer(client):
    needed = client.get("/cost?model=llama-3.1-70b&method=full&tokens=1M&limit=1").json["needed_gib"]
    assert needed["1"] > 1_500 > 240 > needed["8"] > 180


def launched(client, question):
    return client.get(f"/launch?{question}").get_data(as_text=True)


@pytest.mark.parametrize("to", ["skypilot", "dstack"])
def test_a_launch_file_trains_with_transformers_and_peft(client, to):
    asked = f"model=llama-3.1-8b&method=lora&tokens=50M&provider=aws&accelerator=H100&to={to}"
    text = launched(client, asked)
    settings = yaml.safe_load(text)
    script = settings["run"] if to == "skypilot" else settings["commands"][0]
    given = settings["envs"] if to == "skypilot" else dict(each.split("=", 1) for each in settings["env"])
    assert given["HUB"] == "meta-llama/Llama-3.1-8B"
    assert (given["METHOD"], given["TOKENS"], given["PACKED"]) == ("lora", "50000000", "1")
    program = script.partition("<< 'END_OF_PROGRAM'\n")[2].partition("END_OF_PROGRAM")[0]
    compile(program, "train.py", "exec")
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
    assert "Probability" not in text
    assert "--target" not in text


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("model=any&parameters=1300&method=pretrain&tokens=1B&provider=aws", "model=any names no weights"),
        ("model=llama-3.1-8b&method=lora&stack=tuned&tokens=1M&provider=aws", "stack=tuned is not"),
    ],
)
def test_what_has_no_script_is_refused_in_words(client, asked, why):
    assert why in launched(client, f"{asked}&to=skypilot")
