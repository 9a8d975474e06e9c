"""The verdict: forms that a person can act on, the same words on every surface, and figures that are the picks' to the cent."""

import re
from datetime import timedelta

import pytest
from support.prices import NOW, offer
from support.services import packaged_catalogue, packaged_service, service_of

from api.forms.cost import CostReport
from api.reports.next_step import IN_ITS_FILE
from api.stored import FixedPrices
from costcalc.offer import YOURS
from costcalc.picks import MOST_TO_START

PICKS = ("cheapest", "fastest", "balanced", "surest")
TAKES = r"\$[\d,.]+( \(\$[\d,.]+ to \$[\d,.]+\))?, [\d.]+ (min|h|days) \(.+\), speed [a-z ]+\. "
RENTED = rf"Rent \d+ \S.* at \S+( \S+)? \(.+\) on demand: {TAKES}"
STATED = r"(The provider stated|Two sources agree on|A third party saw)"
RATE = rf"{STATED} \$[\d.,]+ an hour,?( seen)? (today|[\d,]+ days? ago)\.( The cheapest, .*)?$"
CODE = r"^Recipe: \S+ \((tuned|an ordinary script|a benchmark entry), \d+ epochs, (over )?\d+ % sure\)\."
CASES = {
    "--max-cost 200": (
        {"target": "0.76", "max_cost": "200", "max_hours": "48"},
        [RENTED + RATE, CODE, r"An ordinary loop of today takes .*\.",
         "^Next: (costcalc launch|https://)"],
    ),
    "torchvision": (
        {"target": "0.757"},
        [r"An ordinary loop of today takes [\d.]+ h and \$[\d.]+\. As published: [\d.]+ h and "],
    ),
    "TPU": ({"target": "0.757", "accelerator": "TPU"}, ["^Recipe: flax-", "^No rate here is confirmed: "]),
    "Calgary": (
        {"target": "75.7%", "provider": "aws", "region": "ca-west-1", "purchase": "on_demand"},
        [r"^No rate of AWS in ca-west-1 \(Calgary\) is stored", "costcalc prices refresh aws", "us-west-2", RENTED, CODE,
         "^Next: costcalc launch .* --region us-west-2"],
    ),
    "own": (
        {"target": "0.757", "own": "1xRTX4090", "own_price": "0"},
        [r"^Your RTX 4090: \$0\.\d\d \(.*\), [\d.]+ h \(.*\), speed [a-z ]+, for electricity\.", CODE,
         "^Next: costcalc measure resnet50"],
    ),
    "own without an estimate": (
        {"target": "0.76", "own": "8xGaudi2", "own_price": "0"},
        [r"No estimate for your 8 Gaudi2; training=record may have one\. Rent "],
    ),
    "no such machine": ({"target": "0.76", "accelerator": "Gaudi3"}, [
        r"^No stored rate matches accelerator=Gaudi3; for your own machine, write own=1xGaudi3"]),
    "free": ({"target": "0.757", "purchase": "free"}, [r"^Use .* at Kaggle: free, ", CODE, "^Next: https://www.kaggle.com"]),
    "no launcher": ({"target": "0.757", "provider": "hyperstack"}, [r"^Next: https://\S+ has today's rates"]),
    "past": ({"target": "0.757", "as_of": "2018-04-26"}, [r"On 2018-04-26: rent 4 TPU v2 at Google Cloud", CODE]),
    "nothing": ({"target": "0.99"}, [
        r"^No recipe of resnet50 reaches 99 %; the best reaches 80\.8 %", r"^Instead: [\d,]+ estimates with target=",
        r"^Next: costcalc cost resnet50 0\.803\."]),
    "committed": (
        {"target": "0.757", "purchase": "reserved,savings_plan,committed_use", "provider": "gcp"},
        [r"with committed use \S+ no upfront: \$[\d.]+ \(.*\) of \$[\d,.]+ in all",
         "^Next: costcalc commitments resnet50 0.757 "],
    ),
    "two chips": (
        {"target": "0.757", "accelerator": "A100,V100"},
        [r"^By comparison: \d+ V100\S* at [\w ]+, [\d.]+ (h|days), \$[\d.]+\."],
    ),
    "three clouds": (
        {"target": "0.757", "provider": "aws,gcp,azure"}, [r"^By comparison: .* at Azure, .*; .* at Google Cloud, "]
    ),
    "two machines": (
        {"target": "0.757", "instance_type": "p3.16xlarge,p4d.24xlarge"},
        [r"^By comparison: 8 V100 at AWS, [\d.]+ h, \$[\d.]+, on demand, at an unconfirmed rate\."],
    ),
    "two clouds": ({"target": "0.757", "provider": "aws,gcp"}, [r"^By comparison: \d+ \S+ at (AWS|Google Cloud), "]),
    "on demand beside a term": (
        {"target": "0.757", "provider": "aws", "purchase": "reserved,on_demand", "term": "1y"}, [RENTED]
    ),
    "processors and GPUs": (
        {"target": "0.757", "accelerator": "CPU,GPU"},
        [r"^By comparison: Xeon [^;]*, at an unconfirmed rate\.$"],
    ),
    "GPUs and TPUs": ({"target": "0.757", "accelerator": "GPU,TPU"}, [r"^By comparison: \d+ TPU [^;]*\."]),
    "a processor": ({"model": "resnet18", "target": "0.7", "accelerator": "CPU,T4"}, [r"^By comparison: Xeon .*, at an unconfirmed rate"]),
    "a chip without an estimate": (
        {"target": "0.757", "accelerator": "TPU v3,A100"}, [r"^By comparison: TPU v3: no estimate"]
    ),
    "a part of a training": (
        {"model": "llama3.1-405b"},
        [r"^The whole training took 30\.84 million H100 hours; this is a part of it, which starts from a published"],
    ),
    "a part of a training after a part that is not counted": (
        {"model": "mask-rcnn"},
        [r"^This part starts from a backbone trained on ImageNet, whose training is not counted\. "],
    ),
    "what nobody ported to one's own machine": (
        {"model": "nanogpt", "own": "1x RTX 4090", "own_price": "0"},
        [r"No public code is known to run on yours: it would have to be ported\.$"],
    ),
    "a plain loop of what is only published as a benchmark": (
        {"model": "bert-large", "accelerator": "H100", "accelerators": "1"},
        [r"A plain \w+ loop takes about 3\.7 times as long: some \$[\d.]+\."],
    ),
    "a plain loop of some layers, on another chip": (
        {"model": "llama2-70b-lora", "accelerator": "B200"},
        [r"A plain transformers and peft loop takes at least 1\.6 times as long \(timed on one H100\)\.$"],
    ),
    "an ordinary script leads": (
        {"target": "0.76", "instance_type": "trn1.2xlarge"}, [r"an ordinary script, .*\)\. No public code is known"]
    ),
    "no offer": (
        {"target": "0.757", "accelerator": "RTX 2080 Ti"}, ["^No estimate answers this question", "^Instead: .* with as_of="]
    ),
}  # fmt: skip
MODELS = {
    "resnet50": "0.757",
    "resnet18": "0.69",
    "efficientnet_b4": "0.82",
    "convnext_tiny": "0.82",
    "vit_b16": "0.79",
}


