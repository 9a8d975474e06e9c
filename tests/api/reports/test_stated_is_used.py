"""Whatever a question states changes a figure of its answer, or a sentence says what it concerns, or it is refused: every
parameter of `/cost` beside every kind of question."""

import json
from itertools import product

import pytest
from support.sampled import sampled
from support.services import packaged_service

from api.service import COST
from api.web.app import create_app
from costcalc.query import DECLARED

QUESTIONS = {
    "published": "model=resnet50&target=0.757",
    "one recipe": "model=resnet50&recipe=torchvision-resnet50-90ep&target=0.757",
    "benchmark entries": "model=resnet50&target=0.757&recipe=mlperf-*",
    "a task": "model=bert-large",
    "a task of large machines": "model=llama2-70b-lora",
    "by word": "model=resnet50&epochs=90",
    "by size": "model=any&epochs=90&parameters=25.6&gmacs=4.1",
    "by speed": "model=any&epochs=90&images_per_second=1450@1xA100-80GB",
    "weights of timm": "model=resnet34d&target=0.75",
    "own machine": "model=resnet50&target=0.757&own=1xRTX4090",
    "own machine, paid off": "model=resnet50&target=0.757&own=1xRTX4090&own_price=0",
    "adapters by tokens": "model=llama-3.1-8b&method=lora&tokens=50M",
    "pretraining by tokens": "model=any&parameters=1300&method=pretrain&tokens=10B",
    "one way to buy": "model=resnet50&target=0.757&purchase=on_demand&provider=aws",
}
VALUES = {
    "target": ["0.7"], "metric": ["top5"], "provider": ["aws"], "region": ["us-east-1"], "instance_type": ["g5.xlarge"],
    "accelerator": ["A100-80GB"], "recipe": ["ffcv-*"], "purchase": ["spot"], "term": ["1y"], "payment": ["all_upfront"],
    "available": ["true"], "accelerators": ["4"], "nodes": ["2"], "max_accelerators": ["2"], "max_nodes": ["1"],
    "as_of": ["2024-06-30"], "max_hours": ["0.9"], "max_cost": ["50"], "confidence": ["0.99", "0.5"],
    "training": ["ordinary", "record"], "evidence": ["measured"], "software": ["recipe"],
    "pipeline": ["none", "dali", "pytorch", "ffcv", "tfdata"], "precision": ["fp32", "amp", "bf16", "tf32", "fp8"],
    "compilation": ["eager", "compiled"], "images_per_second": ["1450@1xA100-80GB"], "overheads": ["none"],
    "crossing": ["first", "sustained"], "utilization": ["0.3"], "basis": ["effective"], "hour_worth": ["1000", "0"],
    "sort": ["time"], "pick": ["fastest", "surest"], "limit": ["3"], "offset": ["3"], "frontier": ["true"],
    "recipes": ["all"], "regions": ["all"], "rates": ["confirmed"], "max_price_age": ["60"], "discount": ["0.2", "gcp:0.2"],
    "currency": ["EUR"], "fx": ["EUR:0.9"], "runs": ["5"], "storage_gb": ["1000"], "storage_rate": ["0.05"],
    "egress_gb": ["1000"], "egress_rate": ["0.2"], "own": ["1xRTX3090"], "own_price": ["2800"], "own_years": ["5"],
    "own_resale": ["0"], "own_watts": ["999"], "own_vcpus": ["4"], "electricity": ["0.5"], "pue": ["1.9"], "epochs": ["30"],
    "parameters": ["60"], "gmacs": ["10"], "samples_per_epoch": ["50000"], "took": ["30h"], "on": ["4xV100"],
    "took_on": ["2024-06-30"], "kind": ["detection"],
    "method": ["full"], "tokens": ["1M"], "examples": ["1000"], "length": ["512"], "batch": ["2"],
    "packed": ["false"], "stack": ["plain"], "layers": ["12"], "active": ["1B"],
}  # fmt: skip
AT_THEIR_DEFAULTS = {"model", "dataset"}  # of which there is no other value
MET = {
    "by word": ("recipes",),
    "by size": ("recipes",),
    "by speed": ("recipes",),
    "adapters by tokens": ("recipes",),
    "pretraining by tokens": ("recipes",),
    "a task of large machines": ("max_cost",),
}
"""What everything meets: a training of one recipe shows all of its recipes."""
CASES = [
    (kind, name, value)
    for (kind, question), (name, values) in product(QUESTIONS.items(), VALUES.items())
    for value in values
    if f"&{name}=" not in f"&{question}" and name not in MET.get(kind, ())
]


@pytest.fixture(scope="module")
def ask():
    client = create_app(packaged_service()).test_client()

    def asked(question):
        answer = client.get(f"/cost?{question}").json
        lines = [line for line in answer.pop("verdict", ()) if not line.startswith("Next: ")]
        repeated = ("query", "next", "commitments")
        return json.dumps([lines, *(each for name, each in answer.items() if name not in repeated)], sort_keys=True)

    return asked


def test_every_parameter_is_tried():
    of_the_edge = {
        name
        for name, field in COST.fields.items()
        if field.param.part in ("layout", "sheet", "focus", "brief", "words")
    }
    assert VALUES.keys() | of_the_edge | AT_THEIR_DEFAULTS == COST.fields.keys()
    assert VALUES.keys() <= DECLARED.keys()


@pytest.mark.parametrize(("kind", "name", "value"), sampled(CASES, one_in=12))
def test_what_is_stated_is_used_or_said_to_concern_something_else(ask, kind, name, value):
    assert ask(f"{QUESTIONS[kind]}&{name}={value}") != ask(QUESTIONS[kind])


def test_a_filter_that_changes_nothing_is_told_of_before_the_figures(ask):
    client = create_app(packaged_service()).test_client()
    verdict = client.get("/cost?model=bert-large&precision=fp32").json["verdict"]
    assert any("precision=fp32 changes none of these estimates" in line for line in verdict[:2])


OTHERS = {
    "/compare?model=resnet50&target=0.757&a=aws:p5.4xlarge&b=aws:p4d.24xlarge": ["software=recipe", "fx=EUR:0.9"],
    "/estimate?model=resnet50&target=0.757": ["storage_rate=0.05", "fx=EUR:0.9"],
    "/commitments?model=resnet50&target=0.757": ["crossing=first", "software=recipe"],
    "/trend?model=resnet50&target=0.757": ["crossing=first", "storage_rate=0.05"],
    "/mlperf?model=bert-large": ["crossing=first", "fx=EUR:0.9"],
}


@pytest.mark.parametrize(("path", "stated"), [(path, stated) for path in OTHERS for stated in OTHERS[path]])
def test_other_questions_say_so_too(path, stated):
    client = create_app(packaged_service()).test_client()
    answer = client.get(f"{path}&{stated}").json
    assert any(
        f"{stated} changes none of these estimates" in line for line in answer.get("verdict", answer.get("notes"))
    )
