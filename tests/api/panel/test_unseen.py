"""Sentences written, with what may be answered, before any was tried: none is answered about something else in silence."""

import re
import tomllib
from pathlib import Path

import pytest

SENTENCES = {
    sentence: outcomes
    for language in tomllib.loads(Path(__file__).with_name("unseen.toml").read_text()).values()
    for sentence, outcomes in language.items()
}


def plain(text):
    try:
        return float(text)
    except ValueError:
        return re.sub(r"[\W_]", "", text.casefold())


def is_so(condition, understood):
    name, sign, value = condition.partition("=")
    if name.startswith("!"):
        return name[1:] not in understood
    return name in understood and (not sign or plain(understood[name]) == plain(value))


def is_outcome(outcome, document):
    kind, *conditions = outcome.split()
    answer = document["answer"]
    if kind == "asks":
        return answer is None and bool(document["asked"])
    if kind == "prices":
        is_kind = answer is not None and "summary" in answer
    else:
        is_kind, conditions = answer is not None and "picks" in answer, [kind, *conditions]
    return is_kind and all(is_so(each, document["understood"]) for each in conditions)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_is_answered_as_a_person_accepts_it(client, sentence):
    document = client.get("/ask", query_string={"q": sentence}).json
    told = {name: document[name] for name in ("understood", "ignored", "corrected", "asked")}
    assert any(is_outcome(outcome, document) for outcome in SENTENCES[sentence]), told
