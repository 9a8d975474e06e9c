"""A panel of people's questions: what is answered first is what somebody who knows the subject would accept."""

import json
import re
import tomllib
from pathlib import Path
from urllib.parse import quote

import pytest

QUESTIONS = tomllib.loads(Path(__file__).with_name("questions.toml").read_text())["question"]
NAMES = ("cheapest", "fastest", "balanced", "surest")
RENTED = {"purchase", "basis", "own", "provider=kaggle"}


def mistakes_of_pick(picks, name, wanted, basis):
    if wanted == "none":
        return [f"there is a {name}"] if name in picks else []
    if name not in picks:
        return [f"no {name}"]
    estimate = picks[name]
    figures = {**estimate, "cost": estimate[f"{basis}_cost"], "hours": estimate["calendar_hours"]}
    return [
        f"{name}: {key} is {figures[key]}, not of {values}"
        for key, values in wanted.items()
        if not (values[0] <= figures[key] <= values[1] if key in {"cost", "hours"} else figures[key] in values)
    ]


def mistakes_of_verdict(question, answer):
    lines = answer["verdict"]
    text = " ".join(lines)
    yield from (f"the verdict lacks {each}" for each in question.get("says", ()) if not re.search(each, text, re.I))
    yield from (f"the verdict has {each}" for each in question.get("silent", ()) if re.search(each, text, re.I))
    yield from (
        f"the first line lacks {each}" for each in question.get("first", ()) if not re.search(each, lines[0], re.I)
    )
    if not 2 <= len(lines) <= 4 or len(text) > 600:
        yield f"{len(lines)} lines, {len(text)} characters"
    yield from (f"markup: {each}" for each in re.findall(r"(?<!\w)[*_`†‡<>|#]\S", text))


def mistakes_of_answer(question, answer):
    picks = {pick["name"]: pick["estimate"] for pick in answer["picks"]}
    for name in NAMES:
        if name in question:
            yield from mistakes_of_pick(picks, name, question[name], answer["query"]["basis"])
    yield from mistakes_of_verdict(question, answer)
    for key, values in question.get("every", {}).items():
        odd = {estimate[key] for estimate in answer["estimates"]} - set(values)
        if odd or not answer["estimates"]:
            yield f"{key} is {odd or 'never'}"
    if not any(word in question["path"] for word in RENTED) and picks:
        yield from (
            f"{name} is {e['purchase_option']}" for name, e in picks.items() if e["purchase_option"] != "on_demand"
        )
    if "same" in question and len({json.dumps({**picks[name], "rank": 0}) for name in question["same"]}) > 1:
        yield f"{question['same']} differ"


@pytest.mark.parametrize("question", QUESTIONS, ids=[question["asks"] for question in QUESTIONS])
def test_the_first_answer_is_one_that_a_person_would_accept(client, question):
    reply = client.get(quote(question["path"], safe="/?=&:,"))
    assert reply.status_code in {200, *question.get("status", ())}, reply.text
    text = reply.text
    mistakes = [f"the answer lacks {each}" for each in question.get("text", ()) if not re.search(each, text, re.I)]
    mistakes += [f"the answer has {each}" for each in question.get("not_text", ()) if re.search(each, text, re.I)]
    if question["path"].startswith("/cost"):
        mistakes += mistakes_of_answer(question, reply.json)
    assert not mistakes, "\n".join([*mistakes, "", *reply.json.get("verdict", ())])
