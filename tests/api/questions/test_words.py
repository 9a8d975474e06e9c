"""What people type is read as the HTTP parameters it stands for, or asked about."""

from datetime import date
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.questions.errors import BadParameters
from api.questions.fields import Flag, Parameter
from api.questions.schemas.training import OWNED, CostSchema
from api.questions.subject import SIZES
from api.questions.words.understanding import understand
from costcalc.query import parameters_of

TODAY = date(2026, 11, 24)
BASE = {"model": ["resnet50"], "target": ["0.757"]}


@pytest.fixture(scope="module")
def words(service):
    return service.words(service.catalogue())


def read(text, words):
    return understand(text, words, TODAY)


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("resnet50 0.757", {}),
        ("0.757 resnet50", {}),
        ("ResNet-50 to .757", {"target": ["0.757"]}),
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
        ("resnet50 75.7% in an hour and a half", {"max_hours": ["1.5"]}),
        ("resnet50 75.7% within 2 months", {"max_hours": ["1460"]}),
        ("resnet50 0.757 on A100", {"accelerator": ["A100"]}),
        ("resnet50 0.757 on 2 V100-16GB", {"accelerators": ["2"], "accelerator": ["V100-16GB"]}),
        ("resnet50 0.757 in us-west1", {"region": ["us-west1"]}),
        ("resnet50 0.757 on 8 H100", {"accelerators": ["8"], "accelerator": ["H100"]}),
        ("resnet50 0.757 8xV100s", {"accelerators": ["8"], "accelerator": ["V100"]}),
        ("resnet50 0.757 on 4 × RTX 2080 Ti", {"accelerators": ["4"], "accelerator": ["RTX 2080 Ti"]}),
        ("resnet50 0.757 tpu v2", {"accelerator": ["TPU v2"]}),
        ("resnet50 0.757 on 16 gpus on 2 machines", {"accelerator": ["GPU"], "accelerators": ["16"], "nodes": ["2"]}),
        ("resnet50 0.757 for 20 runs", {"runs": ["20"]}),
        ("resnet50 0.757 in us-east-1 p3.8xlarge", {"region": ["us-east-1"], "instance_type": ["p3.8xlarge"]}),
        ("resnet50 0.757 v2-8", {"instance_type": ["v2-8"]}),
        ("resnet50 0.757 on CPUs", {"accelerator": ["CPU"]}),
        ("resnet50 0.757 riseml-2018-tpuv2 mlperf-*", {"recipe": ["riseml-2018-tpuv2", "mlperf-*"]}),
        ("resnet50 0.757 as of 2018-04-26", {"as_of": ["2018-04-26"]}),
        ("surest way to resnet50 76%", {"pick": ["surest"], "target": ["0.76"]}),
        ("resnet50 76% best value", {"pick": ["balanced"], "target": ["0.76"]}),
        ("resnet50 0.757 fastest frontier measured", {"sort": ["time"], "frontier": ["true"], "evidence": ["measured"]}),
        ("resnet50 0.757 12% off 95% confidence", {"discount": ["0.12"], "confidence": ["0.95"]}),
        ("resnet50 0.757 discount=aws:12% utilization=50%", {"discount": ["aws:12%"], "utilization": ["50%"]}),
        ("resnet50 0,757 within 4,5h", {"max_hours": ["4.5"]}),
        ("resnet50 75,7% under 1,5 eur", {"max_cost": ["1.5"], "currency": ["EUR"]}),
        ("resnet50 0.757 under $1,200", {"max_cost": ["1200"]}),
        ("resnet50 0.757,aws,8 gpus", {"provider": ["aws"], "accelerator": ["GPU"], "accelerators": ["8"]}),
        ("resnet50 0.757 utilization=0%", {"utilization": ["0%"]}),
        ("resnet50 0.757 in eur", {"currency": ["EUR"]}),
        ("resnet50 target=75.7%", {}),
        ("resnet50 0.757 accelerator=“RTX 2080 Ti”", {"accelerator": ["RTX 2080 Ti"]}),
        ("resnet50 0.757 Instance-Type = p3.8xlarge", {"instance_type": ["p3.8xlarge"]}),
        ("resnet50 0.757 label='Q4 vision'", {"label": ["Q4 vision"]}),
        ("resnet50 up to 75.7%", {}),
        ("resnet50@75.7% w/o spot or free", {"purchase": ["on_demand", "reserved", "savings_plan", "committed_use",
         "capacity_block", "monthly"]}),
        ("resnet50 75.7% on 4 nodes of 8 A100", {"nodes": ["4"], "accelerator": ["A100"], "accelerators": ["32"]}),
        ("resnet50 75.7% 2 x 8 H100", {"nodes": ["2"], "accelerator": ["H100"], "accelerators": ["16"]}),
        ("resnet50 75.7% 64 tpu v3", {"accelerator": ["TPU v3"], "accelerators": ["64"]}),
        ("resnet50 75.7% our 8-GPU V100 box", {"own": ["8x V100"]}),
        ("resnet50 75.7% under a grand", {"max_cost": ["1000"]}),
        ("resnet50 75.7% 3 year reserved on gcp", {"purchase": ["committed_use"], "term": ["3y"], "provider": ["gcp"]}),
        ("40 resnet50 runs 75.7%", {"runs": ["40"]}),
        ("vit-b 75.7%", {"model": ["vit_b16"]}),
        ("mask-rcnn 0.757 coco 4 v100", {"model": ["mask-rcnn"], "accelerator": ["V100"], "accelerators": ["4"]}),
        ("resnet50 75.7% no tpu, no gpu, no ipu", {"accelerator": ["Ascend 910", "Gaudi", "Gaudi2", "Gaudi3", "Inferentia",
         "Inferentia2", "M3 Ultra", "M4 Max", "Trainium", "Trainium2", "Trainium3", "CPU"]}),
        ("resnet50 75.7% aws discount 20%", {"provider": ["aws"], "discount": ["0.2"]}),
        ("resnet50 75.7% in us-east-1a", {"region": ["us-east-1"]}),
        ("what would resnet50 to 75.7% cost us?", {}),
        ("resnet50 75.7% in the us", {"region": ["us"]}),
        ("resnet50 accuracy=75.7% gpus=8", {"target": ["0.757"], "accelerators": ["8"]}),
        (":tada: resnet50 🎉 0.757 — ?", {}),
        ("resnet50 resnet-50 0.757", {}),
    ],
)  # fmt: skip
def test_as_people_say_it(words, text, more):
    assert read(text, words).parameters == {**BASE, **more}