@pytest.fixture(scope="module")
def service():
    return packaged_service().changed(sources=("aws", "gcp", "azure", "lambda"))


def report(service, **given):
    catalogue = service.catalogue()
    query, _ = service.question({name: [value] for name, value in ({"model": "resnet50"} | given).items()}, catalogue)
    return CostReport(service, catalogue, query)


@pytest.mark.parametrize(("given", "forms"), CASES.values(), ids=CASES)
def test_it_has_the_form_that_a_person_can_act_on(service, given, forms):
    lines = report(service, **given).answer.verdict
    for form in forms:
        assert any(re.search(form, line) for line in lines), (form, lines)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "beside", [{}, {"sort": "time"}, {"purchase": "spot"}, {"basis": "effective", "currency": "EUR"}]
)
def test_it_is_short_and_plain_and_agrees_with_the_picks(service, model, beside):
    found = report(service, model=model, target=MODELS[model], **beside).answer
    assert 2 <= len(found.verdict) <= 4
    starts_another = "no known image" in found.verdict[-1]
    assert len(" ".join(found.verdict)) <= (540 if starts_another else 450)
    assert not re.search(
        r"[*_`†‡×<>|~#]", re.sub(r"\([^)]*\)|Recipe: \S+|script, \S+|Next: .*", "", " ".join(found.verdict))
    )
    picks = {pick.name: pick.estimate for pick in found.picks}
    whole, lead = " ".join(found.verdict), found.named_first
    for label, name in (("Rent", lead), ("Surer", "surest")):
        if label in whole or label == "Rent":
            assert f"{picks[name].cost(found.query.basis).cost:,.2f}" in whole
            assert picks[name].accelerator in whole
    assert picks[lead].recipe in whole
    assert ("confirmed" in found.missed) == ("is confirmed: check it" in whole or "has a confirmed rate" in whole)


