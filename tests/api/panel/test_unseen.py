"""Sentences written, with what may be answered, before any was tried: none is answered about something else in silence."""

import re
import tomllib
from pathlib import Path

import pytest

SENTENCES = {
    sentence: outcomes
    for name in ("unseen.toml", "questions_asked.toml", "daily.toml")
    for language in tomllib.loads(Path(__file__).with_name(name).read_text()).values()
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
        lines = " ".join(document["asked"])
        return answer is None and bool(lines) and all(word in lines for word in conditions)
    if kind == "prices":
        is_kind = answer is not None and "summary" in answer
    else:
        is_kind, conditions = answer is not None and "picks" in answer, [kind, *conditions]
    understood = {"method": (answer or {}).get("query", {}).get("method"), **document["understood"]}
    return is_kind and all(is_so(each, understood) for each in conditions)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_is_answered_as_a_person_accepts_it(client, sentence):
    document = client.get("/ask", query_string={"q": sentence}).json
    told = {name: document[name] for name in ("understood", "ignored", "corrected", "asked")}
    assert any(is_outcome(outcome, document) for outcome in SENTENCES[sentence]), told