@pytest.mark.parametrize(
    "name", sorted(set(CostSchema().fields) - {"model", "target", *parameters_of("stated", "language")})
)
def test_every_parameter_works_as_name_and_value(words, service, name):
    field = CostSchema().fields[name]
    assert isinstance(field, Parameter)
    value = (
        "true"
        if isinstance(field, Flag)
        else str((*getattr(field, "choices", ()), "x")[0] if field.example is None else field.example)
    )
    reading = read(f'resnet50 0.757 {name}="{value}"', words)
    assert reading.parameters == {**BASE, name: [value]}
    if name not in ("token", "profile", "focus", "format"):
        machine = {"own": ["1x RTX 3090"]} if name in OWNED else {}
        network = {"model": ["any"], "target": [], "parameters": ["25"], "gmacs": ["4"]} if name in SIZES else {}
        epochs = {"epochs": ["9"]} if name in (*SIZES, "samples_per_epoch") else {}
        asked = {**reading.parameters, **machine, **network, **epochs}
        service.question(asked, service.catalogue())


@pytest.mark.parametrize(
    ("text", "shared"), [("share", True), ("SHARE", True), ("share=yes", True), ("share=no", False), ("", False)]
)
def test_share(words, text, shared):
    reading = read(f"resnet50 0.757 {text}", words)
    assert (reading.parameters, reading.shared) == (BASE, shared)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("resnet50 0.757 gpc", "did you mean gcp"),
        ("resnet50 0.757 H1000", "did you mean H100"),
        ("resnet50 0.757 within 50", "under $50 or within 50h"),
        ("resnet50 0.757 uswest1", '"uswest1": not understood'),
        ("resnet50 0.757 zzzzzzzzzz", '"zzzzzzzzzz": not understood'),
        ("resnet50 0.757 on 2 nodes and 3 nodes", "Which nodes: 2 or 3?"),
        ("resnet50 0.757 not", '"not": what it leaves out'),
        ("resnet50 0.757 not under $50", "cannot be left out"),
        ("resnet50 0.757 in 2031", "future"),
        ("resnet50 0.757 on my 3090 at 0.12 €/kWh", "electricity=0.30"),
        ("resnet50 0.757 on my own 8xH100 at 250k", "own_price=1500"),
        ("resnet50 0.757, bought for 600 euros", "own_price=1500"),
        ("resnet50 seventy-five point seven percent", "a number of what?"),
        ("beit base 75.7%", "beit_base_patch16_224"),
        ("resnet50 0.757 at 350 images/s", "of which machine"),
        ("resnet50 0.757 on p4d", "as in p4d.24xlarge"),
        ("resnet50 0.757 on sagemaker", "its own rates are higher than those of EC2"),
        ("resnet50 0.757 on 8 h100 at lambda or 8 a100 at aws", "Compare accelerator and provider one at a time"),
        ("resnet50 0.757 on aws spot vs gcp on demand", "Compare provider and purchase one at a time"),
        ("resnet50 0.757 on aws, what about spot", "a question of its own"),
        ("resnet50 0.757 cheaper than aws", "Name both"),
        ("resnet50 0.757 h100 8", '"8": a number of what?'),
        ("resnet50 75.7 CHF 100", '"100": a number of what?'),
        ("resnet50 0.757 on 16 H100 servers", "how many accelerators has each?"),
        ("resnet50 0.757, resumed from a checkpoint of flan-t5-xl-2", '"flan-t5-xl-2": not understood'),
        ("resnet50 76% and resnet101 78%", "Which target"),
        ("resnet50 76% on 2x, 4x and 8x A100", '"2x": not understood'),
        ("resnet50 76% on 4 GPUs or fewer", "as in at most 4 H100"),
        ("resnet50 76% on a card with 900 GB", "none of these accelerators"),
        ("resnet50 76% at 30 ct per kWh", "electricity=0.30"),
        ("resnet50 0.757 by the end of the month", "as in within 3 days"),
        ("resnet 76%", "resnet18"),
        ("0.757 on aws", "Which network?"),
    ],
)
def test_what_is_not_understood_is_asked_about(words, text, says):
    assert says in "; ".join(read(text, words).asked)


