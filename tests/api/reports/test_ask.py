"""A sentence is answered on every surface as the exact question is, and how it was understood comes first."""

import re

import pytest
from click.testing import CliRunner
from support.slack import answered

from api.cli.main import main
from api.slack.message import escape

SENTENCE = "resnet50 to 76% on aws in frankfrut, no spot, with nvlink"


@pytest.fixture(scope="module")
def document(app):
    return app.test_client().get("/ask", query_string={"q": SENTENCE}).json


def test_the_answer_is_that_of_the_exact_question(client, document):
    exact = client.get(document["link"]).json
    assert document["answer"] == exact
    assert exact["query"]["provider"] == ["aws"]


def test_what_was_understood_corrected_ignored_and_not_understood_is_told(document):
    understood = document["understood"]
    assert (understood["model"], understood["target"], understood["region"]) == ("resnet50", "0.76", "eu-central-1")
    assert "spot" not in understood["purchase"].split(",")
    assert document["corrected"] == {"frankfrut": "frankfurt"}
    assert document["ignored"] == ["to", "on", "in", "with"]
    assert [each.partition(":")[0] for each in document["asked"]] == ['"nvlink"']


@pytest.mark.parametrize(
    ("sentence", "says"),
    [
        ("hello", "Which network?"),
        ("roberta on 8 h100", "a language model"),
        ("76% on 8 h100", "Which network?"),
        ("best accuracy for $20", "Which network?"),
        ("fastest imagenet training", "Which network?"),
    ],
)
def test_what_is_no_question_says_what_to_type(client, sentence, says):
    document = client.get("/ask", query_string={"q": sentence}).json
    assert document["answer"] is None
    assert says in " ".join(document["asked"])
    page = client.get("/", query_string={"q": sentence})
    assert page.status_code == 200
    assert escape(says) in page.text


@pytest.mark.parametrize(
    ("sentence", "understood", "says"),
    [
        ("resnet50 took us 3 days on 8 A100", {"took": "72", "model": "resnet50"}, "hours taken"),
        ("how much to fine tune llama 3 8b", {"model": "llama-3-8b"}, "How many tokens?"),
        ("Wan LoRA on an A6000", {"method": "lora"}, "fine-tuning is estimated of language models by tokens"),
        ("dpo on 60k pairs", {"method": "dpo", "examples": "60000"}, "language models are estimated"),
        ("resnet50 on 1M pairs", {"examples": "1000000"}, "language models are estimated"),
        ("resnet50 with 80M parameters", {}, "model=any parameters=25 gmacs=4"),
        ("do I need 8 gpus or are 4 enough for resnet50 76%", {"accelerators": "8"}, "a number of what?"),
        ("bert-large 3 epochs", {"epochs": "3"}, "follow from published results"),
        ("resnet50 on my own data", {}, "the data set is ImageNet"),
        ("resnet50 76% on 8 foo3", {}, "not understood"),
        ("resnet50 76% without foo", {}, '"without foo"'),
    ],
)
def test_a_quantity_or_a_condition_that_nothing_takes_refuses_the_answer(client, sentence, understood, says):
    document = client.get("/ask", query_string={"q": sentence}).json
    assert document["answer"] is None
    assert understood.items() <= document["understood"].items()
    assert "max_hours" not in document["understood"]
    assert "region" not in document["understood"]
    assert says in "; ".join(document["asked"])


@pytest.mark.parametrize(
    "sentence",
    [
        "llama 2 70b with lora on 8 h100",
        "fine-tune vit-b/16 on 5000 images, 20 epochs",
        "fine-tune ViT-B/16 on my 5000 images",
        "continued pretraining of Llama 3 8B on 5B tokens",
        "3 days on 8 A100",
    ],
)
def test_a_method_that_is_estimated_is_answered(client, sentence):
    assert client.get("/ask", query_string={"q": sentence}).json["answer"]["picks"]


def test_a_value_that_is_refused_refuses_the_answer(client):
    document = client.get("/ask", query_string={"q": "resnet50 to 76% on 8 h100 max_hours=soon"}).json
    assert [each[:26] for each in document["asked"]] == ["max_hours: must be a number"[:26]]
    assert document["answer"] is None


@pytest.mark.parametrize(
    ("sentence", "says", "model", "targets"),
    [
        ("imagenet to 76% on 8 h100", "resnet50 takes the least computing", "resnet50", (0.76, 0.76)),
        ("best accuracy on imagenet for $20", "is the most within these limits, and of", None, (0.76, 0.83)),
        ("best top-5 accuracy on imagenet for $20", "is the most within these limits, and of", None, (0.93, 0.97)),
        ("99% on imagenet", "none is known to reach 99 % top-1; ", None, (0.84, 0.9)),
    ],
)
def test_of_imagenet_the_network_that_takes_the_least_computing_is_answered(client, sentence, says, model, targets):
    document = client.get("/ask", query_string={"q": sentence}).json
    query = document["answer"]["query"]
    assert document["asked"][0].startswith("No network is named: ")
    assert says in document["asked"][0]
    assert query["model"] == (model or query["model"])
    assert targets[0] <= query["target"] <= targets[1]
    assert "model" not in document["understood"]
    assert document["answer"] == client.get(document["link"]).json
    if query["max_cost"]:
        assert all(float(pick["estimate"]["billed_cost"]) <= 20 for pick in document["answer"]["picks"])


