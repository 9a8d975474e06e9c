"""Of generated sentences none is answered about something else in silence: what it states is used, told of, or refused."""

import re
from itertools import product
from random import Random

import pytest
from support.sampled import sampled

SUBJECTS = (
    "",
    "resnet50 76%",
    "bert-large",
    "llama 3.1 8b",
    "vit-b16",
    "gpt-2",
    "stable diffusion",
    "llama 2 70b lora",
    "foonet",
)


def listed(text):
    return [" ".join(each.split()) for each in text.split(";")]


USED = dict(
    each.split(" -> ")
    for each in listed("""
    within 8 hours -> max_hours=8; under $50 -> max_cost=50; on 8 H100 -> accelerators=8; on aws -> provider=aws; in
    frankfurt -> region; no spot -> purchase; not on gcp -> provider; for 90 epochs -> epochs=90; in fp32 -> precision=fp32;
    in june 2024 -> as_of=2024-06; at most 2 machines -> max_nodes=2; reserved for 3 years -> term=3y; with 12% discount ->
    discount=0.12; in euros -> currency=EUR; on my 4090 -> own; 20 runs -> runs=20; at 30% utilization -> utilization=0.3;
    on p4d.24xlarge -> instance_type; unter 50 Euro -> max_cost=50; 8小时以内 -> max_hours=8; 不要spot -> purchase; innerhalb von
    8 Stunden -> max_hours=8; max_nodes=3 -> max_nodes=3; top-5 93% -> target; 95%
    confident -> confidence=0.95; on spot in 4 hours -> max_hours=4; fp16 -> precision=amp; compiled ->
    compilation=compiled; storing 150 GB -> storage_gb=150; 1 day -> max_hours=24""")
)
"""What a question may take, with what must be understood of it; there may be no answer all the same."""
UNUSABLE = listed("""
    on 5B tokens; with 20k images; that took 72 hours; took 3 days on 8 A100; dpo; qlora; with continued pretraining;
    sequence length 4096; 1M pairs; with 7B parameters; for 500k steps; on mnist; without foo; not in foo; 384px; 250 kWh;
    at $2 per hour; with 33 foo; $3 per 1M tokens; no foos; on 24 TITAN Xp; 2 weeks of GPU time last year; 4 H100 hours; 8
    foo9; inference; quantization; with 40% MFU; nur auf Fooberg 3; 5万个样本; mit 3 Mio. Beispielen; after 12 hours of
    training; distilled 3 times; for 30 languages; on a mac mini; in foostadt; at 600 W; 32k context; max $2 per hour; with
    16 layers; on my own data; 30M rows; für 3 Nutzer; in 2 phases; with half the images;
    50 trials; on 50 CT scans; from epoch 60; max length 128; on half a H100; if an H100 costs $2; 8 hours per night; on
    weekends only; with 64 GB RAM; by christmas; on a MIG slice; twice as fast; the last layer only; resumed""")
"""What no question takes, at least not of every network."""
WORDLESS = {"on", "of", "the", "for", "with", "in", "at", "a", "by", "per", "my", "not", "no", "without", "max", "that"}


def sentences():
    """Each statement after each of some networks, and pairs of them; always the same."""
    random = Random(500)
    stated = [*USED, *UNUSABLE]
    singles = [(subject, (each,)) for subject, each in product(SUBJECTS, stated)]
    pairs = [(random.choice(SUBJECTS), tuple(random.sample(stated, 2))) for _ in range(500)]
    apart = [
        pair for pair in pairs if len({USED.get(each, each).partition("=")[0] for each in pair[1]}) == len(pair[1])
    ]
    return [*random.sample(singles, 200), *apart[:300]]


def is_used(statement, understood):
    name, sign, value = USED.get(statement, "").partition("=")
    return bool(name) and name in understood and (not sign or value in understood[name].split(","))


def is_told(statement, asked):
    """Whether a word or a number of it stands in what is asked back, or in what was said of the answer."""
    words = set(re.findall(r"[\w.]+", statement.casefold())) - WORDLESS
    return any(word in asked for word in words)


def unsaid(document, statements):
    asked = " ".join(document["asked"]).casefold()
    understood = document["understood"]
    return [each for each in statements if not (is_used(each, understood) or is_told(each, asked))]


@pytest.mark.parametrize(("subject", "statements"), sampled(sentences(), one_in=10))
def test_no_statement_is_left_out_in_silence(client, subject, statements):
    sentence = ", ".join(filter(None, [subject, *statements]))
    document = client.get("/ask", query_string={"q": sentence}).json
    if document["answer"] is None:
        assert document["asked"], sentence
    else:
        assert subject not in ("", "foonet") or "summary" in document["answer"]
        assert not unsaid(document, statements), (
            sentence,
            document["understood"],
            document["asked"],
            document["ignored"],
        )