@pytest.mark.parametrize(
    ("text", "as_of"),
    [
        ("in june 2024", "2024-06"), ("april 26, 2018", "2018-04-26"), ("26.04.2018", "2018-04-26"), ("2019", "2019"),
    ],
)  # fmt: skip
def test_dates_are_read_as_they_are_written(words, text, as_of):
    assert read(f"resnet50 76% {text}", words).parameters["as_of"] == [as_of]


@pytest.mark.parametrize(
    "text",
    [
        "last month", "in June", "last november", "last year", "two years ago", "yesterday", "of last tuesday", "13/05/2019",
        "Q3 2024", "mid 2020",
    ],
)  # fmt: skip
def test_of_dates_that_depend_on_today_it_is_asked_which_they_are(words, text):
    reading = read(f"resnet50 76% {text}", words)
    assert not reading.is_question
    assert "write the date of prices, as in as of 2026-11-20" in " ".join(reading.asked)


def test_of_much_that_is_not_understood_the_first_is_told_and_the_rest_counted(words):
    told = read("resnet50 76% " + " ".join(f"qq{number}q" for number in range(30)), words).asked
    assert (len(told), told[-1]) == (11, "20 more words or numbers are not understood")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x" * 2001, "2001 characters"),
        ("ab " * 61, "61 words: write one question in at most 60"),
        ("ab," * 61, "61 words"),
        ("x" * 101, "too long"),
    ],
)
def test_a_sentence_has_an_end(words, text, why):
    with pytest.raises(BadParameters, match=why):
        read(text, words)


