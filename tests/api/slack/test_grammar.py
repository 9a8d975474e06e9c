"""What people type is read as the HTTP parameters it stands for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.questions.fields import Flag, Parameter
from api.questions.schemas import OWNED_BY, CostSchema
from api.slack.grammar import Misread, read
from api.slack.vocabulary import Vocabulary
from pricing import exchange_rates as exchange

BASE = {"model": ["resnet50"], "target": ["0.757"]}


@pytest.fixture(scope="module")
def words(service):
    names = service.names(service.catalogue())
    return Vocabulary(names, service.evidence.models.values(), exchange.current_currencies())


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("resnet50 0.757", {}),
        ("0.757 resnet50", {}),
        ("ResNet-50 to .757", {"target": [".757"]}),
        ("rn50 75.7%", {}),
        ("train resnet50 to 75.7 % accuracy please", {}),
        ("resnet50 top-5 93%", {"metric": ["top5"], "target": ["0.93"]}),
        ("resnet50 93% top 5", {"metric": ["top5"], "target": ["0.93"]}),
        ("resnet50 0.757 top1", {"metric": ["top1"]}),
        ("resnet50 0.757 on aws, gcp", {"provider": ["aws", "gcp"]}),
        ("resnet50 0.757 on google cloud", {"provider": ["gcp"]}),
        ("resnet50 0.757 under $50", {"max_cost": ["50"]}),
        ("resnet50 0.757 for at most $1,200.50", {"max_cost": ["1200.5"]}),
        ("resnet50 0.757 < $1.5k", {"max_cost": ["1500"]}),
        ("resnet50 0.757 &lt; $5", {"max_cost": ["5"]}),
        ("resnet50 0.757 under €50", {"max_cost": ["50"], "currency": ["EUR"]}),
        ("resnet50 0.757 up to 50 euros", {"max_cost": ["50"], "currency": ["EUR"]}),
        ("resnet50 0.757 within 4h", {"max_hours": ["4"]}),
        ("resnet50 0.757 in 90 minutes", {"max_hours": ["1.5"]}),
        ("resnet50 0.757 in 2 days", {"max_hours": ["48"]}),
        ("resnet50 0.757 spot", {"purchase": ["spot"]}),
        ("resnet50 0.757 on-demand", {"purchase": ["on_demand"]}),
        ("resnet50 0.757 on demand", {"purchase": ["on_demand"]}),
        ("resnet50 0.757 reserved 1y no upfront", {"purchase": ["reserved"], "term": ["1y"], "payment": ["no_upfront"]}),
        ("resnet50 0.757 savings plan 3 years", {"purchase": ["savings_plan"], "term": ["3y"]}),
        ("resnet50 0.757 preemptible", {"purchase": ["spot"]}),
        ("resnet50 0.757 low-priority", {"purchase": ["spot"]}),
        ("resnet50 0.757 ondemand", {"purchase": ["on_demand"]}),
        ("resnet50 0.757 reserved 3yr", {"purchase": ["reserved"], "term": ["3y"]}),
        ("resnet50 0.757 reserved for one year", {"purchase": ["reserved"], "term": ["1y"]}),
        ("resnet50 0.757 reserved 36 months", {"purchase": ["reserved"], "term": ["3y"]}),
        ("resnet50 0.757 on A100", {"accelerator": ["A100"]}),
        ("resnet50 0.757 on 2 V100-16GB", {"accelerators": ["2"], "accelerator": ["V100-16GB"]}),
        ("resnet50 0.757 in us-west1", {"region": ["us-west1"]}),
        ("resnet50 0.757 on 8 H100", {"accelerators": ["8"], "accelerator": ["H100"]}),
        ("resnet50 0.757 8xV100s", {"accelerators": ["8"], "accelerator": ["V100"]}),
        ("resnet50 0.757 on 4 × RTX 2080 Ti", {"accelerators": ["4"], "accelerator": ["RTX 2080 Ti"]}),
        ("resnet50 0.757 tpu v2", {"accelerator": ["TPU v2"]}),
        ("resnet50 0.757 on 16 gpus on 2 machines", {"accelerators": ["16"], "nodes": ["2"]}),
        ("resnet50 0.757 for 20 runs", {"runs": ["20"]}),
        ("resnet50 0.757 in us-east-1 p3.8xlarge", {"region": ["us-east-1"], "instance_type": ["p3.8xlarge"]}),
        ("resnet50 0.757 v2-8", {"instance_type": ["v2-8"]}),
        ("resnet50 0.757 on CPUs", {"accelerator": ["CPU"]}),
        ("resnet50 0.757 riseml-2018-tpuv2 mlperf-*", {"recipe": ["riseml-2018-tpuv2", "mlperf-*"]}),
        ("resnet50 0.757 as of 2018-04-26", {"as_of": ["2018-04-26"]}),
        ("resnet50 0.757 fastest frontier measured", {"sort": ["time"], "frontier": ["true"], "evidence": ["measured"]}),
        ("resnet50 0.757 12% off 95% confidence", {"discount": ["0.12"], "confidence": ["0.95"]}),
        ("resnet50 0.757 discount=aws:12% utilization=50%", {"discount": ["aws:0.12"], "utilization": ["0.5"]}),
        ("resnet50 0,757 within 4,5h", {"max_hours": ["4.5"]}),
        ("resnet50 75,7% under 1,5 eur", {"max_cost": ["1.5"], "currency": ["EUR"]}),
        ("resnet50 0.757 under $1,200", {"max_cost": ["1200"]}),
        ("resnet50 0.757,aws,8 gpus", {"provider": ["aws"], "accelerators": ["8"]}),
        ("resnet50 0.757 utilization=0%", {"utilization": ["0"]}),
        ("resnet50 0.757 in eur", {"currency": ["EUR"]}),
        ("resnet50 target=75.7%", {}),
        ("resnet50 0.757 accelerator=“RTX 2080 Ti”", {"accelerator": ["RTX 2080 Ti"]}),
        ("resnet50 0.757 Instance-Type = p3.8xlarge", {"instance_type": ["p3.8xlarge"]}),
        ("resnet50 0.757 label='Q4 vision'", {"label": ["Q4 vision"]}),
        (":tada: resnet50 🎉 0.757 — ?", {}),
        ("resnet50 resnet-50 0.757", {}),
    ],
)  # fmt: skip
def test_as_people_say_it(words, text, more):
    assert read(text, words).arguments == {**BASE, **more}


@pytest.mark.parametrize("name", sorted(set(CostSchema().fields) - {"model", "target"}))
def test_every_parameter_works_as_name_and_value(words, service, name):
    field = CostSchema().fields[name]
    assert isinstance(field, Parameter)
    value = (
        "true"
        if isinstance(field, Flag)
        else str(next(iter(getattr(field, "choices", ["x"]))) if field.example is None else field.example)
    )
    reading = read(f'resnet50 0.757 {name}="{value}"', words)
    assert reading.arguments == {**BASE, name: [value]}
    if name not in ("token", "profile", "focus", "format"):
        machine = {"own": ["1x RTX 3090"]} if name in OWNED_BY else {}
        service.question({**reading.arguments, **machine}, service.catalogue())


@pytest.mark.parametrize(
    ("text", "shared"), [("share", True), ("SHARE", True), ("share=yes", True), ("share=no", False), ("", False)]
)
def test_share(words, text, shared):
    reading = read(f"resnet50 0.757 {text}", words)
    assert (reading.arguments, reading.shared) == (BASE, shared)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("resnet50 0.757 spott", 'unknown word "spott": did you mean spot'),
        ("resnet50 0.757 gpc", "gcp"),
        ("resnet50 0.757 Runs", "Runs needs a value: write runs=value"),
        ("resnet50 0.757 fastet", "did you mean fastest"),
        ("resnet50 0.757 H1000", "H100"),
        ("resnet50 0.757 within 50", "write under $50 or within 50h"),
        ("resnet50 0.757 uswest1", 'unknown word "uswest1"'),
        ("resnet50 0.757 zzzzzzzzzz", "write name=value, or help"),
        ("x" * 2001, "that is 2001 characters: write at most 2000"),
    ],
)
def test_a_word_that_means_nothing_is_told_with_the_nearest(words, text, says):
    with pytest.raises(Misread) as told:
        read(text, words)
    assert says in str(told.value)


def test_only_the_first_few_are_told(words):
    with pytest.raises(Misread) as told:
        read("resnet50 " + "qqqqq " * 50, words)
    assert len(told.value.messages) == 3


def test_the_first_unknown_word_is_the_model_where_none_is_named(words):
    assert read("resnett50 0.757", words).arguments == {"model": ["resnett50"], "target": ["0.757"]}


PIECES = st.sampled_from(
    ["resnet50", "0.757", "on", "8", "H100", "$", "%", "top", "5", "=", "share", "<", "in", "4h", "1y"]
)


@given(text=st.text(max_size=80) | st.lists(PIECES, max_size=12).map(" ".join))
def test_whatever_is_typed_is_read_or_misread(words, text):
    try:
        reading = read(text, words)
    except Misread:
        return
    assert all(values and all(isinstance(value, str) for value in values) for values in reading.arguments.values())