@pytest.mark.parametrize(
    ("sentence", "says", "model", "targets"),
    [
        (
            "best accuracy for $50 with resnet50",
            "is the highest accuracy that resnet50 is known",
            "resnet50",
            (0.77, 0.8),
        ),
        ("is a tpu worth it for resnet50?", "is out of reach here, so this is for", "resnet50", (0.75, 0.766)),
        ("resnet50 or efficientnet-b0 to 76%?", "resnet50, which costs least", "resnet50", (0.76, 0.76)),
        ("resnet50: 75% vs 77%", "75 % top-1: $", "resnet50", (0.75, 0.75)),
        ("4 H100 against 8 A100 for resnet50", "4 H100: $", "resnet50", (0.75, 0.78)),
        ("compare resnet50 and vit-b", "vit_b16 to 80.8 % top-1: $", "resnet50", (0.75, 0.78)),
    ],
)
def test_several_networks_and_the_highest_accuracy_are_answered(client, sentence, says, model, targets):
    document = client.get("/ask", query_string={"q": sentence}).json
    query = document["answer"]["query"]
    assert (says in " ".join(document["asked"]), query["model"]) == (True, model)
    assert targets[0] <= query["target"] <= targets[1]
    assert document["answer"]["picks"]


@pytest.mark.parametrize(
    ("sentence", "says"),
    [
        ("resnet50 76% on 2 nodes of 8 v100 or 1 node of 8 a100", "16 V100 in 2: .* 8 A100 in 1: "),
        ("how much more does 76.4% cost than 75.7% for resnet50", "76.4 % top-1: .* 75.7 % top-1: "),
        ("is spot worth it for resnet50 76%?", "on spot: .* on demand: "),
        ("resnet50 76% 3 times a week", "for how often, ask costcalc commitments with --runs-per-month"),
        ("5000 dollars a month, how many resnet50 76% runs", "a limit is for this one run"),
    ],
)
def test_what_is_compared_is_told_and_what_says_how_often_sent_on(client, sentence, says):
    document = client.get("/ask", query_string={"q": sentence}).json
    assert re.search(says, " ".join(document["asked"])), document["asked"]
    assert document["answer"]["picks"]


def test_how_far_one_comes_on_a_chip_is_answered_for_one_of_them(client):
    document = client.get("/ask", query_string={"q": "resnet50 for 3 hours on h100, how far"}).json
    query = document["answer"]["query"]
    assert (query["accelerators"], query["max_hours"]) == (1, 3)
    assert 0.76 < query["target"] < 0.79


def test_the_most_that_a_machine_of_ones_own_reaches_is_answered_for_it(client):
    answer = client.get("/ask", query_string={"q": "best accuracy on imagenet in 1 day on my 3090"}).json["answer"]
    assert answer["verdict"][0].startswith("Your RTX 3090: ")


def test_a_browser_gets_the_page_with_the_sentence_in_its_box(client):
    page = client.get("/ask", query_string={"q": SENTENCE}, headers={"Accept": "text/html"}).text
    assert f'value="{SENTENCE}"' in page
    assert "Understood: model=resnet50 target=0.76 provider=aws region=eu-central-1 purchase not spot" in page
    assert "Not in the answer: &#34;nvlink&#34;" in page
    assert 'href="/?model=resnet50&amp;target=0.76&amp;provider=aws' in page


def test_the_terminal_says_it_first_and_the_exact_command(monkeypatch, filled_url):
    monkeypatch.setenv("COSTCALC_DATABASE_URL", filled_url)
    told = CliRunner().invoke(main, ["ask", "rn50 76 on my 4090"]).output
    assert told.startswith("Understood: model=resnet50 target=0.76 own=1x RTX 4090")
    assert "costcalc cost resnet50 0.76 --own '1x RTX 4090'" in told
    assert "no CSV" in CliRunner().invoke(main, ["ask", "rn50 76", "--format", "csv"]).output


@pytest.mark.parametrize(
    ("typed", "exactly"),
    [
        ("rn50 76% h100 --limit 1", "costcalc cost resnet50 0.76 --accelerator H100 --limit 1"),
        ("rn50 76% on aws --accelerators=8", "costcalc cost resnet50 0.76 --provider aws --accelerators 8"),
    ],
)
def test_options_may_follow_a_sentence_without_a_command(monkeypatch, filled_url, typed, exactly):
    monkeypatch.setenv("COSTCALC_DATABASE_URL", filled_url)
    assert f"Exactly: {exactly}\n" in CliRunner().invoke(main, typed.split()).output


def test_slack_says_it_above_the_answer(slack_app):
    payload = answered(slack_app.test_client(), "rn50 76 h100, by the end of the month")
    for text in (payload["text"], payload["blocks"][0]["text"]["text"]):
        assert text.startswith("Understood: model=resnet50 target=0.76 accelerator=H100")
        assert 'Not in the answer: "by the end of the month"' in text