@pytest.mark.parametrize("word", ["zqxwabcdefghijklmnopqrstuvw{}", "vit{}", "resnets{}", "1111111111111111111111111{}"])
def test_the_most_words_that_nobody_knows_are_read_in_no_time(words, word):
    read("resnet50 zq", words)
    begun = process_time()
    read(" ".join(word.format(number) for number in range(60)), words)
    assert process_time() - begun < 1  # a tenth of that on a quiet machine; it was eight seconds


PIECES = st.sampled_from(
    ["resnet50", "0.757", "on", "8", "H100", "$", "%", "top", "5", "=", "share", "<", "in", "4h", "1y"]
)


@given(text=st.text(max_size=80) | st.lists(PIECES, max_size=12).map(" ".join))
def test_whatever_is_typed_is_read(words, text):
    reading = read(text, words)
    assert all(values and all(isinstance(value, str) for value in values) for values in reading.parameters.values())


@pytest.mark.parametrize(
    "text",
    [
        "*resnet50* to `75.7%` on _aws_", "**resnet50** 75.7% `aws`", "> resnet50 to 75.7% on aws", "resnet50，75.7％，aws",
        "<https://a.example|resnet50> 75.7% aws <@U1>", "[resnet50](https://a.example) to 75.7% on aws",
        "用aws训练resnet50到75.7%", "resnet50を75.7%までAWSで学習", "ResNet-50 auf 75,7 % bei AWS trainieren",
        "how much would it cost to train resnet50 on aws to 75.7%", "- resnet50 75.7% on aws",
    ],
)  # fmt: skip
def test_marks_and_languages_change_nothing(words, text):
    assert read(text, words).parameters == {**BASE, "provider": ["aws"]}


@pytest.mark.parametrize(
    "text",
    [
        "train resnet50 on imagenet on aws to 75.7%", "resnet50 75.7% with imagenet in aws", "AWS cost, imagenet resnet50 75.7%",
        "resnet50 auf ImageNet bei AWS auf 75,7 %", "resnet50 75.7% sur imagenet chez aws", "resnet50 75.7% en imagenet en aws",
        "resnet50 75.7% on the imagenet dataset with amazon web services",
    ],
)  # fmt: skip
def test_a_cloud_behind_imagenet_is_where_to_train(words, text):
    assert read(text, words).parameters == {**BASE, "provider": ["aws"], "dataset": ["imagenet"]}


@pytest.mark.parametrize(
    "text", ["my imagenet is on aws", "imagenet is stored on aws", "data lies in aws", "my data is in a bucket on aws"]
)
def test_where_data_lies_is_not_where_to_train(words, text):
    reading = read(f"resnet50 75.7%, {text}", words)
    assert "provider" not in reading.parameters
    assert "where data is stored" in " ".join(reading.asked)


@pytest.mark.parametrize("text", ["pairs", "in pairs", "paired", "London-style", "perish", "milan0", "romes"])
def test_no_english_word_becomes_a_place(words, text):
    assert "region" not in read(f"resnet50 75.7% {text}", words).parameters


@pytest.mark.parametrize(
    ("text", "is_million"),
    [("30m", False), ("30 m on aws", False), ("1M foos", True), ("30m foos", True), ("2M", True)],
)
def test_m_is_minutes_only_where_it_counts_nothing(words, text, is_million):
    reading = read(f"resnet50 75.7% {text}", words)
    assert ("max_hours" in reading.parameters) is not is_million
    assert ("minutes or millions?" in " ".join(reading.asked)) is is_million
