"""Sentences are understood as a person who knows the subject takes them; sentences.toml says how, and was written first."""

import re
import tomllib
from datetime import date
from pathlib import Path

import pytest

from api.questions.suggestions import Guesses
from api.questions.words.understanding import understand
from pricing.packaged.places import places

TODAY = date(2026, 11, 24)
SENTENCES = {
    sentence: meaning
    for theme in tomllib.loads(Path(__file__).with_name("sentences.toml").read_text()).values()
    for sentence, meaning in theme.items()
}


@pytest.fixture(scope="module")
def words(service):
    return service.words(service.catalogue())


def plain(name, text):
    """A value as it is compared: numbers as numbers, names of accelerators and networks without spaces, signs and case."""
    if name in ("own", "accelerator", "model"):
        return re.sub(r"[\W_]", "", text.casefold())
    try:
        return float(text)
    except ValueError:
        return text.casefold()


def differences(meaning, understanding, words):
    """What is not as the table says."""
    given = {name: {plain(name, each) for each in values} for name, values in understanding.parameters.items()}
    told = " ".join(understanding.asked).casefold()
    for item in meaning.split():
        if item.startswith("?"):
            first, *others = item[1:].split("|")
            asked = [each for each in others if "=" in each]
            if not (first.casefold() in told or "" in others or any(_has(given, *each.split("=")) for each in asked)):
                yield f"{first} is not asked about"
            for each in asked:
                given.pop(each.split("=")[0], None)
        elif "!=" in item:
            name, values = item.split("!=")
            known = words.names.provider if name == "provider" else ()
            found = given.pop(name, set())
            if (
                not found
                or found & {plain(name, each) for each in values.split(",")}
                or len(found) < min(3, len(known))
            ):
                yield f"{item}: {sorted(found)[:5]}"
        else:
            name, _, either = item.partition("=")
            allowed = [{plain(name, each) for each in way.split(",")} if way else set() for way in either.split("|")]
            found = given.pop(name, set())
            if found not in allowed:
                yield f"{item}: {sorted(map(str, found))}"
    yield from (f"nobody asked for {name}={sorted(map(str, values))[:5]}" for name, values in given.items())


def _has(given, name, value):
    return given.get(name) == {plain(name, value)}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_means_what_a_person_takes_it_to_mean_and_is_answered(service, words, sentence):
    understanding = understand(sentence, words, TODAY)
    assert not list(differences(SENTENCES[sentence], understanding, words)), understanding.lines
    if understanding.is_question:
        service.question(understanding.parameters, service.catalogue())


@pytest.mark.parametrize(
    ("asked", "without"), [("", "us"), ("", "europe"), ("europe", "germany"), ("asia", "china"), ("", "frankfurt")]
)
def test_without_a_place_every_other_region_remains(service, words, asked, without):
    understanding = understand(f"resnet50 76% {asked} but not in {without}", words, TODAY)
    query, _ = service.question(understanding.parameters, service.catalogue())
    everywhere = {one.code for one in places().regions if one.kind == "region"}
    wanted = {*places().codes(asked)} & everywhere if asked else everywhere
    assert {*query.region} & everywhere == wanted - {*places().codes(without)}


@pytest.mark.parametrize(
    ("asked", "without", "remains"),
    [("", "tpu", "H100"), ("nvidia", "a100", "V100"), ("gpus", "amd", "T4"), ("", "cpu", "TPU v3")],
)
def test_without_accelerators_every_other_one_remains(service, words, asked, without, remains):
    understanding = understand(f"resnet50 76% {asked}, no {without}", words, TODAY)
    query, _ = service.question(understanding.parameters, service.catalogue())
    left_out = words.names.resolve("accelerator", without, Guesses())
    allowed = (
        words.names.resolve("accelerator", "gpu" if asked == "gpus" else asked, Guesses())
        if asked
        else words.names.accelerator
    )
    assert remains in query.accelerator
    assert {*query.accelerator} == {*allowed} - {*left_out}