@pytest.mark.parametrize(
    ("asked", "name"),
    [({"sort": "cost"}, "cheapest"), ({"sort": "time"}, "fastest"), *(({"pick": name}, name) for name in PICKS)],
)
def test_the_pick_that_is_asked_for_comes_first_and_a_cheaper_one_is_told(service, asked, name):
    found = report(service, target="0.757", **asked).answer
    picks = {pick.name: pick.estimate for pick in found.picks}
    assert found.lead == picks[name]
    least = min(each.billed_cost for each in found.best if each.confirmed and each.runs_here)
    assert name != "cheapest" or float(found.lead.billed_cost) <= MOST_TO_START * float(least)
    cheaper = [each for each in picks.values() if each.billed_cost < found.lead.billed_cost]
    assert not cheaper or any(f"{each.billed_cost:,.2f}" in " ".join(found.verdict) for each in cheaper)


def test_every_surface_says_the_same_words_first(service):
    client = pytest.importorskip("api.web.app").create_app(service).test_client()
    asked = "model=resnet50&target=0.757&provider=lambda"
    lines = client.get(f"/cost?{asked}").json["verdict"]
    assert lines == list(report(service, target="0.757", provider="lambda").answer.verdict)
    page = " ".join(re.sub(r"<[^>]*>", " ", client.get(f"/?{asked}").text).split())
    sentences = [each for line in lines for each in re.split(r"(?<=[.)]) (?=[A-Z])", line)]
    *sentences, step = sentences
    assert all(each.removesuffix(".").replace("'", "&#39;") in page for each in sentences)
    assert step.partition(" starts ")[2].replace("needs --data", IN_ITS_FILE) in page


def headline_with(*others, moment):
    """The rate's sentences of the answer where a provider has these offers only."""
    service = service_of(FixedPrices(packaged_catalogue().with_offers(others)), moment)
    return report(service, target="0.757", provider="acme").answer.verdict[0]


def test_a_rate_of_ones_own_sheet_is_not_said_to_be_the_providers():
    own = offer("0.99", provider="acme", region="any", flags=(YOURS,), source="price sheet")
    assert "Your price sheet says $0.99 an hour, today." in headline_with(own, moment=NOW)


def test_a_rate_for_a_later_day_is_told_a_month_before_and_counts_from_then():
    day = NOW + timedelta(days=40)
    now = offer("2", provider="acme", region="any")
    later = offer("0.99", provider="acme", region="any", effective_from=day)
    soon = "From 2026-12-30 one machine costs $0.99 an hour, as was announced on 2026-11-20."
    told = [headline_with(now, later, moment=NOW + timedelta(days=ago)) for ago in (0, 11, 40)]
    assert [soon in line for line in told] == [False, True, False]
    assert ["$2.00 an hour" in line for line in told] == [True, False, False]


def test_a_script_as_published_that_takes_as_long_as_a_loop_of_today_is_not_told_of_again(service):
    found = report(service, target="0.757", provider="aws,gcp,azure", as_of="2026-11-20").answer
    assert found.ordinary.recipe != found.as_published.recipe
    assert found.ordinary.hours == found.as_published.hours
    assert "An ordinary loop of today takes " in found.verdict[1]
    assert "As published" not in found.verdict[1]
